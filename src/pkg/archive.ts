import { crc32, inflateRawSync } from "node:zlib";
import type { ByteSource } from "../domain/byte-source.ts";
import { UserError } from "../domain/errors.ts";
import { checkPath, decodeCp437 } from "./archive-names.ts";

/** A file of a ZIP archive. Folders are not listed. */
export interface ArchiveEntry {
  /** With `/`, as Windows can create it. */
  readonly path: string;
  /** 0 stored, 8 deflated. */
  readonly method: 0 | 8;
  readonly crc32: number;
  /** Unpacked, in bytes. */
  readonly size: number;
  readonly compressedSize: number;
  /** Where the entry's data starts, in bytes from the start of the archive. */
  readonly dataOffset: number;
}

export interface Archive {
  /** In the order of the central directory; of two names that differ only by case, the later one. */
  readonly entries: readonly ArchiveEntry[];
  /** What an operator should know, a sentence each. */
  readonly warnings: readonly string[];
}

const entryLimit = 60_000;
const directoryLimitBytes = 64 * 1024 * 1024;
/** Packages have no ZIP64 structures, as genuine ones have none. */
const unpackedLimitBytes = 0xffff_0000;
/** Deflate reaches 1,032 : 1; drivers reach about 20 : 1. Small archives may do what they like. */
const bombRatio = 200;
const bombFloorBytes = 256 * 1024 * 1024;

const rezip =
  "Unpack it and pack the folder again as an ordinary ZIP (in Windows: Send to → Compressed folder), then upload that.";

function refuse(message: string): UserError {
  return new UserError("invalid", message);
}

/**
 * Reads the central directory of a ZIP archive (PKWARE APPNOTE 6.3.10): ZIP64 fields, UTF-8 and CP437
 * names, data descriptors and entries in any order are all right.
 * @throws UserError "invalid" for everything that is no plain ZIP or that could do harm when unpacked.
 */
export async function readArchive(source: ByteSource): Promise<Archive> {
  const end = await readEnd(source);
  const directory = await source.read(end.directoryOffset, end.directorySize);
  const records = readRecords(directory, end.entryCount);
  const files = records.filter((record) => !isFolder(record));
  for (const record of files) checkRecord(record);
  checkAmount(files, source.size);
  const { kept, warnings } = checkNames(records);
  const entries = await Promise.all(inBatches(kept, (record) => locate(source, record, end)));
  checkOverlaps(entries);
  return { entries: entries.map(({ headerOffset: _, ...entry }) => entry), warnings };
}

interface End {
  readonly entryCount: number;
  readonly directorySize: number;
  readonly directoryOffset: number;
  /** Bytes in front of the archive that its offsets do not count (a self-extracting program). */
  readonly shift: number;
}

async function readEnd(source: ByteSource): Promise<End> {
  const tailLength = Math.min(source.size, 22 + 0xffff);
  const tail = await source.read(source.size - tailLength, tailLength);
  const at = findEnd(tail);
  if (at < 0) {
    const isCutOff = source.size >= 4 && (await source.read(0, 4)).readUInt32LE(0) === 0x04034b50;
    throw refuse(
      isCutOff
        ? "This ZIP is damaged: its end is missing. Download it again and upload it once more."
        : "This file is not a ZIP archive. Upload the ZIP with the driver’s files, INF included.",
    );
  }
  const endOffset = source.size - tailLength + at;
  let entryCount = tail.readUInt16LE(at + 10);
  let directorySize = tail.readUInt32LE(at + 12);
  let directoryOffset = tail.readUInt32LE(at + 16);
  let directoryEnd = endOffset;
  const disks = [tail.readUInt16LE(at + 4), tail.readUInt16LE(at + 6)];
  const large = await readZip64End(source, endOffset);
  if (large !== undefined) {
    ({ entryCount, directorySize, directoryOffset, directoryEnd } = large);
  } else if (disks.some((disk) => disk !== 0) || tail.readUInt16LE(at + 8) !== entryCount) {
    throw refuse(`This ZIP is one part of several. ${rezip}`);
  }
  const shift = directoryEnd - directorySize - directoryOffset;
  if (shift < 0 || directorySize > directoryLimitBytes || entryCount > entryLimit) {
    throw refuse(
      entryCount > entryLimit && shift >= 0
        ? `This ZIP holds ${entryCount} files; at most ${entryLimit} are possible.`
        : "This ZIP is damaged: its table of contents does not fit. Download it again and upload it once more.",
    );
  }
  return { entryCount, directorySize, directoryOffset: directoryOffset + shift, shift };
}

function findEnd(tail: Buffer): number {
  for (let at = tail.length - 22; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== 0x06054b50) continue;
    if (at + 22 + tail.readUInt16LE(at + 20) <= tail.length) return at;
  }
  return -1;
}

async function readZip64End(source: ByteSource, endOffset: number) {
  if (endOffset < 20) return undefined;
  const locator = await source.read(endOffset - 20, 20);
  if (locator.readUInt32LE(0) !== 0x07064b50) return undefined;
  const at = Number(locator.readBigUInt64LE(8));
  if (locator.readUInt32LE(16) > 1) throw refuse(`This ZIP is one part of several. ${rezip}`);
  if (at + 56 > endOffset) throw refuse("This ZIP is damaged: its ZIP64 end record is missing.");
  const record = await source.read(at, 56);
  if (record.readUInt32LE(0) !== 0x06064b50)
    throw refuse("This ZIP is damaged: its ZIP64 end record is missing.");
  if (record.readUInt32LE(16) !== 0) throw refuse(`This ZIP is one part of several. ${rezip}`);
  return {
    entryCount: Number(record.readBigUInt64LE(32)),
    directorySize: Number(record.readBigUInt64LE(40)),
    directoryOffset: Number(record.readBigUInt64LE(48)),
    directoryEnd: at,
  };
}

interface DirectoryRecord {
  readonly path: string;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly size: number;
  readonly compressedSize: number;
  readonly headerOffset: number;
  readonly isLink: boolean;
}

function readRecords(directory: Buffer, count: number): DirectoryRecord[] {
  const records: DirectoryRecord[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== 0x02014b50) {
      throw refuse("This ZIP is damaged: its table of contents is broken. Download it again.");
    }
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    const next = extraEnd + directory.readUInt16LE(at + 32);
    if (next > directory.length) throw refuse("This ZIP is damaged: its table of contents is cut off.");
    records.push(
      readRecord(
        directory.subarray(at, at + 46),
        directory.subarray(at + 46, nameEnd),
        directory.subarray(nameEnd, extraEnd),
      ),
    );
    at = next;
  }
  return records;
}

function readRecord(fixed: Buffer, name: Buffer, extra: Buffer): DirectoryRecord {
  const flags = fixed.readUInt16LE(8);
  const madeOnUnix = fixed.readUInt8(5) === 3;
  const mode = fixed.readUInt32LE(38) >>> 16;
  const sizes = readSizes(fixed, extra);
  return {
    path: readName(name, flags, extra).replaceAll("\\", "/"),
    flags,
    method: fixed.readUInt16LE(10),
    crc32: fixed.readUInt32LE(16),
    isLink: madeOnUnix && (mode & 0o170000) === 0o120000,
    ...sizes,
  };
}

/** Sizes and offset, from the ZIP64 extra field where the plain ones are full. */
function readSizes(fixed: Buffer, extra: Buffer) {
  const field = extraField(extra, 0x0001);
  let at = 0;
  const take = (value: number) => {
    if (value !== 0xffffffff) return value;
    if (field === undefined || at + 8 > field.length)
      throw refuse("This ZIP is damaged: a ZIP64 size is missing.");
    at += 8;
    return Number(field.readBigUInt64LE(at - 8));
  };
  const size = take(fixed.readUInt32LE(24));
  const compressedSize = take(fixed.readUInt32LE(20));
  const headerOffset = take(fixed.readUInt32LE(42));
  return { size, compressedSize, headerOffset };
}

function extraField(extra: Buffer, id: number): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === id && end <= extra.length) return extra.subarray(at + 4, end);
    at = end;
  }
  return undefined;
}

function readName(name: Buffer, flags: number, extra: Buffer): string {
  const unicode = extraField(extra, 0x7075);
  const fits = unicode !== undefined && unicode.length > 5 && unicode.readUInt32LE(1) === crc32(name);
  const utf8 = flags & 0x0800 ? name : fits ? unicode.subarray(5) : undefined;
  if (utf8 === undefined) return decodeCp437(name);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(utf8);
  } catch {
    throw refuse(`This ZIP is damaged: a file name is not valid UTF-8. ${rezip}`);
  }
}

function isFolder(record: DirectoryRecord): boolean {
  return record.path.endsWith("/");
}

function checkRecord(record: DirectoryRecord): void {
  const name = `“${record.path}”`;
  if (record.flags & 0x2041 || record.method === 99) {
    throw refuse(
      `This ZIP is encrypted (${name}). Unpack it with its password and pack it again without one.`,
    );
  }
  if (record.isLink) throw refuse(`${name} is a symbolic link, which Windows cannot unpack. ${rezip}`);
  if (record.method !== 0 && record.method !== 8) {
    throw refuse(
      `${name} is packed with a method (${record.method}) that Windows’ own unzip does not read. ${rezip}`,
    );
  }
  if (record.method === 0 && record.size !== record.compressedSize) {
    throw refuse(`This ZIP is damaged: the sizes of ${name} contradict each other.`);
  }
}

function checkAmount(records: readonly DirectoryRecord[], archiveSize: number): void {
  const total = records.reduce((sum, record) => sum + record.size, 0);
  if (total > unpackedLimitBytes)
    throw refuse("This ZIP unpacks to more than 4 GB, which no package can hold.");
  if (total <= Math.max(bombFloorBytes, archiveSize * bombRatio)) return;
  throw refuse(
    "This ZIP unpacks to more than two hundred times its size: that is no driver, and it is refused.",
  );
}

function checkNames(records: readonly DirectoryRecord[]): { kept: DirectoryRecord[]; warnings: string[] } {
  const kept = new Map<string, DirectoryRecord>();
  const exact = new Set<string>();
  const warnings: string[] = [];
  for (const record of records) {
    checkPath(record.path);
    if (isFolder(record)) continue;
    if (exact.has(record.path)) throw refuse(`This ZIP holds “${record.path}” twice. ${rezip}`);
    exact.add(record.path);
    const key = record.path.toLowerCase();
    const earlier = kept.get(key);
    if (earlier !== undefined) {
      warnings.push(
        `“${earlier.path}” and “${record.path}” differ only by case: Windows keeps the later one.`,
      );
      kept.delete(key);
    }
    kept.set(key, record);
  }
  for (const key of kept.keys()) {
    for (let slash = key.indexOf("/"); slash > 0; slash = key.indexOf("/", slash + 1)) {
      const file = kept.get(key.slice(0, slash));
      if (file !== undefined)
        throw refuse(`“${file.path}” is a file and a folder at once in this ZIP. ${rezip}`);
    }
  }
  return { kept: [...kept.values()], warnings };
}

type LocatedEntry = ArchiveEntry & { readonly headerOffset: number };

async function locate(source: ByteSource, record: DirectoryRecord, end: End): Promise<LocatedEntry> {
  const headerOffset = record.headerOffset + end.shift;
  const damaged = () =>
    refuse(`This ZIP is damaged: “${record.path}” is not where its table of contents says.`);
  if (headerOffset + 30 > end.directoryOffset) throw damaged();
  const header = await source.read(headerOffset, 30);
  if (header.readUInt32LE(0) !== 0x04034b50) throw damaged();
  const dataOffset = headerOffset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (dataOffset + record.compressedSize > end.directoryOffset) throw damaged();
  const { path, method, crc32: crc, size, compressedSize } = record;
  return { path, method: method === 8 ? 8 : 0, crc32: crc, size, compressedSize, dataOffset, headerOffset };
}

/** Starts the work in an order that keeps few reads under way at a time. */
function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R>[] {
  const width = 32;
  const results: Promise<R>[] = [];
  for (const [i, item] of items.entries()) {
    const before = results[i - width];
    const started = before === undefined ? work(item) : before.then(() => work(item));
    started.catch(() => {});
    results.push(started);
  }
  return results;
}

function checkOverlaps(entries: readonly LocatedEntry[]): void {
  const sorted = [...entries].sort((a, b) => a.headerOffset - b.headerOffset);
  for (const [i, entry] of sorted.entries()) {
    const next = sorted[i + 1];
    if (next !== undefined && entry.dataOffset + entry.compressedSize > next.headerOffset) {
      throw refuse(
        `“${entry.path}” and “${next.path}” overlap in this ZIP: it is refused as a decompression bomb.`,
      );
    }
  }
}

const windowBytes = 1024 * 1024;

/**
 * Unpacks one entry, checks its size and checksum, and returns its first `keep` bytes. Blocks while it
 * inflates: call it in a worker thread.
 * @param used is told of buffers that are done with
 * @throws UserError "invalid" when the entry is damaged.
 */
export async function checkEntry(
  source: ByteSource,
  entry: ArchiveEntry,
  keep: number,
  used: (bytes: number) => void = () => {},
): Promise<Buffer> {
  const damaged = () =>
    refuse(
      `This ZIP is damaged: “${entry.path}” does not match its checksum. Download it again and upload it once more.`,
    );
  const kept: Buffer[] = [];
  let crc = 0;
  let size = 0;
  const take = (chunk: Buffer) => {
    if (size < keep) kept.push(Buffer.from(chunk.subarray(0, keep - size)));
    crc = crc32(chunk, crc);
    size += chunk.length;
    used(2 * chunk.length);
    if (size > entry.size) throw damaged();
  };
  if (entry.method === 0) {
    for await (const chunk of windows(source, entry)) take(chunk);
  } else if (entry.size <= 4 * windowBytes && entry.compressedSize <= windowBytes) {
    take(inflateWhole(await source.read(entry.dataOffset, entry.compressedSize), entry.size, damaged));
  } else {
    await inflateStream(windows(source, entry), take, damaged);
  }
  if (size !== entry.size || crc !== entry.crc32) throw damaged();
  return Buffer.concat(kept);
}

async function* windows(source: ByteSource, entry: ArchiveEntry): AsyncGenerator<Buffer> {
  for (let at = 0; at < entry.compressedSize; at += windowBytes) {
    yield await source.read(entry.dataOffset + at, Math.min(windowBytes, entry.compressedSize - at));
  }
}

function inflateWhole(bytes: Buffer, size: number, damaged: () => UserError): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: size + 1 });
  } catch {
    throw damaged();
  }
}

async function inflateStream(
  input: AsyncIterable<Buffer>,
  take: (chunk: Buffer) => void,
  damaged: () => UserError,
) {
  const { createInflateRaw } = await import("node:zlib");
  const { pipeline } = await import("node:stream/promises");
  try {
    await pipeline(
      input,
      createInflateRaw({ chunkSize: 256 * 1024 }),
      async (output: AsyncIterable<Buffer>) => {
        for await (const chunk of output) take(chunk);
      },
    );
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw code?.startsWith("Z_") || code === "ERR_STREAM_PREMATURE_CLOSE" ? damaged() : error;
  }
}
