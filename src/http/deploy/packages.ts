import type { LinkBringer, LinkOwner } from "../../domain/access/link.ts";
import type { DeployedPrinter } from "../../domain/deploy/download.ts";
import { UserError } from "../../domain/errors.ts";
import { cleanText } from "../../domain/fields.ts";
import { narrowPrinters } from "../../domain/printers/search.ts";
import { packagesPage } from "../../html/deploy/packages.ts";
import { narrowedPath } from "../../html/list-filter.ts";
import { paths } from "../../html/paths.ts";
import type { PackageFormat } from "../../pkg/formats/format.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";
import { packagedScripts, type ScriptKind, scriptKinds } from "../../pkg/scripts/render.ts";
import type { NamedPackage } from "../../services/deploy/download-names.ts";
import {
  clientFileName,
  driverFileName,
  scriptFileName,
  scriptName,
  withoutDriverName,
} from "../../services/deploy/download-names.ts";
import type { PrinterPackage } from "../../services/deploy/packages.ts";
import { chosenGroup, clientGroup, requirePrinters } from "../../services/printers/printer-group.ts";
import { bytesDownload, type Download, htmlReply, type Reply } from "../answers/reply.ts";
import { audited } from "../downloads.ts";
import { narrowingIn, withAddress } from "../list-filter.ts";
import { frameOf } from "../page-context.ts";
import { type Context, parseId, type RequestContext } from "../router.ts";
import { serviceUrl } from "../service-url.ts";
import { fetchUrl } from "./links.ts";

/** `GET /packages`, narrowed */
export async function index({ app, request, url }: Context): Promise<Reply> {
  const narrowing = narrowingIn(url.searchParams);
  const printers = (await app.overview.read()).printers.filter(({ driver }) => driver !== undefined);
  const rows = narrowPrinters(printers, narrowing);
  const clients = app.store.clients.names();
  const list = { rows, narrowing, total: printers.length, clients, formats: packageFormats };
  return withAddress(
    request,
    htmlReply(packagesPage(frameOf(request), list)),
    narrowedPath(paths.packages, narrowing),
  );
}

/** `GET /packages/{format}?ids=7&ids=8` or `?ids=7,8`: one package of chosen printers */
export async function ofChosen(context: Context<"format">): Promise<Reply> {
  const { app, params, url } = context;
  const format = formatOf(params.format);
  const isApart = wantsApart(url);
  const group = await chosenGroup(app.overview, {
    format: format.id,
    ids: idsIn(url.searchParams),
    withFailing: withFailing(url),
    isApart,
  });
  return packageDownload(context, format, await app.packages.ofGroup(format, group, { isApart }));
}

/** Each once, in the order of the query. */
function idsIn(query: URLSearchParams): number[] {
  const texts = query.getAll("ids").flatMap((list) => list.split(","));
  return [...new Set(texts.filter((text) => text.trim() !== "").map((text) => parseId(text.trim())))];
}

/** `GET /printers/{id}/scripts/{kind}` */
export const script = scriptDownload("printer", printerScript);

/** `GET /clients/{id}/scripts/{kind}` */
export const clientScript = scriptDownload("client", scriptOfClient);

/** A script as it is downloaded by itself. */
export interface NamedScript {
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** Those that it deploys. */
  readonly printers?: readonly DeployedPrinter[];
}

/** Handles a script's download. @param make throws UserError "not-found", or "invalid" with the remedy */
function scriptDownload(
  owner: LinkOwner["kind"],
  make: (context: Context<"id" | "kind">) => Promise<NamedScript>,
) {
  return async (context: Context<"id" | "kind">): Promise<Reply> => {
    const { bytes, fileName, printers } = await make(context);
    const download = bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName });
    const downloaded = { what: context.params.kind, owner: { kind: owner, id: context.id }, printers };
    return audited(context, downloaded, download);
  };
}

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function printerScript(context: Context<"id" | "kind">): Promise<NamedScript> {
  const { app, id, params, url } = context;
  const kind = kindOf(params.kind);
  const isApart = wantsApart(url);
  const details = app.store.printers.get(id);
  const made = await app.packages.scriptOf(kind, details, {
    filesUrl: filesUrl(context, kind, { kind: "printer", id }),
    isApart,
  });
  const name = withoutDriverName(scriptName(details.printer), isApart);
  return { ...made, fileName: scriptFileName(kind, name) };
}

/** The same for all printers of a client that can be deployed. */
export async function scriptOfClient(context: Context<"id" | "kind">): Promise<NamedScript> {
  const { app, id, params, url } = context;
  const kind = kindOf(params.kind);
  const isApart = wantsApart(url);
  const client = app.store.clients.get(id);
  const group = requirePrinters(await clientGroup(app.overview, client, withFailing(url)));
  const made = await app.packages.scriptOfGroup(kind, group, {
    filesUrl: filesUrl(context, kind, { kind: "client", id }),
    isApart,
  });
  const name = withoutDriverName(clientFileName(client), isApart);
  return { ...made, fileName: scriptFileName(kind, name) };
}

/** @param kinds those that there are */
function kindOf(text: string, kinds: readonly ScriptKind[] = scriptKinds): ScriptKind {
  const kind = kinds.find((candidate) => candidate === text);
  if (kind === undefined) throw new UserError("not-found", "There is no such script.");
  return kind;
}

/**
 * Where an install script fetches drivers; the others fetch nothing, and name no address.
 * @param bringer whose script it is; undefined for a driver's own
 */
function filesUrl(context: RequestContext, kind: ScriptKind, bringer?: LinkBringer) {
  const service = kind === "install" ? serviceUrl(context.request, context.app.config) : undefined;
  if (service === undefined) return undefined;
  return (id: number) => {
    const owner = { kind: "driver", id } as const;
    return fetchUrl(context, service, { owner, address: paths.driverFiles(id), isFiles: true }, bringer);
  };
}

/** `GET /printers/{id}/packages/{format}` */
export async function ofPrinter(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params, url } = context;
  const format = formatOf(params.format);
  const isApart = wantsApart(url);
  const details = app.store.printers.get(id);
  const made = await app.packages.ofPrinter(format, details, { isApart });
  return packageDownload(context, format, made, { kind: "printer", id });
}

/** `GET /clients/{id}/packages/{format}`: all printers that can be deployed; with `?all=1` also what is known to fail */
export async function ofClient(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params, url } = context;
  const format = formatOf(params.format);
  const isApart = wantsApart(url);
  const group = requirePrinters(await clientGroup(app.overview, app.store.clients.get(id), withFailing(url)));
  const made = await app.packages.ofGroup(format, group, { isApart });
  return packageDownload(context, format, made, { kind: "client", id });
}

/** @param made a printer's or several printers' package, or a driver's, which counts for no printer */
function packageDownload(
  context: RequestContext,
  { id }: PackageFormat,
  made: NamedPackage & Partial<Pick<PrinterPackage, "printers">>,
  owner?: LinkOwner,
): Download {
  return audited(context, { what: id, owner, printers: made.printers }, packageReply(made));
}

function withFailing(url: URL): boolean {
  return url.searchParams.get("all") === "1";
}

/** Whether `driver=apart` asks for scripts alone. @throws UserError "invalid" where it says anything else */
function wantsApart({ searchParams }: URL): boolean {
  const asked = searchParams.getAll("driver");
  const other = asked.find((value) => value !== "apart");
  if (other === undefined) return asked.length > 0;
  const said = cleanText(other).slice(0, 40);
  throw new UserError(
    "invalid",
    `“driver=${said}” means nothing here: leave it out for a package with its drivers, or say “driver=apart”.`,
  );
}

function formatOf(id: string): PackageFormat {
  const format = packageFormats.find((candidate) => candidate.id === id);
  if (format === undefined) throw new UserError("not-found", "There is no such package.");
  return format;
}

/** A package, an archive or a driver's files as a download. */
export function packageReply(download: NamedPackage): Download {
  const { file, fileName, contentType } = download;
  const { size, etag } = file;
  const open = () => file.open();
  return { kind: "download", type: contentType, fileName, size, etag, open };
}

// A driver by itself. These downloads count for no printer.

/** `GET /drivers/{id}/packages/{format}` */
export async function ofDriver(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params } = context;
  const format = formatOf(params.format);
  const made = await app.packages.drivers.packageOf(format, app.store.drivers.get(id));
  return packageDownload(context, format, made, { kind: "driver", id });
}

/** `GET /drivers/{id}/scripts/{kind}` */
export const scriptOfDriver = scriptDownload("driver", driverScript);

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function driverScript(context: Context<"id" | "kind">): Promise<NamedScript> {
  const { app, id, params } = context;
  // Those that stand in packages; the other scripts look at printers.
  const kind = kindOf(params.kind, packagedScripts);
  const driver = app.store.drivers.get(id);
  const bytes = await app.packages.drivers.scriptOf(kind, driver, filesUrl(context, kind));
  return { bytes, fileName: scriptFileName(kind, driverFileName(driver)) };
}
