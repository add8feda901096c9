import { UserError } from "../domain/errors.ts";

/**
 * The budget of operations for the INFs of one archive: an INF of 50 KB can combine each of its folders with each of
 * its languages, files and architectures. An operation is one name looked up or 32 characters made, and takes about a
 * microsecond. The INFs of a vendor's package take at most 30,000 (of 44 packages).
 */
export class Work {
  #left: number;

  constructor(operations = 5_000_000) {
    this.#left = operations;
  }

  /** @throws UserError "invalid" when the budget is used up */
  spend(operations: number): void {
    this.#left -= operations;
    if (this.#left >= 0) return;
    throw new UserError(
      "invalid",
      "The INF files of this ZIP name more files, folders and languages for each other than a driver’s ever do, and are refused. Pack the folder of one printer’s driver alone, and upload that.",
    );
  }

  /** Spends the operations for a text that is made or looked up. */
  spendText(text: string): void {
    this.spend(1 + (text.length >> 5));
  }
}
