import { UserError } from "../domain/errors.ts";
import { infLimitBytes } from "./document.ts";

/** The kind of a file in a driver ZIP. `packed`: a program that is packed as `name.dl_`, a cabinet of one file. */
export type EntryKind = "inf" | "cabinet" | "program" | "packed" | "other";

export function kindOf(path: string): EntryKind {
  if (/\.inf$/i.test(path)) return "inf";
  if (/\.cab$/i.test(path)) return "cabinet";
  if (/\.(?:dll|exe|sys)$/i.test(path)) return "program";
  return /\.(?:dl|ex|sy)_$/i.test(path) ? "packed" : "other";
}

interface InfEntry {
  readonly path: string;
  /** Unpacked size in bytes. */
  readonly size: number;
}

/** For all INFs of an archive together. */
export const infsLimitBytes = 4 * infLimitBytes;
export const infCountLimit = 1000;

/**
 * The INFs of an archive.
 * @throws UserError "invalid" when there are too many, or too large ones
 */
export function infsOf<T extends InfEntry>(entries: readonly T[]): T[] {
  const infs = entries.filter(({ path }) => kindOf(path) === "inf");
  if (infs.length > infCountLimit) {
    throw new UserError(
      "invalid",
      `This ZIP contains ${infs.length} INF files. The limit is ${infCountLimit}. Zip and upload only one driver’s folder.`,
    );
  }
  const large = infs.find(({ size }) => size > infLimitBytes);
  if (large !== undefined) {
    throw new UserError("invalid", `The INF “${large.path}” is larger than 16 MB. Platen refuses it.`);
  }
  if (infs.reduce((sum, { size }) => sum + size, 0) > infsLimitBytes) {
    throw new UserError(
      "invalid",
      "The INF files of this ZIP are larger than 64 MB together. Zip and upload only one driver’s folder.",
    );
  }
  return infs;
}
