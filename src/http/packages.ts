import type { App } from "../app.ts";
import { needsSignIn } from "../config.ts";
import type { Identity } from "../domain/access.ts";
import type { AuditedRecord } from "../domain/audit.ts";
import { UserError } from "../domain/errors.ts";
import { cleanText } from "../domain/fields.ts";
import type { LinkBringer } from "../domain/link.ts";
import { narrowPrinters } from "../domain/search.ts";
import { narrowedPath } from "../html/narrowing.ts";
import { packagesPage } from "../html/packages.ts";
import { paths } from "../html/paths.ts";
import type { PackageFormat } from "../pkg/formats/format.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { type ScriptKind, scriptKinds } from "../pkg/scripts/render.ts";
import { clientFileName, scriptFileName, scriptName, withoutDriverName } from "../services/download-names.ts";
import type { NamedPackage } from "../services/named-package.ts";
import type { MadeScript, PrinterPackage } from "../services/packages.ts";
import { chosenGroup, clientGroup, requirePrinters } from "../services/printer-group.ts";
import { senderOf } from "./access/sender.ts";
import { bytesDownload, type Download, htmlReply, type Reply } from "./answers/reply.ts";
import { counting } from "./downloads.ts";
import { frameOf } from "./frame.ts";
import { narrowingIn, withAddress } from "./narrowing.ts";
import { type Context, parseId, type RequestContext } from "./router.ts";
import { serviceUrl } from "./service-url.ts";

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
  return countedPackage(context, format, await app.packages.ofGroup(format, group, { isApart }));
}

/** Each once, in the order of the query. */
function idsIn(query: URLSearchParams): number[] {
  const texts = query.getAll("ids").flatMap((list) => list.split(","));
  return [...new Set(texts.filter((text) => text.trim() !== "").map((text) => parseId(text.trim())))];
}

/** `GET /printers/{id}/scripts/{kind}` */
export async function script(context: Context<"id" | "kind">): Promise<Reply> {
  const { printer } = context.app.store.printers.get(context.id);
  const record = { kind: "printer", id: context.id, name: printer.name } as const;
  return scriptReply(context, await printerScript(context), record);
}

/** `GET /clients/{id}/scripts/{kind}` */
export async function clientScript(context: Context<"id" | "kind">): Promise<Reply> {
  return scriptReply(context, await scriptOfClient(context), clientRecord(context));
}

/** A script as it is downloaded by itself. */
interface NamedScript extends MadeScript {
  readonly kind: ScriptKind;
  readonly fileName: string;
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
  return { ...made, kind, fileName: scriptFileName(kind, name) };
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
  return { ...made, kind, fileName: scriptFileName(kind, name) };
}

function kindOf(text: string): ScriptKind {
  const kind = scriptKinds.find((candidate) => candidate === text);
  if (kind === undefined) throw new UserError("not-found", "There is no such script.");
  return kind;
}

/**
 * Where an install script fetches drivers; the others fetch nothing, and name no address.
 * @param bringer whose script it is; undefined for a driver's own
 */
export function filesUrl({ app, request }: RequestContext, kind: ScriptKind, bringer?: LinkBringer) {
  const service = kind === "install" ? serviceUrl(request, app.config) : undefined;
  if (service === undefined) return undefined;
  const { identity } = senderOf(request);
  return (driverId: number) => service + filesAddress(app, driverId, identity, bringer);
}

/** With a link where people have to sign in: the machine that runs the script cannot. */
function filesAddress(
  { config, links }: App,
  driverId: number,
  by: Identity,
  bringer: LinkBringer | undefined,
): string {
  const address = paths.driverFiles(driverId);
  if (!needsSignIn(config)) return address;
  const owner = { kind: "driver", id: driverId } as const;
  return links.make({ owner, address, isFiles: true }, { days: config.linkDays, by, bringer }).address;
}

function scriptReply(
  context: RequestContext,
  { kind, fileName, bytes, printers }: NamedScript,
  record: AuditedRecord,
): Download {
  const download = bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName });
  return counting(context, { what: kind, record }, printers, download);
}

function clientRecord({ app, id }: Context<"id">): AuditedRecord {
  return { kind: "client", id, name: app.store.clients.get(id).name };
}

/** `GET /printers/{id}/packages/{format}` */
export async function ofPrinter(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params, url } = context;
  const format = formatOf(params.format);
  const isApart = wantsApart(url);
  const details = app.store.printers.get(id);
  const record = { kind: "printer", id, name: details.printer.name } as const;
  return countedPackage(context, format, await app.packages.ofPrinter(format, details, { isApart }), record);
}

/** `GET /clients/{id}/packages/{format}`: all printers that can be deployed; with `?all=1` also what is known to fail */
export async function ofClient(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params, url } = context;
  const format = formatOf(params.format);
  const isApart = wantsApart(url);
  const group = requirePrinters(await clientGroup(app.overview, app.store.clients.get(id), withFailing(url)));
  const made = await app.packages.ofGroup(format, group, { isApart });
  return countedPackage(context, format, made, clientRecord(context));
}

function countedPackage(
  context: RequestContext,
  { id }: PackageFormat,
  made: PrinterPackage,
  record?: AuditedRecord,
): Download {
  return counting(context, { what: id, record }, made.printers, packageReply(made));
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

export function formatOf(id: string): PackageFormat {
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
