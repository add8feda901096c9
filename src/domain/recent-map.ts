/** A map of the latest values that were set, at most so many; the oldest are forgotten first. */
export class Latest<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#most && oldest !== undefined) this.delete(oldest);
    return this;
  }
}
