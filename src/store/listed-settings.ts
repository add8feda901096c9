import type { ListedPrinter } from "../domain/listings.ts";
import { listedSettingsFrom } from "../domain/printer-fields.ts";
import type { Row } from "./database/rows.ts";

type Listed = ListedPrinter["printer"];

/** Of printers; beyond that all are read anew. */
const most = 10_000;

/**
 * What lists show of printers, remembered with the text that it was read from: a long list compares texts instead of
 * parsing them, and answers the same object until its printer changes, so that others can remember what they made of
 * it. Nothing has to be told of a change, since another text is read anew.
 */
export class ListedSettings {
  readonly #read = new Map<
    number,
    { readonly json: string; readonly updatedAt: number; readonly listed: Listed }
  >();

  /** @throws Error when the text is no object in JSON */
  of(row: Row): Listed {
    const [id, name, json] = [Number(row.id), String(row.name), String(row.settings)];
    // Of what has a column of its own no text tells.
    const updatedAt = Number(row.updated_at);
    const known = this.#read.get(id);
    if (known?.json === json && known.updatedAt === updatedAt && known.listed.name === name)
      return known.listed;
    const listed = { id, created_at: Number(row.created_at), name, ...listedSettingsFrom(json) };
    if (this.#read.size >= most) this.#read.clear();
    this.#read.set(id, { json, updatedAt, listed });
    return listed;
  }
}
