import {
  centralDirectoryHeader as central,
  endOfCentralDirectory as end,
  localFileHeader as local,
} from "./record-fields.ts";

/** The fields of a file's local header and directory record (APPNOTE 6.3.10, 4.3.7 and 4.3.12). */
export interface FileRecord {
  readonly name: Buffer;
  readonly versionMadeBy: number;
  readonly versionNeeded: number;
  readonly flags: number;
  readonly method: 0 | 8;
  readonly crc32: number;
  readonly packedSize: number;
  readonly size: number;
}

/** 1980-01-01 00:00, the earliest time in the format. Packages do not depend on when they are made. */
const fixedDosTime = 0x0021_0000;

/** The header before a file's data, with name and extra field. */
export function localHeader(record: FileRecord, extra: Buffer = Buffer.alloc(0)): Buffer {
  const out = Buffer.alloc(local.size);
  out.writeUInt32LE(local.signature, 0);
  writeSharedFields(out, local, record, extra.length);
  return Buffer.concat([out, record.name, extra]);
}

/** The file's record in the central directory, with its name. */
export function directoryRecord(record: FileRecord, headerOffset: number): Buffer {
  const out = Buffer.alloc(central.size);
  out.writeUInt32LE(central.signature, 0);
  out.writeUInt16LE(record.versionMadeBy, central.versionMadeBy);
  writeSharedFields(out, central, record, 0);
  out.writeUInt32LE(headerOffset, central.relativeOffsetOfLocalHeader);
  return Buffer.concat([out, record.name]);
}

/** The end of the central directory, without a comment. */
export function endRecord(count: number, directorySize: number, directoryOffset: number): Buffer {
  const record = Buffer.alloc(end.size);
  record.writeUInt32LE(end.signature, 0);
  record.writeUInt16LE(count, end.totalEntriesOnThisDisk);
  record.writeUInt16LE(count, end.totalEntries);
  record.writeUInt32LE(directorySize, end.sizeOfCentralDirectory);
  record.writeUInt32LE(directoryOffset, end.offsetOfCentralDirectory);
  return record;
}

/** Writes the fields that both headers of a file have, at different offsets. */
function writeSharedFields(
  out: Buffer,
  fields: typeof local | typeof central,
  record: FileRecord,
  extraLength: number,
): void {
  out.writeUInt16LE(record.versionNeeded, fields.versionNeededToExtract);
  out.writeUInt16LE(record.flags, fields.generalPurposeBitFlag);
  out.writeUInt16LE(record.method, fields.compressionMethod);
  out.writeUInt32LE(fixedDosTime, fields.lastModFileTimeAndDate);
  out.writeUInt32LE(record.crc32, fields.crc32);
  out.writeUInt32LE(record.packedSize, fields.compressedSize);
  out.writeUInt32LE(record.size, fields.uncompressedSize);
  out.writeUInt16LE(record.name.length, fields.fileNameLength);
  out.writeUInt16LE(extraLength, fields.extraFieldLength);
}
