import { RecentMap } from "../domain/collections.ts";
import type { ImportPlan } from "../domain/import/import-plan.ts";
import type { BulkResult } from "../domain/printers/bulk.ts";
import { randomText } from "../domain/secrets.ts";

/** What became of a change, as the page that a browser without scripts goes on to says it. */
type Outcome =
  | { readonly kind: "bulk"; readonly result: BulkResult }
  | { readonly kind: "imported"; readonly result: Pick<ImportPlan, "counts" | "newClients"> }
  | { readonly kind: "moved"; readonly driverId: number; readonly count: number }
  /** Deleted without a way back, by name: because somebody said so; because there was no room to keep it. */
  | { readonly kind: "ended"; readonly name: string }
  | { readonly kind: "deleted"; readonly name: string }
  /** An account that is deleted; a token that is revoked. */
  | { readonly kind: "account"; readonly name: string }
  | { readonly kind: "revoked"; readonly name: string };

/** More than these are forgotten, the oldest first. */
const maxRemembered = 500;

/** Outcomes by names that nobody can guess: an address makes no page say what did not happen. */
export class Outcomes {
  readonly #known = new RecentMap<string, Outcome>(maxRemembered);
  readonly #random: (bytes: number) => Buffer;

  constructor(random: (bytes: number) => Buffer) {
    this.#random = random;
  }

  /** @returns its name, as an address can hold it */
  remember(outcome: Outcome): string {
    const name = randomText(this.#random, 9);
    this.#known.set(name, outcome);
    return name;
  }

  /** Undefined where it is not remembered, or is of another kind. */
  find<K extends Outcome["kind"]>(
    kind: K,
    name: string | null,
  ): Extract<Outcome, { readonly kind: K }> | undefined {
    const found = this.#known.get(name ?? "");
    return found?.kind === kind ? (found as Extract<Outcome, { readonly kind: K }>) : undefined;
  }
}
