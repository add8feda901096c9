import { UserError } from "../domain/errors.ts";

/**
 * How much may be done for the INFs of one archive: a text of 50 KB can name each of its folders for each of its
 * languages, files and architectures. A step is about a microsecond: a name looked up, or 32 characters made. The
 * INFs of 44 vendor packages take 30,000 at most.
 */
export class Work {
  #left: number;

  constructor(steps = 5_000_000) {
    this.#left = steps;
  }

  /** @throws UserError "invalid" when all is used up */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left >= 0) return;
    throw new UserError(
      "invalid",
      "The INF files of this ZIP name more files, folders and languages for each other than a driver’s ever do, and are refused. Pack the folder of one printer’s driver alone, and upload that.",
    );
  }

  /** Counts a text that was made or is looked up. */
  spendText(text: string): void {
    this.spend(1 + (text.length >> 5));
  }
}
