import { createHash } from "node:crypto";
import type { ByteSource } from "../../domain/byte-source.ts";
import { describePacked, mayHoldDriver, recognitionBytes } from "../../domain/drivers/unpacking.ts";
import { UserError } from "../../domain/errors.ts";
import { firstOf } from "../../domain/text.ts";
import { comparePrinterInfs, type InfReading } from "../../inf/package.ts";
import { type ArchiveEntry, checkEntry, unpackEntry } from "../../pkg/zip/archive.ts";
import { visiblePath } from "../../pkg/zip/archive-names.ts";
import { refuse, rezip } from "../../pkg/zip/record-fields.ts";
import { openSourceBlocking, writeBlocking } from "../../store/files.ts";
import type { InnerArchive } from "../../workers/inspection-process.ts";
import { countUsedBuffers } from "../../workers/memory.ts";
import { type Inspection, inspectArchive } from "./inspect.ts";

/** The result of reading an upload. */
interface UploadInspection {
  readonly inspection: Inspection;
  /** The ZIP in the uploaded one that was read instead of it. */
  readonly inner?: InnerArchive;
}

interface InnerTarget {
  /** The file that inner ZIPs are extracted to. The caller deletes it. */
  readonly path: string;
  /** The maximum size of an inner ZIP in bytes. */
  readonly limitBytes: number;
}

/** How many files of an archive are tried as inner ZIPs, the largest first. */
export const maxInnerArchives = 20;

/**
 * Reads an upload. If it contains no printer INF, but a ZIP or self-extracting program in it does, that one is read
 * instead; of several, the one with the best printer INF. Inner archives of inner archives are not read.
 * @throws UserError "invalid" when it is not a driver ZIP or is damaged
 */
export async function inspectUpload(source: ByteSource, target: InnerTarget): Promise<UploadInspection> {
  const inspection = await inspectArchive(source);
  if (inspection.printerInf !== undefined) return { inspection };
  const inner = await bestInner(source, inspection.archive.entries, target);
  if (inner !== undefined) return inner;
  const packed = await packedInWords(source, inspection.archive.entries);
  if (inspection.readings.length === 0) throw noInf(inspection, packed);
  return { inspection: packed === undefined ? inspection : { ...inspection, packed } };
}

function noInf({ archive }: Inspection, packed: string | undefined): UserError {
  const unusable = archive.leftOut.find(({ path }) => /\.inf$/i.test(path));
  if (unusable !== undefined)
    return refuse(`Platen refuses this ZIP. “${visiblePath(unusable.path)}” ${unusable.flaw}. ${rezip}`);
  return refuse(
    `This ZIP contains no INF file. ${packed ?? "Zip the folder with the INF file, and upload that ZIP."}`,
  );
}

async function packedInWords(
  source: ByteSource,
  entries: readonly ArchiveEntry[],
): Promise<string | undefined> {
  const packed = entries.filter(({ path }) => mayHoldDriver(path));
  const [first] = packed;
  const isOnly = packed.length === 1 && first !== undefined;
  const head = isOnly ? await checkEntry(source, first, recognitionBytes, countUsedBuffers) : Buffer.alloc(0);
  return describePacked(
    packed.map(({ path }) => path),
    head,
  );
}

async function bestInner(
  source: ByteSource,
  entries: readonly ArchiveEntry[],
  target: InnerTarget,
): Promise<UploadInspection | undefined> {
  const candidates = entries
    .filter(({ path, size }) => /\.(?:zip|exe)$/i.test(path) && size <= target.limitBytes)
    .toSorted((a, b) => b.size - a.size)
    .slice(0, maxInnerArchives);
  const found: { readonly entry: ArchiveEntry; readonly inf: InfReading }[] = [];
  let last: Awaited<ReturnType<typeof readInner>> | undefined;
  for (const entry of candidates) {
    last = await readInner(source, entry, target).catch(undefinedIfUnreadable);
    const inf = last?.inspection.printerInf;
    if (inf !== undefined) found.push({ entry, inf });
  }
  const [best, ...others] = found
    .toSorted((a, b) => comparePrinterInfs(a.inf, b.inf))
    .map(({ entry }) => entry);
  if (best === undefined) return undefined;
  // Only the last candidate is still in the target's file.
  const { inspection, inner } =
    last !== undefined && best === candidates.at(-1) ? last : await readInner(source, best, target);
  return { inspection, inner: { ...inner, remark: takenInWords(best, others) } };
}

/** The maximum number of other drivers in the remark. */
const maxListed = 4;

function takenInWords(taken: ArchiveEntry, others: readonly ArchiveEntry[]): string {
  const names = others.map(({ path }) => `“${visiblePath(path)}”`);
  const more =
    names.length > 0
      ? ` Other printer drivers are in ${firstOf(names, maxListed)}: upload them separately.`
      : "";
  return `The uploaded file contains no printer INF, so Platen took “${visiblePath(taken.path)}” from it.${more}`;
}

/** Extracts an inner archive to the target and reads it. @throws UserError "invalid" if it is not a driver ZIP */
async function readInner(source: ByteSource, entry: ArchiveEntry, { path }: InnerTarget) {
  const hash = createHash("sha256");
  await writeBlocking(path, (write) =>
    unpackEntry(source, entry, (chunk) => {
      hash.update(chunk);
      write(chunk);
      countUsedBuffers(2 * chunk.length);
    }),
  );
  const inner = openSourceBlocking(path);
  try {
    const inspection = await inspectArchive(inner);
    const digest = hash.digest("hex");
    return { inspection, inner: { name: entry.path, sha256: digest, size: entry.size } };
  } finally {
    inner.close();
  }
}

function undefinedIfUnreadable(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
}
