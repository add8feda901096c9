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
  readonly local?: Partial<HeaderFields> & { readonly extra?: Buffer };
  /** More extra fields in the directory's record. */
  readonly extra?: Buffer;
  /** Bytes after the packed ones that belong to no file. */
  readonly gap?: Buffer;
}

/** The fields of a header. */
interface HeaderFields {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
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
  const descriptor = part.withDescriptor
    ? pack("PK\x07\x08", "444", fields.crc, fields.packedSize, fields.size)
    : Buffer.alloc(0);
  const gap = part.gap ?? Buffer.alloc(0);
  return {
    local: [...localHeader(part, fields), packed, descriptor, gap],
    central: (offset: number) => centralRecord(part, fields, offset),
  };
}

/** Little-endian numbers after a signature. @param widths the bytes of each number: 2, 4 or 8 */
function pack(signature: string, widths: string, ...values: readonly number[]): Buffer {
  const lengths = [...widths].map(Number);
  const bytes = Buffer.alloc(lengths.reduce((sum, length) => sum + length, signature.length));
  let at = bytes.write(signature, "latin1");
  for (const [i, length] of lengths.entries()) {
    const value = values[i] ?? 0;
    at = length === 8 ? bytes.writeBigUInt64LE(BigInt(value), at) : bytes.writeUIntLE(value, at, length);
  }
  return bytes;
}

/** What local headers and records of the directory have in common, from the flags to the length of the extra field. */
const commonWidths = "22444422";
function commonFields({ name, flags, method, crc, packedSize, size }: HeaderFields, extra: Buffer) {
  return [flags, method, 0, crc, packedSize, size, name.length, extra.length];
}

/** The local header, the name and the extra field, with the overrides of the part. */
function localHeader(part: ZipPart, written: HeaderFields): Buffer[] {
  const streamed = part.withDescriptor ? { crc: 0, packedSize: 0, size: 0 } : {};
  const { extra = Buffer.alloc(0), ...fields } = { ...written, ...streamed, ...part.local };
  const header = pack("PK\x03\x04", `2${commonWidths}`, 20, ...commonFields(fields, extra));
  return [header, fields.name, extra];
}

function centralRecord(part: ZipPart, fields: HeaderFields, offset: number): Buffer {
  const zip64 = part.withZip64 ? zip64Extra(fields.size, fields.packedSize) : Buffer.alloc(0);
  const extra = Buffer.concat([zip64, part.extra ?? Buffer.alloc(0)]);
  const written = part.withZip64 ? { ...fields, packedSize: 0xffffffff, size: 0xffffffff } : fields;
  const rest = [0, 0, 0, part.externalAttributes ?? 0, offset];
  const numbers = [part.madeBy ?? 20, 20, ...commonFields(written, extra), ...rest];
  return Buffer.concat([pack("PK\x01\x02", `22${commonWidths}22244`, ...numbers), fields.name, extra]);
}

/** The Unicode path field of a name (APPNOTE 4.6.9). */
export function unicodeExtra(rawName: Buffer, name: string, version = 1): Buffer {
  const text = Buffer.from(name, "utf8");
  return Buffer.concat([
    pack("up", "2", 5 + text.length),
    Buffer.of(version),
    pack("", "4", crc32(rawName)),
    text,
  ]);
}

/** The ZIP64 field of a local header or directory record: unpacked size, then packed size. */
export function zip64Extra(size: number, packed: number): Buffer {
  return pack("\x01\0\x10\0", "88", size, packed);
}

function end(count: number, size: number, offset: number, options: ZipOptions): Buffer {
  const { diskNumber = 0, withZip64End = false } = options;
  const comment = Buffer.from((options.comment ?? "") as string);
  const record = (files: number, ...place: number[]) =>
    pack("PK\x05\x06", "2222442", diskNumber, 0, files, files, ...place, comment.length);
  if (!withZip64End) return Buffer.concat([record(count, size, offset), comment]);
  const large = pack("PK\x06\x06", "8488888", 44, 0, 0, count, count, size, offset);
  const locator = pack("PK\x06\x07", "484", 0, offset + size, 1);
  return Buffer.concat([large, locator, record(0xffff, 0xffffffff, 0xffffffff), comment]);
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
