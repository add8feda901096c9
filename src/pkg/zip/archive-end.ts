import type { ByteSource } from "../../domain/byte-source.ts";
import { ambiguous, damaged, refuse, rezip } from "./archive-refusal.ts";

/** What the records at the end of a ZIP say of its table of contents. */
export interface ArchiveEnd {
  readonly entryCount: number;
  /** In bytes. */
  readonly directorySize: number;
  /** From the start of the file. */
  readonly directoryOffset: number;
  /** Bytes in front of the archive that its offsets do not count (a self-extracting program). */
  readonly shift: number;
}

const entryLimit = 60_000;
const directoryLimitBytes = 64 * 1024 * 1024;
const endSignature = Buffer.from("PK\x05\x06", "latin1");
const endSize = 22;
const locatorSize = 20;
const largeEndSize = 56;

/**
 * Finds the end record of a ZIP (APPNOTE 6.3.10, 4.3.14 to 4.3.16) and with it the directory, which stands
 * right in front. Some programs look for the record from the back, some trust its comment's length, some
 * trust absolute offsets: an archive is refused where these ways lead to different directories.
 * @throws UserError "invalid"
 */
export async function readEnd(source: ByteSource): Promise<ArchiveEnd> {
  const tailLength = Math.min(source.size, endSize + 0xffff);
  const tail = await source.read(source.size - tailLength, tailLength);
  const at = tail.length < endSize ? -1 : tail.lastIndexOf(endSignature, tail.length - endSize);
  if (at < 0) throw await withoutEnd(source);
  checkOnlyEnd(tail, at);
  const record = tail.subarray(at, at + endSize);
  const endOffset = source.size - tailLength + at;
  const claim = (await readLargeEnd(source, endOffset, record)) ?? plainClaim(record, endOffset);
  const shift = claim.directoryEnd - claim.directorySize - claim.directoryOffset;
  if (claim.entryCount > entryLimit && shift >= 0) {
    throw refuse(`This ZIP holds ${claim.entryCount} files; at most ${entryLimit} are possible.`);
  }
  if (shift < 0 || (claim.shift ?? shift) !== shift || claim.directorySize > directoryLimitBytes) {
    throw damaged("its table of contents does not fit");
  }
  await checkNotTwo(source, claim, shift);
  const { entryCount, directorySize, directoryOffset } = claim;
  return { entryCount, directorySize, directoryOffset: directoryOffset + shift, shift };
}

/** The end record's own numbers, before anything in front of the archive is taken into account. */
interface Claim {
  readonly entryCount: number;
  readonly directorySize: number;
  readonly directoryOffset: number;
  /** Where the directory ends, from the start of the file. */
  readonly directoryEnd: number;
  /** Known where ZIP64 records say where they stand. */
  readonly shift?: number;
}

async function withoutEnd(source: ByteSource): Promise<Error> {
  if (await startsAt(source, 0, 0x04034b50)) return damaged("its end is missing");
  return refuse("This file is not a ZIP archive. Upload the ZIP with the driver’s files, INF included.");
}

function checkOnlyEnd(tail: Buffer, at: number): void {
  const commentEnd = (record: number) => record + endSize + tail.readUInt16LE(record + 20);
  if (commentEnd(at) > tail.length) throw damaged("its last record is cut off");
  for (let other = at; other > 0; ) {
    other = tail.lastIndexOf(endSignature, other - 1);
    if (other < 0) return;
    if (commentEnd(other) > at) throw ambiguous("it has two ends, one in the comment of the other");
  }
}

function plainClaim(record: Buffer, endOffset: number): Claim {
  const entryCount = record.readUInt16LE(10);
  if (record.readUInt32LE(4) !== 0 || record.readUInt16LE(8) !== entryCount) throw severalParts();
  return {
    entryCount,
    directorySize: record.readUInt32LE(12),
    directoryOffset: record.readUInt32LE(16),
    directoryEnd: endOffset,
  };
}

function severalParts() {
  return refuse(`This ZIP is one part of several. ${rezip}`);
}

/** The ZIP64 end record, which every writer puts right in front of its locator. */
async function readLargeEnd(source: ByteSource, endOffset: number, plain: Buffer) {
  const directoryEnd = endOffset - locatorSize - largeEndSize;
  if (endOffset < locatorSize) return undefined;
  const locator = await source.read(endOffset - locatorSize, locatorSize);
  if (locator.readUInt32LE(0) !== 0x07064b50) return undefined;
  if (locator.readUInt32LE(4) !== 0 || locator.readUInt32LE(16) > 1) throw severalParts();
  const record = directoryEnd < 0 ? undefined : await source.read(directoryEnd, largeEndSize);
  const size = largeEndSize - 12;
  if (record?.readUInt32LE(0) !== 0x06064b50 || record.readBigUInt64LE(4) !== BigInt(size)) {
    throw damaged("its ZIP64 end record is missing");
  }
  const claim = {
    entryCount: Number(record.readBigUInt64LE(32)),
    directorySize: Number(record.readBigUInt64LE(40)),
    directoryOffset: Number(record.readBigUInt64LE(48)),
    directoryEnd,
    shift: directoryEnd - Number(locator.readBigUInt64LE(8)),
  };
  if (record.readBigUInt64LE(16) !== 0n || record.readBigUInt64LE(24) !== record.readBigUInt64LE(32)) {
    throw severalParts();
  }
  checkAgreement(plain, claim);
  return claim;
}

/** Some programs read the ZIP64 record always, some only where a field of the plain one is full. */
function checkAgreement(plain: Buffer, claim: Claim): void {
  const disks = [plain.readUInt16LE(4), plain.readUInt16LE(6)];
  const agrees =
    disks.every((disk) => disk === 0 || disk === 0xffff) &&
    [plain.readUInt16LE(8), plain.readUInt16LE(10)].every((n) => n === 0xffff || n === claim.entryCount) &&
    [0xffffffff, claim.directorySize].includes(plain.readUInt32LE(12)) &&
    [0xffffffff, claim.directoryOffset].includes(plain.readUInt32LE(16));
  if (!agrees) throw ambiguous("its two end records contradict each other");
}

/** Where something stands in front of the archive, programs that do not skip it must find nothing there. */
async function checkNotTwo(source: ByteSource, claim: Claim, shift: number): Promise<void> {
  if (shift === 0) return;
  const hasSecond =
    (await startsAt(source, claim.directoryOffset, 0x02014b50)) ||
    (claim.shift !== undefined && (await startsAt(source, claim.directoryEnd - shift, 0x06064b50)));
  if (hasSecond) throw ambiguous("it has two tables of contents");
}

/** Whether these four bytes stand at a place. */
export async function startsAt(source: ByteSource, offset: number, signature: number): Promise<boolean> {
  if (offset + 4 > source.size) return false;
  return (await source.read(offset, 4)).readUInt32LE(0) === signature;
}
