import { inflateRawSync } from "node:zlib";

/** The first bytes of a cabinet, which usually contain its whole directory. */
export const cabinetHeadBytes = 1024 * 1024;

/** The maximum unpacked size of a block. */
const blockBytes = 32768;
/** Maximum length of CFFILE.szName, including its terminator. */
const nameLimitBytes = 257;

/**
 * The names of a cabinet's files ([MS-CAB] 2.2 and 2.4: CFHEADER and CFFILE). They may contain folders with `\`. Nothing
 * is unpacked, so the start of the file is enough.
 * @param head the cabinet's first bytes
 * @returns undefined when this is not a cabinet, or its directory is longer than `head`
 */
export function cabinetNames(head: Uint8Array): string[] | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (view.length < 36 || view.toString("latin1", 0, 4) !== "MSCF") return undefined;
  let at = view.readUInt32LE(16);
  const names: string[] = [];
  for (let count = view.readUInt16LE(28); count > 0; count--) {
    const end = at + 16 <= view.length ? view.indexOf(0, at + 16) : -1;
    if (end < 0 || end - at - 16 >= nameLimitBytes) return undefined;
    const isUtf8 = (view.readUInt16LE(at + 14) & 0x80) !== 0;
    names.push(view.toString(isUtf8 ? "utf8" : "latin1", at + 16, end));
    at = end + 1;
  }
  return names;
}

/**
 * The first unpacked bytes of a cabinet's first folder, at most one block of 32 KB. For a file packed as `name.dl_`,
 * they are the start of the file. Only stored and MSZIP data can be read ([MS-CAB] 2.3 and 2.6, [MS-MCI] 2.1).
 * @returns undefined when this is not a cabinet, or its data cannot be unpacked from `head`
 */
export function cabinetFirstBytes(head: Uint8Array): Uint8Array | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (view.length < 64 || view.toString("latin1", 0, 4) !== "MSCF") return undefined;
  const hasReserve = (view.readUInt16LE(30) & 4) !== 0;
  const folder = hasReserve ? 40 + view.readUInt16LE(36) : 36;
  const dataReserve = hasReserve ? view.readUInt8(39) : 0;
  if (folder + 8 > view.length) return undefined;
  const block = view.readUInt32LE(folder);
  const packing = view.readUInt16LE(folder + 6) & 0x0f;
  if (block + 8 > view.length) return undefined;
  const start = block + 8 + dataReserve;
  const bytes = view.subarray(start, start + view.readUInt16LE(block + 4));
  if (packing === 0) return bytes;
  if (packing !== 1 || bytes.toString("latin1", 0, 2) !== "CK") return undefined;
  try {
    return inflateRawSync(bytes.subarray(2), { maxOutputLength: blockBytes });
  } catch {
    return undefined;
  }
}
