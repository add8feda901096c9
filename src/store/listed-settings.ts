import { listedSettingsFrom } from "../domain/printer-fields.ts";

type Listed = ReturnType<typeof listedSettingsFrom>;

/** Of printers; beyond that all are read anew. */
const most = 10_000;

/**
 * What lists show of printers' settings, remembered with the text that it was read from: a long list compares
 * texts instead of parsing them. Nothing has to be told of a change, since another text is read anew.
 */
export class ListedSettings {
  readonly #read = new Map<number, { readonly json: string; readonly listed: Listed }>();

  /** @throws Error when the text is no object in JSON */
  of(printerId: number, json: string): Listed {
    const known = this.#read.get(printerId);
    if (known?.json === json) return known.listed;
    const listed = listedSettingsFrom(json);
    if (this.#read.size >= most) this.#read.clear();
    this.#read.set(printerId, { json, listed });
    return listed;
  }
}
