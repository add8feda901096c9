import type { KeptChange } from "../../domain/deletion.ts";
import { iconLimitBytes, iconTooLarge } from "../../domain/printers/icon.ts";
import { html } from "../../html/html.ts";
import { notify } from "../../html/layout.ts";
import { clientMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { clientIcon, iconStatusBody } from "../../html/printers/icon.ts";
import { readClientIcon, saveClientIcon } from "../../services/printers/printer-files.ts";
import { answerForm, type Result, trySave, tryUpload } from "../answer-form.ts";
import { bytesDownload, type Reply } from "../answers/reply.ts";
import { receiveFile } from "../requests/multipart.ts";
import type { Context } from "../router.ts";
import { changedPath, withDetails } from "../undo-message.ts";
import { clientPageOf } from "./clients.ts";

/** `POST /clients/{id}/icon` */
export async function upload(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  // Throws if the client does not exist, before the file is received.
  app.store.clients.get(id);
  const saved = await tryUpload(async () => {
    const limit = { limitBytes: iconLimitBytes, tooLarge: iconTooLarge };
    const { incoming } = await receiveFile(app.store, request, limit);
    return saveClientIcon(app, id, incoming);
  });
  return answer(context, saved);
}

/** `GET /clients/{id}/icon` */
export async function show({ app, id, url }: Context<"id">): Promise<Reply> {
  const { bytes, sha256 } = await readClientIcon(app.store, id);
  const fileName = url.searchParams.has("download") ? "icon.png" : undefined;
  return bytesDownload(bytes, { type: "image/png", etag: sha256, fileName });
}

/** `DELETE /clients/{id}/icon`, and `POST /clients/{id}/icon/delete` */
export async function remove(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  app.store.clients.get(id);
  return answer(context, await trySave(() => app.undo.keep(app.store.clients.setIcon(id, undefined))));
}

function answer({ app, request, id }: Context<"id">, saved: Result<KeptChange>): Promise<Reply> {
  const details = { undo: saved.value };
  return answerForm(request, saved, {
    redirect: () => changedPath(app, `${paths.client(id)}?done=saved`, details),
    page: ({ message }) => clientPageOf(app, request, id, { iconProblem: message }),
    fragment: ({ error }) => {
      const client = app.store.clients.get(id);
      const message = error ? undefined : withDetails(app, clientMessage("saved", client), details);
      return html`${iconStatusBody(clientIcon(id), client.icon, error?.message)}${notify(message)}`;
    },
  });
}
