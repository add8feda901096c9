import type { ByteSource } from "../../domain/byte-source.ts";
import { UserError } from "../../domain/errors.ts";
import { cabinetHeadBytes, cabinetNames } from "../../inf/cabinet.ts";
import { infLimitBytes } from "../../inf/document.ts";
import { infsOf, kindOf } from "../../inf/entries.ts";
import { usedByInf } from "../../inf/package.ts";
import { PackageFiles } from "../../inf/package-files.ts";
import { Work } from "../../inf/work-budget.ts";
import { type ArchiveEntry, checkEntry } from "../zip/archive.ts";

/**
 * Finds the entries of an archive that an INF and the INFs in its CopyINF use. It applies the rules and limits of
 * an inspection at upload. Blocks: call it in a worker thread.
 * @param onBytesUsed is called with the sizes of buffers that are no longer used
 * @throws UserError "invalid" with the remedy if the INFs cannot be read within the limits
 */
export function usedEntries(...[source, entries, infPath, onBytesUsed]: Parameters<typeof findUsed>) {
  return findUsed(source, entries, infPath, onBytesUsed).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(
      error.code,
      `Platen cannot determine which files “${infPath}” uses. ${error.message} Or turn off “Leave out unused files” on the driver’s page: packages then contain every file.`,
    );
  });
}

async function findUsed(
  source: ByteSource,
  entries: readonly ArchiveEntry[],
  infPath: string,
  onBytesUsed: (bytes: number) => void,
): Promise<ArchiveEntry[]> {
  const infs = new Map(infsOf(entries).map((entry) => [entry.path, entry]));
  const cabinets = new Map<string, readonly string[]>();
  for (const entry of entries) {
    if (kindOf(entry.path) !== "cabinet") continue;
    const names = cabinetNames(await checkEntry(source, entry, cabinetHeadBytes, onBytesUsed));
    if (names !== undefined) cabinets.set(entry.path, names);
  }
  const paths = entries.map(({ path }) => path);
  const used = await usedByInf(infPath, new PackageFiles(paths, cabinets), new Work(), (path) => {
    const entry = infs.get(path);
    if (entry === undefined) throw new UserError("invalid", `“${path}” is not an INF file of the ZIP.`);
    return checkEntry(source, entry, infLimitBytes, onBytesUsed);
  });
  return entries.filter(({ path }) => used.has(path));
}
