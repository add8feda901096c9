import { UserError } from "../domain/errors.ts";
import { iconLimitBytes, iconTooLarge } from "../domain/icon.ts";
import { paths } from "../html/paths.ts";
import { iconStatusBody } from "../html/printer.ts";
import { keepIcon, readIcon, removeIcon } from "../services/icons.ts";
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
    await keepIcon(app.store, id, result);
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
    if (!(error instanceof UserError) || !["invalid", "too-large"].includes(error.code)) throw error;
    return { status: error.code === "too-large" ? 413 : 422, message: error.message };
  }
}

/** `GET /printers/{id}/icon` */
export async function show({ app, id }: Context<"id">): Promise<Reply> {
  app.store.printers.get(id);
  const icon = app.store.icons.find(id);
  const path = icon && app.store.blobs.iconPath(icon.sha256);
  if (icon === undefined || path === undefined || !(await app.store.blobs.exists(path))) {
    throw new UserError("not-found", "This printer has no icon.");
  }
  const bytes = await readIcon(app.store, path);
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
  await removeIcon(app.store, id);
  return isNavigation(request) ? redirect(paths.printer(id)) : htmlReply(iconStatusBody(id, undefined));
}
