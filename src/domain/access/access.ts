import type { Link } from "./link.ts";

/**
 * A viewer reads and downloads. An operator also changes records. An admin also manages accounts, tokens, backups and
 * the audit log.
 */
export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

/**
 * Who may use a route. `open`: everyone, even if sign-in is on. `person`: a signed-in person, for their own account.
 * `signing`: operators, and tokens for signing scripts. `uploading`: operators, and tokens for uploading drivers. A role:
 * everyone with this role or a higher one.
 */
export type Rule = "open" | "person" | keyof typeof tokenKinds | Role;

/** The kind of token that a rule admits besides operators. */
const tokenKinds = { signing: "sign", uploading: "upload" } as const;

/**
 * What a token is for: it reads all records, or those of one client or printer. Or it signs: it reads the scripts without a
 * signature, and gives signatures. Or it uploads drivers, and sees nothing.
 */
export type Scope =
  | { readonly kind: "read" }
  | { readonly kind: "sign" }
  | { readonly kind: "upload" }
  | { readonly kind: "client"; readonly id: number }
  | { readonly kind: "printer"; readonly id: number };

/** The sender of a request. */
export type Identity =
  /** Sign-in is off: everyone may do everything. */
  | { readonly kind: "anyone" }
  /** Sign-in is on, and the sender is not signed in. */
  | { readonly kind: "nobody" }
  /** A person who has a session or is named by a trusted proxy. */
  | {
      readonly kind: "person";
      readonly name: string;
      readonly role: Role;
      /** The id of their account; undefined for a person without an account, who signs in at the proxy. */
      readonly account?: number;
      /** Whether they signed in with a one-time password: they have no role until they choose a password. */
      readonly mustChoosePassword?: boolean;
    }
  /** A program with a token. */
  | {
      readonly kind: "token";
      readonly name: string;
      readonly id: number;
      readonly scope: Scope;
      /** UTC, milliseconds since 1970. */
      readonly expires_at: number;
    }
  /** A machine with a link, which is valid for one address. */
  | {
      readonly kind: "link";
      readonly name: string;
      /** The link ends when this day begins: UTC, days since 1970. */
      readonly endDay: number;
      readonly link: Link;
      /** The scope of the token that the link was made with. */
      readonly scope?: Scope | undefined;
    };

export const anyone: Identity = { kind: "anyone" };
export const unauthenticated: Identity = { kind: "nobody" };

/**
 * Whether a rule admits the sender. A token for everything counts as a viewer. Tokens of one client or printer, and
 * links, have no role.
 */
export function mayUse(identity: Identity, rule: Rule): boolean {
  if (rule === "open") return true;
  const role = roleOf(identity);
  if (rule === "signing" || rule === "uploading")
    return (
      hasRole(role, "operator") || (identity.kind === "token" && identity.scope.kind === tokenKinds[rule])
    );
  return rule === "person" ? identity.kind !== "token" && role !== undefined : hasRole(role, rule);
}

/** Whether a role is the wanted one or a higher one. */
export function hasRole(role: Role | undefined, wanted: Role): boolean {
  return role !== undefined && roles.indexOf(wanted) <= roles.indexOf(role);
}

/** The sender's role; undefined without one. */
export function roleOf(identity: Identity): Role | undefined {
  switch (identity.kind) {
    case "anyone":
      return "admin";
    case "person":
      return identity.mustChoosePassword ? undefined : identity.role;
    case "token":
      return identity.scope.kind === "read" ? "viewer" : undefined;
    default:
      return undefined;
  }
}

/** Whether the sender's token, or the token of its link, gives no read access to everything. */
export function isLimited(identity: Identity): boolean {
  const scope = identity.kind === "token" || identity.kind === "link" ? identity.scope : undefined;
  return scope !== undefined && scope.kind !== "read";
}

/** The sender's name in the audit log. */
export function nameOf(identity: Identity): string {
  switch (identity.kind) {
    case "person":
      return identity.name;
    case "token":
      return `token ${identity.name}`;
    case "link":
      return `link ${identity.name}`;
    default:
      return identity.kind;
  }
}
