/** What a ZIP's local header and its directory record say of one file (APPNOTE 6.3.10, 4.3.7 and 4.3.12). */
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

/** 1980-01-01 00:00, the earliest that the format knows: packages are the same whenever they are made. */
const fixedDosTime = 0x0021_0000;

/** Of a local header, without name and extra field. */
export const localHeaderBytes = 30;
/** Of a directory record, without name. */
export const directoryRecordBytes = 46;
/** Of the end of the central directory, without a comment. */
export const endRecordBytes = 22;

/** The header in front of a file's data, name and extra field included. */
export function localHeader(record: FileRecord, extra: Buffer = Buffer.alloc(0)): Buffer {
  const out = Buffer.alloc(localHeaderBytes + record.name.length);
  writeLocalHeader(out, record, extra.length);
  return Buffer.concat([out, extra]);
}

/** Fills `out` with a local header and its name; the extra field is to follow. */
export function writeLocalHeader(out: Buffer, record: FileRecord, extraLength = 0): void {
  out.writeUInt32LE(0x04034b50, 0);
  writeSharedFields(out, 4, record, extraLength);
  record.name.copy(out, localHeaderBytes);
}

/** The file's record in the central directory, name included. */
export function directoryRecord(record: FileRecord, headerOffset: number): Buffer {
  const out = Buffer.alloc(directoryRecordBytes + record.name.length);
  writeDirectoryRecord(out, record, headerOffset);
  return out;
}

/** Fills `out`, whose bytes are zero, with a directory record and its name. */
export function writeDirectoryRecord(out: Buffer, record: FileRecord, headerOffset: number): void {
  out.writeUInt32LE(0x02014b50, 0);
  out.writeUInt16LE(record.versionMadeBy, 4);
  writeSharedFields(out, 6, record, 0);
  out.writeUInt32LE(headerOffset, 42);
  record.name.copy(out, directoryRecordBytes);
}

/** The end of the central directory, without a comment. */
export function endRecord(count: number, directorySize: number, directoryOffset: number): Buffer {
  const record = Buffer.alloc(endRecordBytes);
  record.write("PK\x05\x06", 0, "latin1");
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(directorySize, 12);
  record.writeUInt32LE(directoryOffset, 16);
  return record;
}

function writeSharedFields(out: Buffer, at: number, record: FileRecord, extraLength: number): void {
  out.writeUInt16LE(record.versionNeeded, at);
  out.writeUInt16LE(record.flags, at + 2);
  out.writeUInt16LE(record.method, at + 4);
  out.writeUInt32LE(fixedDosTime, at + 6);
  out.writeUInt32LE(record.crc32, at + 10);
  out.writeUInt32LE(record.packedSize, at + 14);
  out.writeUInt32LE(record.size, at + 18);
  out.writeUInt16LE(record.name.length, at + 22);
  out.writeUInt16LE(extraLength, at + 24);
}
