import type { ByteSource } from "../../domain/byte-source.ts";
import type { ArchiveEntry } from "./archive.ts";

const headerSize = 30;
/** Encryption of two kinds, and amounts that stand behind the file. */
const flagsRefused = 0x2041 | 0x0008;
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
    const header = await source.read(at, headerSize);
    if (!isWhole(header)) return;
    const nameLength = header.readUInt16LE(26);
    const name = await source.read(at + headerSize, nameLength);
    const entry = {
      path: name.toString(),
      method: header.readUInt16LE(8) === 8 ? 8 : 0,
      crc32: header.readUInt32LE(14),
      size: header.readUInt32LE(22),
      compressedSize: header.readUInt32LE(18),
      dataOffset: at + headerSize + nameLength + header.readUInt16LE(28),
    } as const;
    yield entry;
    at = entry.dataOffset + entry.compressedSize;
  }
}

/** Whether this is a header that tells all of its file. */
function isWhole(header: Buffer): boolean {
  const method = header.readUInt16LE(8);
  const amounts = [header.readUInt32LE(18), header.readUInt32LE(22)];
  return (
    header.readUInt32LE(0) === 0x04034b50 &&
    (header.readUInt16LE(6) & flagsRefused) === 0 &&
    (method === 8 || (method === 0 && amounts[0] === amounts[1])) &&
    !amounts.includes(isElsewhere) &&
    header.readUInt16LE(26) <= nameLimitBytes
  );
}
