import { UserError } from "../../domain/errors.ts";

/**
 * Offsets of the fields in a ZIP's records, in bytes, with the names in PKWARE's APPNOTE 6.3.10. `size` does not include
 * names, extra fields and comments.
 */

/** 4.3.7, before each file. */
export const localFileHeader = {
  signature: 0x04034b50,
  size: 30,
  versionNeededToExtract: 4,
  generalPurposeBitFlag: 6,
  compressionMethod: 8,
  lastModFileTimeAndDate: 10,
  crc32: 14,
  compressedSize: 18,
  uncompressedSize: 22,
  fileNameLength: 26,
  extraFieldLength: 28,
} as const;

/** 4.3.12, for each file in the central directory. */
export const centralDirectoryHeader = {
  signature: 0x02014b50,
  size: 46,
  versionMadeBy: 4,
  versionNeededToExtract: 6,
  generalPurposeBitFlag: 8,
  compressionMethod: 10,
  lastModFileTimeAndDate: 12,
  crc32: 16,
  compressedSize: 20,
  uncompressedSize: 24,
  fileNameLength: 28,
  extraFieldLength: 30,
  fileCommentLength: 32,
  externalFileAttributes: 38,
  relativeOffsetOfLocalHeader: 42,
} as const;

/** 4.3.13, after the last record of the central directory. */
export const digitalSignature = { signature: 0x05054b50, size: 6, sizeOfData: 4 } as const;

/** 4.3.14. */
export const zip64EndOfCentralDirectory = {
  signature: 0x06064b50,
  size: 56,
  diskNumbers: 16,
  totalEntriesOnThisDisk: 24,
  totalEntries: 32,
  sizeOfCentralDirectory: 40,
  offsetOfCentralDirectory: 48,
} as const;

/** 4.3.15. */
export const zip64EndLocator = {
  signature: 0x07064b50,
  size: 20,
  totalNumberOfDisks: 16,
} as const;

/** 4.3.16. */
export const endOfCentralDirectory = {
  signature: 0x06054b50,
  size: 22,
  numberOfThisDisk: 4,
  diskWithCentralDirectory: 6,
  totalEntriesOnThisDisk: 8,
  totalEntries: 10,
  sizeOfCentralDirectory: 12,
  offsetOfCentralDirectory: 16,
  commentLength: 20,
} as const;

/** Bits of the general purpose flag (4.4.4). */
export const generalPurposeBits = {
  encrypted: 0x0001,
  strongEncryption: 0x0040,
  /** Name and comment are UTF-8. */
  languageEncoding: 0x0800,
  /** Fields of the local header are masked. */
  maskedHeader: 0x2000,
} as const;

/** The remedy for an unusual archive. */
export const rezip = "Extract it, zip the folder with Windows (Compress to → ZIP file), and upload that ZIP.";

/** The remedy for a compression method that Windows itself may choose. */
export const rezipWith7Zip =
  "Extract it, zip the folder with 7-Zip (format ZIP, method Deflate), and upload that ZIP.";

/** @param message whole sentences */
export function refuse(message: string): UserError {
  return new UserError("invalid", message);
}

/** @param why a clause without a full stop */
export function damaged(why: string): UserError {
  return refuse(`This ZIP is damaged: ${why}. Download it again, then upload it.`);
}
