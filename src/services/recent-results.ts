import { RecentMap } from "../domain/collections.ts";
import type { ChangeDetails, KeptChange } from "../domain/deletion.ts";
import type { ImportDone } from "../domain/import/import-plan.ts";
import type { BulkResult } from "../domain/printers/bulk.ts";
import type { WorseCounts } from "../domain/printers/change-effects.ts";
import { randomText } from "../domain/secrets.ts";

/** The result of a change, shown on the page to which a browser without scripts is redirected. */
type RecentResult =
  | { readonly kind: "bulk"; readonly result: BulkResult }
  | { readonly kind: "imported"; readonly result: ImportDone }
  | {
      readonly kind: "moved";
      readonly driverId: number;
      readonly count: number;
      readonly worse: WorseCounts;
      readonly undo: KeptChange;
    }
  /** What is said of an upload from which an inner ZIP was taken. */
  | { readonly kind: "taken"; readonly text: string }
  /** What a message says of a change besides its success. */
  | { readonly kind: "change"; readonly details: ChangeDetails }
  /** A person ended the undo period of a deletion. */
  | { readonly kind: "ended"; readonly name: string }
  /** The deletion cannot be undone, because the disk has no room to keep the record. */
  | { readonly kind: "deleted"; readonly name: string }
  /** A deleted account, or a revoked token. */
  | { readonly kind: "account"; readonly name: string }
  | { readonly kind: "revoked"; readonly name: string };

type ResultOf<K> = Extract<RecentResult, { readonly kind: K }>;

const maxResults = 500;

/** Recent results under random names, so that no made-up URL can show a result that did not happen. */
export class RecentResults {
  readonly #results = new RecentMap<string, RecentResult>(maxResults);
  readonly #random: (bytes: number) => Buffer;

  constructor(random: (bytes: number) => Buffer) {
    this.#random = random;
  }

  /** @returns the result's name, safe in a URL */
  remember(result: RecentResult): string {
    const name = randomText(this.#random, 9);
    this.#results.set(name, result);
    return name;
  }

  /** The result of this name and kind; undefined if unknown. */
  find<K extends RecentResult["kind"]>(kind: K, name: string | null): ResultOf<K> | undefined {
    const found = this.#results.get(name ?? "");
    return found?.kind === kind ? (found as ResultOf<K>) : undefined;
  }
}
