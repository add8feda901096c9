/** How much may be under way at once under one key. */
interface Most {
  readonly key: string;
  readonly most: number;
}

/** Counts what is under way, by whatever it has in common. */
export class AtOnce {
  readonly #held = new Map<string, number>();

  /** Begins one more under all of these keys. @returns what ends it; undefined where one of them has all that it may */
  take(all: readonly Most[]): (() => void) | undefined {
    if (all.some(({ key, most }) => (this.#held.get(key) ?? 0) >= most)) return undefined;
    for (const { key } of all) this.#add(key, 1);
    return () => {
      for (const { key } of all) this.#add(key, -1);
    };
  }

  #add(key: string, change: number): void {
    const held = (this.#held.get(key) ?? 0) + change;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }
}
