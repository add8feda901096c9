import type { ByteSource } from "../../domain/byte-source.ts";
import type { ArchiveEntry } from "./archive.ts";
import { flagsEncrypted } from "./archive-local.ts";
import { localFileHeader as fields, generalPurposeBits } from "./record-fields.ts";

/** Encryption, and amounts that stand behind the file. */
const flagsRefused = flagsEncrypted | generalPurposeBits.dataDescriptor;
/** A longer name is refused when the directory is read. */
const nameLimitBytes = 720;
/** Where the amounts are in a ZIP64 field. */
const isElsewhere = 0xffffffff;

/**
 * What a ZIP's local headers say (APPNOTE 6.3.10, 4.3.7), from the start of the file on, one behind the other: what can
 * be known before the directory is there. Ends at the first header that does not tell all of its file, and at
 * anything that is no header. Whether the directory says the same is for the caller to see; paths are as they
 * stand there, and may be anything.
 * @throws whatever `read` does
 */
export async function* localEntries(source: Pick<ByteSource, "read">): AsyncGenerator<ArchiveEntry> {
  for (let at = 0; ; ) {
    const header = await source.read(at, fields.size);
    if (!isWhole(header)) return;
    const nameLength = header.readUInt16LE(fields.fileNameLength);
    const name = await source.read(at + fields.size, nameLength);
    const entry = {
      path: name.toString(),
      method: header.readUInt16LE(fields.compressionMethod) === 8 ? 8 : 0,
      crc32: header.readUInt32LE(fields.crc32),
      size: header.readUInt32LE(fields.uncompressedSize),
      compressedSize: header.readUInt32LE(fields.compressedSize),
      dataOffset: at + fields.size + nameLength + header.readUInt16LE(fields.extraFieldLength),
    } as const;
    yield entry;
    at = entry.dataOffset + entry.compressedSize;
  }
}

/** Whether this is a header that tells all of its file. */
function isWhole(header: Buffer): boolean {
  const method = header.readUInt16LE(fields.compressionMethod);
  const amounts = [header.readUInt32LE(fields.compressedSize), header.readUInt32LE(fields.uncompressedSize)];
  return (
    header.readUInt32LE(0) === fields.signature &&
    (header.readUInt16LE(fields.generalPurposeBitFlag) & flagsRefused) === 0 &&
    (method === 8 || (method === 0 && amounts[0] === amounts[1])) &&
    !amounts.includes(isElsewhere) &&
    header.readUInt16LE(fields.fileNameLength) <= nameLimitBytes
  );
}
