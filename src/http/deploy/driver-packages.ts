import { packagedScripts } from "../../pkg/scripts/render.ts";
import { driverFileName, scriptFileName } from "../../services/deploy/download-names.ts";
import type { Reply } from "../answers/reply.ts";
import type { Context } from "../router.ts";
import { filesUrl, formatOf, kindOf, type NamedScript, packageDownload, scriptDownload } from "./packages.ts";

// A driver by itself. These downloads count for no printer.

/** `GET /drivers/{id}/packages/{format}` */
export async function show(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params } = context;
  const format = formatOf(params.format);
  const made = await app.packages.drivers.packageOf(format, app.store.drivers.get(id));
  return packageDownload(context, format, made, { kind: "driver", id });
}

/** `GET /drivers/{id}/scripts/{kind}` */
export const script = scriptDownload("driver", driverScript);

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function driverScript(context: Context<"id" | "kind">): Promise<NamedScript> {
  const { app, id, params } = context;
  // Those that stand in packages; the other scripts look at printers.
  const kind = kindOf(params.kind, packagedScripts);
  const driver = app.store.drivers.get(id);
  const bytes = await app.packages.drivers.scriptOf(kind, driver, filesUrl(context, kind));
  return { bytes, fileName: scriptFileName(kind, driverFileName(driver)) };
}
