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

/** The header in front of a file's data, name and extra field included. */
export function localHeader(record: FileRecord, extra: Buffer = Buffer.alloc(0)): Buffer {
  const fields = sharedFields(record, extra.length);
  return Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, record.name, extra]);
}

/** The file's record in the central directory, name included. */
export function directoryRecord(record: FileRecord, headerOffset: number): Buffer {
  const fields = Buffer.alloc(46);
  fields.write("PK\x01\x02", 0, "latin1");
  fields.writeUInt16LE(record.versionMadeBy, 4);
  sharedFields(record, 0).copy(fields, 6);
  fields.writeUInt32LE(headerOffset, 42);
  return Buffer.concat([fields, record.name]);
}

/** The end of the central directory, without a comment. */
export function endRecord(count: number, directorySize: number, directoryOffset: number): Buffer {
  const record = Buffer.alloc(22);
  record.write("PK\x05\x06", 0, "latin1");
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(directorySize, 12);
  record.writeUInt32LE(directoryOffset, 16);
  return record;
}

function sharedFields(record: FileRecord, extraLength: number): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(record.versionNeeded, 0);
  fields.writeUInt16LE(record.flags, 2);
  fields.writeUInt16LE(record.method, 4);
  fields.writeUInt32LE(fixedDosTime, 6);
  fields.writeUInt32LE(record.crc32, 10);
  fields.writeUInt32LE(record.packedSize, 14);
  fields.writeUInt32LE(record.size, 18);
  fields.writeUInt16LE(record.name.length, 22);
  fields.writeUInt16LE(extraLength, 24);
  return fields;
}
