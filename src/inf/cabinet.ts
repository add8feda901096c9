/** How many bytes from a cabinet's start usually hold its whole directory. */
export const cabinetHeadBytes = 1024 * 1024;

/**
 * The names that a cabinet holds, after [MS-CAB] 2.2 (CFHEADER) and 2.4 (CFFILE); they may carry folders
 * with `\`. Nothing is unpacked, so the start of the file is enough.
 * @param head the cabinet's first bytes
 * @returns undefined when this is no cabinet, or its directory goes beyond `head`
 */
export function cabinetNames(head: Uint8Array): string[] | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (view.length < 36 || view.toString("latin1", 0, 4) !== "MSCF") return undefined;
  let at = view.readUInt32LE(16);
  const names: string[] = [];
  for (let count = view.readUInt16LE(28); count > 0; count--) {
    const end = at + 16 <= view.length ? view.indexOf(0, at + 16) : -1;
    if (end < 0) return undefined;
    const isUtf8 = (view.readUInt16LE(at + 14) & 0x80) !== 0;
    names.push(view.toString(isUtf8 ? "utf8" : "latin1", at + 16, end));
    at = end + 1;
  }
  return names;
}
