import type { IncomingMessage } from "node:http";
import type { App } from "../../app.ts";
import { needsSignIn } from "../../config.ts";
import { UserError } from "../../domain/errors.ts";
import { backupsPage, backupTexts } from "../../html/backup/backups.ts";
import type { Html } from "../../html/html.ts";
import { type Message, notify } from "../../html/layout.ts";
import { paths } from "../../html/paths.ts";
import { fileState } from "../../store/files.ts";
import { answerForm, noResult, tryRemove } from "../answer-form.ts";
import { fileDownload, htmlReply, type Reply } from "../answers/reply.ts";
import { doneMessage, pageContextOf } from "../page-context.ts";
import type { Context } from "../router.ts";

/** `GET /backups` */
export async function index({ app, request, url }: Context): Promise<Reply> {
  return htmlReply(await pageOf(app, request, doneMessage(url, backupTexts)));
}

/** `POST /backups` makes a manual backup, unless the current state already has one. */
export async function make({ app, request }: Context): Promise<Reply> {
  // As for a deletion, the page shows a conflict.
  const made = await tryRemove(request, () => app.backups.makeNow());
  if (made.value === true) app.store.audit.record("backup-made");
  return answerForm(request, made, {
    redirect: (isNew) => `${paths.backups}?done=${isNew ? "new" : "same"}`,
    page: ({ message }) => pageOf(app, request, { tone: "bad", text: message }),
    fragment: ({ value }) => notify({ tone: "good", text: backupTexts[value ? "new" : "same"] }),
  });
}

/** `POST /backups/files/delete` deletes the files that only backups need. */
export async function deleteFiles({ app, request }: Context): Promise<Reply> {
  await app.store.keptFiles.clear();
  app.store.audit.record("backup-files-deleted");
  return answerForm(request, noResult, {
    redirect: () => `${paths.backups}?done=files`,
    fragment: () => notify({ tone: "good", text: backupTexts.files }),
  });
}

/** `GET /backups/{name}` downloads a backup of the database. */
export async function download({ app, request, params: { name } }: Context<"name">): Promise<Reply> {
  const { accounts, audit, backups, blobs } = app.store;
  // Without sign-in, anyone could download the password hashes of accounts from the time when sign-in was on.
  if (!needsSignIn(app.config) && accounts.list().length > 0)
    throw new UserError(
      "forbidden",
      "Backups contain password hashes. Without sign-in, anyone could download them. Copy them from the folder backups in DATA_DIR.",
    );
  const path = backups.pathOf(name);
  const found = backups.find(name) && (await fileState(path));
  if (found === undefined) throw new UserError("not-found", "This backup no longer exists. Reload the list.");
  // Recorded before the first byte: a part of a backup may contain password hashes.
  if (request.method === "GET") audit.record("backup-fetched", { what: name });
  return fileDownload(() => blobs.open(path), {
    size: found.size,
    fileName: name,
    type: "application/vnd.sqlite3",
    etag: `${name}-${found.size}`,
  });
}

async function pageOf(app: App, request: IncomingMessage, message?: Message): Promise<Html> {
  const { backups, store } = app;
  const files = await store.keptFiles.list();
  return backupsPage(pageContextOf(request, message), {
    states: backups.list(),
    max: backups.max,
    nextAt: backups.nextAt(),
    isChanged: backups.isChanged(),
    failure: backups.failure(),
    files: { count: files.length, bytes: files.reduce((sum, { size }) => sum + size, 0) },
  });
}
