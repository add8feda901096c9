import { extraFields, readPath } from "./archive-names.ts";
import { damaged } from "./archive-refusal.ts";
import { digitalSignature, centralDirectoryHeader as header } from "./record-fields.ts";

/** A record of a ZIP's central directory (APPNOTE 6.3.10, 4.3.12). */
export interface DirectoryRecord {
  /** With `/`, harmless; a folder's ends with one. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly isLink: boolean;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  /** Unpacked, in bytes. */
  readonly size: number;
  readonly compressedSize: number;
  /** As it stands there: from the start of the archive. */
  readonly headerOffset: number;
}

/**
 * Reads a whole central directory.
 * @param count how many records the archive's end counts
 * @throws UserError "invalid" where there are more or fewer, and for names that could do harm
 */
export function readRecords(directory: Buffer, count: number): DirectoryRecord[] {
  const records: DirectoryRecord[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + header.size > directory.length || directory.readUInt32LE(at) !== header.signature) {
      throw damaged(`its table of contents is broken: it lists ${i} files where its end counts ${count}`);
    }
    const nameStart = at + header.size;
    const nameEnd = nameStart + directory.readUInt16LE(at + header.fileNameLength);
    const extraEnd = nameEnd + directory.readUInt16LE(at + header.extraFieldLength);
    const next = extraEnd + directory.readUInt16LE(at + header.fileCommentLength);
    if (next > directory.length) throw damaged("its table of contents is cut off");
    const fixed = directory.subarray(at, nameStart);
    records.push(
      readRecord(fixed, directory.subarray(nameStart, nameEnd), directory.subarray(nameEnd, extraEnd)),
    );
    at = next;
  }
  if (!isSignature(directory.subarray(at))) {
    throw damaged(`its table of contents goes on after the ${count} files that its end counts`);
  }
  return records;
}

/** Nothing, or a digital signature of the directory (4.3.13), which nobody reads any more. */
function isSignature(rest: Buffer): boolean {
  if (rest.length === 0) return true;
  const { signature, size, sizeOfData } = digitalSignature;
  if (rest.length < size || rest.readUInt32LE(0) !== signature) return false;
  return rest.length === size + rest.readUInt16LE(sizeOfData);
}

function readRecord(fixed: Buffer, name: Buffer, extra: Buffer): DirectoryRecord {
  const flags = fixed.readUInt16LE(header.generalPurposeBitFlag);
  const path = readPath(name, flags, extra);
  const [size, compressedSize, headerOffset] = readLarge(extra, [
    fixed.readUInt32LE(header.uncompressedSize),
    fixed.readUInt32LE(header.compressedSize),
    fixed.readUInt32LE(header.relativeOffsetOfLocalHeader),
  ]);
  if (size === undefined || compressedSize === undefined || headerOffset === undefined) {
    throw damaged(`a ZIP64 size of “${path}” is missing`);
  }
  return {
    path,
    isFolder: path.endsWith("/"),
    // The file type of the Unix mode, whatever system the archive says it comes from.
    isLink: ((fixed.readUInt32LE(header.externalFileAttributes) >>> 16) & 0o170000) === 0o120000,
    flags,
    method: fixed.readUInt16LE(header.compressionMethod),
    crc32: fixed.readUInt32LE(header.crc32),
    size,
    compressedSize,
    headerOffset,
  };
}

/**
 * Sizes and offset of a record, those that are full taken from the ZIP64 extra field (4.5.3) in their order;
 * undefined where that field is missing or too short.
 */
function readLarge(extra: Buffer, values: readonly number[]): (number | undefined)[] {
  const [field] = extraFields(extra, 0x0001);
  let at = 0;
  return values.map((value) => {
    if (value !== 0xffffffff) return value;
    if (field === undefined || at + 8 > field.length) return undefined;
    at += 8;
    return Number(field.readBigUInt64LE(at - 8));
  });
}
