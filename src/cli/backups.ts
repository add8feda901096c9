import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import { utcDay } from "../domain/day.ts";
import { messageOf } from "../domain/errors.ts";
import { cleanText } from "../domain/fields.ts";
import { rottenIn } from "../domain/full-backup.ts";
import { counted } from "../domain/sentences.ts";
import { scopeText } from "../domain/token.ts";
import { FullBackup } from "../store/backup/full-backup.ts";
import { restoreBackup } from "../store/backup/full-restore.ts";
import { isSwapping } from "../store/backup/swap.ts";
import { DamagedDatabase } from "../store/database/file.ts";
import { moveIntoPlace, ownerOnly } from "../store/durable-files.ts";
import { isThere } from "../store/found-files.ts";

/** What a command has besides its arguments. */
interface CommandContext {
  readonly dataDir: string;
  /** Of Platen. */
  readonly version: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly err: (text: string) => void;
  /** Says that the command is to end soon. */
  readonly stop: AbortSignal;
}

/** Standard output, or input. */
const standard = "-";
const mostNamed = 20;
const mostListed = 100;

/** `platen backup FILE.tar`. @returns the exit code */
export async function backupCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { dataDir, version, now, err, stop } = context;
  const file = onlyFile(args.filter((argument) => argument !== "--force"));
  if (file === undefined) {
    err("usage: platen backup FILE.tar [--force]     FILE.tar may be -, for standard output\n");
    return 2;
  }
  if (file === standard && process.stdout.isTTY) {
    err("platen: a backup is not written to a terminal: say where, as in platen backup - > FILE.tar\n");
    return 2;
  }
  try {
    const backup = new FullBackup({ dataDir, version, now });
    if (file === standard) await pipeline(backup.chunks(), process.stdout, { signal: stop });
    else await writeNewFile(file, backup.chunks(), args.includes("--force"), stop);
    const { files, missing } = backup.manifest;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    warn(err, "missing in DATA_DIR, and so in this backup", missing);
    warn(err, "damaged in DATA_DIR, and so in this backup", rottenIn({ files }));
    err(`${counted(files.length, "file")}, ${bytes} bytes${file === standard ? "" : ` in ${file}`}\n`);
    return 0;
  } catch (error) {
    err(`platen: no backup was made: ${reasonOf(error, stop)}\n`);
    if (error instanceof DamagedDatabase)
      err(
        "Started with --recover, Platen goes on from the newest good state in backups, where there is one.\n",
      );
    return 1;
  }
}

/** `platen restore FILE.tar`. @returns the exit code */
export async function restoreCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { dataDir, now, err, stop } = context;
  const file = onlyFile(args);
  if (file === undefined) {
    err("usage: platen restore FILE.tar     FILE.tar may be -, for standard input\n");
    return 2;
  }
  try {
    const log = (line: string) => err(`${line}\n`);
    const restored = await restoreBackup(chunksOf(file, stop), { dataDir, now, log });
    const { manifest, facts, missing, kept } = restored;
    const { clients, drivers, printers } = facts.records;
    warn(err, "not in this backup: upload the same ZIP again where it is a driver’s", missing);
    warn(err, "damaged already when this backup was made", rottenIn(manifest));
    err(
      `Restored the state of ${new Date(facts.savedAt).toISOString()}: ${counted(clients, "client")}, ${counted(drivers, "driver")}, ${counted(printers, "printer")}.\n`,
    );
    if (kept !== undefined) await tellKept(err, dataDir, kept);
    tellEntrants(err, restored, now);
    err("Links have ended, those in scripts too: fetch these anew. Start Platen now.\n");
    return 0;
  } catch (error) {
    const what = (await isSwapping(dataDir))
      ? "the restore is not finished: start Platen, which goes on with it"
      : `nothing was restored, and ${dataDir} holds what it held`;
    err(`platen: ${what}: ${reasonOf(error, stop)}\n`);
    return 1;
  }
}

/** @returns undefined where the arguments are no single name */
function onlyFile([file, ...others]: readonly string[]): string | undefined {
  return others.length > 0 || (file !== standard && file?.startsWith("-")) ? undefined : file;
}

function reasonOf(error: unknown, stop: AbortSignal): string {
  return messageOf(stop.aborted ? stop.reason : error);
}

/**
 * Writes a file that is there whole or not at all, for its owner alone. What fails, or is stopped, leaves nothing.
 * @throws Error where there is such a file already and it is not to be replaced
 */
async function writeNewFile(
  path: string,
  chunks: AsyncIterable<Buffer>,
  isForced: boolean,
  stop: AbortSignal,
): Promise<void> {
  if (!isForced && (await isThere(path)))
    throw new Error(`${path} is there already: choose another name, or say --force to replace it`);
  if (!(await isThere(dirname(resolve(path)))))
    throw new Error(`the folder ${dirname(resolve(path))} is not there: make it first`);
  const unfinished = `${path}.${randomUUID().slice(0, 8)}.part`;
  try {
    const output = createWriteStream(unfinished, { flags: "wx", mode: ownerOnly, flush: true });
    await pipeline(chunks, output, { signal: stop });
    await moveIntoPlace(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** A file is opened when its first bytes are asked for. */
async function* chunksOf(file: string, stop: AbortSignal): AsyncGenerator<Buffer> {
  const stream = file === standard ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 });
  yield* addAbortSignal(stop, stream);
}

/** Whoever deletes the folder should know that it has entries of the audit log which are nowhere else. */
async function tellKept(err: CommandContext["err"], dataDir: string, kept: string): Promise<void> {
  const hasLog = await isThere(join(dataDir, kept, "audit"));
  const later = hasLog ? `; later entries stand in ${kept}/audit alone, where platen audit reads them` : "";
  err(`The audit log is that of that time, too${later}.\n`);
  err(`What was in ${dataDir} is kept in its folder ${kept}: delete that when all is well.\n`);
}

function warn(err: CommandContext["err"], what: string, names: readonly string[]): void {
  for (const name of names.slice(0, mostNamed)) err(`warning: ${name} is ${what}\n`);
  if (names.length > mostNamed) err(`warning: so are ${names.length - mostNamed} others\n`);
}

/** Whoever altered a backup could put an account or a token into it. */
function tellEntrants(
  err: CommandContext["err"],
  { accounts, tokens }: Awaited<ReturnType<typeof restoreBackup>>,
  now: number,
): void {
  err("Accounts, sessions and tokens are those of that time, too, also what was revoked since:\n");
  const people = accounts.filter(({ isDisabled }) => !isDisabled);
  list(err, "account", people, ({ name, role, sessions }) => {
    const browsers = sessions === 0 ? "no browser" : counted(sessions, "browser");
    return `“${cleanText(name)}”, ${role}, ${browsers} signed in`;
  });
  const valid = tokens.filter(({ expires_at }) => expires_at > now);
  list(err, "token", valid, ({ name, scope, expires_at }) => {
    return `“${cleanText(name)}”, ${scopeText(scope)}, until ${utcDay(expires_at)}`;
  });
}

function list<T>(
  err: CommandContext["err"],
  what: string,
  all: readonly T[],
  textOf: (one: T) => string,
): void {
  if (all.length === 0) err(`  no ${what}\n`);
  for (const one of all.slice(0, mostListed)) err(`  ${what} ${textOf(one)}\n`);
  if (all.length > mostListed) err(`  and ${counted(all.length - mostListed, `other ${what}`)}\n`);
}
