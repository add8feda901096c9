/** A map with at most `max` entries. A new entry replaces the one whose last `set` is longest ago. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#max && oldest !== undefined) this.delete(oldest);
    return this;
  }
}

/** Adds a value to the list of its key. */
export function addTo<K, T>(groups: Map<K, T[]>, key: K, value: T): void {
  getOrAdd(groups, key, () => []).push(value);
}

/** Groups values by key, in their order. */
export function groupBy<K, T>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) addTo(groups, keyOf(value), value);
  return groups;
}

/** The values in groups of `size`, in their order. */
export function chunksOf<T>(values: readonly T[], size: number): T[][] {
  const count = Math.ceil(values.length / size);
  return Array.from({ length: count }, (_, i) => values.slice(i * size, (i + 1) * size));
}

/** Computes a value once for each object, and keeps it as long as the object exists. */
export function memoize<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => getOrAdd(made, key, () => make(key));
}

interface Entry<T> {
  readonly value: Promise<T>;
  /** 0 while the value is being made. */
  weight: number;
}

interface LruLimits<T> {
  readonly count: number;
  /** The total weight of all values. */
  readonly weight: number;
  weigh(value: T): number;
}

/**
 * A cache that removes the least recently used values first. It always keeps the newest value, whatever its weight.
 * Concurrent requests for a key share one `make`; a failure is not cached.
 */
export class LruCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #limits: LruLimits<T>;
  #weight = 0;

  constructor(limits: LruLimits<T>) {
    this.#limits = limits;
  }

  /** The value of a key, cached or still being made. A call does not count as a use of the value. */
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
    const isOverLimit = () => this.#entries.size > this.#limits.count || this.#weight > this.#limits.weight;
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= 1 || !isOverLimit()) return;
      this.#forget(key, entry);
    }
  }

  #forget(key: string, entry: Entry<T>): void {
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}

/** A map or weak map. */
type Lookup<K, V> = Pick<Map<K, V>, "get"> & { set(key: K, value: V): unknown };

/** The value of a key. If it has none yet, `make` makes it. */
export function getOrAdd<K, V>(map: Lookup<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
