import type { App } from "../app.ts";
import { restoredMessage } from "../html/backup/undo.ts";
import type { Message } from "../html/layout.ts";
import { deletedMessage } from "../html/messages.ts";
import { paths } from "../html/paths.ts";

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
