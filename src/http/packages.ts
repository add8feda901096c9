import { UserError } from "../domain/errors.ts";
import { packagesPage } from "../html/packages.ts";
import { deploymentOf } from "../pkg/deployment.ts";
import { slug } from "../pkg/file-names.ts";
import { type PackageFormat, packageFormats } from "../pkg/format.ts";
import { renderScript, type ScriptKind, scriptKinds } from "../pkg/scripts.ts";
import type { NamedPackage } from "../services/build-package.ts";
import { assets } from "./assets.ts";
import { bytesDownload, type Download, htmlReply, type Reply } from "./reply.ts";
import type { Context } from "./router.ts";
import { serviceUrl } from "./service-url.ts";

/** `GET /packages` */
export function index({ app }: Context): Reply {
  const rows = app.store.printers.list().filter(({ driver }) => driver !== undefined);
  return htmlReply(packagesPage({ assets }, rows));
}

/** `GET /printers/{id}/scripts/{kind}` */
export function script({ app, request, id, params }: Context<"id" | "kind">): Reply {
  const kind = scriptKinds.find((candidate) => candidate === params.kind);
  if (kind === undefined) throw new UserError("not-found", "There is no such script.");
  const listing = app.store.printers.get(id);
  const deployable = app.packages.deployable(listing);
  const bytes = renderScript(kind, deploymentOf(deployable, serviceUrl(request, app.config)));
  const { printer } = deployable;
  return bytesDownload(bytes, {
    type: "text/plain; charset=utf-8",
    fileName: scriptFileName(kind, printer.name, id),
  });
}

function scriptFileName(kind: ScriptKind, name: string, id: number): string {
  return `${kind}-${slug(name) || `printer-${id}`}.ps1`;
}

/** `GET /printers/{id}/packages/{format}` */
export async function ofPrinter({ app, id, params }: Context<"id" | "format">): Promise<Reply> {
  const format = formatOf(params.format);
  return packageReply(format, await app.packages.ofPrinter(format, app.store.printers.get(id)));
}

/** `GET /clients/{id}/packages/{format}` */
export async function ofClient({ app, id, params }: Context<"id" | "format">): Promise<Reply> {
  const format = formatOf(params.format);
  return packageReply(format, await app.packages.ofClient(format, app.store.clients.get(id)));
}

function formatOf(id: string): PackageFormat {
  const format = packageFormats.find((candidate) => candidate.id === id);
  if (format === undefined) throw new UserError("not-found", "There is no such package.");
  return format;
}

function packageReply({ isSealed }: PackageFormat, { file, fileName }: NamedPackage): Download {
  const type = fileName.endsWith(".zip") ? "application/zip" : "application/octet-stream";
  const { size, etag } = file;
  return {
    kind: "download",
    type,
    fileName,
    size,
    etag,
    isSealed,
    prepare: () => file.prepare(),
    chunks: (start, end) => file.chunks(start, end),
  };
}
