import type { App } from "../app.ts";
import { restoredMessage } from "../html/backup/undo.ts";
import type { Message } from "../html/layout.ts";
import { deletedMessage } from "../html/messages.ts";
import { paths } from "../html/paths.ts";

/** Where a plain form is redirected after a deletion that can be undone; the address names the deletion. */
export function deletedPath(list: string, deletion: number): string {
  return withQuery(list, "undo", String(deletion));
}

/** The same for a deletion that may be final. @param name of the deleted record @param deletion undefined if final */
export function removedPath(app: App, list: string, name: string, deletion: number | undefined): string {
  if (deletion !== undefined) return deletedPath(list, deletion);
  return withQuery(list, "deleted", app.results.remember({ kind: "deleted", name }));
}

/** Adds the id of the deletion that keeps the replaced version, where there is one. */
export function withReplaced(path: string, replaced: number | undefined): string {
  return replaced === undefined ? path : withQuery(path, "replaced", String(replaced));
}

/** Adds a button to a message that restores the replaced version, while that is possible. */
export function withUndo(
  { undo }: App,
  message: Message | undefined,
  replaced: number | undefined,
): Message | undefined {
  const deletion = replaced === undefined ? undefined : undo.find(replaced);
  return deletion && message ? { ...message, undo: { path: paths.undo(deletion.id) } } : message;
}

/** Adds a query parameter to a path. */
export function withQuery(path: string, name: string, value: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams([[name, value]])}`;
}

/** The message about the deletion or restore that a page's address names; undefined once it is forgotten. */
export function undoMessage(app: App, { searchParams }: URL): Message | undefined {
  const record = app.undo.restored(Number(searchParams.get("restored")));
  if (record !== undefined) return restoredMessage(record);
  const gone = app.results.find("deleted", searchParams.get("deleted"));
  if (gone !== undefined) return deletedMessage(gone.name, undefined);
  const deletion = app.undo.find(Number(searchParams.get("undo")));
  return deletion && deletedMessage(deletion.name, deletion.id);
}
