import { pipeline } from "node:stream/promises";
import { scopeText } from "../domain/access/token.ts";
import { recordsText } from "../domain/backup/backup.ts";
import { damagedFiles } from "../domain/backup/full-backup.ts";
import { errorMessage } from "../domain/errors.ts";
import { cleanText } from "../domain/fields.ts";
import { counted, utcDay } from "../domain/text.ts";
import { verifyAudit } from "../store/audit/verify.ts";
import { FullBackup, readChunks, writeNewFile } from "../store/backup/full-backup.ts";
import { restoreBackup } from "../store/backup/full-restore.ts";
import { isSwapping } from "../store/backup/swap.ts";

interface CommandContext {
  readonly dataDir: string;
  /** Platen's version. */
  readonly version: string;
  /** UTC, milliseconds since 1970. */
  readonly now: number;
  readonly err: (text: string) => void;
}

/** The file name that means standard output or input. */
const standardStream = "-";
/** Further files are only counted. */
const maxNamedFiles = 20;

/** `platen backup FILE.tar`. @returns the exit code */
export async function backupCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { dataDir, version, now, err } = context;
  const file = onlyFile(args.filter((argument) => argument !== "--force"));
  if (file === undefined) {
    err("usage: platen backup FILE.tar [--force]     FILE.tar may be -, for standard output\n");
    return 2;
  }
  if (file === standardStream && process.stdout.isTTY) {
    err("platen: cannot write a backup to a terminal; redirect it, as in platen backup - > FILE.tar\n");
    return 2;
  }
  try {
    const backup = new FullBackup({ dataDir, version, now });
    if (file === standardStream) await pipeline(backup.chunks(), process.stdout);
    else await writeNewFile(file, backup.chunks(), args.includes("--force"));
    const { files, missing } = backup.manifest;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    warn(err, "missing in DATA_DIR, and so in this backup", missing);
    const { broken } = await verifyAudit(dataDir);
    const damaged = damagedFiles(backup.manifest, backup.secretSha256);
    if (broken !== undefined) damaged.push(`audit/${broken.file}`);
    warn(err, "damaged in DATA_DIR, and so in this backup", damaged);
    err(`${counted(files.length, "file")}, ${bytes} bytes${file === standardStream ? "" : ` in ${file}`}\n`);
    return 0;
  } catch (error) {
    err(`platen: no backup was made: ${errorMessage(error)}\n`);
    return 1;
  }
}

/** `platen restore FILE.tar`. @returns the exit code */
export async function restoreCommand(args: readonly string[], context: CommandContext): Promise<number> {
  const { dataDir, now, err } = context;
  const file = onlyFile(args);
  if (file === undefined) {
    err("usage: platen restore FILE.tar     FILE.tar may be -, for standard input\n");
    return 2;
  }
  try {
    const log = (line: string) => err(`${line}\n`);
    const tar = file === standardStream ? process.stdin : readChunks(file);
    reportRestored(await restoreBackup(tar, { dataDir, now, log }), context);
    return 0;
  } catch (error) {
    const what = (await isSwapping(dataDir))
      ? "the restore is not finished: start Platen to complete it"
      : `nothing was restored; ${dataDir} is unchanged`;
    err(`platen: ${what}: ${errorMessage(error)}\n`);
    return 1;
  }
}

/** The only argument; undefined if there are several, or if it is an option. */
function onlyFile([file, ...others]: readonly string[]): string | undefined {
  return others.length > 0 || (file !== standardStream && file?.startsWith("-")) ? undefined : file;
}

function reportRestored(
  { manifest, facts, accounts, tokens, kept }: Awaited<ReturnType<typeof restoreBackup>>,
  { dataDir, now, err }: CommandContext,
): void {
  warn(err, "not in this backup; if it is a driver’s archive, upload the same ZIP again", manifest.missing);
  warn(err, "damaged in this backup, too", damagedFiles(manifest, facts.secretSha256));
  err(`Restored the state of ${new Date(facts.savedAt).toISOString()}: ${recordsText(facts)}.\n`);
  if (kept !== undefined)
    err(
      `The old contents of ${dataDir} are in its folder ${kept}: delete that folder when everything works. The audit log is also that of the backup; later entries are only in ${kept}/audit, where platen audit can read them.\n`,
    );
  // A backup that was tampered with may contain an attacker's account or token, so all that give access are listed.
  err(
    "Accounts, sessions and tokens are also those of the backup, including any that were revoked since. These have access:\n",
  );
  const enabled = accounts.filter(({ isDisabled }) => !isDisabled);
  const valid = tokens.filter(({ expires_at }) => expires_at > now);
  if (enabled.length + valid.length === 0) err("  no account and no token\n");
  for (const { name, role } of enabled) err(`  account “${cleanText(name)}”, ${role}\n`);
  for (const { name, scope, expires_at } of valid)
    err(`  token “${cleanText(name)}”, ${scopeText(scope)}, until ${utcDay(expires_at)}\n`);
  err("All links have ended, also those in scripts: download the scripts again. Start Platen now.\n");
}

function warn(err: CommandContext["err"], what: string, names: readonly string[]): void {
  for (const name of names.slice(0, maxNamedFiles)) err(`warning: ${name} is ${what}\n`);
  if (names.length > maxNamedFiles) err(`warning: so are ${names.length - maxNamedFiles} others\n`);
}
