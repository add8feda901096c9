import { setImmediate } from "node:timers/promises";
import { LruCache } from "../../domain/collections.ts";
import type { Driver } from "../../domain/drivers/driver.ts";
import type { StatedDriver } from "../../domain/printers/listings.ts";
import { findModel, type ModelName, missingWords, modelNames } from "../../domain/printers/search.ts";
import type { Store } from "../../store/store.ts";

/** Drivers, and characters of their names together, that are kept; a shop's thirty have about a million. */
const keptLimits = { count: 1000, weight: 8_000_000 };

interface DriverReports {
  readonly drivers: Pick<Store["drivers"], "find">;
}

/** Which driver has a model: looks through the names in all printer INFs of all archives. */
export class ModelSearch {
  readonly #store: DriverReports;
  /** By the archive's digest: what an archive holds never changes. */
  readonly #kept = new LruCache<readonly ModelName[]>({
    ...keptLimits,
    weigh: (names) => names.reduce((sum, { name, folded }) => sum + name.length + folded.length, 0),
  });

  constructor(store: DriverReports) {
    this.#store = store;
  }

  /** @returns a model that has the words, by the driver's id; of drivers that have them without it, none */
  async among(rows: readonly StatedDriver[], q: string): Promise<ReadonlyMap<number, string>> {
    const found = new Map<number, string>();
    for (const row of rows) {
      const words = missingWords(row, q);
      if (words.length === 0) continue;
      const model = findModel(await this.#namesOf(row), words);
      if (model !== undefined) found.set(row.id, model);
    }
    return found;
  }

  async #namesOf({ id, sha256 }: StatedDriver): Promise<readonly ModelName[]> {
    const known = this.#kept.find(sha256);
    if (known !== undefined) return known;
    // Reports may be large: other requests are answered between two of them.
    await setImmediate();
    const driver = this.#store.drivers.find(id);
    // A driver that was deleted meanwhile may come back: nothing is kept of it.
    return driver === undefined ? [] : this.#kept.get(sha256, async () => namesIn(driver));
  }
}

function namesIn({ report }: Driver): ModelName[] {
  const names = report.infs.filter(({ isPrinter }) => isPrinter).flatMap(({ descriptions }) => descriptions);
  return modelNames([...new Set(names)]);
}
