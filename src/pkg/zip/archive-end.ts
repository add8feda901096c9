import type { ByteSource } from "../../domain/byte-source.ts";
import { ambiguous, damaged, refuse, rezip } from "./archive-refusal.ts";
import {
  centralDirectoryHeader,
  endOfCentralDirectory as end,
  zip64EndOfCentralDirectory as largeEnd,
  localFileHeader,
  zip64EndLocator as locatorFields,
} from "./record-fields.ts";

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

/** Files in an archive, at most. */
export const entryLimit = 60_000;
const directoryLimitBytes = 64 * 1024 * 1024;
const endSignature = Buffer.alloc(4);
endSignature.writeUInt32LE(end.signature);

/**
 * Finds the end record of a ZIP (APPNOTE 6.3.10, 4.3.14 to 4.3.16) and with it the directory, which stands
 * right in front. Some programs look for the record from the back, some trust its comment's length, some
 * trust absolute offsets: an archive is refused where these ways lead to different directories.
 * @throws UserError "invalid"
 */
export async function readEnd(source: ByteSource): Promise<ArchiveEnd> {
  const tailLength = Math.min(source.size, end.size + 0xffff);
  const tail = await source.read(source.size - tailLength, tailLength);
  const at = tail.length < end.size ? -1 : tail.lastIndexOf(endSignature, tail.length - end.size);
  if (at < 0) throw await withoutEnd(source);
  checkOnlyEnd(tail, at);
  const record = tail.subarray(at, at + end.size);
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
  if (await startsAt(source, 0, localFileHeader.signature)) return damaged("its end is missing");
  return refuse("This file is not a ZIP archive. Upload the ZIP with the driver’s files, INF included.");
}

function checkOnlyEnd(tail: Buffer, at: number): void {
  const commentEnd = (record: number) => record + end.size + tail.readUInt16LE(record + end.commentLength);
  if (commentEnd(at) > tail.length) throw damaged("its last record is cut off");
  for (let other = at; other > 0; ) {
    other = tail.lastIndexOf(endSignature, other - 1);
    if (other < 0) return;
    if (commentEnd(other) > at) throw ambiguous("it has two ends, one in the comment of the other");
  }
}

function plainClaim(record: Buffer, endOffset: number): Claim {
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

/** The ZIP64 end record, which every writer puts right in front of its locator. */
async function readLargeEnd(source: ByteSource, endOffset: number, plain: Buffer) {
  const directoryEnd = endOffset - locatorFields.size - largeEnd.size;
  if (endOffset < locatorFields.size) return undefined;
  const locator = await source.read(endOffset - locatorFields.size, locatorFields.size);
  if (locator.readUInt32LE(0) !== locatorFields.signature) return undefined;
  const isOneOfMany =
    locator.readUInt32LE(locatorFields.diskWithEndRecord) !== 0 ||
    locator.readUInt32LE(locatorFields.totalNumberOfDisks) > 1;
  if (isOneOfMany) throw severalParts();
  const record = directoryEnd < 0 ? undefined : await source.read(directoryEnd, largeEnd.size);
  // The record counts itself from behind this field on.
  const size = largeEnd.size - 12;
  if (
    record?.readUInt32LE(0) !== largeEnd.signature ||
    record.readBigUInt64LE(largeEnd.sizeOfRecord) !== BigInt(size)
  ) {
    throw damaged("its ZIP64 end record is missing");
  }
  const claim = {
    entryCount: Number(record.readBigUInt64LE(largeEnd.totalEntries)),
    directorySize: Number(record.readBigUInt64LE(largeEnd.sizeOfCentralDirectory)),
    directoryOffset: Number(record.readBigUInt64LE(largeEnd.offsetOfCentralDirectory)),
    directoryEnd,
    shift: directoryEnd - Number(locator.readBigUInt64LE(locatorFields.offsetOfEndRecord)),
  };
  const onThisDisk = Number(record.readBigUInt64LE(largeEnd.totalEntriesOnThisDisk));
  if (record.readBigUInt64LE(largeEnd.diskNumbers) !== 0n || onThisDisk !== claim.entryCount)
    throw severalParts();
  checkAgreement(plain, claim);
  return claim;
}

/** Some programs read the ZIP64 record always, some only where a field of the plain one is full. */
function checkAgreement(plain: Buffer, claim: Claim): void {
  const disks = [end.numberOfThisDisk, end.diskWithCentralDirectory].map((at) => plain.readUInt16LE(at));
  const counts = [end.totalEntriesOnThisDisk, end.totalEntries].map((at) => plain.readUInt16LE(at));
  const agrees =
    disks.every((disk) => disk === 0 || disk === 0xffff) &&
    counts.every((count) => count === 0xffff || count === claim.entryCount) &&
    [0xffffffff, claim.directorySize].includes(plain.readUInt32LE(end.sizeOfCentralDirectory)) &&
    [0xffffffff, claim.directoryOffset].includes(plain.readUInt32LE(end.offsetOfCentralDirectory));
  if (!agrees) throw ambiguous("its two end records contradict each other");
}

/** Where something stands in front of the archive, programs that do not skip it must find nothing there. */
async function checkNotTwo(source: ByteSource, claim: Claim, shift: number): Promise<void> {
  if (shift === 0) return;
  const hasSecond =
    (await startsAt(source, claim.directoryOffset, centralDirectoryHeader.signature)) ||
    (claim.shift !== undefined && (await startsAt(source, claim.directoryEnd - shift, largeEnd.signature)));
  if (hasSecond) throw ambiguous("it has two tables of contents");
}

/** Whether these four bytes stand at a place. */
export async function startsAt(source: ByteSource, offset: number, signature: number): Promise<boolean> {
  if (offset + 4 > source.size) return false;
  return (await source.read(offset, 4)).readUInt32LE(0) === signature;
}
