/**
 * Two paths have the same key where NTFS takes them for one file: it compares UTF-16 units by their simple
 * upper case, each letter by itself, and normalizes nothing: é as one character and as two are two files.
 */
export function windowsKey(path: string): string {
  if (/^[\u0000-\u007f]*$/.test(path)) return path.toUpperCase();
  return path.replace(/[a-z\u0080-\uffff]/g, upperCase);
}

/** Only what comes back as the same letter: ı, ſ, ß and the Kelvin sign are letters of their own there. */
function upperCase(unit: string): string {
  const upper = unit.toUpperCase();
  if (upper.length === 1) return upper.toLowerCase() === unit ? upper : unit;
  // Greek letters with an iota: in full case mapping two letters, in the simple one their neighbours.
  const neighbours = [8, 9].map((distance) => String.fromCharCode(unit.charCodeAt(0) + distance));
  return neighbours.find((neighbour) => neighbour.toLowerCase() === unit) ?? unit;
}
