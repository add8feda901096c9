import type { Architecture } from "../domain/drivers/driver.ts";

/** The first bytes of a program file, which are enough to find its architecture. */
export const executableHeadBytes = 4096;

/** By the value of IMAGE_FILE_HEADER.Machine in the PE format. */
const machines: Readonly<Record<number, Architecture>> = {
  332: "x86",
  34404: "amd64",
  43620: "arm64",
  448: "arm",
  452: "arm",
  512: "ia64",
};

/**
 * The architecture of a program or library; undefined when the bytes are neither, the architecture is not known, or the
 * file has no code: Windows loads a library of resources on every architecture.
 * @param head the file's first bytes
 */
export function executableMachine(head: Uint8Array): Architecture | undefined {
  const view = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  if (view.length < 64 || view.toString("latin1", 0, 2) !== "MZ") return undefined;
  const at = view.readUInt32LE(60);
  if (at + 6 > view.length || view.toString("latin1", at, at + 4) !== "PE\0\0") return undefined;
  return hasCode(view, at + 24) ? machines[view.readUInt16LE(at + 4)] : undefined;
}

/** @param at where IMAGE_OPTIONAL_HEADER starts, with SizeOfCode at 4 and AddressOfEntryPoint at 16 */
function hasCode(view: Buffer, at: number): boolean {
  return at + 20 > view.length || view.readUInt32LE(at + 4) > 0 || view.readUInt32LE(at + 16) > 0;
}
