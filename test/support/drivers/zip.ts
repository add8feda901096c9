import { crc32, deflateRawSync } from "node:zlib";
import type { ByteSource } from "../../../src/domain/byte-source.ts";

/** A file for a test ZIP, and how it is written. */
export interface ZipPart {
  readonly name: string;
  readonly bytes?: Uint8Array | string;
  readonly method?: number;
  readonly flags?: number;
  /** The bytes of the name, if they differ from its UTF-8. */
  readonly rawName?: Buffer;
  readonly withDescriptor?: boolean;
  readonly withZip64?: boolean;
  readonly externalAttributes?: number;
  readonly madeBy?: number;
  /** Wrong values in the headers. */
  readonly crc?: number;
  readonly size?: number;
  /** Replaces the packed bytes. */
  readonly packed?: Buffer;
  /** Fields of the local header that differ from the directory. */
  readonly local?: LocalOverrides;
  /** More extra fields in the directory's record. */
  readonly extra?: Buffer;
  /** Bytes after the packed ones that belong to no file. */
  readonly gap?: Buffer;
}

interface LocalOverrides {
  readonly name?: Buffer;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly packedSize?: number;
  readonly size?: number;
  readonly extra?: Buffer;
}

export interface ZipOptions {
  readonly prefix?: Buffer;
  readonly comment?: string | Buffer;
  readonly withZip64End?: boolean;
  readonly diskNumber?: number;
  /** A wrong count in the end record. */
  readonly count?: number;
  /** Bytes after the last record that count as part of the directory. */
  readonly directoryTrailer?: Buffer;
  /** Indexes of the parts in the order of the central directory. A missing part is not listed. */
  readonly order?: readonly number[];
  /** For each record, the index of the part to which it points. */
  readonly pointTo?: readonly number[];
}

/** Writes a ZIP byte by byte, valid or not. It is independent of the service's writer. */
export function makeZip(parts: readonly ZipPart[], options: ZipOptions = {}): Buffer {
  const chunks: Buffer[] = [options.prefix ?? Buffer.alloc(0)];
  let at = 0;
  const records = parts.map((part) => {
    const record = encodePart(part);
    const offset = at;
    for (const chunk of record.local) {
      chunks.push(chunk);
      at += chunk.length;
    }
    return { ...record, offset };
  });
  const order = options.order ?? records.map((_, i) => i);
  const directory = Buffer.concat(
    order.map((number, i) => {
      const target = records[options.pointTo?.[i] ?? number];
      return records[number]?.central(target?.offset ?? 0) ?? Buffer.alloc(0);
    }),
  );
  const whole = Buffer.concat([directory, options.directoryTrailer ?? Buffer.alloc(0)]);
  return Buffer.concat([...chunks, whole, end(options.count ?? order.length, whole.length, at, options)]);
}

function encodePart(part: ZipPart) {
  const bytes = Buffer.from(part.bytes ?? "");
  const method = part.method ?? 8;
  const packed = part.packed ?? (method === 8 ? deflateRawSync(bytes) : bytes);
  const fields: HeaderFields = {
    name: part.rawName ?? Buffer.from(part.name, "utf8"),
    flags: part.flags ?? (part.rawName ? 0 : 0x800) | (part.withDescriptor ? 8 : 0),
    method,
    crc: part.crc ?? crc32(bytes),
    packedSize: packed.length,
    size: part.size ?? bytes.length,
  };
  const descriptor = part.withDescriptor ? descriptorOf(fields) : Buffer.alloc(0);
  const gap = part.gap ?? Buffer.alloc(0);
  return {
    local: [...localHeader(part, fields), packed, descriptor, gap],
    central: (offset: number) => centralRecord(part, fields, offset),
  };
}

interface HeaderFields {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
}

/** The local header, the name and the extra field, with the overrides of the part. */
function localHeader(part: ZipPart, written: HeaderFields): Buffer[] {
  const streamed = part.withDescriptor ? { crc: 0, packedSize: 0, size: 0 } : {};
  const { extra = Buffer.alloc(0), ...fields } = { ...written, ...streamed, ...part.local };
  const header = Buffer.alloc(30);
  header.write("PK\x03\x04", 0, "latin1");
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(fields.flags, 6);
  header.writeUInt16LE(fields.method, 8);
  header.writeUInt32LE(fields.crc, 14);
  header.writeUInt32LE(fields.packedSize, 18);
  header.writeUInt32LE(fields.size, 22);
  header.writeUInt16LE(fields.name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return [header, fields.name, extra];
}

function descriptorOf({ crc, packedSize, size }: HeaderFields): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.write("PK\x07\x08", 0, "latin1");
  descriptor.writeUInt32LE(crc, 4);
  descriptor.writeUInt32LE(packedSize, 8);
  descriptor.writeUInt32LE(size, 12);
  return descriptor;
}

function centralRecord(part: ZipPart, fields: HeaderFields, offset: number): Buffer {
  const { name, flags, method, crc, packedSize, size } = fields;
  const zip64 = part.withZip64 ? zip64Extra(size, packedSize) : Buffer.alloc(0);
  const extra = Buffer.concat([zip64, part.extra ?? Buffer.alloc(0)]);
  const record = Buffer.alloc(46);
  record.write("PK\x01\x02", 0, "latin1");
  record.writeUInt16LE(part.madeBy ?? 20, 4);
  record.writeUInt16LE(20, 6);
  record.writeUInt16LE(flags, 8);
  record.writeUInt16LE(method, 10);
  record.writeUInt32LE(crc, 16);
  record.writeUInt32LE(part.withZip64 ? 0xffffffff : packedSize, 20);
  record.writeUInt32LE(part.withZip64 ? 0xffffffff : size, 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(part.externalAttributes ?? 0, 38);
  record.writeUInt32LE(offset, 42);
  return Buffer.concat([record, name, extra]);
}

/** The Unicode path field of a name (APPNOTE 4.6.9). */
export function unicodeExtra(rawName: Buffer, name: string, version = 1): Buffer {
  const head = Buffer.alloc(9);
  const text = Buffer.from(name, "utf8");
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(5 + text.length, 2);
  head.writeUInt8(version, 4);
  head.writeUInt32LE(crc32(rawName), 5);
  return Buffer.concat([head, text]);
}

/** The ZIP64 field of a local header or directory record: unpacked size, then packed size. */
export function zip64Extra(size: number, packed: number): Buffer {
  const extra = Buffer.alloc(20);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(16, 2);
  extra.writeBigUInt64LE(BigInt(size), 4);
  extra.writeBigUInt64LE(BigInt(packed), 12);
  return extra;
}

function end(count: number, size: number, offset: number, options: ZipOptions): Buffer {
  const { comment: given = "" } = options;
  const comment = typeof given === "string" ? Buffer.from(given) : given;
  const record = Buffer.alloc(22);
  record.write("PK\x05\x06", 0, "latin1");
  record.writeUInt16LE(options.diskNumber ?? 0, 4);
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(size, 12);
  record.writeUInt32LE(offset, 16);
  record.writeUInt16LE(comment.length, 20);
  if (!options.withZip64End) return Buffer.concat([record, comment]);
  const large = Buffer.alloc(76);
  large.write("PK\x06\x06", 0, "latin1");
  large.writeBigUInt64LE(44n, 4);
  large.writeBigUInt64LE(BigInt(count), 24);
  large.writeBigUInt64LE(BigInt(count), 32);
  large.writeBigUInt64LE(BigInt(size), 40);
  large.writeBigUInt64LE(BigInt(offset), 48);
  large.write("PK\x06\x07", 56, "latin1");
  large.writeBigUInt64LE(BigInt(offset + size), 64);
  large.writeUInt32LE(1, 72);
  record.fill(0xff, 8, 20);
  return Buffer.concat([large, record, comment]);
}

/** A buffer as a byte source. */
export function sourceOf(bytes: Buffer): ByteSource {
  const read = async (position: number, length: number) => {
    if (position < 0 || position + length > bytes.length) throw new Error("read beyond the end");
    return Buffer.from(bytes.subarray(position, position + length));
  };
  const fill = async (position: number, targets: readonly Uint8Array[]) => {
    let at = position;
    for (const target of targets) {
      target.set(await read(at, target.length));
      at += target.length;
    }
  };
  return { size: bytes.length, read, fill };
}
