import { UserError } from "../domain/errors.ts";
import type { StatedDriver } from "../domain/listings.ts";
import { type ModelLines, ModelQuery, modelLines } from "../domain/search.ts";
import type { Store } from "../store/store.ts";
import { LruCache } from "./lru-cache.ts";

/** Drivers, and characters of their names together, that are kept; a shop's thirty have about a million. */
const keptLimits = { count: 1000, weight: 8_000_000 };
/** Reports that one search reads besides: each may be large. */
const mostRead = 200;
/** Characters that are looked through before others have their turn. */
const atOnce = 2_000_000;

interface DriverReports {
  readonly drivers: Pick<Store["drivers"], "get">;
}

/** Which driver has a model: looks through the names in all printer INFs of all archives. */
export class ModelSearch {
  readonly #store: DriverReports;
  /** By the archive's digest: what an archive holds never changes. */
  readonly #kept = new LruCache<ModelLines>({
    ...keptLimits,
    weigh: ({ names, folded }) => names.length + folded.length,
  });

  constructor(store: DriverReports) {
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
      if (this.#kept.find(row.sha256) === undefined && read++ >= mostRead) continue;
      const lines = await this.#linesOf(row);
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

  /** None of a driver that was deleted meanwhile, which is not remembered: it may come back. */
  async #linesOf({ id, sha256 }: StatedDriver): Promise<ModelLines> {
    try {
      return await this.#kept.get(sha256, () => this.#read(id));
    } catch (error) {
      if (error instanceof UserError && error.code === "not-found") return { names: "", folded: "" };
      throw error;
    }
  }

  async #read(id: number): Promise<ModelLines> {
    await turn();
    const { infs } = this.#store.drivers.get(id).report;
    const names = infs.filter(({ isPrinter }) => isPrinter).flatMap(({ descriptions }) => descriptions);
    return modelLines([...new Set(names)]);
  }
}

/** Lets others have their turn. */
function turn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}
