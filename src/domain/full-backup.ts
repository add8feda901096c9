import type { TarFile } from "./tar.ts";

/** What a full backup's last file is called, which lists all others. */
export const manifestName = "platen-backup.json";
const format = 1;
const mebi = 1024 * 1024;
const gibi = 1024 * mebi;

/** A file of a full backup. */
export interface BackupFile extends TarFile {
  /** In lower case. */
  readonly sha256: string;
}

/** What a full backup says of itself. */
export interface Manifest {
  /** The version of Platen that made it. */
  readonly version: string;
  /** UTC, milliseconds since 1970. */
  readonly madeAt: number;
  readonly files: readonly BackupFile[];
  /** Names of files that records refer to and that were not there. */
  readonly missing: readonly string[];
}

/** The files that a backup may hold, and the most bytes of each. The database and the manifest are read in memory. */
const kinds: readonly (readonly [RegExp, number])[] = [
  [/^platen\.sqlite$/, 512 * mebi],
  [/^secret$/, 32],
  [/^drivers\/[0-9a-f]{64}\.zip$/, 4 * gibi],
  [/^icons\/[0-9a-f]{64}\.png$/, mebi],
  [/^audit\/[0-9a-z][0-9a-z.-]{0,60}\.jsonl$/, 4 * gibi],
  [/^platen-backup\.json$/, 24 * mebi],
];

/** @throws Error where a backup has no such file, or none of that size */
export function checkBackupFile({ name, size }: TarFile, shown: string): void {
  const kind = kinds.find(([pattern]) => pattern.test(name));
  if (kind === undefined) throw new Error(`“${shown}” is no file of a backup`);
  if (size > kind[1]) throw new Error(`“${shown}” is larger than such a file ever is: ${size} bytes`);
}

/** The files whose content is not what their name says: they were damaged before the backup was made. */
export function rottenIn({ files }: Pick<Manifest, "files">): string[] {
  const digest = /^(?:drivers|icons)\/([0-9a-f]{64})\./;
  return files
    .filter(({ name, sha256 }) => (digest.exec(name)?.[1] ?? sha256) !== sha256)
    .map(({ name }) => name);
}

export function manifestText({ version, madeAt, files, missing }: Manifest): string {
  return `${JSON.stringify({ format, version, madeAt: new Date(madeAt).toISOString(), missing, files }, null, 1)}\n`;
}

/** @throws Error where it is no manifest that this version can read */
export function readManifest(text: string): Manifest {
  const found = parse(text);
  if (found.format !== format)
    throw new Error("its manifest is of another version of Platen: take that one, or a later one");
  const { version, madeAt, files, missing } = found;
  const time = Date.parse(String(madeAt));
  const isWhole = typeof version === "string" && !Number.isNaN(time);
  if (!isWhole || !isListOf(files, isFile) || !isListOf(missing, isText)) throw damaged();
  return { version, madeAt: time, files, missing };
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    throw damaged();
  }
}

function isListOf<T>(list: unknown, isOne: (one: unknown) => one is T): list is readonly T[] {
  return Array.isArray(list) && list.every(isOne);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isFile(value: unknown): value is BackupFile {
  const { name, size, sha256 } = (value ?? {}) as Partial<BackupFile>;
  return isText(name) && Number.isSafeInteger(size) && isText(sha256);
}

function damaged(): Error {
  return new Error("its manifest is damaged");
}
