import * as account from "./access/account.ts";
import * as accounts from "./access/accounts.ts";
import * as oidc from "./access/oidc.ts";
import * as signIn from "./access/sign-in.ts";
import * as tokens from "./access/tokens.ts";
import * as assets from "./assets.ts";
import * as audit from "./audit/audit.ts";
import * as backups from "./backup/backups.ts";
import * as undo from "./backup/undo.ts";
import * as dashboard from "./dashboard.ts";
import * as links from "./deploy/links.ts";
import * as packages from "./deploy/packages.ts";
import * as publish from "./deploy/publish.ts";
import * as scriptPages from "./deploy/script-pages.ts";
import * as signatures from "./deploy/signatures.ts";
import * as drivers from "./drivers/drivers.ts";
import * as help from "./help.ts";
import * as imports from "./import/import.ts";
import * as metrics from "./metrics.ts";
import * as bulk from "./printers/bulk.ts";
import * as clients from "./printers/clients.ts";
import * as movePrinters from "./printers/move-printers.ts";
import * as printerFiles from "./printers/printer-files.ts";
import * as printers from "./printers/printers.ts";
import * as search from "./printers/search.ts";
import { del, download, get, page, post, postList, postPrinter, type Route, requires } from "./router.ts";

/**
 * Every route of the service: its path, who may use it when sign-in is on, its handler, and the kind of record in its path
 * if links, and tokens of one client or printer, can open it.
 */
export const routes: readonly Route[] = [
  get("/health", "open", dashboard.health),
  requires("metrics", get("/metrics", "measuring", metrics.show)),
  page("/", "viewer", dashboard.show),
  page("/packages", "viewer", packages.index),
  download("/packages/:format", "viewer", packages.ofChosen),
  page("/search", "viewer", search.show),
  page("/help", "viewer", help.index),
  page("/help/:page", "viewer", help.show),

  page("/printers", "viewer", printers.index),
  postPrinter("/printers", "operator", printers.create),
  post("/printers/bulk", "operator", bulk.change),
  page("/printers/:id", "viewer", printers.show),
  postPrinter("/printers/:id", "operator", printers.update),
  del("/printers/:id", "operator", printers.remove),
  page("/printers/:id/edit", "operator", printers.edit),
  post("/printers/:id/delete", "operator", printers.remove),
  download("/printers/:id/scripts/:kind", "viewer", packages.scriptOfPrinter, "printer"),
  page("/printers/:id/read/:kind", "viewer", scriptPages.ofPrinter),
  requires("sign-in", post("/printers/:id/links", "operator", links.ofPrinter)),
  requires("sign-in", post("/printers/:id/links/end", "operator", links.endPrinter)),
  download("/printers/:id/packages/:format", "viewer", packages.ofPrinter, "printer"),
  download("/printers/:id/publish", "viewer", publish.ofPrinter, "printer"),
  get("/printers/:id/icon", "viewer", printerFiles.showIcon),
  post("/printers/:id/icon", "operator", printerFiles.uploadIcon),
  del("/printers/:id/icon", "operator", printerFiles.removeIcon),
  post("/printers/:id/icon/delete", "operator", printerFiles.removeIcon),
  get("/printers/:id/preferences", "viewer", printerFiles.showPreferences, "printer"),
  post("/printers/:id/preferences", "operator", printerFiles.uploadPreferences),
  del("/printers/:id/preferences", "operator", printerFiles.removePreferences),
  post("/printers/:id/preferences/delete", "operator", printerFiles.removePreferences),

  page("/clients", "viewer", clients.index),
  post("/clients", "operator", clients.create),
  page("/clients/:id", "viewer", clients.show),
  post("/clients/:id", "operator", clients.update),
  del("/clients/:id", "operator", clients.remove),
  post("/clients/:id/delete", "operator", clients.remove),
  get("/clients/:id/icon", "viewer", printerFiles.showClientIcon),
  post("/clients/:id/icon", "operator", printerFiles.uploadClientIcon),
  del("/clients/:id/icon", "operator", printerFiles.removeClientIcon),
  post("/clients/:id/icon/delete", "operator", printerFiles.removeClientIcon),
  download("/clients/:id/packages/:format", "viewer", packages.ofClient, "client"),
  download("/clients/:id/scripts/:kind", "viewer", packages.scriptOfClient, "client"),
  download("/clients/:id/publish", "viewer", publish.ofClient, "client"),
  page("/clients/:id/read/:kind", "viewer", scriptPages.ofClient),
  requires("sign-in", post("/clients/:id/links", "operator", links.ofClient)),
  requires("sign-in", post("/clients/:id/links/end", "operator", links.endClient)),

  download("/publish", "operator", publish.ofAll),
  get("/sign", "operator", signatures.script),
  get("/signatures", "signing", signatures.index),
  del("/signatures", "operator", signatures.removeAll),
  post("/signatures/delete", "operator", signatures.removeAll),
  get("/signatures/:sha256", "signing", signatures.show),
  post("/signatures/:sha256", "signing", signatures.add),

  page("/drivers", "viewer", drivers.index),
  post("/drivers/upload", "uploading", drivers.upload),
  get("/drivers/from-pc", "uploading", drivers.fromPc),
  page("/drivers/:id", "viewer", drivers.show),
  post("/drivers/:id", "operator", drivers.update),
  del("/drivers/:id", "operator", drivers.remove),
  post("/drivers/:id/delete", "operator", drivers.remove),
  download("/drivers/:id/archive", "viewer", drivers.archive),
  download("/drivers/:id/files", "viewer", drivers.files, "files"),
  download("/drivers/:id/packages/:format", "viewer", packages.ofDriver, "driver"),
  download("/drivers/:id/scripts/:kind", "viewer", packages.scriptOfDriver, "driver"),
  download("/drivers/:id/publish", "viewer", publish.ofDriver, "driver"),
  page("/drivers/:id/read/:kind", "viewer", scriptPages.ofDriver),
  requires("sign-in", post("/drivers/:id/links", "operator", links.ofDriver)),
  requires("sign-in", post("/drivers/:id/links/end", "operator", links.endDriver)),
  page("/drivers/:id/models", "viewer", drivers.models),
  page("/drivers/:id/move", "operator", movePrinters.show),
  post("/drivers/:id/move", "operator", movePrinters.move),

  post("/deletions/:id/undo", "operator", undo.restore),
  del("/deletions/:id", "operator", undo.end),
  post("/deletions/:id/delete", "operator", undo.end),
  download("/export/printers.csv", "viewer", imports.download),
  page("/import", "operator", imports.show),
  postList("/import", "operator", imports.run),
  get("/import/preview", "operator", imports.redirectToForm),
  postList("/import/preview", "operator", imports.preview),

  page("/sign-in", "open", signIn.show),
  requires("passwords", post("/sign-in", "open", signIn.signIn)),
  requires("passwords", get("/sign-in/password", "open", signIn.showFirstPassword)),
  requires("passwords", post("/sign-in/password", "open", signIn.changeFirstPassword)),
  requires("sessions", post("/sign-out", "open", signIn.signOut)),
  requires("oidc", get("/sign-in/oidc", "open", oidc.begin)),
  requires("oidc", get("/sign-in/oidc/callback", "open", oidc.finish)),
  requires("sign-in", page("/account", "person", account.show)),
  requires("passwords", post("/account/password", "person", account.changePassword)),
  requires("sessions", post("/account/sessions/:id/end", "person", account.endSession)),
  requires("sessions", post("/account/sessions/end", "person", account.endOthers)),
  requires("sign-in", page("/accounts", "admin", accounts.index)),
  requires("sign-in", post("/accounts", "admin", accounts.create)),
  requires("sign-in", page("/accounts/:id", "admin", accounts.show)),
  requires("sign-in", post("/accounts/:id", "admin", accounts.setRole)),
  requires("sign-in", del("/accounts/:id", "admin", accounts.remove)),
  requires("sign-in", post("/accounts/:id/delete", "admin", accounts.remove)),
  requires("passwords", post("/accounts/:id/password", "admin", accounts.resetPassword)),
  requires("sign-in", post("/accounts/:id/disable", "admin", accounts.disable)),
  requires("sign-in", post("/accounts/:id/enable", "admin", accounts.enable)),
  requires("sign-in", post("/accounts/:id/sessions/end", "admin", accounts.endAccess)),
  requires("sign-in", page("/tokens", "admin", tokens.index)),
  requires("sign-in", post("/tokens", "admin", tokens.create)),
  requires("sign-in", del("/tokens/:id", "admin", tokens.revoke)),
  requires("sign-in", post("/tokens/:id/delete", "admin", tokens.revoke)),
  requires("sign-in", del("/links/:id", "operator", links.end)),
  requires("sign-in", post("/links/:id/delete", "operator", links.end)),

  page("/backups", "admin", backups.index),
  post("/backups", "admin", backups.make),
  get("/backups/:name", "admin", backups.download),
  post("/backups/files/delete", "admin", backups.deleteFiles),
  page("/audit", "admin", audit.show),
  download("/audit.csv", "admin", audit.csv),

  get("/static/:name", "open", assets.show),
  get("/favicon.ico", "open", assets.favicon),
];
