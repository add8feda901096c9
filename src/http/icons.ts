import type { App } from "../app.ts";
import { UserError } from "../domain/errors.ts";
import { checkIcon, iconLimitBytes, iconTooLarge } from "../domain/icon.ts";
import { paths } from "../html/paths.ts";
import { iconStatusBody } from "../html/printer.ts";
import { pngTools } from "../services/png-tools.ts";
import type { Incoming } from "../store/blobs.ts";
import { statusReply } from "./errors.ts";
import { isNavigation } from "./forms.ts";
import { receiveFile } from "./multipart.ts";
import { htmlReply, type Reply, redirect } from "./reply.ts";
import type { Context } from "./router.ts";

/** `POST /printers/{id}/icon` */
export async function upload({ app, request, id }: Context<"id">): Promise<Reply> {
  const refused = await refusal(async () => {
    app.store.printers.get(id);
    const { blobs } = app.store;
    const { result } = await receiveFile(request, {
      limitBytes: iconLimitBytes,
      tooLarge: iconTooLarge,
      receive: (stream) => blobs.receive(stream),
      discard: (incoming) => blobs.discard(incoming),
    });
    await keepIcon(app, id, result);
  });
  if (refused === undefined && isNavigation(request)) return redirect(paths.printer(id));
  if (refused === undefined) return htmlReply(iconStatusBody(id, app.store.icons.find(id)));
  if (isNavigation(request)) return statusReply(request, refused.status, refused.message);
  return htmlReply(iconStatusBody(id, app.store.icons.find(id), refused.message), refused.status);
}

/** An icon that is refused is answered in its place on the page; everything else is an error as elsewhere. */
async function refusal(
  work: () => Promise<void>,
): Promise<{ status: 413 | 422; message: string } | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError) || !["invalid", "too-large"].includes(error.problem)) throw error;
    return { status: error.problem === "too-large" ? 413 : 422, message: error.message };
  }
}

async function keepIcon(app: App, printerId: number, incoming: Incoming): Promise<void> {
  const { blobs, icons } = app.store;
  try {
    checkIcon(await readWhole(app, incoming.path), pngTools);
    const before = icons.find(printerId);
    await blobs.keepIcon(incoming);
    await icons.put(printerId, incoming);
    if (before !== undefined) await removeUnusedIcon(app, before.sha256);
  } finally {
    await blobs.discard(incoming);
    await removeUnusedIcon(app, incoming.sha256);
  }
}

async function readWhole(app: App, path: string): Promise<Buffer> {
  const source = await app.store.blobs.open(path);
  if (source === undefined) throw new Error("an upload went away");
  try {
    return await source.read(0, source.size);
  } finally {
    await source.close();
  }
}

/** Takes a picture off the disk that no printer has any more. */
export async function removeUnusedIcon(app: App, sha256: string): Promise<void> {
  if (!app.store.icons.digests().has(sha256)) await app.store.blobs.removeIcon(sha256);
}

/** `GET /printers/{id}/icon` */
export async function show({ app, id }: Context<"id">): Promise<Reply> {
  app.store.printers.get(id);
  const icon = app.store.icons.find(id);
  const path = icon && app.store.blobs.iconPath(icon.sha256);
  if (icon === undefined || path === undefined || !(await app.store.blobs.exists(path))) {
    throw new UserError("not-found", "This printer has no icon.");
  }
  const bytes = await readWhole(app, path);
  return {
    kind: "download",
    type: "image/png",
    size: bytes.length,
    etag: icon.sha256,
    open: async () => ({ chunks: (start, end) => [bytes.subarray(start, end)] }),
  };
}

/** `DELETE /printers/{id}/icon`, and `POST /printers/{id}/icon/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  app.store.printers.get(id);
  const icon = app.store.icons.find(id);
  await app.store.icons.remove(id);
  if (icon !== undefined) await removeUnusedIcon(app, icon.sha256);
  return isNavigation(request) ? redirect(paths.printer(id)) : htmlReply(iconStatusBody(id, undefined));
}
