import type { DirectoryRecord } from "./archive-directory.ts";
import { refuse, rezip } from "./archive-refusal.ts";

/** Sentences about twins that one page can bear; more are counted. */
const warningLimit = 5;

/**
 * Leaves out folders, and of names that Windows takes for one file all but the last, as unpacking would.
 * @throws UserError "invalid" where a name is there twice, or as a file and as a folder
 */
export function withoutTwins(records: readonly DirectoryRecord[]): {
  kept: DirectoryRecord[];
  warnings: string[];
} {
  const kept = new Map<string, DirectoryRecord>();
  const exact = new Set<string>();
  const warnings: string[] = [];
  let twins = 0;
  for (const record of records) {
    if (record.isFolder) continue;
    if (exact.has(record.path)) throw refuse(`This ZIP holds “${record.path}” twice. ${rezip}`);
    exact.add(record.path);
    const key = windowsKey(record.path);
    const earlier = kept.get(key);
    if (earlier !== undefined && ++twins <= warningLimit) warnings.push(twinWarning(earlier, record));
    // Deleted first, so that the map keeps the order of the later one.
    kept.delete(key);
    kept.set(key, record);
  }
  if (twins > warningLimit) {
    warnings.push(`${twins - warningLimit} more files differ only by case from one before them.`);
  }
  checkFolders(records);
  return { kept: [...kept.values()], warnings };
}

function twinWarning(earlier: DirectoryRecord, later: DirectoryRecord): string {
  return `“${earlier.path}” and “${later.path}” differ only by case: Windows keeps the later one.`;
}

/**
 * Two paths have the same key where NTFS takes them for one file: it compares UTF-16 units by their simple
 * upper case, each letter by itself, and normalizes nothing: é as one character and as two are two files.
 */
function windowsKey(path: string): string {
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

function checkFolders(records: readonly DirectoryRecord[]): void {
  const keys = records.map(({ path }) => windowsKey(path));
  const sorted = [...keys].sort();
  for (const [i, record] of records.entries()) {
    if (record.isFolder || !hasPrefix(sorted, `${keys[i]}/`)) continue;
    throw refuse(`“${record.path}” is a file and a folder at once in this ZIP. ${rezip}`);
  }
}

/** Whether one of the sorted texts starts so, by bisection: comparing all parents of all paths takes long. */
function hasPrefix(sorted: readonly string[], prefix: string): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < prefix) low = middle + 1;
    else high = middle;
  }
  return sorted[low]?.startsWith(prefix) === true;
}
