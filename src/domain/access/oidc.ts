import { isLoopbackHost } from "../address.ts";
import { withoutMarkRuns } from "../fields.ts";
import type { Secret } from "../secrets.ts";
import type { Role } from "./access.ts";
import { isReservedLogName } from "./account.ts";
import { everyone, type GroupRole, readGroups, roleOfGroups } from "./proxies.ts";

/** The settings of sign-in at an OpenID Connect provider. */
export interface OidcSettings {
  /** `OIDC_ISSUER` */
  readonly issuer: URL;
  /** `OIDC_CLIENT_ID` */
  readonly clientId: string;
  /** `OIDC_CLIENT_SECRET`; undefined for a public client, or with a file. */
  readonly secret: Secret | undefined;
  /** `OIDC_CLIENT_SECRET_FILE` */
  readonly secretFile: string | undefined;
  /** `OIDC_ROLE_CLAIM`: the claim with the person's groups. */
  readonly roleClaim: string;
  /** `OIDC_ROLES` */
  readonly roles: readonly GroupRole[];
}

/** A person whom the provider has authenticated. */
export interface OidcPerson {
  readonly issuer: string;
  /** Their id at the provider, which never changes. */
  readonly sub: string;
  /** With the provider's name, which no account's name can have: `ann@contoso.com (Microsoft)`. */
  readonly name: string;
  /** Undefined if none of their groups has access. */
  readonly role: Role | undefined;
}

export type Claims = Readonly<Record<string, unknown>>;

type ReadSetting = (name: string) => string | undefined;

/** Providers where anybody can have an account. */
const publicHosts = ["accounts.google.com"];

/**
 * Reads the settings `OIDC_…`, and adds a line to `problems` for each mistake.
 * @param secret of `OIDC_CLIENT_SECRET`
 * @returns undefined without `OIDC_ISSUER`
 */
export function readOidc(
  setting: ReadSetting,
  secret: Secret | undefined,
  problems: string[],
): OidcSettings | undefined {
  const issuer = setting("OIDC_ISSUER");
  if (issuer === undefined) {
    const unused = otherSettings.filter((name) => setting(name) !== undefined);
    if (unused.length > 0)
      problems.push(`${unused.join(", ")}: set OIDC_ISSUER, too, the provider’s address.`);
    return undefined;
  }
  const missing = ["OIDC_CLIENT_ID", "OIDC_ROLES", "PUBLIC_URL"].filter(
    (name) => setting(name) === undefined,
  );
  if (missing.length > 0) problems.push(`OIDC_ISSUER needs ${missing.join(", ")}.`);
  const url = readIssuer(issuer, problems);
  const roles = readGroups("OIDC_ROLES", setting("OIDC_ROLES"), problems) ?? [];
  if (url === undefined) return undefined;
  if (publicHosts.includes(url.hostname) && roles.some(({ group }) => group === everyone))
    problems.push(
      `OIDC_ROLES has *, but anybody can have an account at ${url.hostname}. Name your domain, with OIDC_ROLE_CLAIM=hd.`,
    );
  return {
    issuer: url,
    clientId: setting("OIDC_CLIENT_ID") ?? "",
    secret,
    secretFile: setting("OIDC_CLIENT_SECRET_FILE"),
    roleClaim: setting("OIDC_ROLE_CLAIM") ?? defaultRoleClaim,
    roles,
  };
}

export const defaultRoleClaim = "groups";

/** The settings that mean nothing without `OIDC_ISSUER`. */
const otherSettings = [
  "OIDC_CLIENT_ID",
  "OIDC_CLIENT_SECRET",
  "OIDC_CLIENT_SECRET_FILE",
  "OIDC_ROLES",
  "OIDC_ROLE_CLAIM",
];

function readIssuer(text: string, problems: string[]): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && !url.username && !url.password && !url.search && !url.hash;
  if (isPlain && url.protocol === "https:") return url;
  if (isPlain && url.protocol === "http:" && isLoopbackHost(url.hostname)) return url;
  problems.push(
    url?.protocol === "http:"
      ? `OIDC_ISSUER is “${text}”; it must use https, because others on the network could change its answers.`
      : `OIDC_ISSUER is “${text}”; it looks like https://login.example.com/realms/office.`,
  );
  return undefined;
}

/** The provider's name on the sign-in page. */
export function providerName({ issuer }: Pick<OidcSettings, "issuer">): string {
  return (
    { "login.microsoftonline.com": "Microsoft", "accounts.google.com": "Google" }[issuer.hostname] ??
    issuer.host
  );
}

/** Claims that name a person, the best first. */
const nameClaims = ["preferred_username", "email", "name"];

const maxNameCharacters = 120;

/** The name of a person for pages and the audit log; undefined if no claim has a usable one. */
export function nameInClaims(claims: Claims): string | undefined {
  // `sub` is unique but unreadable.
  const names = [...nameClaims, "sub"].map((claim) => nameFrom(claims, claim));
  return names.find((name) => name !== undefined);
}

/** Undefined for a value that is no name, and for names that the audit log uses. */
function nameFrom(claims: Claims, claim: string): string | undefined {
  const value = claims[claim];
  const isUnverified = claim === "email" && claims.email_verified === false;
  if (typeof value !== "string" || isUnverified) return undefined;
  const name = withoutMarkRuns(value).normalize("NFC").trim();
  const isReadable =
    /[\p{L}\p{N}]/u.test(name) && !/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name);
  const isFree = !isReservedLogName(name.normalize("NFKC"));
  return isReadable && isFree && name.length <= maxNameCharacters ? name : undefined;
}

/** Whether the claims have a readable name and the person's groups. Otherwise the provider's user information may. */
export function areComplete({ roleClaim }: OidcSettings, claims: Claims): boolean {
  const hasName = nameClaims.some((claim) => nameFrom(claims, claim) !== undefined);
  return hasName && claimAt(claims, roleClaim) !== undefined;
}

/** The highest role that the claims give; undefined for none. An address that is not verified gives none. */
export function roleInClaims({ roleClaim, roles }: OidcSettings, claims: Claims): Role | undefined {
  const value = claimAt(claims, roleClaim);
  const isUnverified = roleClaim === "email" && claims.email_verified !== true;
  const groups = isUnverified ? [] : [value].flat().filter((group) => typeof group === "string");
  return roleOfGroups(roles, groups);
}

/** @param name of a claim, or names separated by dots of claims in each other, such as `realm_access.roles` */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}
