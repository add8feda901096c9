import type { StatedDriver } from "../domain/listings.ts";
import { type ModelLines, ModelQuery, modelLines } from "../domain/search.ts";
import type { Store } from "../store/store.ts";

/** Characters of names that are kept, of all drivers together; a shop's thirty drivers have about a million. */
const mostKept = 8_000_000;
/** Reports that one search reads besides: each may be large. */
const mostRead = 200;
/** Characters that are looked through before others have their turn. */
const atOnce = 2_000_000;

/** Which driver has a model: looks through the names in all printer INFs of all archives. */
export class ModelSearch {
  readonly #store: Store;
  /** By the archive's digest: what an archive holds never changes. */
  readonly #kept = new Map<string, ModelLines>();
  #size = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** @returns a model that has the words, by the driver's id; of drivers that have them without it, none */
  async among(rows: readonly StatedDriver[], q: string): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>();
    if (q === "") return found;
    const query = new ModelQuery(q);
    let read = 0;
    let looked = 0;
    for (const row of rows) {
      if (query.isOf(row)) continue;
      const known = this.#kept.get(row.sha256);
      if (known === undefined && read++ >= mostRead) continue;
      const lines = known ?? (await this.#read(row));
      const model = query.find(row, lines);
      if (model !== undefined) found.set(row.id, model);
      looked += lines.folded.length;
      if (looked >= atOnce) {
        looked = 0;
        await turn();
      }
    }
    return found;
  }

  async #read({ id, sha256 }: StatedDriver): Promise<ModelLines> {
    await turn();
    const infs = this.#store.drivers.find(id)?.report.infs ?? [];
    const names = infs.filter(({ isPrinter }) => isPrinter).flatMap(({ descriptions }) => descriptions);
    const lines = modelLines([...new Set(names)]);
    const size = lines.names.length + lines.folded.length;
    if (this.#size + size <= mostKept && !this.#kept.has(sha256)) {
      this.#kept.set(sha256, lines);
      this.#size += size;
    }
    return lines;
  }
}

/** Lets others have their turn. */
function turn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
