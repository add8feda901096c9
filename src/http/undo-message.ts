import type { App } from "../app.ts";
import { type ChangeDetails, changedTable } from "../domain/deletion.ts";
import { driverTitle } from "../domain/drivers/driver.ts";
import type { FormInput } from "../domain/fields.ts";
import { restoredMessage } from "../html/backup/undo.ts";
import { labelOfField, settingText } from "../html/field-labels.ts";
import type { Message } from "../html/layout.ts";
import { deletedMessage, detailedMessage } from "../html/messages.ts";
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

/** The path after a change: its query names what the message says besides. */
export function changedPath(app: App, path: string, details: ChangeDetails): string {
  const { undo, kept = [], isWorse = false } = details;
  if (undo === undefined && kept.length === 0 && !isWorse) return path;
  return withQuery(path, "change", app.results.remember({ kind: "change", details }));
}

/** The details that a page's query names; undefined once they are forgotten. */
export function changeDetailsIn(app: App, { searchParams }: URL): ChangeDetails | undefined {
  return app.results.find("change", searchParams.get("change"))?.details;
}

/** Adds what a message says of a change besides, and a button that undoes it while that is possible. */
export function withDetails<M extends Message | undefined>(
  { undo }: App,
  message: M,
  details: ChangeDetails | undefined,
): Message | M {
  if (message === undefined || details === undefined) return message;
  const told = detailedMessage(message, details);
  const change = typeof details.undo === "number" ? undo.find(details.undo) : undefined;
  return change ? { ...told, undo: { path: paths.undo(change.id) } } : told;
}

/** The fields that a save kept because only another user changed them, in words. */
export function keptFields({ store }: App, kept: FormInput): NonNullable<ChangeDetails["kept"]> {
  return Object.entries(kept).map(([name, value = ""]) => {
    const client = name === "client_id" ? store.clients.find(Number(value)) : undefined;
    const driver = name.endsWith("driver_id") ? store.drivers.findSummary(Number(value)) : undefined;
    const text = client?.name ?? (driver && driverTitle(driver)) ?? settingText(name, value);
    return { label: labelOfField(name) ?? name, text };
  });
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
  if (deletion === undefined || changedTable(deletion.kind) !== undefined) return undefined;
  return deletedMessage(deletion.name, deletion.id, deletion.kind.startsWith("printer"));
}
