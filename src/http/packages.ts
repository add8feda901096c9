import type { App } from "../app.ts";
import type { Driver } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import { slug } from "../domain/slug.ts";
import { packagesPage } from "../html/packages.ts";
import { paths } from "../html/paths.ts";
import type { PackageFormat } from "../pkg/formats/format.ts";
import { packageFormats } from "../pkg/formats/formats.ts";
import { deploymentOf, type FilesDownload } from "../pkg/scripts/deployment.ts";
import { renderScript, type ScriptKind, scriptKinds } from "../pkg/scripts/render.ts";
import type { NamedPackage } from "../services/packages.ts";
import { assets } from "./assets.ts";
import { bytesDownload, type Download, htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";
import { serviceUrl } from "./service-url.ts";

/** `GET /packages` */
export async function index({ app }: Context): Promise<Reply> {
  const { printers } = await app.overview.read();
  const rows = printers.filter(({ driver }) => driver !== undefined);
  return htmlReply(packagesPage({ assets }, rows, packageFormats));
}

/** `GET /printers/{id}/scripts/{kind}` */
export async function script({ app, request, id, params }: Context<"id" | "kind">): Promise<Reply> {
  const kind = scriptKinds.find((candidate) => candidate === params.kind);
  if (kind === undefined) throw new UserError("not-found", "There is no such script.");
  const deployable = app.packages.deployable(app.store.printers.get(id));
  const service = kind === "install" ? serviceUrl(request, app.config) : undefined;
  const download = service === undefined ? undefined : await filesDownload(app, service, deployable.driver);
  return bytesDownload(renderScript(kind, deploymentOf(deployable, download)), {
    type: "text/plain; charset=utf-8",
    fileName: scriptFileName(kind, deployable.printer.name, id),
  });
}

/**
 * Where the driver's files are for a script that is fetched alone. An archive that is missing or damaged has no
 * digest: the script works all the same on a machine that has the driver, and fails at the download where it has not.
 */
async function filesDownload(app: App, service: string, driver: Driver): Promise<FilesDownload> {
  const url = service + paths.driverFiles(driver.id);
  try {
    return { url, sha256: await app.packages.filesDigest(driver) };
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid") return { url, sha256: "" };
    throw error;
  }
}

function scriptFileName(kind: ScriptKind, name: string, id: number): string {
  return `${kind}-${slug(name) || `printer-${id}`}.ps1`;
}

/** `GET /printers/{id}/packages/{format}` */
export async function ofPrinter({ app, id, params }: Context<"id" | "format">): Promise<Reply> {
  const format = formatOf(params.format);
  return packageReply(await app.packages.ofPrinter(format, app.store.printers.get(id)));
}

/** `GET /clients/{id}/packages/{format}` */
export async function ofClient({ app, id, params }: Context<"id" | "format">): Promise<Reply> {
  const format = formatOf(params.format);
  return packageReply(await app.packages.ofClient(format, app.store.clients.get(id)));
}

function formatOf(id: string): PackageFormat {
  const format = packageFormats.find((candidate) => candidate.id === id);
  if (format === undefined) throw new UserError("not-found", "There is no such package.");
  return format;
}

/** A package, an archive or a driver's files as a download. */
export function packageReply(download: NamedPackage): Download {
  const { file, fileName, contentType, isEncrypted, isResumable } = download;
  const { size, etag } = file;
  const open = () => file.open();
  return { kind: "download", type: contentType, fileName, size, etag, isEncrypted, isResumable, open };
}
