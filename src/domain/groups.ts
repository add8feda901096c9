/** Puts a value to those of its key. */
export function addTo<K, T>(groups: Map<K, T[]>, key: K, value: T): void {
  const known = groups.get(key);
  if (known === undefined) groups.set(key, [value]);
  else known.push(value);
}

/** Values by their keys, in the order in which they come. */
export function groupsBy<K, T>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) addTo(groups, keyOf(value), value);
  return groups;
}
