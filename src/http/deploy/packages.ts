import type { LinkOwner } from "../../domain/access/link.ts";
import type { DeployedPrinter } from "../../domain/deploy/download.ts";
import { missingPage, UserError } from "../../domain/errors.ts";
import { cleanText } from "../../domain/fields.ts";
import { narrowPrinters } from "../../domain/printers/search.ts";
import { packagesPage } from "../../html/deploy/packages.ts";
import { narrowedPath } from "../../html/list-filter.ts";
import { paths, pathsOf } from "../../html/paths.ts";
import type { PackageFormat } from "../../pkg/formats/format.ts";
import { packageFormats } from "../../pkg/formats/formats.ts";
import { packagedScripts, type ScriptKind, scriptKinds } from "../../pkg/scripts/render.ts";
import { type ScriptTool, scriptForTool, scriptTools } from "../../pkg/scripts/tool-scripts.ts";
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
import { audited } from "../audited-downloads.ts";
import { narrowingIn, withListUrl } from "../list-filter.ts";
import { doneMessage, pageContextOf } from "../page-context.ts";
import { type Context, parseId, type RequestContext } from "../router.ts";
import { serviceUrl } from "../service-url.ts";
import { type ScriptContext, urlsIn } from "./owners.ts";

/** `GET /packages`, with filters */
export async function index({ app, request, url }: Context): Promise<Reply> {
  const narrowing = narrowingIn(url.searchParams);
  const printers = (await app.overview.read()).printers.filter(({ driver }) => driver !== undefined);
  const rows = narrowPrinters(printers, narrowing);
  const { clients } = app.store;
  const withPrinters = new Set(printers.map(({ client }) => client?.id));
  const withoutTenant = clients
    .list()
    .filter(({ id, tenant_id }) => tenant_id === "" && withPrinters.has(id))
    .map(({ name }) => name);
  const list = {
    ...{ rows, narrowing, total: printers.length, formats: packageFormats, withoutTenant },
    clients: clients.names(),
    signed: await app.signing.countAll(),
  };
  const message = doneMessage(url, { signatures: "All signatures are deleted." });
  return withListUrl(
    request,
    htmlReply(packagesPage(pageContextOf(request, message), list)),
    narrowedPath(paths.packages, narrowing),
  );
}

/** `GET /packages/{format}?ids=7&ids=8` or `?ids=7,8`: one package of chosen printers */
export async function ofChosen(context: Context<"format">): Promise<Reply> {
  const { app, params, url } = context;
  const format = formatOf(params.format);
  const omitsDriver = wantsApart(url);
  const group = await chosenGroup(app.overview, {
    format: format.id,
    ids: idsIn(url.searchParams),
    withFailing: withFailing(url),
    omitsDriver,
  });
  return packageDownload(context, format, await app.packages.ofGroup(format, group, { omitsDriver }));
}

/** The ids without duplicates, in the order of the query. */
function idsIn(query: URLSearchParams): number[] {
  const texts = query.getAll("ids").flatMap((list) => list.split(","));
  return [...new Set(texts.filter((text) => text.trim() !== "").map((text) => parseId(text.trim())))];
}

/** `GET /printers/{id}/scripts/{kind}` */
export const scriptOfPrinter = scriptDownload("printer", printerScript);

/** `GET /clients/{id}/scripts/{kind}` */
export const scriptOfClient = scriptDownload("client", clientScript);

export interface NamedScript {
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** The printers that it deploys. */
  readonly printers?: readonly DeployedPrinter[];
}

type ScriptRequest = ScriptContext & Context<"id" | "kind">;

/** Makes a handler that downloads a script. */
function scriptDownload(owner: LinkOwner["kind"], make: (context: ScriptRequest) => Promise<NamedScript>) {
  return async (context: Context<"id" | "kind">): Promise<Reply> => {
    const { bytes, fileName, printers } = await make(context);
    const download = bytesDownload(bytes, { type: "text/plain; charset=utf-8", fileName });
    const downloaded = { what: context.params.kind, owner: { kind: owner, id: context.id }, printers };
    return audited(context, downloaded, download);
  };
}

/** @throws UserError "not-found", or "invalid" with the remedy */
export async function printerScript(context: ScriptRequest): Promise<NamedScript> {
  const { app, id, params, url } = context;
  const kind = kindOf(params.kind);
  const omitsDriver = wantsApart(url);
  const details = app.store.printers.get(id);
  const made = await app.packages.scriptOf(kind, details, {
    ...(await downloadUrls(context, kind, { kind: "printer", id })),
    omitsDriver,
  });
  const name = withoutDriverName(scriptName(details.printer), omitsDriver);
  return forTool(context, { ...made, fileName: scriptFileName(kind, name) });
}

/** @throws UserError as `printerScript` does */
export async function clientScript(context: ScriptRequest): Promise<NamedScript> {
  const { app, id, params, url } = context;
  const kind = kindOf(params.kind);
  const omitsDriver = wantsApart(url);
  const client = app.store.clients.get(id);
  const group = requirePrinters(await clientGroup(app.overview, client, withFailing(url)));
  const made = await app.packages.scriptOfGroup(kind, group, {
    ...(await downloadUrls(context, kind, { kind: "client", id })),
    omitsDriver,
  });
  const name = withoutDriverName(clientFileName(client), omitsDriver);
  return forTool(context, { ...made, fileName: scriptFileName(kind, name) });
}

/** @throws UserError "not-found" for anything but `kinds` */
function kindOf(text: string, kinds: readonly ScriptKind[] = scriptKinds): ScriptKind {
  const kind = kinds.find((candidate) => candidate === text);
  if (kind === undefined) throw missingPage();
  return kind;
}

/** The functions that make the URLs in an install script. Undefined for other scripts. */
async function downloadUrls(context: ScriptContext, kind: ScriptKind, owner: LinkOwner) {
  const service = kind === "install" ? serviceUrl(context.request) : undefined;
  if (service === undefined) return { filesUrl: undefined, preferencesUrl: undefined };
  const url = await urlsIn(context, service, pathsOf(owner).script(kind));
  return {
    filesUrl: (id: number) => url(paths.driverFiles(id)),
    preferencesUrl: (id: number) => url(paths.preferences(id)),
  };
}

/** `GET /printers/{id}/packages/{format}` */
export async function ofPrinter(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params, url } = context;
  const format = formatOf(params.format);
  const omitsDriver = wantsApart(url);
  const details = app.store.printers.get(id);
  const made = await app.packages.ofPrinter(format, details, { omitsDriver });
  return packageDownload(context, format, made, { kind: "printer", id });
}

/** `GET /clients/{id}/packages/{format}`: its deployable printers; with `?all=1` also those that are known to fail */
export async function ofClient(context: Context<"id" | "format">): Promise<Reply> {
  const { app, id, params, url } = context;
  const format = formatOf(params.format);
  const omitsDriver = wantsApart(url);
  const group = requirePrinters(await clientGroup(app.overview, app.store.clients.get(id), withFailing(url)));
  const made = await app.packages.ofGroup(format, group, { omitsDriver });
  return packageDownload(context, format, made, { kind: "client", id });
}

/** @param made has no `printers` if it is a driver's package, whose download is no deployment of a printer */
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

/** Whether `driver=apart` requests a package or script without drivers. @throws UserError "invalid" for other values */
function wantsApart({ searchParams }: URL): boolean {
  const requested = searchParams.getAll("driver");
  const other = requested.find((value) => value !== "apart");
  if (other === undefined) return requested.length > 0;
  const shortened = cleanText(other).slice(0, 40);
  throw new UserError(
    "invalid",
    `“driver=${shortened}” is not valid. Use “driver=apart”, or remove the parameter.`,
  );
}

/**
 * With `for=n-sight`, for example, makes the script for that tool. Scripts that need no translation stay as they are, with
 * their signatures.
 */
async function forTool<T extends NamedScript>(context: Context<"id" | "kind">, script: T): Promise<T> {
  const { app, params, url } = context;
  const tool = toolIn(url);
  if (tool?.kinds.some((kind) => kind === params.kind) !== true)
    return { ...script, bytes: await app.signing.signed(script.bytes) };
  const fileName = script.fileName.replace(/\.ps1$/, `-${tool.id}.ps1`);
  return { ...script, fileName, bytes: scriptForTool(tool, script.bytes) };
}

/** @throws UserError "invalid" for another value of `for` than the known tools */
function toolIn({ searchParams }: URL): ScriptTool | undefined {
  const requested = searchParams.get("for");
  const tool = scriptTools.find(({ id }) => id === requested);
  if (requested === null || tool !== undefined) return tool;
  const known = scriptTools.map(({ id }) => `“for=${id}”`).join(" or ");
  const shortened = cleanText(requested).slice(0, 40);
  throw new UserError("invalid", `“for=${shortened}” is not valid. Use ${known}, or remove the parameter.`);
}

function formatOf(id: string): PackageFormat {
  const format = packageFormats.find((candidate) => candidate.id === id);
  if (format === undefined) throw missingPage();
  return format;
}

export function packageReply({ file, fileName, contentType: type }: NamedPackage): Download {
  const { size, etag } = file;
  return { kind: "download", type, fileName, size, etag, open: () => file.open() };
}

// Downloads of drivers, which are not deployments of printers.

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
export async function driverScript(context: ScriptRequest): Promise<NamedScript> {
  const { app, id, params } = context;
  // A driver has only the scripts that packages contain. The others are about printers.
  const kind = kindOf(params.kind, packagedScripts);
  const driver = app.store.drivers.get(id);
  const { filesUrl } = await downloadUrls(context, kind, { kind: "driver", id });
  const bytes = await app.packages.drivers.scriptOf(kind, driver, filesUrl);
  return forTool(context, { bytes, fileName: scriptFileName(kind, driverFileName(driver)) });
}
