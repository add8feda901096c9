import type { TarFile } from "./tar.ts";

/** The last file of a full backup. It lists all others. */
export const manifestName = "platen-backup.json";
const format = 1;
const mebi = 1024 * 1024;
const gibi = 1024 * mebi;

/** A file of a full backup. */
export interface BackupFile extends TarFile {
  /** In lower-case hex digits. */
  readonly sha256: string;
}

export interface Manifest {
  /** The version of Platen that made it. */
  readonly version: string;
  /** UTC, milliseconds since 1970. */
  readonly madeAt: number;
  readonly files: readonly BackupFile[];
  /** Names of files that records refer to but that were missing. */
  readonly missing: readonly string[];
}

/** The files that a backup may contain, with their maximum sizes in bytes. Platen reads database and manifest into memory. */
const kinds: readonly (readonly [RegExp, number])[] = [
  [/^platen\.sqlite$/, 512 * mebi],
  [/^secret$/, 32],
  [/^drivers\/[0-9a-f]{64}\.zip$/, 4 * gibi],
  [/^icons\/[0-9a-f]{64}\.png$/, mebi],
  [/^preferences\/[0-9a-f]{64}\.dat$/, mebi],
  [/^signatures\/[0-9a-f]{64}(?:-[0-9a-f]{20})?\.txt$/, mebi],
  [/^audit\/[0-9a-z][0-9a-z.-]{0,60}\.jsonl$/, 4 * gibi],
  [/^platen-backup\.json$/, 24 * mebi],
];

/** Whether a backup may contain a file with this name. */
export function isBackupName(name: string): boolean {
  return kinds.some(([pattern]) => pattern.test(name));
}

/** @throws Error when a backup cannot contain a file with this name or size */
export function checkBackupFile({ name, size }: TarFile, displayName: string): void {
  const max = kinds.find(([pattern]) => pattern.test(name))?.[1];
  if (max === undefined) throw new Error(`“${displayName}” is no file of a backup`);
  if (size > max) throw new Error(`“${displayName}” is larger than such a file ever is: ${size} bytes`);
}

/**
 * The names of files that were damaged before the backup was made: their digest differs from the one in their name, or that
 * of the secret from the one in the database.
 */
export function damagedFiles({ files }: Pick<Manifest, "files">, secretSha256: string): string[] {
  const digest = /^(?:(?:drivers|icons|preferences)\/|signatures\/[0-9a-f]{64}-)([0-9a-f]+)\./;
  const expected = (name: string) => (name === "secret" ? secretSha256 : (digest.exec(name)?.[1] ?? ""));
  return files.filter(({ name, sha256 }) => !sha256.startsWith(expected(name))).map(({ name }) => name);
}

export function manifestText({ version, madeAt, files, missing }: Manifest): string {
  return `${JSON.stringify({ format, version, madeAt: new Date(madeAt).toISOString(), missing, files }, null, 1)}\n`;
}

/** @throws Error when this version cannot read the manifest */
export function readManifest(text: string): Manifest {
  try {
    const found = JSON.parse(text);
    const files = found.files.map(({ name, size, sha256 }: BackupFile) => ({ name, size, sha256 }));
    const madeAt = Date.parse(found.madeAt);
    const missing: string[] = found.missing.map(String);
    if (found.format === format && !Number.isNaN(madeAt) && missing.every(isBackupName))
      return { version: String(found.version), madeAt, files, missing };
  } catch {
    // Reported below.
  }
  throw new Error(
    "its manifest is damaged, or is of another version of Platen: take that one, or a later one",
  );
}
