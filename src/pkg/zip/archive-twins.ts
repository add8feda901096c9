import { lookOf } from "../../domain/look.ts";
import { windowsKey } from "../../domain/windows-names.ts";
import type { DirectoryRecord } from "./archive-directory.ts";
import { refuse, rezip } from "./archive-refusal.ts";
import { checkShortNames } from "./archive-short-names.ts";

/** Sentences about twins that one page can bear; more are counted. */
const warningLimit = 5;

/**
 * Leaves out folders, and of names that Windows takes for one file all but the last, as unpacking would.
 * @throws UserError "invalid" where a name is there twice, as a file and as a folder, or looks like another
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
  checkLooks([...kept.values()]);
  checkShortNames([...kept.values()].map(({ path }) => path));
  return { kept: [...kept.values()], warnings };
}

function twinWarning(earlier: DirectoryRecord, later: DirectoryRecord): string {
  return `“${earlier.path}” and “${later.path}” differ only by case: Windows keeps the later one.`;
}

function checkFolders(records: readonly DirectoryRecord[]): void {
  const keys = records.map(({ path }) => windowsKey(path));
  const sorted = [...keys].sort();
  for (const [i, record] of records.entries()) {
    if (record.isFolder || !hasPrefix(sorted, `${keys[i]}/`)) continue;
    throw refuse(`“${record.path}” is a file and a folder at once in this ZIP. ${rezip}`);
  }
}

/** Of two files whose names look alike nobody could say which one is meant: accents, blanks and widths differ. */
function checkLooks(records: readonly DirectoryRecord[]): void {
  const known = new Map<string, string>();
  for (const { path } of records) {
    const look = lookOf(path);
    const other = known.get(look);
    known.set(look, path);
    if (other === undefined) continue;
    throw refuse(
      `This ZIP is refused: the names “${other}” and “${path}” look the same, and are two files. Leave one of them out, and upload it again.`,
    );
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
