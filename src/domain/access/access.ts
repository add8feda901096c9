import type { LinkMaker } from "./link.ts";

/** What somebody may do: look and download; also change; also accounts, tokens, backups and the audit log. */
export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

/**
 * Who may use a route: anybody, also where sign-in is on; a person, for what is their own; or whoever has this role or a
 * higher one.
 */
export type Rule = "open" | "person" | Role;

/** What a token reaches. */
export type Scope =
  | { readonly kind: "read" }
  | { readonly kind: "client"; readonly id: number }
  | { readonly kind: "printer"; readonly id: number };

/** Who asks. */
export type Identity =
  /** Sign-in is off: everybody may do everything. */
  | { readonly kind: "anyone" }
  /** Sign-in is on, and nobody that we know. */
  | { readonly kind: "nobody" }
  /** A person, by a session or by the word of a trusted proxy. */
  | {
      readonly kind: "person";
      readonly name: string;
      readonly role: Role;
      /** The number of their account; undefined for whom only the proxy knows. */
      readonly account?: number;
      /** Whether they came with a one-time password: until they have chosen another one, no role lets them in. */
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
  /** A machine with a signed link, which holds for the address that it was made for. */
  | {
      readonly kind: "link";
      readonly name: string;
      /** It ends when this day begins: UTC, days since 1970. */
      readonly endDay: number;
      readonly maker?: LinkMaker | undefined;
      /** Of the token that it was made with. */
      readonly scope?: Scope | undefined;
    };

export const anyone: Identity = { kind: "anyone" };
export const nobody: Identity = { kind: "nobody" };

/** Whether somebody's role is enough for a rule. Tokens that reach all of it look as a viewer does; others and links not at all. */
export function mayUse(identity: Identity, rule: Rule): boolean {
  if (rule === "open") return true;
  const role = roleOf(identity);
  return rule === "person" ? identity.kind !== "token" && role !== undefined : hasRole(role, rule);
}

/** Whether a role is another one or a higher one; nobody's is none. */
export function hasRole(role: Role | undefined, wanted: Role): boolean {
  return role !== undefined && roles.indexOf(wanted) <= roles.indexOf(role);
}

/** The role of who asks; undefined for whom no role lets in. */
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

/** Whether somebody reaches one client or printer alone: with a token for it, or with a link that was made with one. */
export function isLimited(identity: Identity): boolean {
  const scope = identity.kind === "token" || identity.kind === "link" ? identity.scope : undefined;
  return scope !== undefined && scope.kind !== "read";
}

/** Who it was, as the audit log names them. */
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
