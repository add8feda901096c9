import { join } from "node:path";
import { utcDay } from "../domain/day.ts";
import { messageOf } from "../domain/errors.ts";
import { cleanText } from "../domain/fields.ts";
import { counted } from "../domain/sentences.ts";
import { scopeText } from "../domain/token.ts";
import { FullBackup, rottenIn } from "../store/backup/full-backup.ts";
import { restoreBackup, UnfinishedRestore } from "../store/backup/full-restore.ts";
import { readFrom, writeNewFile, writeTo } from "../store/backup/output.ts";
import { DamagedDatabase } from "../store/database/file.ts";
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
  const [file, ...others] = args.filter((argument) => argument !== "--force");
  const isForced = args.includes("--force");
  if (file === undefined || others.length > 0 || (file !== standard && file.startsWith("-"))) {
    err("usage: platen backup FILE.tar [--force]     FILE.tar may be -, for standard output\n");
    return 2;
  }
  if (file === standard && process.stdout.isTTY) {
    err("platen: a backup is not written to a terminal: say where, as in platen backup - > FILE.tar\n");
    return 2;
  }
  try {
    const backup = new FullBackup({ dataDir, version, now });
    if (file === standard) await writeTo(process.stdout, backup.chunks(), stop);
    else await writeNewFile(file, backup.chunks(), { replace: isForced, stop });
    const { files, missing } = backup.manifest;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    warn(err, "missing in DATA_DIR, and so in this backup", missing);
    warn(err, "damaged in DATA_DIR, and so in this backup", rottenIn({ files }));
    err(`${counted(files.length, "file")}, ${bytes} bytes${file === standard ? "" : ` in ${file}`}\n`);
    return 0;
  } catch (error) {
    err(`platen: no backup was made: ${messageOf(error)}\n`);
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
  const [file, ...others] = args;
  if (file === undefined || others.length > 0 || (file !== standard && file.startsWith("-"))) {
    err("usage: platen restore FILE.tar     FILE.tar may be -, for standard input\n");
    return 2;
  }
  try {
    const tar = readFrom(file === standard ? process.stdin : file, stop);
    const log = (line: string) => err(`${line}\n`);
    const restored = await restoreBackup(tar, { dataDir, now, log });
    const { manifest, facts, missing, kept } = restored;
    const { clients, drivers, printers } = facts.records;
    warn(err, "not in this backup: upload the same ZIP again where it is a driver’s", missing);
    warn(err, "damaged already when this backup was made", rottenIn(manifest));
    err(
      `Restored the state of ${new Date(facts.savedAt).toISOString()}: ${counted(clients, "client")}, ${counted(drivers, "driver")}, ${counted(printers, "printer")}.\n`,
    );
    await tellKept(err, dataDir, kept);
    tellEntrants(err, restored, now);
    err("Links have ended, those in scripts too: fetch these anew. Start Platen now.\n");
    return 0;
  } catch (error) {
    const before =
      error instanceof UnfinishedRestore ? "" : `nothing was restored, and ${dataDir} holds what it held: `;
    err(`platen: ${before}${messageOf(error)}\n`);
    return 1;
  }
}

/** Whoever deletes the folder should know that it has entries of the audit log which are nowhere else. */
async function tellKept(
  err: CommandContext["err"],
  dataDir: string,
  kept: string | undefined,
): Promise<void> {
  if (kept === undefined) return;
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
  const people = accounts
    .filter(({ isDisabled }) => !isDisabled)
    .map(
      ({ name, role, sessions }) =>
        `“${cleanText(name)}”, ${role}, ${sessions === 0 ? "no browser" : counted(sessions, "browser")} signed in`,
    );
  const programs = tokens
    .filter(({ expires_at }) => expires_at > now)
    .map(
      ({ name, scope, expires_at }) =>
        `“${cleanText(name)}”, ${scopeText(scope)}, until ${utcDay(expires_at)}`,
    );
  err("Accounts, sessions and tokens are those of that time, too, also what was revoked since:\n");
  list(err, "account", people);
  list(err, "token", programs);
}

function list(err: CommandContext["err"], what: string, lines: readonly string[]): void {
  if (lines.length === 0) err(`  no ${what}\n`);
  for (const line of lines.slice(0, mostListed)) err(`  ${what} ${line}\n`);
  if (lines.length > mostListed) err(`  and ${counted(lines.length - mostListed, `other ${what}`)}\n`);
}
