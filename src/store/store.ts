import { stat } from "node:fs/promises";
import { join } from "node:path";
import { archiveRoomBytes } from "../domain/deletion.ts";
import type { Links } from "./access/links.ts";
import { openSecret } from "./access/secret.ts";
import { ChangeRecorder } from "./audit/change-recorder.ts";
import type { AuditLog } from "./audit/log.ts";
import { openAudit } from "./audit/open.ts";
import { Backups } from "./backup/backups.ts";
import { KeptFiles } from "./backup/kept-files.ts";
import { tidyBlobs } from "./backup/orphans.ts";
import { type RecordNumbers, recordNumbers } from "./backup/record-numbers.ts";
import { openOrRecover } from "./backup/recovery.ts";
import { Restoring } from "./backup/restoring.ts";
import { finishSwap } from "./backup/swap.ts";
import { type BlobKind, Blobs } from "./blobs.ts";
import { fullDisk, prepareFolder } from "./data-folder.ts";
import { Database } from "./database/database.ts";
import { type Lock, lockFolder } from "./database/lock.ts";
import { isDiskFull } from "./database/reserve.ts";
import type { SavedState } from "./database/saved-file.ts";
import { Downloads } from "./deploy/downloads.ts";
import { Signatures } from "./deploy/signatures.ts";
import type { Drivers } from "./drivers/drivers.ts";
import { freeBytes, removeUnfinished } from "./durable-files.ts";
import { ManyPrinters } from "./printers/many-printers.ts";
import { checkRows, recordsOf } from "./records.ts";

/** All data in DATA_DIR. */
export interface Store extends ReturnType<typeof recordsOf> {
  readonly manyPrinters: ManyPrinters;
  readonly downloads: Downloads;
  /** The ids of all printers and clients, and of uploaded drivers. */
  recordNumbers(): RecordNumbers;
  readonly restoring: Restoring;
  readonly blobs: Blobs;
  readonly backups: Backups;
  /** Files of deleted records that a kept state of the database still needs. */
  readonly keptFiles: KeptFiles;
  readonly audit: AuditLog;
  /** The signature blocks of scripts. */
  readonly signatures: Signatures;
  /** 32 random bytes, made once with the folder and never sent. Package keys are derived from them. */
  readonly secret: Uint8Array;
  /** Whether the disk has too little space to keep the archive of a deleted driver. */
  isNearlyFull(): Promise<boolean>;
  /** In bytes. Undefined where the system does not report the free space. */
  sizes(): Promise<StoreSizes>;
  /** Changes whenever a record may have changed. */
  version(): number;
  /** Runs `work` at once as one transaction, then saves. */
  change<T>(work: () => T): Promise<T>;
  /** The database as it is on disk. Call this only when no write is under way. */
  current(): SavedState;
  /** @param listener is called with each state as soon as it is on disk; it must not throw */
  onSaved(listener: (state: SavedState) => void): void;
  /** Waits for writes of files and records that are under way, then releases the folder's lock. */
  close(): Promise<void>;
}

interface StoreSizes {
  readonly databaseBytes: number;
  readonly driverBytes: number;
  readonly freeBytes: number | undefined;
}

interface StoreOptions {
  /** Days that the audit log is kept; 400 by default. */
  readonly auditDays?: number | undefined;
  /** Whether the newest good backup replaces a damaged database. */
  readonly recover?: boolean | undefined;
}

/** @throws Error that says what to do when the folder cannot be used */
export async function openStore(
  dataDir: string,
  clock: () => number,
  log: (line: string) => void,
  options: StoreOptions = {},
): Promise<Store> {
  await prepareFolder(dataDir);
  const lock = await lockFolder(dataDir, log);
  try {
    return await openLocked({ dataDir, clock, log, lock }, options);
  } catch (error) {
    await lock.release();
    throw isDiskFull(error) ? fullDisk(dataDir, error) : error;
  }
}

interface LockedFolder {
  readonly dataDir: string;
  readonly clock: () => number;
  readonly log: (line: string) => void;
  readonly lock: Lock;
}

async function openLocked(
  { dataDir, clock, log, lock }: LockedFolder,
  { auditDays = 400, recover = false }: StoreOptions,
): Promise<Store> {
  await finishSwap(dataDir, log);
  const databasePath = join(dataDir, "platen.sqlite");
  const backups = new Backups(dataDir, clock);
  await backups.load();
  const recorder = new ChangeRecorder(clock);
  const check = (database: Database) => checkRows(recordsOf(database, clock));
  const { db, recovered } = await openOrRecover({
    path: databasePath,
    open: () => Database.open(databasePath, { clock, recorder, check }),
    ...{ backups, isRequested: recover, now: clock(), log },
  });
  const secret = await openSecret(join(dataDir, "secret"), db);
  for (const folder of ["", "audit"]) await removeUnfinished(join(dataDir, folder));
  const records = recordsOf(db, clock);
  const { clients, drivers, printers, deletions } = records;
  const blobs = new Blobs(dataDir);
  await blobs.prepare();
  const signatures = new Signatures(dataDir);
  await signatures.load();
  const neededOf = (kind: BlobKind) => new Set([...records[kind].digests(), ...deletions.digests(kind)]);
  const needed = {
    drivers: neededOf("drivers"),
    icons: neededOf("icons"),
    preferences: neededOf("preferences"),
  };
  await tidyBlobs({ dataDir, needed, lastWrite: db.lastWrite(), now: clock(), log });
  const { audit, isAhead } = await openAudit(dataDir, db, recorder, { clock, log, days: auditDays });
  if (isAhead && recovered === undefined) await revokeOldLinks(records.links, log);
  if (recovered !== undefined) {
    const { name, savedAt } = recovered;
    audit.record("recovered", { what: `${name}, the state of ${new Date(savedAt).toISOString()}` });
  }
  const close = async () => {
    await blobs.close();
    await db.waitForWrites();
    await audit.close();
    // The database stores where the log ends, so that `platen audit verify` detects lines that are cut off. If this
    // save fails, the next start reads the log from the last place that the database has.
    if (records.changes.place("head")?.seq !== audit.head.seq) await db.write(() => {}).catch(() => {});
    await db.waitForWrites();
    db.close();
    await lock.release();
  };
  return {
    ...records,
    manyPrinters: new ManyPrinters(db, clock, clients, drivers, printers),
    downloads: new Downloads(db),
    recordNumbers: () => recordNumbers(db),
    restoring: new Restoring(db, records),
    blobs,
    backups,
    keptFiles: new KeptFiles(dataDir, backups, blobs),
    audit,
    signatures,
    secret,
    isNearlyFull: () => isDiskNearlyFull(dataDir),
    sizes: () => sizesOf(dataDir, databasePath, drivers),
    version: () => db.version,
    change: (work) => db.write(work),
    current: () => db.current(),
    onSaved: (listener) => db.onSaved(listener),
    close,
  };
}

/** Call this when somebody replaced the database with an older one by hand, and left the newer audit log in place. */
async function revokeOldLinks(links: Links, log: (line: string) => void): Promise<void> {
  log(
    "warning: the database is older than its audit log, or a different one: all links made until now have ended, and scripts that were downloaded without a package must be downloaded again",
  );
  await links.endAll();
}

async function sizesOf(dataDir: string, databasePath: string, drivers: Drivers): Promise<StoreSizes> {
  const { size: databaseBytes } = await stat(databasePath);
  return { databaseBytes, driverBytes: drivers.totalBytes(), freeBytes: await freeBytes(dataDir) };
}

/** False where the system does not report the free space. */
async function isDiskNearlyFull(dataDir: string): Promise<boolean> {
  const free = await freeBytes(dataDir);
  return free !== undefined && free < archiveRoomBytes;
}
