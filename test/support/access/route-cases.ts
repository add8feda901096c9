import type { Rule } from "../../../src/domain/access/access.ts";
import type { Route, RouteScope } from "../../../src/http/router.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { makePng } from "../printers/png.ts";
import { makePreferences } from "../printers/preferences-files.ts";
import { ownPassword } from "./people.ts";
import type { SenderKind } from "./sender-kinds.ts";

/** A request to a route, and the answer for a sender with the right to use it. */
export interface RouteCase {
  readonly rule: Rule;
  /** The status for allowed senders, except for those in `statuses`. */
  readonly status: number;
  readonly statuses?: Partial<Record<SenderKind, number>>;
  /** The kind of record of a route that links, and tokens of one client or printer, can open. */
  readonly scope?: RouteScope;
  readonly query?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly file?: Uint8Array;
  /** Why an unsafe method changes nothing here; undefined where it changes something. */
  readonly whyUnchanged?: string;
  /** The only senders for whom it changes something. */
  readonly changesFor?: readonly SenderKind[];
}

type CaseOptions = Omit<RouteCase, "rule" | "status">;
const casesFor =
  (rule: Rule) =>
  (status: number, more: CaseOptions = {}): RouteCase => ({ rule, status, ...more });
const open = casesFor("open");
const person = casesFor("person");
const viewer = casesFor("viewer");
const operator = casesFor("operator");
const admin = casesFor("admin");
const signing = casesFor("signing");

const printer = { address: "10.0.0.9", driver_id: "1", client_id: "1" };
const list = { text: "client,name,address,driver\nKunde 1,From a list,10.0.0.77,1\n", kind: "list" };
const chosen = { password: ownPassword, chosen: "quiet marble sunrise", again: "quiet marble sunrise" };

const linkOf = (records: string) => {
  const fields = { address: `/${records}/1/scripts/install`, days: "7" };
  return operator(200, { fields, whyUnchanged: "a link is signed, not stored" });
};
const icon = operator(200, { file: makePng(256, 256, 50) });
const inUse = operator(409, { whyUnchanged: "printers use the record" });
const bulk = { ids: "1", action: "client", client_id: "2", confirmed: "1" };
const signedIn = { viewer: 303, operator: 303, admin: 303, "a one-time password": 303 };

/** A case for every route of the table: a new route needs one here. */
export const routeCases: Readonly<Record<string, RouteCase>> = {
  "GET /health": open(200),
  "GET /metrics": viewer(404),
  "GET /": viewer(200),
  "GET /packages": viewer(200),
  "GET /packages/:format": viewer(200, { query: "ids=1" }),
  "GET /search": viewer(200, { query: "q=office" }),
  "GET /help": viewer(200),
  "GET /help/:page": viewer(200),
  "GET /printers": viewer(200),
  "POST /printers": operator(200, { fields: { name: "New", ...printer } }),
  "POST /printers/bulk": operator(200, { fields: bulk }),
  "GET /printers/:id": viewer(200),
  "POST /printers/:id": operator(200, { fields: { name: "Renamed", ...printer } }),
  "DELETE /printers/:id": operator(200),
  "GET /printers/:id/edit": operator(200),
  "POST /printers/:id/delete": operator(200),
  "GET /printers/:id/scripts/:kind": viewer(200, { scope: "printer" }),
  "GET /printers/:id/read/:kind": viewer(200),
  "POST /printers/:id/links": linkOf("printers"),
  "POST /printers/:id/links/end": operator(303),
  "GET /printers/:id/packages/:format": viewer(200, { scope: "printer" }),
  "GET /printers/:id/publish": viewer(200, { scope: "printer" }),
  "GET /printers/:id/icon": viewer(200),
  "POST /printers/:id/icon": icon,
  "DELETE /printers/:id/icon": operator(200),
  "POST /printers/:id/icon/delete": operator(200),
  "GET /printers/:id/preferences": viewer(200, { scope: "printer" }),
  "POST /printers/:id/preferences": operator(200, { file: makePreferences(2) }),
  "DELETE /printers/:id/preferences": operator(200),
  "POST /printers/:id/preferences/delete": operator(200),
  "GET /clients": viewer(200),
  "POST /clients": operator(200, { fields: { name: "New" } }),
  "GET /clients/:id": viewer(200),
  "POST /clients/:id": operator(200, { fields: { name: "Renamed" } }),
  "DELETE /clients/:id": inUse,
  "POST /clients/:id/delete": inUse,
  "GET /clients/:id/packages/:format": viewer(200, { scope: "client" }),
  "GET /clients/:id/scripts/:kind": viewer(200, { scope: "client" }),
  "GET /clients/:id/publish": viewer(200, { scope: "client" }),
  "GET /clients/:id/read/:kind": viewer(200),
  "POST /clients/:id/links": linkOf("clients"),
  "POST /clients/:id/links/end": operator(303),
  "GET /clients/:id/icon": viewer(200),
  "POST /clients/:id/icon": icon,
  "DELETE /clients/:id/icon": operator(200),
  "POST /clients/:id/icon/delete": operator(200),
  "GET /publish": operator(200),
  "GET /sign": operator(200),
  "GET /signatures": signing(200),
  "DELETE /signatures": signing(204, { whyUnchanged: "nothing is signed" }),
  "GET /signatures/:sha256": signing(404),
  "POST /signatures/:sha256": signing(404, { file: Buffer.from(""), whyUnchanged: "no package has it" }),
  "GET /drivers": viewer(200),
  "POST /drivers/upload": operator(200, { file: driverZip({ version: "9.0.0.0" }) }),
  "GET /drivers/:id": viewer(200),
  "POST /drivers/:id": operator(200, { fields: { name: "Renamed" } }),
  "DELETE /drivers/:id": inUse,
  "POST /drivers/:id/delete": inUse,
  "GET /drivers/:id/archive": viewer(200),
  "GET /drivers/:id/files": viewer(200, { scope: "files" }),
  "GET /drivers/:id/packages/:format": viewer(200, { scope: "driver" }),
  "GET /drivers/:id/scripts/:kind": viewer(200, { scope: "driver" }),
  "GET /drivers/:id/publish": viewer(200, { scope: "driver" }),
  "GET /drivers/:id/read/:kind": viewer(200),
  "POST /drivers/:id/links": linkOf("drivers"),
  "POST /drivers/:id/links/end": operator(303),
  "GET /drivers/:id/models": viewer(200),
  "GET /drivers/:id/move": operator(200),
  "POST /drivers/:id/move": operator(409, { fields: { to: "3" }, whyUnchanged: "there was no preview" }),
  "POST /deletions/:id/undo": operator(200),
  "DELETE /deletions/:id": operator(200),
  "POST /deletions/:id/delete": operator(200),
  "GET /export/printers.csv": viewer(200),
  "GET /import": operator(200),
  "POST /import": operator(200, { fields: list }),
  "GET /import/preview": operator(303),
  "POST /import/preview": operator(200, { fields: list, whyUnchanged: "it is a preview" }),
  "GET /sign-in": open(200, { statuses: signedIn }),
  "POST /sign-in": open(303, { fields: { name: "looks", password: ownPassword } }),
  "GET /sign-in/oidc": open(404),
  "GET /sign-in/oidc/callback": open(404),
  "GET /sign-in/password": open(303, { statuses: { "a one-time password": 200 } }),
  "POST /sign-in/password": open(303, {
    ...{ fields: chosen, statuses: { "a one-time password": 422 } },
    whyUnchanged: "the current password is another one",
  }),
  "POST /sign-out": open(303, { changesFor: ["a one-time password", "viewer", "operator", "admin"] }),
  "GET /account": person(200),
  "POST /account/password": person(303, { fields: chosen, changesFor: ["viewer", "operator"] }),
  "POST /account/sessions/:id/end": person(303, { whyUnchanged: "the session is another user's" }),
  "POST /account/sessions/end": person(303, { changesFor: ["admin"] }),
  "GET /accounts": admin(200),
  "POST /accounts": admin(200, { fields: { name: "another", role: "viewer" } }),
  "GET /accounts/:id": admin(200),
  "POST /accounts/:id": admin(303, { fields: { role: "operator" } }),
  "DELETE /accounts/:id": admin(303),
  "POST /accounts/:id/delete": admin(303),
  "POST /accounts/:id/password": admin(200),
  "POST /accounts/:id/disable": admin(303),
  "POST /accounts/:id/enable": admin(303, { whyUnchanged: "the account is not disabled" }),
  "GET /tokens": admin(200),
  "POST /tokens": admin(200, { fields: { name: "another", scope: "read", days: "30" } }),
  "DELETE /tokens/:id": admin(303),
  "POST /tokens/:id/delete": admin(303),
  "GET /backups": admin(200),
  "POST /backups": admin(200),
  "GET /backups/:name": admin(200),
  "POST /backups/files/delete": admin(200),
  "GET /audit": admin(200),
  "GET /audit.csv": admin(200),
  "GET /static/:name": open(200),
  "GET /favicon.ico": open(200),
};

/** The pattern of a route, as in the table. */
export function patternOf({ pattern, paramNames: names }: Route): string {
  let text = pattern.source.slice(1, -1).replaceAll("\\/", "/").replaceAll("\\.", ".");
  for (const name of names) text = text.replace("([^/]+)", `:${name}`);
  return text;
}

/** The path of an existing record. @param backup the name of a backup */
export function pathOf(pattern: string, backup: string): string {
  return pattern
    .replace(":id", /^\/(?:accounts|deletions)\//.test(pattern) ? "3" : "1")
    .replace(":kind", "install")
    .replace(":format", "rmm")
    .replace(":page", "intune")
    .replace(":sha256", "0".repeat(64))
    .replace(":name", pattern.startsWith("/static") ? "app.css" : backup);
}

/** The first number in a path; 1 without one. */
export function idInPath(path: string): number {
  return Number(/\/(\d+)/.exec(path)?.[1] ?? 1);
}
