import { readLarge } from "./archive-extra.ts";
import { type NameField, readPath } from "./archive-names.ts";
import { damaged } from "./archive-refusal.ts";

/** A record of a ZIP's central directory (APPNOTE 6.3.10, 4.3.12). */
export interface DirectoryRecord {
  /** With `/`, harmless; a folder's ends with one. */
  readonly path: string;
  /** The name's bytes and what the extra fields say of it. */
  readonly nameField: NameField;
  readonly isFolder: boolean;
  readonly isLink: boolean;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  /** Unpacked, in bytes. */
  readonly size: number;
  readonly compressedSize: number;
  /** As it stands there: from the start of the archive. */
  readonly headerOffset: number;
}

/**
 * Reads a whole central directory.
 * @param count how many records the archive's end counts
 * @throws UserError "invalid" where there are more or fewer, and for names that could do harm
 */
export function readRecords(directory: Buffer, count: number): DirectoryRecord[] {
  const records: DirectoryRecord[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== 0x02014b50) {
      throw damaged(`its table of contents is broken: it lists ${i} files where its end counts ${count}`);
    }
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    const next = extraEnd + directory.readUInt16LE(at + 32);
    if (next > directory.length) throw damaged("its table of contents is cut off");
    const fixed = directory.subarray(at, at + 46);
    records.push(
      readRecord(fixed, directory.subarray(at + 46, nameEnd), directory.subarray(nameEnd, extraEnd)),
    );
    at = next;
  }
  if (!isSignature(directory.subarray(at))) {
    throw damaged(`its table of contents goes on after the ${count} files that its end counts`);
  }
  return records;
}

/** Nothing, or a digital signature of the directory (4.3.13), which nobody reads any more. */
function isSignature(rest: Buffer): boolean {
  if (rest.length === 0) return true;
  return rest.length >= 6 && rest.readUInt32LE(0) === 0x05054b50 && rest.length === 6 + rest.readUInt16LE(4);
}

function readRecord(fixed: Buffer, name: Buffer, extra: Buffer): DirectoryRecord {
  const flags = fixed.readUInt16LE(8);
  const nameField = { bytes: name, flags, extra };
  const path = readPath(nameField);
  const [size, compressedSize, headerOffset] = readLarge(extra, [
    fixed.readUInt32LE(24),
    fixed.readUInt32LE(20),
    fixed.readUInt32LE(42),
  ]);
  if (size === undefined || compressedSize === undefined || headerOffset === undefined) {
    throw damaged(`a ZIP64 size of “${path}” is missing`);
  }
  return {
    path,
    nameField,
    isFolder: path.endsWith("/"),
    // The file type of the Unix mode, whatever system the archive says it comes from.
    isLink: ((fixed.readUInt32LE(38) >>> 16) & 0o170000) === 0o120000,
    flags,
    method: fixed.readUInt16LE(10),
    crc32: fixed.readUInt32LE(16),
    size,
    compressedSize,
    headerOffset,
  };
}
