import { pipeline } from "node:stream/promises";
import { crc32, createInflateRaw, inflateRawSync } from "node:zlib";
import type { ByteSource } from "../../domain/byte-source.ts";
import type { UserError } from "../../domain/errors.ts";
import { firstOf } from "../../domain/text.ts";
import { type ArchiveEnd, type DirectoryRecord, readEnd, readRecords } from "./archive-directory.ts";
import { visiblePath } from "./archive-names.ts";
import {
  damaged,
  generalPurposeBits,
  localFileHeader,
  refuse,
  rezip,
  rezipWith7Zip,
} from "./record-fields.ts";

/** A file of a ZIP archive. Folders are not listed. */
export interface ArchiveEntry {
  /** With `/`. Windows can create it. */
  readonly path: string;
  /** 0 stored, 8 deflated. */
  readonly method: 0 | 8;
  readonly crc32: number;
  /** Unpacked, in bytes. */
  readonly size: number;
  readonly compressedSize: number;
  /** Start of the entry's data, in bytes from the start of the file. */
  readonly dataOffset: number;
}

export interface Archive {
  /** In the order of the central directory. If names differ only by case, only the last one is included. */
  readonly entries: readonly ArchiveEntry[];
  /** Files whose names Windows cannot create: packages leave them out. */
  readonly leftOut: readonly UnusableName[];
  /** For the operator, a few sentences at most. */
  readonly warnings: readonly string[];
}

interface UnusableName {
  readonly path: string;
  /** Why Windows cannot create it, as the rest of a sentence. */
  readonly flaw: string;
}

/** Packages cannot hold more, because they have no ZIP64 structures, like those of Microsoft's tool. */
export const unpackedLimitBytes = 0xffff_0000;
/** Deflate compresses up to 1,032 : 1, drivers about 20 : 1. The ratio counts only above `bombFloorBytes`. */
export const bombRatio = 200;
const bombFloorBytes = 256 * 1024 * 1024;
const { encrypted, strongEncryption, maskedHeader } = generalPurposeBits;
/** Any of these flags means that the file needs a password. */
const passwordFlags = encrypted | strongEncryption | maskedHeader;

/**
 * Reads the central directory of a ZIP archive (PKWARE APPNOTE 6.3.10). It accepts ZIP64 fields, names in UTF-8, CP437
 * and Shift-JIS, data descriptors, and entries in any order. Packages are made from the central directory, so the other
 * fields of local headers are ignored.
 * @throws UserError "invalid" for a file that is not a plain ZIP, or that could do harm when unpacked
 */
export async function readArchive(source: ByteSource): Promise<Archive> {
  const end = await readEnd(source);
  const records = readRecords(await source.read(end.directoryOffset, end.directorySize), end.entryCount);
  for (const record of records) checkRecord(record);
  checkAmount(records, source.size);
  const files = records.filter(({ isFolder }) => !isFolder);
  const leftOut = files.flatMap(({ path, flaw }) => (flaw === undefined ? [] : [{ path, flaw }]));
  const { kept, replaced } = distinctFiles(files.filter(({ flaw }) => flaw === undefined));
  const dataOffsets = await locateAll(source, records, end);
  const entries = kept.map((record) => entryOf(record, dataOffsets.get(record) ?? 0));
  return { entries, leftOut, warnings: [...leftOutWarnings(leftOut), ...caseWarnings(replaced)] };
}

function checkRecord(record: DirectoryRecord): void {
  const name = `“${visiblePath(record.path)}”`;
  if (record.isFolder && record.size > 0) throw damaged(`the folder ${name} has contents of its own`);
  if (record.flags & passwordFlags || record.method === 99) {
    throw refuse(
      `This ZIP is encrypted (${name}). Extract it with its password, and zip the folder without one.`,
    );
  }
  if (record.isLink) throw refuse(`${name} is a symbolic link, which Windows cannot extract. ${rezip}`);
  if (record.method === deflate64) {
    throw refuse(
      `${name} is compressed with Deflate64, as Windows does for files over 2 GB. Packages cannot contain that. ${rezipWith7Zip}`,
    );
  }
  if (record.method !== 0 && record.method !== 8) {
    throw refuse(
      `${name} is compressed with a method (${record.method}) that packages cannot contain. ${rezip}`,
    );
  }
  if (record.method === 0 && record.size !== record.compressedSize) {
    throw damaged(`the sizes of ${name} contradict each other`);
  }
}

const deflate64 = 9;

function checkAmount(records: readonly DirectoryRecord[], archiveSize: number): void {
  const total = records.reduce((sum, record) => sum + record.size, 0);
  if (total > unpackedLimitBytes)
    throw refuse("This ZIP extracts to more than 4 GB. A package cannot contain that much.");
  if (total <= Math.max(bombFloorBytes, archiveSize * bombRatio)) return;
  throw refuse(
    "Platen refuses this ZIP. It extracts to more than 200 times its size, which drivers never do.",
  );
}

function entryOf(record: DirectoryRecord, dataOffset: number): ArchiveEntry {
  const { path, method, crc32: crc, size, compressedSize } = record;
  return { path, method: method === 8 ? 8 : 0, crc32: crc, size, compressedSize, dataOffset };
}

/** Headers within this distance are read together. */
const headerWindowBytes = 4096;

/**
 * Finds where each record's packed bytes start, after its local header (4.3.7), in bytes from the start of the file.
 * @throws UserError "invalid" if a local header is missing, and for files that overlap
 */
async function locateAll(
  source: ByteSource,
  records: readonly DirectoryRecord[],
  { directoryOffset, shift }: ArchiveEnd,
): Promise<ReadonlyMap<DirectoryRecord, number>> {
  const dataOffsets = new Map<DirectoryRecord, number>();
  let window: Buffer = Buffer.alloc(0);
  let windowStart = 0;
  let before: { readonly path: string; readonly end: number } | undefined;
  for (const record of [...records].sort((a, b) => a.headerOffset - b.headerOffset)) {
    const at = record.headerOffset + shift;
    const headerEnd = at + localFileHeader.size;
    if (headerEnd > directoryOffset) throw misplaced(record);
    if (before !== undefined && at < before.end) throw overlap(before, record);
    if (headerEnd > windowStart + window.length) {
      windowStart = at;
      window = await source.read(at, Math.min(headerWindowBytes, directoryOffset - at));
    }
    const header = window.subarray(at - windowStart);
    if (header.readUInt32LE(0) !== localFileHeader.signature) throw misplaced(record);
    const nameLength = header.readUInt16LE(localFileHeader.fileNameLength);
    const dataOffset = headerEnd + nameLength + header.readUInt16LE(localFileHeader.extraFieldLength);
    before = { path: record.path, end: dataOffset + record.compressedSize };
    if (before.end > directoryOffset) throw misplaced(record);
    dataOffsets.set(record, dataOffset);
  }
  return dataOffsets;
}

function misplaced({ path }: DirectoryRecord): UserError {
  return damaged(`“${visiblePath(path)}” is not where its table of contents says`);
}

function overlap(one: { readonly path: string }, other: DirectoryRecord): UserError {
  return refuse(
    `Platen refuses this ZIP. “${visiblePath(one.path)}” and “${visiblePath(other.path)}” overlap. Download it again from the vendor.`,
  );
}

/**
 * Of paths that differ only by case, the last one is kept, as when Windows unpacks them.
 * @throws UserError "invalid" if a path occurs twice, or is both a file and a folder
 */
function distinctFiles(files: readonly DirectoryRecord[]) {
  const paths = new Set<string>();
  const kept = new Map<string, DirectoryRecord>();
  const replaced: [earlier: string, later: string][] = [];
  for (const record of files) {
    const { path } = record;
    if (paths.has(path)) throw refuse(`This ZIP contains “${path}” twice, as Windows reads names. ${rezip}`);
    paths.add(path);
    const key = path.toLowerCase();
    const earlier = kept.get(key);
    if (earlier !== undefined) replaced.push([earlier.path, path]);
    // Deleting first moves the key to the place of the later file.
    kept.delete(key);
    kept.set(key, record);
  }
  for (const key of kept.keys())
    for (let at = key.indexOf("/"); at > 0; at = key.indexOf("/", at + 1)) {
      const file = kept.get(key.slice(0, at))?.path;
      if (file !== undefined) throw refuse(`This ZIP contains “${file}” as a file and as a folder. ${rezip}`);
    }
  return { kept: [...kept.values()], replaced };
}

/** The maximum number of names in the warning about files that packages leave out. */
const maxListed = 4;

function leftOutWarnings(leftOut: readonly UnusableName[]): string[] {
  if (leftOut.length === 0) return [];
  const names = leftOut.map(({ path, flaw }) => `“${visiblePath(path)}” ${flaw}`);
  return [`Packages leave out files that Windows cannot create: ${firstOf(names, maxListed)}.`];
}

function caseWarnings(replaced: readonly (readonly [earlier: string, later: string])[]): string[] {
  const [first] = replaced;
  if (first === undefined) return [];
  const more = replaced.length > 1 ? ` In all, ${replaced.length} pairs differ like this.` : "";
  return [`“${first[0]}” and “${first[1]}” differ only in case. Windows keeps only the second file.${more}`];
}

const windowBytes = 1024 * 1024;
/** The smallest `chunkSize` that zlib accepts. */
const leastChunkBytes = 64;

/**
 * Unpacks one entry, checks its size and checksum, and returns its first `keep` bytes. Blocks while it inflates: call it
 * in a worker thread or process.
 * @param onBytesUsed is called with the sizes of buffers that are no longer used
 * @throws UserError "invalid" if the entry is damaged
 */
export async function checkEntry(
  source: ByteSource,
  entry: ArchiveEntry,
  keep: number,
  onBytesUsed: (bytes: number) => void = () => {},
): Promise<Buffer> {
  const kept: Buffer[] = [];
  let size = 0;
  await unpackEntry(source, entry, (chunk) => {
    if (size < keep) kept.push(Buffer.from(chunk.subarray(0, keep - size)));
    size += chunk.length;
    onBytesUsed(2 * chunk.length);
  });
  return Buffer.concat(kept);
}

/**
 * Unpacks one entry and passes its bytes to `use`, in pieces that `use` must not keep. Blocks as `checkEntry` does.
 * @throws UserError "invalid" if the entry does not match its size and checksum, which may be found after the last piece
 */
export async function unpackEntry(
  source: ByteSource,
  entry: ArchiveEntry,
  use: (chunk: Buffer) => void,
): Promise<void> {
  const mismatch = () => damaged(`“${entry.path}” does not match its checksum`);
  let crc = 0;
  let size = 0;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > entry.size) throw mismatch();
    crc = crc32(chunk, crc);
    use(chunk);
  };
  if (entry.method === 0) {
    for await (const chunk of windows(source, entry)) take(chunk);
  } else if (entry.size <= 4 * windowBytes && entry.compressedSize <= windowBytes) {
    const packed = await source.read(entry.dataOffset, entry.compressedSize);
    take(inflateWhole(packed, entry.size, mismatch));
  } else {
    await inflateStream(windows(source, entry), entry.compressedSize, take, mismatch);
  }
  if (size !== entry.size || crc !== entry.crc32) throw mismatch();
}

async function* windows(source: ByteSource, entry: ArchiveEntry): AsyncGenerator<Buffer> {
  for (let at = 0; at < entry.compressedSize; at += windowBytes) {
    yield await source.read(entry.dataOffset + at, Math.min(windowBytes, entry.compressedSize - at));
  }
}

/** Some writers store an empty file as deflated with no bytes at all. Extra bytes after the deflated data are an error. */
function inflateWhole(packed: Buffer, size: number, mismatch: () => UserError): Buffer {
  if (size === 0 && packed.length === 0) return packed;
  try {
    // The chunk size avoids a copy: by default zlib makes pieces of 16 KB and joins them.
    const options = { maxOutputLength: size + 1, chunkSize: Math.max(leastChunkBytes, size + 1), info: true };
    // With `info`, `engine.bytesWritten` is the number of input bytes that were used.
    const inflated: unknown = inflateRawSync(packed, options);
    const { buffer, engine } = inflated as { buffer: Buffer; engine: { bytesWritten: number } };
    if (engine.bytesWritten === packed.length) return buffer;
  } catch {
    // Every error of zlib means that the data is damaged.
  }
  throw mismatch();
}

async function inflateStream(
  input: AsyncIterable<Buffer>,
  length: number,
  take: (chunk: Buffer) => void,
  mismatch: () => UserError,
): Promise<void> {
  const inflate = createInflateRaw({ chunkSize: 256 * 1024 });
  try {
    await pipeline(input, inflate, async (output: AsyncIterable<Buffer>) => {
      for await (const chunk of output) take(chunk);
    });
  } catch (error) {
    // Damaged data causes errors of zlib, and data that ends before its input does causes errors of streams.
    const { code = "" } = error as NodeJS.ErrnoException;
    throw /^(?:Z_|ERR_STREAM_|ABORT_ERR$)/.test(code) ? mismatch() : error;
  }
  if (inflate.bytesWritten !== length) throw mismatch();
}
