import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { iconLimitBytes, iconTooLarge } from "../../domain/printers/icon.ts";
import { html } from "../../html/html.ts";
import { notify } from "../../html/layout.ts";
import { deletedMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { iconStatusBody } from "../../html/printers/icon.ts";
import { logoUpdate } from "../../html/printers/printer.ts";
import { readIcon, saveIcon } from "../../services/printers/icons.ts";
import { answerForm, noResult, tryUpload } from "../answer-form.ts";
import { bytesDownload, type Reply } from "../answers/reply.ts";
import { receiveFile } from "../requests/multipart.ts";
import type { Context } from "../router.ts";
import { removedPath, withDetails } from "../undo-message.ts";
import { printerPageOf } from "./printer-page.ts";
import { printerChangeMessage } from "./printers.ts";

/** `POST /printers/{id}/icon` */
export async function upload({ app, request, id }: Context<"id">): Promise<Reply> {
  // Throws if the printer does not exist, before the file is received.
  app.store.printers.get(id);
  const uploaded = await tryUpload(() => receiveIcon(app, request, id));
  return answerForm(request, uploaded, {
    redirect: (replaced) =>
      `${paths.printer(id)}?done=icon${replaced === undefined ? "" : `&replaced=${replaced}`}`,
    page: ({ message }) => printerPageOf(app, request, id, { iconProblem: message }),
    fragment: async ({ error, value: replaced }) => {
      const icon = app.store.icons.find(id);
      const message = error
        ? undefined
        : withDetails(app, await printerChangeMessage(app, id, "icon"), { undo: replaced });
      return html`${iconStatusBody(id, icon, error?.message)}${!error && logoUpdate(id, icon)}${notify(message)}`;
    },
  });
}

/** @returns the id of the deletion that can restore the old icon; undefined if there was none */
async function receiveIcon(
  app: App,
  request: IncomingMessage,
  printerId: number,
): Promise<number | undefined> {
  const limit = { limitBytes: iconLimitBytes, tooLarge: iconTooLarge };
  const { incoming } = await receiveFile(app.store, request, limit);
  return saveIcon(app, printerId, incoming);
}

/** `GET /printers/{id}/icon` */
export async function show({ app, id, url }: Context<"id">): Promise<Reply> {
  const { bytes, sha256 } = await readIcon(app.store, id);
  const fileName = url.searchParams.has("download") ? "icon.png" : undefined;
  return bytesDownload(bytes, { type: "image/png", etag: sha256, fileName });
}

/** `DELETE /printers/{id}/icon`, and `POST /printers/{id}/icon/delete` */
export async function remove({ app, request, id }: Context<"id">): Promise<Reply> {
  const icon = app.store.icons.find(id);
  const deletion = await app.undo.removeIcon(id);
  const name = `icon of ${app.store.printers.get(id).printer.name}`;
  return answerForm(request, noResult, {
    redirect: () =>
      icon === undefined ? paths.printer(id) : removedPath(app, paths.printer(id), name, deletion),
    fragment: () =>
      html`${iconStatusBody(id, undefined)}${logoUpdate(id, undefined)}${notify(icon && deletedMessage(name, deletion))}`,
  });
}
