import { crc32 } from "node:zlib";
import { deflateSync } from "fflate";
import { UserError } from "../../domain/errors.ts";
import type { ArchiveEntry } from "./archive.ts";
import { joinLayouts, type Layout, LayoutBuilder } from "./layout.ts";
import {
  centralDirectoryHeader,
  endOfCentralDirectory,
  generalPurposeBits,
  localFileHeader,
} from "./record-fields.ts";
import { directoryRecord, endRecord, type FileRecord, localHeader } from "./zip-records.ts";

/** A file for a new ZIP. Its data is ready to be copied. */
export interface ZipFile {
  /** With `/`. */
  readonly name: string;
  readonly crc32: number;
  /** Unpacked, in bytes. */
  readonly size: number;
  readonly data: ZipData;
}

type ZipData =
  | { readonly deflated: Uint8Array }
  | { readonly source: number; readonly offset: number; readonly length: number; readonly method: 0 | 8 };

/** The common end of several files, deflated once for all of them. */
export interface SharedSuffix {
  readonly bytes: Uint8Array;
  readonly deflated: Uint8Array;
}

/** Blocks while it deflates, so keep it small. */
export function sharedSuffix(bytes: Uint8Array): SharedSuffix {
  return { bytes, deflated: deflate(bytes) };
}

/** Up to this size, a file's own bytes are stored, because deflating them takes longer than sending them. */
const storedLimitBytes = 16 * 1024;

/** A generated file, such as a script: its own bytes, then a shared end. Blocks while it deflates. */
export function generatedFile(name: string, own: Uint8Array, end: SharedSuffix): ZipFile {
  const isShort = own.length <= storedLimitBytes;
  const deflated = isShort
    ? Buffer.concat([storedBlockHead(own.length, false), own, end.deflated])
    : deflate(Buffer.concat([own, end.bytes]));
  return {
    name,
    crc32: crc32(end.bytes, crc32(own)),
    size: own.length + end.bytes.length,
    data: { deflated },
  };
}

function deflate(bytes: Uint8Array): Uint8Array {
  // `mem: 4` is a hash table of 128 KB. A larger one does not make scripts smaller.
  return deflateSync(bytes, { level: 6, mem: 4 });
}

/** A file whose packed bytes are copied from a driver archive. */
export function copiedFile(name: string, entry: ArchiveEntry, source: number): ZipFile {
  const { crc32: crc, size, method, dataOffset: offset, compressedSize: length } = entry;
  return { name, crc32: crc, size, data: { source, offset, length, method } };
}

/** Limits of a ZIP without ZIP64 structures. */
const fileLimit = 0xffff;
const sizeLimitBytes = 0xffff_ffff;

/** The first files of a ZIP, laid out once for all ZIPs that begin with them. */
export interface ZipPrefix {
  /** Local headers and data. */
  readonly files: Layout;
  /** Their records in the central directory. */
  readonly directory: Layout;
  readonly count: number;
}

const emptyPrefix: ZipPrefix = { files: joinLayouts(), directory: joinLayouts(), count: 0 };

/**
 * Lays out a ZIP like the inner ZIP of Microsoft's packaging tool: deflate (empty files stored), names flagged as UTF-8,
 * versions 20, no extra fields, no data descriptors, no folders, no comment. Stored source data is wrapped into stored
 * blocks of deflate, which adds five bytes per 65,535.
 * @param prefix the files before these
 * @throws UserError "invalid" for more files or bytes than a ZIP can contain
 */
export function zipLayout(files: readonly ZipFile[], prefix = emptyPrefix): Layout {
  const own = filesLayout(files, prefix);
  const count = prefix.count + own.count;
  const directoryOffset = prefix.files.size + own.files.size;
  const directorySize = prefix.directory.size + own.directory.size;
  const end = new LayoutBuilder().bytes(endRecord(count, directorySize, directoryOffset)).build();
  return joinLayouts(prefix.files, own.files, prefix.directory, own.directory, end);
}

/** Lays out the first files of a ZIP. @throws UserError "invalid" as `zipLayout` does */
export function zipPrefix(files: readonly ZipFile[]): ZipPrefix {
  return filesLayout(files, emptyPrefix);
}

function filesLayout(files: readonly ZipFile[], before: ZipPrefix): ZipPrefix {
  checkAmount(files, before);
  const data = new LayoutBuilder();
  const directory = new LayoutBuilder();
  for (const file of files) {
    const record = recordOf(file);
    directory.bytes(directoryRecord(record, before.files.size + data.size));
    data.bytes(localHeader(record));
    addData(data, file);
  }
  return { files: data.build(), directory: directory.build(), count: files.length };
}

/** @throws UserError "invalid" for more files than a ZIP can contain */
export function checkFileCount(count: number): void {
  if (count > fileLimit) throw tooMuch("more than 65,535 files");
}

function checkAmount(files: readonly ZipFile[], before: ZipPrefix): void {
  checkFileCount(before.count + files.length);
  const common = before.files.size + before.directory.size + endOfCentralDirectory.size;
  const size = files.reduce((sum, file) => sum + packedSize(file) + headersSize(file), common);
  if (size > sizeLimitBytes || files.some((file) => file.size > sizeLimitBytes))
    throw tooMuch("more than 4 GB");
}

function tooMuch(limit: string): UserError {
  const message = `This package would contain ${limit}. Download the printers one by one.`;
  return new UserError("invalid", message);
}

function headersSize(file: ZipFile): number {
  return localFileHeader.size + centralDirectoryHeader.size + 2 * Buffer.byteLength(file.name);
}

function recordOf(file: ZipFile): FileRecord {
  return {
    name: Buffer.from(file.name, "utf8"),
    versionMadeBy: 20,
    versionNeeded: 20,
    flags: generalPurposeBits.languageEncoding,
    method: file.size === 0 ? 0 : 8,
    crc32: file.crc32,
    packedSize: packedSize(file),
    size: file.size,
  };
}

function packedSize(file: ZipFile): number {
  if (file.size === 0) return 0;
  if ("deflated" in file.data) return file.data.deflated.length;
  if (file.data.method === 8) return file.data.length;
  return file.size + 5 * Math.ceil(file.size / storedBlockBytes);
}

function addData(builder: LayoutBuilder, file: ZipFile): void {
  if (file.size === 0) return;
  if ("deflated" in file.data) builder.bytes(file.data.deflated);
  else if (file.data.method === 8) builder.range(file.data.source, file.data.offset, file.data.length);
  else addStoredBlocks(builder, file.data.source, file.data.offset, file.size);
}

function addStoredBlocks(builder: LayoutBuilder, source: number, offset: number, size: number): void {
  for (let at = 0; at < size; at += storedBlockBytes) {
    const length = Math.min(storedBlockBytes, size - at);
    builder.bytes(storedBlockHead(length, at + length === size)).range(source, offset + at, length);
  }
}

const storedBlockBytes = 0xffff;

/** The header of a stored block (RFC 1951, 3.2.4): a byte with the last-block bit, the length, and its complement. */
function storedBlockHead(length: number, isLast: boolean): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isLast ? 1 : 0, 0);
  head.writeUInt16LE(length, 1);
  head.writeUInt16LE(length ^ 0xffff, 3);
  return head;
}
