import type { App } from "../app.ts";
import { restoredMessage } from "../html/backup/undo.ts";
import type { Message } from "../html/layout.ts";
import { deletedMessage } from "../html/messages.ts";
import { paths } from "../html/paths.ts";

/** The path after a deletion that can be undone: a list or page, with the deletion's id in the query. */
export function deletedPath(list: string, deletion: number): string {
  return withQuery(list, "undo", String(deletion));
}

/** The path after a deletion. @param name of the deleted record @param deletion undefined if it cannot be undone */
export function removedPath(app: App, list: string, name: string, deletion: number | undefined): string {
  if (deletion !== undefined) return deletedPath(list, deletion);
  return withQuery(list, "deleted", app.results.remember({ kind: "deleted", name }));
}

/** Adds a button that restores the replaced icon, while that is possible. @param replaced id of the icon's deletion */
export function withUndo(
  { undo }: App,
  message: Message | undefined,
  replaced: number | undefined,
): Message | undefined {
  const deletion = replaced === undefined ? undefined : undo.find(replaced);
  return deletion && message ? { ...message, undo: { path: paths.undo(deletion.id) } } : message;
}

export function withQuery(path: string, name: string, value: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams([[name, value]])}`;
}

/** The message about the deletion or restore in a page's query; undefined once it is forgotten. */
export function undoMessage(app: App, { searchParams }: URL): Message | undefined {
  const record = app.undo.restored(Number(searchParams.get("restored")));
  if (record !== undefined) return restoredMessage(record);
  const gone = app.results.find("deleted", searchParams.get("deleted"));
  if (gone !== undefined) return deletedMessage(gone.name, undefined);
  const deletion = app.undo.find(Number(searchParams.get("undo")));
  return deletion && deletedMessage(deletion.name, deletion.id);
}
