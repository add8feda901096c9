import type { App } from "../../app.ts";
import { NotRestored, type RestoredRecord } from "../../domain/deletion.ts";
import { endedMessage, notRestoredMessage, restoredMessage, restoredPath } from "../../html/backup/undo.ts";
import { type Message, notify } from "../../html/layout.ts";
import { deletedMessage } from "../../html/messages.ts";
import { paths } from "../../html/paths.ts";
import { answerForm, type Result, undoing } from "../answer-form.ts";
import type { Reply } from "../answers/reply.ts";
import { dashboardOf } from "../dashboard.ts";
import { narrowedListBehind } from "../list-filter.ts";
import { frameOf } from "../page-context.ts";
import type { Context } from "../router.ts";

/** `POST /deletions/{id}/undo`: back to the narrowed list that it was asked for on, else to what came back */
export async function restore({ app, request, id }: Context<"id">): Promise<Reply> {
  const result = await undoing(() => app.undo.restore(id));
  return answerForm(request, result, {
    redirect: (record) =>
      withQuery(narrowedListBehind(request) ?? restoredPath(record), "restored", String(id)),
    page: (error) => dashboardOf(app, frameOf(request, messageOf({ error }))),
    fragment: (undone) => notify(messageOf(undone)),
  });
}

/** `DELETE /deletions/{id}`, and `POST /deletions/{id}/delete`: for good, before its time */
export async function end({ app, request, id }: Context<"id">): Promise<Reply> {
  const name = app.undo.find(id)?.name ?? "";
  const result = await undoing(() => app.undo.end(id));
  return answerForm(request, result, {
    redirect: () => withQuery(paths.dashboard, "ended", app.outcomes.remember({ kind: "ended", name })),
    page: (error) => dashboardOf(app, frameOf(request, messageOf({ error }))),
    fragment: ({ error }) => notify(error ? messageOf({ error }) : endedMessage(name)),
  });
}

function messageOf({ error, value }: Result<RestoredRecord>): Message | undefined {
  if (error instanceof NotRestored) return notRestoredMessage(error);
  return value && restoredMessage(value);
}

/** Where a browser without scripts goes on to after a deletion that can be taken back, to be told so. */
export function deletedPath(list: string, deletion: number): string {
  return withQuery(list, "undo", String(deletion));
}

/** The same where it may be final. @param name what was deleted */
export function removedPath(app: App, list: string, name: string, deletion: number | undefined): string {
  if (deletion !== undefined) return deletedPath(list, deletion);
  return withQuery(list, "deleted", app.outcomes.remember({ kind: "deleted", name }));
}

/** An address that names the deletion of what was replaced, where there is one. */
export function withReplaced(path: string, replaced: number | undefined): string {
  return replaced === undefined ? path : withQuery(path, "replaced", String(replaced));
}

/** A message with a button that brings back what was replaced, while that is possible. */
export function withUndo(
  { undo }: App,
  message: Message | undefined,
  replaced: number | undefined,
): Message | undefined {
  const deletion = replaced === undefined ? undefined : undo.find(replaced);
  return deletion && message ? { ...message, undo: { path: paths.undo(deletion.id) } } : message;
}

/** An address that says one thing more. */
export function withQuery(path: string, name: string, value: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams([[name, value]])}`;
}

/** What a page says of a deletion that its address names, for as long as there is something to say. */
export function undoMessage(app: App, { searchParams }: URL): Message | undefined {
  const record = app.undo.restored(Number(searchParams.get("restored")));
  if (record !== undefined) return restoredMessage(record);
  const gone = app.outcomes.find("deleted", searchParams.get("deleted"));
  if (gone !== undefined) return deletedMessage(gone.name, undefined);
  const deletion = app.undo.find(Number(searchParams.get("undo")));
  return deletion && deletedMessage(deletion.name, deletion.id);
}
