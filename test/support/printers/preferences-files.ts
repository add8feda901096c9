/** A file as opaque as those of printui. @param seed makes files with different content */
export function makePreferences(seed = 1): Buffer {
  return Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 31 * seed + seed) & 0xff));
}
