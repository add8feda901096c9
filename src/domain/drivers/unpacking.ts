import { escapeInvisible } from "../text.ts";

/** How to get at the driver in a setup program. @param program its name, or what it is */
export function howToExtract(program: string): string {
  return `Extract ${program} with 7-Zip. Zip the folder with the INF file, and upload that ZIP.`;
}

/** The maximum length of a path in a sentence. */
const maxPathLength = 120;

interface ArchiveEntry {
  readonly path: string;
  /** Unpacked size in bytes. */
  readonly size: number;
}

/** How to get at the driver in the largest archive or setup program of a ZIP; undefined if it holds none. A ZIP is preferred. */
export function howToUnpack(entries: readonly ArchiveEntry[]): string | undefined {
  const largest = (names: RegExp) =>
    entries.filter(({ path }) => names.test(path)).toSorted((a, b) => b.size - a.size)[0];
  const zip = largest(/\.zip$/i);
  const inner = zip ?? largest(/\.(?:exe|msi|cab|7z|rar)$/i);
  if (inner === undefined) return undefined;
  const name = `“${escapeInvisible(inner.path.slice(-maxPathLength))}”`;
  return zip === undefined
    ? `Extract this ZIP. ${howToExtract(name)}`
    : `The driver is probably in ${name}. Extract this ZIP, and upload that one.`;
}
