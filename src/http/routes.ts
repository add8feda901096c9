import * as assets from "./assets.ts";
import * as bulk from "./bulk.ts";
import * as clients from "./clients.ts";
import * as dashboard from "./dashboard.ts";
import * as driverPackages from "./driver-packages.ts";
import * as driverPage from "./driver-page.ts";
import * as drivers from "./drivers.ts";
import * as health from "./health.ts";
import * as icons from "./icons.ts";
import * as imports from "./import.ts";
import * as movePrinters from "./move-printers.ts";
import * as packages from "./packages.ts";
import * as printerPage from "./printer-page.ts";
import * as printers from "./printers.ts";
import { del, download, get, page, post, postList, postPrinter, type Route } from "./router.ts";
import * as scriptPages from "./script-pages.ts";
import * as search from "./search.ts";
import * as undo from "./undo.ts";

/** Every address of the service. */
export const routes: readonly Route[] = [
  get("/health", health.show),
  page("/", dashboard.show),
  page("/packages", packages.index),
  download("/packages/:format", packages.ofChosen),
  page("/search", search.show),

  page("/printers", printers.index),
  postPrinter("/printers", printers.create),
  post("/printers/bulk", bulk.change),
  page("/printers/:id", printerPage.show),
  postPrinter("/printers/:id", printers.update),
  del("/printers/:id", printers.remove),
  page("/printers/:id/edit", printers.edit),
  post("/printers/:id/delete", printers.remove),
  download("/printers/:id/scripts/:kind", packages.script),
  page("/printers/:id/read/:kind", scriptPages.ofPrinter),
  download("/printers/:id/packages/:format", packages.ofPrinter),
  get("/printers/:id/icon", icons.show),
  post("/printers/:id/icon", icons.upload),
  del("/printers/:id/icon", icons.remove),
  post("/printers/:id/icon/delete", icons.remove),

  page("/clients", clients.index),
  post("/clients", clients.create),
  page("/clients/:id", clients.show),
  post("/clients/:id", clients.update),
  del("/clients/:id", clients.remove),
  post("/clients/:id/delete", clients.remove),
  download("/clients/:id/packages/:format", packages.ofClient),
  download("/clients/:id/scripts/:kind", packages.clientScript),
  page("/clients/:id/read/:kind", scriptPages.ofClient),

  page("/drivers", drivers.index),
  post("/drivers/upload", drivers.upload),
  page("/drivers/:id", driverPage.show),
  post("/drivers/:id", driverPage.update),
  del("/drivers/:id", driverPage.remove),
  post("/drivers/:id/delete", driverPage.remove),
  download("/drivers/:id/archive", drivers.archive),
  download("/drivers/:id/files", drivers.files),
  download("/drivers/:id/packages/:format", driverPackages.show),
  download("/drivers/:id/scripts/:kind", driverPackages.script),
  page("/drivers/:id/read/:kind", scriptPages.ofDriver),
  page("/drivers/:id/models", driverPage.models),
  page("/drivers/:id/move", movePrinters.show),
  post("/drivers/:id/move", movePrinters.move),

  post("/deletions/:id/undo", undo.restore),
  del("/deletions/:id", undo.end),
  post("/deletions/:id/delete", undo.end),
  download("/export/printers.csv", imports.exportPrinters),
  page("/import", imports.show),
  postList("/import", imports.run),
  get("/import/preview", imports.back),
  postList("/import/preview", imports.preview),

  get("/static/:name", assets.show),
  get("/favicon.ico", assets.favicon),
];
