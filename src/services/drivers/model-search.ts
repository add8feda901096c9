import { setImmediate } from "node:timers/promises";
import { LruCache } from "../../domain/collections.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import type { DriverWithState } from "../../domain/printers/listings.ts";
import { findModel, type ModelName, missingWords, modelNames } from "../../domain/printers/search.ts";
import type { Store } from "../../store/store.ts";

/** The maximum numbers of drivers, and of characters in their model names. Thirty drivers have about a million. */
const cacheLimits = { count: 1000, weight: 8_000_000 };

/** Searches the model names in all printer INFs of the drivers' archives. */
export class ModelSearch {
  readonly #drivers: Pick<Store["drivers"], "find">;
  /** By the archive's digest: the content of an archive never changes. */
  readonly #cache = new LruCache<readonly ModelName[]>({
    ...cacheLimits,
    weigh: (names) => names.reduce((sum, { name, folded }) => sum + name.length + folded.length, 0),
  });

  constructor({ drivers }: { readonly drivers: Pick<Store["drivers"], "find"> }) {
    this.#drivers = drivers;
  }

  /** @returns a model by driver id, for rows that lack words of `q`. The model contains all words that the row lacks. */
  async find(rows: readonly DriverWithState[], q: string): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>();
    for (const row of rows) {
      const words = missingWords(row, q);
      if (words.length === 0) continue;
      const model = findModel(await this.#namesOf(row), words);
      if (model !== undefined) found.set(row.id, model);
    }
    return found;
  }

  async #namesOf({ id, sha256 }: DriverWithState): Promise<readonly ModelName[]> {
    const known = this.#cache.find(sha256);
    if (known !== undefined) return known;
    // Reports may be large: other requests run between two of them.
    await setImmediate();
    const driver = this.#drivers.find(id);
    // A driver that was deleted meanwhile may be restored: nothing is cached for it.
    return driver === undefined ? [] : this.#cache.get(sha256, async () => namesIn(driver));
  }
}

function namesIn({ report }: Driver): ModelName[] {
  const names = report.infs.filter(({ isPrinter }) => isPrinter).flatMap(({ descriptions }) => descriptions);
  return modelNames([...new Set(names)]);
}
