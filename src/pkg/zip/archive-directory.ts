import type { ByteSource } from "../../domain/byte-source.ts";
import { describeFile, recognitionBytes } from "../../domain/drivers/unpacking.ts";
import {
  codePageOf,
  type EntryName,
  extraFields,
  type RawName,
  readName,
  visiblePath,
} from "./archive-names.ts";
import {
  damaged,
  digitalSignature,
  endOfCentralDirectory as end,
  centralDirectoryHeader as header,
  localFileHeader,
  zip64EndLocator as locatorFields,
  refuse,
  rezip,
  zip64EndOfCentralDirectory as zip64End,
} from "./record-fields.ts";

/** The place of the central directory, from the records at the end of a ZIP. */
export interface ArchiveEnd {
  readonly entryCount: number;
  /** In bytes. */
  readonly directorySize: number;
  /** From the start of the file. */
  readonly directoryOffset: number;
  /** Bytes before the archive that its offsets do not count, such as a self-extracting program. */
  readonly shift: number;
}

export const entryLimit = 60_000;
const directoryLimitBytes = 64 * 1024 * 1024;
const endSignature = Buffer.alloc(4);
endSignature.writeUInt32LE(end.signature);

/**
 * Finds the end records of a ZIP (APPNOTE 6.3.10, 4.3.14 to 4.3.16), searching from the end of the file. The directory
 * is directly before them.
 * @throws UserError "invalid"
 */
export async function readEnd(source: ByteSource): Promise<ArchiveEnd> {
  const searchedLength = Math.min(source.size, end.size + 0xffff);
  const searched = await source.read(source.size - searchedLength, searchedLength);
  const at = searched.length < end.size ? -1 : searched.lastIndexOf(endSignature, searched.length - end.size);
  if (at < 0) throw await noEndRecord(source);
  const record = searched.subarray(at, at + end.size);
  if (at + end.size + record.readUInt16LE(end.commentLength) > searched.length)
    throw damaged("its last record is cut off");
  const endOffset = source.size - searchedLength + at;
  const found = (await readZip64End(source, endOffset)) ?? readPlainEnd(record, endOffset);
  const { entryCount, directorySize, directoryOffset, directoryEnd } = found;
  const shift = directoryEnd - directorySize - directoryOffset;
  if (entryCount > entryLimit && shift >= 0) {
    throw refuse(`This ZIP contains ${entryCount} files. The limit is ${entryLimit}.`);
  }
  if (shift < 0 || directorySize > directoryLimitBytes) throw damaged("its table of contents does not fit");
  return { entryCount, directorySize, directoryOffset: directoryOffset + shift, shift };
}

async function noEndRecord(source: ByteSource): Promise<Error> {
  const head = await source.read(0, Math.min(source.size, recognitionBytes));
  if (head.length >= 4 && head.readUInt32LE(0) === localFileHeader.signature)
    return damaged("its end is missing");
  return refuse(describeFile(head));
}

/** The numbers in the end record, not yet corrected for bytes before the archive. */
interface EndRecord extends Omit<ArchiveEnd, "shift"> {
  /** Where the directory ends, from the start of the file. */
  readonly directoryEnd: number;
}

function readPlainEnd(record: Buffer, endOffset: number): EndRecord {
  const entryCount = record.readUInt16LE(end.totalEntries);
  const isOneOfMany =
    record.readUInt16LE(end.numberOfThisDisk) !== 0 ||
    record.readUInt16LE(end.diskWithCentralDirectory) !== 0 ||
    record.readUInt16LE(end.totalEntriesOnThisDisk) !== entryCount;
  if (isOneOfMany) throw severalParts();
  return {
    entryCount,
    directorySize: record.readUInt32LE(end.sizeOfCentralDirectory),
    directoryOffset: record.readUInt32LE(end.offsetOfCentralDirectory),
    directoryEnd: endOffset,
  };
}

function severalParts() {
  return refuse(`This ZIP is one part of several. ${rezip}`);
}

/** The ZIP64 end record, which every writer puts directly before its locator. Undefined if there is no locator. */
async function readZip64End(source: ByteSource, endOffset: number): Promise<EndRecord | undefined> {
  const directoryEnd = endOffset - locatorFields.size - zip64End.size;
  if (directoryEnd < 0) return undefined;
  const record = await source.read(directoryEnd, zip64End.size + locatorFields.size);
  const locator = record.subarray(zip64End.size);
  if (locator.readUInt32LE(0) !== locatorFields.signature) return undefined;
  if (record.readUInt32LE(0) !== zip64End.signature) throw damaged("its ZIP64 end record is missing");
  const entryCount = Number(record.readBigUInt64LE(zip64End.totalEntries));
  const isOneOfMany =
    locator.readUInt32LE(locatorFields.totalNumberOfDisks) > 1 ||
    record.readBigUInt64LE(zip64End.diskNumbers) !== 0n ||
    Number(record.readBigUInt64LE(zip64End.totalEntriesOnThisDisk)) !== entryCount;
  if (isOneOfMany) throw severalParts();
  return {
    entryCount,
    directorySize: Number(record.readBigUInt64LE(zip64End.sizeOfCentralDirectory)),
    directoryOffset: Number(record.readBigUInt64LE(zip64End.offsetOfCentralDirectory)),
    directoryEnd,
  };
}

/** A record of a ZIP's central directory (APPNOTE 6.3.10, 4.3.12). */
export interface DirectoryRecord extends EntryName {
  readonly isLink: boolean;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  /** Unpacked, in bytes. */
  readonly size: number;
  readonly compressedSize: number;
  /** As in the record: from the start of the archive, which may not be the start of the file. */
  readonly headerOffset: number;
}

/** A record before its name is decoded. */
interface RawRecord extends RawName {
  readonly fixed: Buffer;
}

/**
 * Reads a whole central directory.
 * @param count the number of records according to the end record
 * @throws UserError "invalid" if there are more or fewer, and for names that point outside the archive
 */
export function readRecords(directory: Buffer, count: number): DirectoryRecord[] {
  const records: RawRecord[] = [];
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
    const flags = fixed.readUInt16LE(header.generalPurposeBitFlag);
    records.push({
      fixed,
      flags,
      bytes: directory.subarray(nameStart, nameEnd),
      extra: directory.subarray(nameEnd, extraEnd),
    });
    at = next;
  }
  if (!isValidRest(directory.subarray(at))) {
    throw damaged(`its table of contents goes on after the ${count} files that its end counts`);
  }
  const decode = codePageOf(records);
  return records.map((record) => readRecord(record, readName(record, decode)));
}

/** After the last record, only a signature of the directory may follow (4.3.13). Platen does not verify it. */
function isValidRest(rest: Buffer): boolean {
  if (rest.length === 0) return true;
  const { signature, size, sizeOfData } = digitalSignature;
  if (rest.length < size || rest.readUInt32LE(0) !== signature) return false;
  return rest.length === size + rest.readUInt16LE(sizeOfData);
}

/** The attribute of a folder in MS-DOS and Windows. */
const folderAttribute = 0x10;

function readRecord({ fixed, flags, extra }: RawRecord, name: EntryName): DirectoryRecord {
  const [size, compressedSize, headerOffset] = readZip64Values(extra, [
    fixed.readUInt32LE(header.uncompressedSize),
    fixed.readUInt32LE(header.compressedSize),
    fixed.readUInt32LE(header.relativeOffsetOfLocalHeader),
  ]);
  if (size === undefined || compressedSize === undefined || headerOffset === undefined) {
    throw damaged(`a ZIP64 size of “${visiblePath(name.path)}” is missing`);
  }
  const attributes = fixed.readUInt32LE(header.externalFileAttributes);
  return {
    ...name,
    // Some writers end the names of folders without a separator.
    isFolder: name.isFolder || (size === 0 && (attributes & folderAttribute) !== 0),
    // The file type in the Unix mode, whichever system `versionMadeBy` names.
    isLink: ((attributes >>> 16) & 0o170000) === 0o120000,
    flags,
    method: fixed.readUInt16LE(header.compressionMethod),
    crc32: fixed.readUInt32LE(header.crc32),
    size,
    compressedSize,
    headerOffset,
  };
}

/**
 * Replaces each value of 0xFFFFFFFF by the next one in the ZIP64 extra field (4.5.3). The result is undefined if that
 * field is missing or too short.
 */
function readZip64Values(extra: Buffer, values: readonly number[]): (number | undefined)[] {
  const [field] = extraFields(extra, 0x0001);
  let at = 0;
  return values.map((value) => {
    if (value !== 0xffffffff) return value;
    if (field === undefined || at + 8 > field.length) return undefined;
    at += 8;
    return Number(field.readBigUInt64LE(at - 8));
  });
}
