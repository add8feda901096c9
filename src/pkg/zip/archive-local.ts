import type { ByteSource } from "../../domain/byte-source.ts";
import type { DirectoryRecord } from "./archive-directory.ts";
import { type ArchiveEnd, startsAt } from "./archive-end.ts";
import { extraFields, readLarge } from "./archive-extra.ts";
import { type NameField, readNames } from "./archive-names.ts";
import { ambiguous, damaged, refuse } from "./archive-refusal.ts";
import { localFileHeader as fields, generalPurposeBits } from "./record-fields.ts";

const headerSize = fields.size;
const { dataDescriptor, encrypted, strongEncryption, maskedHeader } = generalPurposeBits;
/** Any of these: nobody can read it without a password. */
export const flagsEncrypted = encrypted | strongEncryption | maskedHeader;
/** Read along with a header: most extra fields are shorter. */
const usualExtraBytes = 64;
/** Headers that stand so close together are read at once. */
const groupBytes = 32 * 1024;

/** A record of the directory, and where its local header is, in bytes from the start of the file. */
interface Placed {
  readonly record: DirectoryRecord;
  readonly localOffset: number;
  /** The one whose header comes next. */
  readonly next: DirectoryRecord | undefined;
  /** Where that header is, or the directory. */
  readonly limit: number;
}

interface Located extends Placed {
  readonly dataOffset: number;
  /** Behind the packed bytes. */
  readonly dataEnd: number;
}

/**
 * Finds the files behind the records of the directory. Some programs never look into the directory and
 * follow the local headers one by one: these must say the same, and none may stand there that is not listed.
 * @returns where each record's packed bytes start
 * @throws UserError "invalid"
 */
export async function locateAll(
  source: ByteSource,
  records: readonly DirectoryRecord[],
  end: ArchiveEnd,
): Promise<ReadonlyMap<DirectoryRecord, number>> {
  const groups = neighbours(placeAll(records, end));
  const located = (await mapSome(groups, (group) => locateGroup(source, group))).flat();
  await checkGaps(source, located, end);
  return new Map(located.map(({ record, dataOffset }) => [record, dataOffset]));
}

/** In the order of the file, each with what limits it: no byte is read for two of them. */
function placeAll(records: readonly DirectoryRecord[], end: ArchiveEnd): Placed[] {
  const sorted = [...records].sort((a, b) => a.headerOffset - b.headerOffset);
  return sorted.map((record, i) => {
    const next = sorted[i + 1];
    const limit = next === undefined ? end.directoryOffset : next.headerOffset + end.shift;
    const localOffset = record.headerOffset + end.shift;
    if (localOffset + headerSize > end.directoryOffset) throw misplaced(record);
    if (next !== undefined && localOffset + headerSize > limit) throw overlap(record, next);
    return { record, localOffset, next, limit };
  });
}

function misplaced(record: DirectoryRecord) {
  return damaged(`“${record.path}” is not where its table of contents says`);
}

function overlap(record: DirectoryRecord, next: DirectoryRecord) {
  return refuse(
    `“${record.path}” and “${next.path}” overlap in this ZIP: it is refused as a decompression bomb.`,
  );
}

function neighbours(placed: readonly Placed[]): Placed[][] {
  const groups: Placed[][] = [];
  let start = -groupBytes;
  for (const place of placed) {
    if (place.localOffset - start >= groupBytes) {
      groups.push([]);
      start = place.localOffset;
    }
    groups.at(-1)?.push(place);
  }
  return groups;
}

async function locateGroup(source: ByteSource, group: readonly Placed[]): Promise<Located[]> {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return [];
  const lastSize = headerSize + last.record.nameField.bytes.length + usualExtraBytes;
  const length = Math.min(last.localOffset + lastSize, last.limit) - first.localOffset;
  const bytes = await source.read(first.localOffset, length);
  const located: Located[] = [];
  for (const place of group) {
    located.push(await locate(source, place, bytes.subarray(place.localOffset - first.localOffset)));
  }
  return located;
}

/** @param prefetched what has been read already from the header on */
async function locate(source: ByteSource, place: Placed, prefetched: Buffer): Promise<Located> {
  const { record, localOffset, next, limit } = place;
  if (prefetched.readUInt32LE(0) !== fields.signature) throw misplaced(record);
  const length =
    headerSize +
    prefetched.readUInt16LE(fields.fileNameLength) +
    prefetched.readUInt16LE(fields.extraFieldLength);
  const dataOffset = localOffset + length;
  const dataEnd = dataOffset + record.compressedSize;
  if (dataEnd > limit) throw next === undefined ? misplaced(record) : overlap(record, next);
  const isWhole = length <= prefetched.length;
  checkHeader(record, isWhole ? prefetched.subarray(0, length) : await source.read(localOffset, length));
  return { ...place, dataOffset, dataEnd };
}

function checkHeader(record: DirectoryRecord, header: Buffer): void {
  const nameEnd = headerSize + header.readUInt16LE(fields.fileNameLength);
  const field = {
    bytes: header.subarray(headerSize, nameEnd),
    flags: header.readUInt16LE(fields.generalPurposeBitFlag),
    extra: header.subarray(nameEnd),
  };
  const differs = (what: string) =>
    ambiguous(`its table of contents and the file’s own header give “${record.path}” different ${what}`);
  if (!sameName(record.nameField.bytes, field.bytes)) throw differs("names");
  if (!sameReading(record, field)) throw differs("names");
  if (header.readUInt16LE(fields.compressionMethod) !== record.method) throw differs("methods");
  if ((field.flags ^ record.flags) & flagsEncrypted) throw differs("kinds of encryption");
  if (!sameAmounts(record, header, field.extra)) throw differs("sizes or checksums");
}

/** Whether programs that read only this header find the same name, or at least one that does no harm. */
function sameReading(record: DirectoryRecord, field: NameField): boolean {
  const isLiteral = extraFields(field.extra, 0x7075).length === 0;
  if (isLiteral && field.flags === record.flags && field.bytes.equals(record.nameField.bytes)) return true;
  const { unicode = record.path } = readNames(field);
  const known = readNames(record.nameField).unicode ?? unicode;
  return unicode === known && unicode.endsWith("/") === record.isFolder;
}

function sameName(one: Buffer, other: Buffer): boolean {
  const slash = 0x2f;
  const backslash = 0x5c;
  const plain = (byte: number | undefined) => (byte === backslash ? slash : byte);
  if (one.equals(other)) return true;
  return one.length === other.length && one.every((byte, i) => plain(byte) === plain(other[i]));
}

/** With a data descriptor behind the file, a header may not know its amounts yet: 0, or full for ZIP64. */
function sameAmounts(record: DirectoryRecord, header: Buffer, extra: Buffer): boolean {
  const sizes = [header.readUInt32LE(fields.compressedSize), header.readUInt32LE(fields.uncompressedSize)];
  // In this header's ZIP64 field the unpacked size stands first.
  const [size, compressedSize] = readLarge(extra, sizes.toReversed());
  const isStreamed =
    ((header.readUInt16LE(fields.generalPurposeBitFlag) | record.flags) & dataDescriptor) !== 0;
  const unknown = (value: number | undefined) => isStreamed && (value === 0 || value === undefined);
  const crc = header.readUInt32LE(fields.crc32);
  return (
    (crc === record.crc32 || unknown(crc)) &&
    (size === record.size || unknown(size)) &&
    (compressedSize === record.compressedSize || unknown(compressedSize))
  );
}

/** A data descriptor has 12 to 24 bytes, and no header of a file is as short. */
const descriptorSizes = [0, 12, 16, 20, 24];

async function checkGaps(source: ByteSource, located: readonly Located[], end: ArchiveEnd): Promise<void> {
  const firstOffset = located[0]?.localOffset ?? end.directoryOffset;
  const hidden = () => ambiguous("it holds a file that its table of contents does not list");
  if (firstOffset > 0 && (await startsAt(source, 0, fields.signature))) throw hidden();
  const gaps = located.flatMap(({ dataEnd, limit }) => (limit - dataEnd < headerSize ? [] : [dataEnd]));
  await mapSome(gaps, async (offset) => {
    const bytes = await source.read(offset, headerSize);
    if (descriptorSizes.some((at) => bytes.readUInt32LE(at) === fields.signature)) throw hidden();
  });
}

/** Does some of the work at a time. Nothing is under way any more when this ends, even in an error. */
async function mapSome<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  let hasFailed = false;
  const run = async () => {
    for (const [i, item] of queue) {
      if (hasFailed) return;
      results[i] = await work(item);
    }
  };
  const runs = Array.from({ length: 32 }, () =>
    run().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  await Promise.allSettled(runs);
  await Promise.all(runs);
  return results;
}
