import type { Rule } from "../../../src/domain/access/access.ts";
import type { RouteScope } from "../../../src/http/router.ts";
import { routes } from "../../../src/http/routes.ts";
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
const uploading = casesFor("uploading");

const printer = { address: "10.0.0.9", driver_id: "1", client_id: "1" };
const list = { text: "client,name,address,driver\nKunde 1,From a list,10.0.0.77,1\n", kind: "list" };
const chosen = { password: ownPassword, chosen: "quiet marble sunrise", again: "quiet marble sunrise" };

const linkOf = (records: string) => {
  const fields = { address: `/${records}/1/scripts/install`, days: "7" };
  return operator(200, { fields });
};
const icon = operator(200, { file: makePng(256, 256, 50) });
const inUse = operator(409, { whyUnchanged: "printers use the record" });
const bulk = { ids: "1", action: "client", client_id: "2", confirmed: "1" };
const signedIn = { viewer: 303, operator: 303, admin: 303, "a one-time password": 303 };

const all = (routeCase: RouteCase, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, routeCase]));

/** A case for every route of the table: a new route needs one here. */
export const routeCases: Readonly<Record<string, RouteCase>> = {
  ...all(open(200), ["GET /health", "GET /static/:name", "GET /favicon.ico"]),
  ...all(viewer(200), [
    ...["GET /", "GET /packages", "GET /help", "GET /help/:page", "GET /printers", "GET /printers/:id"],
    ...["GET /printers/:id/read/:kind", "GET /printers/:id/icon", "GET /clients", "GET /clients/:id"],
    ...["GET /clients/:id/read/:kind", "GET /clients/:id/icon", "GET /drivers", "GET /drivers/:id"],
    ...["GET /drivers/:id/archive", "GET /drivers/:id/read/:kind", "GET /drivers/:id/models"],
    "GET /export/printers.csv",
  ]),
  ...all(operator(200), [
    ...["DELETE /printers/:id", "GET /printers/:id/edit", "POST /printers/:id/delete"],
    ...["DELETE /printers/:id/icon", "POST /printers/:id/icon/delete", "DELETE /printers/:id/preferences"],
    ...["POST /printers/:id/preferences/delete", "DELETE /clients/:id/icon"],
    ...["POST /clients/:id/icon/delete", "GET /publish", "GET /sign", "GET /drivers/:id/move"],
    ...["POST /deletions/:id/undo", "DELETE /deletions/:id", "POST /deletions/:id/delete", "GET /import"],
  ]),
  ...all(operator(303), [
    ...["POST /printers/:id/links/end", "POST /clients/:id/links/end", "POST /drivers/:id/links/end"],
    ...["GET /import/preview", "DELETE /links/:id", "POST /links/:id/delete"],
  ]),
  ...all(icon, ["POST /printers/:id/icon", "POST /clients/:id/icon"]),
  ...all(inUse, [
    ...["DELETE /clients/:id", "POST /clients/:id/delete", "DELETE /drivers/:id"],
    "POST /drivers/:id/delete",
  ]),
  ...all(open(404), ["GET /sign-in/oidc", "GET /sign-in/oidc/callback"]),
  ...all(admin(200), [
    ...["GET /accounts", "GET /accounts/:id", "POST /accounts/:id/password", "GET /tokens", "GET /backups"],
    ...["POST /backups", "GET /backups/:name", "POST /backups/files/delete", "GET /audit"],
    "GET /audit.csv",
  ]),
  ...all(admin(303), [
    ...["DELETE /accounts/:id", "POST /accounts/:id/delete", "POST /accounts/:id/disable"],
    ...["DELETE /tokens/:id", "POST /tokens/:id/delete"],
  ]),
  ...all(viewer(200, { scope: "printer" }), [
    ...["GET /printers/:id/scripts/:kind", "GET /printers/:id/packages/:format"],
    ...["GET /printers/:id/publish", "GET /printers/:id/preferences"],
  ]),
  ...all(viewer(200, { scope: "client" }), [
    ...["GET /clients/:id/packages/:format", "GET /clients/:id/scripts/:kind", "GET /clients/:id/publish"],
  ]),
  ...all(viewer(200, { scope: "driver" }), [
    ...["GET /drivers/:id/packages/:format", "GET /drivers/:id/scripts/:kind", "GET /drivers/:id/publish"],
  ]),
  "GET /packages/:format": viewer(200, { query: "ids=1" }),
  "GET /search": viewer(200, { query: "q=office" }),
  "POST /printers": operator(200, { fields: { name: "New", ...printer } }),
  "POST /printers/bulk": operator(200, { fields: bulk }),
  "POST /printers/:id": operator(200, { fields: { name: "Renamed", ...printer } }),
  "POST /printers/:id/links": linkOf("printers"),
  "POST /printers/:id/preferences": operator(200, { file: makePreferences(2) }),
  "POST /clients": operator(200, { fields: { name: "New" } }),
  "POST /clients/:id": operator(200, { fields: { name: "Renamed" } }),
  "POST /clients/:id/links": linkOf("clients"),
  "DELETE /signatures": signing(204, { whyUnchanged: "nothing is signed" }),
  "POST /signatures/:sha256": signing(404, { file: Buffer.from(""), whyUnchanged: "no package has it" }),
  "GET /drivers/from-pc": uploading(200),
  "POST /drivers/upload": uploading(200, { file: driverZip({ version: "9.0.0.0" }) }),
  "POST /drivers/:id": operator(200, { fields: { name: "Renamed" } }),
  "GET /drivers/:id/files": viewer(200, { scope: "files" }),
  "POST /drivers/:id/links": linkOf("drivers"),
  "POST /drivers/:id/move": operator(409, { fields: { to: "3" }, whyUnchanged: "there was no preview" }),
  "POST /import": operator(200, { fields: list }),
  "POST /import/preview": operator(200, { fields: list, whyUnchanged: "it is a preview" }),
  "GET /sign-in": open(200, { statuses: signedIn }),
  "POST /sign-in": open(303, { fields: { name: "looks", password: ownPassword } }),
  "GET /sign-in/password": open(303, { statuses: { "a one-time password": 200 } }),
  "POST /sign-in/password": open(303, {
    ...{ fields: chosen, statuses: { "a one-time password": 422 } },
    whyUnchanged: "the current password is another one",
  }),
  "POST /sign-out": open(303, { changesFor: ["a one-time password", "viewer", "operator", "admin"] }),
  "POST /account/password": person(303, { fields: chosen, changesFor: ["viewer", "operator"] }),
  "POST /account/sessions/:id/end": person(303, { whyUnchanged: "the session is another user's" }),
  "POST /account/sessions/end": person(303, { changesFor: ["admin"] }),
  "POST /accounts": admin(200, { fields: { name: "another", role: "viewer" } }),
  "POST /accounts/:id": admin(303, { fields: { role: "operator" } }),
  "POST /accounts/:id/enable": admin(303, { whyUnchanged: "the account is not disabled" }),
  "POST /accounts/:id/sessions/end": admin(303),
  "POST /tokens": admin(200, { fields: { name: "another", scope: "read", days: "30" } }),
  "GET /metrics": viewer(404),
  "GET /signatures": signing(200),
  "GET /signatures/:sha256": signing(404),
  "GET /account": person(200),
};

/** The path of an existing record. @param backup the name of a backup */
export function pathOf(pattern: string, backup: string): string {
  return (
    pattern
      // The links before that one have expired.
      .replace(":id", pattern.startsWith("/links/") ? String(routes.length + 2) : ":id")
      .replace(":id", /^\/(?:accounts|deletions)\//.test(pattern) ? "3" : "1")
      .replace(":kind", "install")
      .replace(":format", "rmm")
      .replace(":page", "intune")
      .replace(":sha256", "0".repeat(64))
      .replace(":name", pattern.startsWith("/static") ? "app.css" : backup)
  );
}
