import type { AuditedRecord } from "../domain/audit.ts";
import type { DriverSummary } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { packagedScripts, type ScriptKind } from "../pkg/scripts/render.ts";
import { driverFileName, scriptFileName } from "../services/download-names.ts";
import { bytesDownload, type Reply } from "./answers/reply.ts";
import { audited } from "./downloads.ts";
import { filesUrl, formatOf, packageReply } from "./packages.ts";
import type { Context } from "./router.ts";

// A driver by itself. These downloads count for no printer.

/** `GET /drivers/{id}/packages/{format}` */
export async function show(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params } = context;
  const format = formatOf(params.format);
  const driver = app.store.drivers.get(id);
  const reply = packageReply(await app.packages.drivers.packageOf(format, driver));
  return audited(context, { what: format.id, record: driverRecord(driver) }, reply);
}

/** A driver as the audit log names it. */
export function driverRecord(driver: DriverSummary): AuditedRecord {
  const { id, name, driver_desc, file_name } = driver;
  return { kind: "driver", id, name: name || driver_desc || file_name };
}

/** `GET /drivers/{id}/scripts/{kind}` */
export async function script(context: Context<"id" | "kind">): Promise<Reply> {
  const { bytes, fileName } = await driverScript(context);
  const reply = bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName });
  const record = driverRecord(context.app.store.drivers.get(context.id));
  return audited(context, { what: context.params.kind, record }, reply);
}

interface DriverScript {
  readonly bytes: Uint8Array;
  readonly fileName: string;
}

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function driverScript(context: Context<"id" | "kind">): Promise<DriverScript> {
  const { app, id, params } = context;
  const kind = kindOf(params.kind);
  const driver = app.store.drivers.get(id);
  const bytes = await app.packages.drivers.scriptOf(kind, driver, filesUrl(context, kind));
  return { bytes, fileName: scriptFileName(kind, driverFileName(driver)) };
}

/** What stands in packages; the other scripts look at printers. */
function kindOf(text: string): ScriptKind {
  const kind = packagedScripts.find((candidate) => candidate === text);
  if (kind === undefined) throw new UserError("not-found", "There is no such script of a driver.");
  return kind;
}
