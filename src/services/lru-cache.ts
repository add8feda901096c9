interface Entry<T> {
  readonly value: Promise<T>;
  weight: number;
}

interface LruLimits<T> {
  readonly count: number;
  /** Of all values together. */
  readonly weight: number;
  weigh(value: T): number;
}

/**
 * Keeps what was made under its key, the least recently used forgotten first; the latest is kept whatever it
 * weighs. What is being made already is not made twice, and a failure is forgotten at once.
 */
export class LruCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #limits: LruLimits<T>;
  #weight = 0;

  constructor(limits: LruLimits<T>) {
    this.#limits = limits;
  }

  /** What is kept or being made under a key. */
  find(key: string): Promise<T> | undefined {
    return this.#entries.get(key)?.value;
  }

  get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known.value;
    }
    const entry: Entry<T> = { value: make(), weight: 0 };
    this.#entries.set(key, entry);
    entry.value.then(
      (value) => this.#weighIn(key, entry, this.#limits.weigh(value)),
      () => this.#forget(key, entry),
    );
    this.#evict();
    return entry.value;
  }

  #weighIn(key: string, entry: Entry<T>, weight: number): void {
    if (this.#entries.get(key) !== entry) return;
    entry.weight = weight;
    this.#weight += weight;
    this.#evict();
  }

  #evict(): void {
    const isFull = () => this.#entries.size > this.#limits.count || this.#weight > this.#limits.weight;
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= 1 || !isFull()) return;
      this.#forget(key, entry);
    }
  }

  #forget(key: string, entry: Entry<T>): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
