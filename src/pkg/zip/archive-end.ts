import type { ByteSource } from "../../domain/byte-source.ts";
import { damaged, refuse, rezip } from "./archive-refusal.ts";
import {
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
 * Finds the end record of a ZIP (APPNOTE 6.3.10, 4.3.14 to 4.3.16) from the back, and with it the directory, which
 * stands right in front.
 * @throws UserError "invalid"
 */
export async function readEnd(source: ByteSource): Promise<ArchiveEnd> {
  const tailLength = Math.min(source.size, end.size + 0xffff);
  const tail = await source.read(source.size - tailLength, tailLength);
  const at = tail.length < end.size ? -1 : tail.lastIndexOf(endSignature, tail.length - end.size);
  if (at < 0) throw await withoutEnd(source);
  const record = tail.subarray(at, at + end.size);
  if (at + end.size + record.readUInt16LE(end.commentLength) > tail.length)
    throw damaged("its last record is cut off");
  const endOffset = source.size - tailLength + at;
  const found = (await readLargeEnd(source, endOffset)) ?? readPlainEnd(record, endOffset);
  const { entryCount, directorySize, directoryOffset, directoryEnd } = found;
  const shift = directoryEnd - directorySize - directoryOffset;
  if (entryCount > entryLimit && shift >= 0) {
    throw refuse(`This ZIP holds ${entryCount} files; at most ${entryLimit} are possible.`);
  }
  if (shift < 0 || directorySize > directoryLimitBytes) throw damaged("its table of contents does not fit");
  return { entryCount, directorySize, directoryOffset: directoryOffset + shift, shift };
}

async function withoutEnd(source: ByteSource): Promise<Error> {
  const start = source.size < 4 ? 0 : (await source.read(0, 4)).readUInt32LE(0);
  if (start === localFileHeader.signature) return damaged("its end is missing");
  return refuse("This file is not a ZIP archive. Upload the ZIP with the driver’s files, INF included.");
}

/** The end record's own numbers, before anything in front of the archive is taken into account. */
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

/** The ZIP64 end record, which every writer puts right in front of its locator; undefined without a locator. */
async function readLargeEnd(source: ByteSource, endOffset: number): Promise<EndRecord | undefined> {
  const directoryEnd = endOffset - locatorFields.size - largeEnd.size;
  if (directoryEnd < 0) return undefined;
  const record = await source.read(directoryEnd, largeEnd.size + locatorFields.size);
  const locator = record.subarray(largeEnd.size);
  if (locator.readUInt32LE(0) !== locatorFields.signature) return undefined;
  if (record.readUInt32LE(0) !== largeEnd.signature) throw damaged("its ZIP64 end record is missing");
  const entryCount = Number(record.readBigUInt64LE(largeEnd.totalEntries));
  const isOneOfMany =
    locator.readUInt32LE(locatorFields.totalNumberOfDisks) > 1 ||
    record.readBigUInt64LE(largeEnd.diskNumbers) !== 0n ||
    Number(record.readBigUInt64LE(largeEnd.totalEntriesOnThisDisk)) !== entryCount;
  if (isOneOfMany) throw severalParts();
  return {
    entryCount,
    directorySize: Number(record.readBigUInt64LE(largeEnd.sizeOfCentralDirectory)),
    directoryOffset: Number(record.readBigUInt64LE(largeEnd.offsetOfCentralDirectory)),
    directoryEnd,
  };
}
