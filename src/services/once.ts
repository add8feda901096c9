import { randomText } from "../domain/signed.ts";
import { Latest } from "./latest.ts";

/** So many forms that were sent are remembered; the oldest are forgotten first. */
const mostSent = 500;
const nameBytes = 12;

/** Forms that count once each: what is made of one is not made again where a browser sends it again. */
export class Once {
  readonly #sent = new Latest<string, true>(mostSent);
  readonly #random: (bytes: number) => Buffer;

  constructor(random: (bytes: number) => Buffer) {
    this.#random = random;
  }

  /** What a form holds that is shown now. */
  name(): string {
    return randomText(this.#random, nameBytes);
  }

  /**
   * Makes something of a form, unless it was made of it already; of one without a name, as programs send it, always.
   * @returns undefined where it was @throws whatever `make` throws: the form can be sent again then
   */
  async make<T>(name: string | undefined, make: () => Promise<T>): Promise<T | undefined> {
    if (name === undefined || !/^[\w-]{16}$/.test(name)) return make();
    if (this.#sent.has(name)) return undefined;
    this.#sent.set(name, true);
    try {
      return await make();
    } catch (error) {
      this.#sent.delete(name);
      throw error;
    }
  }
}
