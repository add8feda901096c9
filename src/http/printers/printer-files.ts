import type { App } from "../../app.ts";
import type { KeptChange } from "../../domain/deletion.ts";
import { iconLimitBytes, iconTooLarge } from "../../domain/printers/icon.ts";
import { preferencesLimitBytes, preferencesTooLarge } from "../../domain/printers/preferences.ts";
import { type Html, html } from "../../html/html.ts";
import { notify } from "../../html/layout.ts";
import { clientMessage, deletedMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { clientIcon, iconStatusBody, printerIcon } from "../../html/printers/icon.ts";
import { preferencesStatusBody } from "../../html/printers/preferences.ts";
import { logoUpdate } from "../../html/printers/printer.ts";
import {
  readClientIcon,
  readPrinterFile,
  saveClientIcon,
  saveIcon,
  savePreferences,
} from "../../services/printers/printer-files.ts";
import { answerForm, noResult, type Result, trySave, tryUpload } from "../answer-form.ts";
import { bytesDownload, type Reply } from "../answers/reply.ts";
import { audited } from "../audited-downloads.ts";
import { receiveFile } from "../requests/multipart.ts";
import type { Context } from "../router.ts";
import { changedPath, removedPath, withDetails } from "../undo-message.ts";
import { clientPageOf } from "./clients.ts";
import { printerChangeMessage, printerPageOf } from "./printers.ts";

/** A kind of files of which a printer has at most one. */
interface FileKind {
  readonly table: "icons" | "preferences";
  /** What was done, in messages. */
  readonly done: "icon" | "preferences";
  /** The beginning of its name in messages. */
  readonly label: string;
  readonly limit: Parameters<typeof receiveFile>[2];
  readonly save: typeof saveIcon;
  /** The part of the page that shows it, with everything else that changes with it. */
  readonly parts: (app: App, id: number, problem?: string) => Html;
}

const iconLimit = { limitBytes: iconLimitBytes, tooLarge: iconTooLarge };

const icon: FileKind = {
  table: "icons",
  done: "icon",
  label: "icon",
  limit: iconLimit,
  save: saveIcon,
  parts: ({ store }, id, problem) => {
    const found = store.icons.find(id);
    return html`${iconStatusBody(printerIcon(store.printers.get(id)), found, problem)}${problem === undefined && logoUpdate(store.printers.get(id), found)}`;
  },
};

const preferences: FileKind = {
  table: "preferences",
  done: "preferences",
  label: "vendor preferences",
  limit: { limitBytes: preferencesLimitBytes, tooLarge: preferencesTooLarge },
  save: savePreferences,
  parts: ({ store }, id, problem) => preferencesStatusBody(id, store.preferences.find(id), problem),
};

/** `POST /printers/{id}/icon` */
export const uploadIcon = uploadOf(icon);

/** `POST /printers/{id}/preferences` */
export const uploadPreferences = uploadOf(preferences);

function uploadOf(kind: FileKind) {
  return async ({ app, request, id }: Context<"id">): Promise<Reply> => {
    // Throws if the printer does not exist, before the file is received.
    app.store.printers.get(id);
    // The result is the id of the deletion that can restore the old file; undefined if there was none.
    const uploaded = await tryUpload(async () => {
      const { incoming } = await receiveFile(app.store, request, kind.limit);
      return kind.save(app, id, incoming);
    });
    const pathAfter = (replaced: number | undefined) =>
      `${paths.printer(id)}?done=${kind.done}${replaced === undefined ? "" : `&replaced=${replaced}`}`;
    const reply = await answerForm(request, uploaded, {
      redirect: pathAfter,
      page: ({ message }) => printerPageOf(app, request, id, { problems: { [kind.done]: message } }),
      fragment: async ({ error, value: replaced }) => {
        const message = error
          ? undefined
          : withDetails(app, await printerChangeMessage(app, id, kind.done), { undo: replaced });
        return html`${kind.parts(app, id, error?.message)}${notify(message)}`;
      },
    });
    return uploaded.error ? reply : afterChange(kind, reply, pathAfter(uploaded.value));
  };
}

/** Preferences change the revision, which is all over the page: the page script must load it again. */
function afterChange({ table }: FileKind, reply: Reply, path: string): Reply {
  if (table === "icons" || reply.kind !== "text") return reply;
  return { ...reply, headers: { "HX-Redirect": path } };
}

/** `GET /printers/{id}/icon` */
export const showIcon = showOf((store, id) => readPrinterFile(store, "icons", id));

/** `GET /clients/{id}/icon` */
export const showClientIcon = showOf(readClientIcon);

function showOf(read: typeof readClientIcon) {
  return async ({ app, id, url }: Context<"id">): Promise<Reply> => {
    const { bytes, sha256 } = await read(app.store, id);
    const fileName = url.searchParams.has("download") ? "icon.png" : undefined;
    return bytesDownload(bytes, { type: "image/png", etag: sha256, fileName });
  };
}

/** `GET /printers/{id}/preferences` */
export async function showPreferences(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  const { bytes, sha256 } = await readPrinterFile(app.store, "preferences", id);
  const options = { type: "application/octet-stream", etag: sha256, fileName: "preferences.dat" };
  return audited(
    context,
    { what: "preferences", owner: { kind: "printer", id } },
    bytesDownload(bytes, options),
  );
}

/** `DELETE /printers/{id}/icon`, and `POST /printers/{id}/icon/delete` */
export const removeIcon = removeOf(icon);

/** `DELETE /printers/{id}/preferences`, and `POST /printers/{id}/preferences/delete` */
export const removePreferences = removeOf(preferences);

function removeOf(kind: FileKind) {
  const { table, label, parts } = kind;
  return async ({ app, request, id }: Context<"id">): Promise<Reply> => {
    const file = app.store[table].find(id);
    const deletion = await app.undo.removeFile(table, id);
    const name = `${label} of ${app.store.printers.get(id).printer.name}`;
    const page = paths.printer(id);
    const pathAfter = file === undefined ? page : removedPath(app, page, name, deletion);
    const reply = await answerForm(request, noResult, {
      redirect: () => pathAfter,
      fragment: () => html`${parts(app, id)}${notify(file && deletedMessage(name, deletion))}`,
    });
    return afterChange(kind, reply, pathAfter);
  };
}

/** `POST /clients/{id}/icon` */
export async function uploadClientIcon(context: Context<"id">): Promise<Reply> {
  const { app, request, id } = context;
  // Throws if the client does not exist, before the file is received.
  app.store.clients.get(id);
  const saved = await tryUpload(async () => {
    const { incoming } = await receiveFile(app.store, request, iconLimit);
    return saveClientIcon(app, id, incoming);
  });
  return answerClientIcon(context, saved);
}

/** `DELETE /clients/{id}/icon`, and `POST /clients/{id}/icon/delete` */
export async function removeClientIcon(context: Context<"id">): Promise<Reply> {
  const { app, id } = context;
  app.store.clients.get(id);
  return answerClientIcon(
    context,
    await trySave(() => app.undo.keep(app.store.clients.setIcon(id, undefined))),
  );
}

function answerClientIcon({ app, request, id }: Context<"id">, saved: Result<KeptChange>): Promise<Reply> {
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
