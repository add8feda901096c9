import { UserError } from "../domain/errors.ts";

/**
 * The budget of operations for the INFs of one archive: an INF of 50 KB can combine each of its folders with each of
 * its languages, files and architectures. An operation looks up one name or makes 32 characters, and takes about a
 * microsecond. In 44 vendor packages, the INFs of no package take more than 30,000 operations.
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
      "The INF files of this ZIP combine too many files, folders and languages. Zip and upload only one driver’s folder.",
    );
  }

  /** Spends the operations for making a text and looking it up. */
  spendText(text: string): void {
    this.spend(1 + (text.length >> 5));
  }
}
