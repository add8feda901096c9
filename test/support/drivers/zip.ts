import { crc32, deflateRawSync } from "node:zlib";
import type { ByteSource } from "../../../src/domain/byte-source.ts";

/** A file for a ZIP that a test makes, and how it is to be written. */
export interface ZipPart {
  readonly name: string;
  readonly bytes?: Uint8Array | string;
  readonly method?: number;
  readonly flags?: number;
  /** The name's bytes, where they are not its UTF-8. */
  readonly rawName?: Buffer;
  readonly withDescriptor?: boolean;
  readonly withZip64?: boolean;
  readonly externalAttributes?: number;
  readonly madeBy?: number;
  /** Lies told in the headers. */
  readonly crc?: number;
  readonly size?: number;
  /** Bytes that stand in the file instead of the packed ones. */
  readonly packed?: Buffer;
  /** What the local header says where it is not what the directory says. */
  readonly local?: LocalLies;
  /** Further extra fields of the directory's record. */
  readonly extra?: Buffer;
  /** Bytes behind the packed ones that belong to no file. */
  readonly gap?: Buffer;
}

/** Fields of a local header, and its extra fields. */
interface LocalLies {
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
  /** What the end record counts, where that is a lie. */
  readonly count?: number;
  /** Bytes behind the last record, counted as the directory's. */
  readonly directoryTail?: Buffer;
  /** The order in the central directory, as numbers of parts; one that is left out is not listed. */
  readonly order?: readonly number[];
  /** Makes each record point to the place of the record of that number. */
  readonly pointTo?: readonly number[];
}

/** Writes a ZIP byte by byte, valid or not: a writer of the tests, independent of the service's. */
export function makeZip(parts: readonly ZipPart[], options: ZipOptions = {}): Buffer {
  const chunks: Buffer[] = [options.prefix ?? Buffer.alloc(0)];
  let at = 0;
  const records = parts.map((part) => {
    const record = describe(part);
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
  const whole = Buffer.concat([directory, options.directoryTail ?? Buffer.alloc(0)]);
  return Buffer.concat([...chunks, whole, end(options.count ?? order.length, whole.length, at, options)]);
}

function describe(part: ZipPart) {
  const bytes = Buffer.from(part.bytes ?? "");
  const method = part.method ?? 8;
  const packed = part.packed ?? (method === 8 ? deflateRawSync(bytes) : bytes);
  const facts: Facts = {
    name: part.rawName ?? Buffer.from(part.name, "utf8"),
    flags: part.flags ?? (part.rawName ? 0 : 0x800) | (part.withDescriptor ? 8 : 0),
    method,
    crc: part.crc ?? crc32(bytes),
    packedSize: packed.length,
    size: part.size ?? bytes.length,
  };
  const descriptor = part.withDescriptor ? descriptorOf(facts) : Buffer.alloc(0);
  const gap = part.gap ?? Buffer.alloc(0);
  return {
    local: [...localHeader(part, facts), packed, descriptor, gap],
    central: (offset: number) => centralRecord(part, facts, offset),
  };
}

/** What records say of a file. */
interface Facts {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
}

/** The header, the name and the extra field, with the lies that a part tells in them. */
function localHeader(part: ZipPart, facts: Facts): Buffer[] {
  const streamed = part.withDescriptor ? { crc: 0, packedSize: 0, size: 0 } : {};
  const { extra = Buffer.alloc(0), ...said } = { ...facts, ...streamed, ...part.local };
  const header = Buffer.alloc(30);
  header.write("PK\x03\x04", 0, "latin1");
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(said.flags, 6);
  header.writeUInt16LE(said.method, 8);
  header.writeUInt32LE(said.crc, 14);
  header.writeUInt32LE(said.packedSize, 18);
  header.writeUInt32LE(said.size, 22);
  header.writeUInt16LE(said.name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return [header, said.name, extra];
}

function descriptorOf({ crc, packedSize, size }: Facts): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.write("PK\x07\x08", 0, "latin1");
  descriptor.writeUInt32LE(crc, 4);
  descriptor.writeUInt32LE(packedSize, 8);
  descriptor.writeUInt32LE(size, 12);
  return descriptor;
}

function centralRecord(part: ZipPart, facts: Facts, offset: number): Buffer {
  const { name, flags, method, crc, packedSize, size } = facts;
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

/** The ZIP64 field of a local header or a record, unpacked size first. */
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
