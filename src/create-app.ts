import { randomBytes } from "node:crypto";
import type { App } from "./app.ts";
import { type Config, canSignIn } from "./config.ts";
import { adminName } from "./domain/access/account.ts";
import { passwordProblem } from "./domain/access/password.ts";
import { makeLog, type RequestEntry } from "./domain/log.ts";
import { Links } from "./services/access/links.ts";
import { Oidc } from "./services/access/oidc.ts";
import { type PasswordCost, Passwords } from "./services/access/passwords.ts";
import { Sessions } from "./services/access/sessions.ts";
import { FailedAttempts, SignIn } from "./services/access/sign-in.ts";
import { Tokens } from "./services/access/tokens.ts";
import { BackupKeeper } from "./services/backup/backup-keeper.ts";
import { Undo } from "./services/backup/undo.ts";
import { DeploymentMemory } from "./services/deploy/deployment-memory.ts";
import { PackageBuilder } from "./services/deploy/packages.ts";
import { Signing } from "./services/deploy/signing.ts";
import { ArchiveCheck } from "./services/drivers/archive-check.ts";
import { ModelSearch } from "./services/drivers/model-search.ts";
import { Metrics } from "./services/metrics.ts";
import { Overview } from "./services/overview.ts";
import { RecentResults } from "./services/recent-results.ts";
import { readSecretFile } from "./store/access/secret-file.ts";
import { openStore } from "./store/store.ts";
import { type InspectionLimits, Inspections, type ReadArchive } from "./workers/inspections.ts";
import { Workers } from "./workers/pool.ts";

/** Options for tests, for the demo and for `--recover`. */
export interface Overrides {
  /** The bundled `main.ts` that threads and child processes run; by default this file. */
  readonly script?: string;
  /** UTC, milliseconds since 1970. */
  readonly clock?: () => number;
  readonly random?: (bytes: number) => Buffer;
  /** Receives lines without a line break; by default both write to standard error. */
  readonly log?: (line: string) => void;
  readonly logRequest?: (entry: RequestEntry) => void;
  readonly inspectionLimits?: Partial<InspectionLimits>;
  /** Reads drivers in this process instead of a child process for each. */
  readonly readArchive?: ReadArchive | undefined;
  /** Threads that several apps share; the caller closes them. */
  readonly workers?: Workers | undefined;
  /** The time in which a deletion can be undone, in milliseconds. */
  readonly undoMs?: number | undefined;
  /** Whether the newest intact backup replaces a damaged database. */
  readonly recover?: boolean;
  readonly passwordCost?: PasswordCost;
}

interface CreatedApp {
  readonly app: App;
  /** Stops everything that the app started, and releases its folder. Call it once, after the server is closed. */
  close(): Promise<void>;
}

/** Creates the services. @throws Error that says what to do if the folder cannot be used */
export async function createApp(config: Config, overrides: Overrides = {}): Promise<CreatedApp> {
  const { script = __filename, clock = Date.now, random = randomBytes } = overrides;
  const { log, logRequest } = { ...makeLog(config.logFormat, writeToStderr, Date.now), ...overrides };
  const adminPassword = await adminPasswordOf(config);
  const oidcSecret = await oidcSecretOf(config);
  const store = await openStore(config.dataDir, clock, log, {
    recover: overrides.recover,
    auditDays: config.auditDays,
  });
  const inspections = new Inspections(
    script,
    { innerBytes: config.uploadLimitBytes, ...overrides.inspectionLimits },
    overrides.readArchive,
  );
  const workers = overrides.workers ?? new Workers(script);
  const archives = new ArchiveCheck(store, workers, log);
  const deployments = new DeploymentMemory(store, log);
  await deployments.start();
  const undo = new Undo({ store, memory: deployments, archives, clock, log, undoMs: overrides.undoMs });
  await undo.start();
  // From here on, it receives every saved state.
  const backups = new BackupKeeper({ store, max: config.backups, clock, log });
  const passwords = new Passwords(random, overrides.passwordCost);
  const sessions = new Sessions(store, clock, log);
  const failed = new FailedAttempts(clock, store.secret);
  const signIn = new SignIn({ store, passwords, failed, clock, random, log });
  await signIn.start(adminPassword);
  const overview = new Overview(store, archives, deployments);
  const signing = new Signing({ store, workers, overview });
  const { oidc: settings, publicUrl = "" } = config;
  const sessionMs = config.oidcSessionHours * 3_600_000;
  const oidcOptions = { secret: oidcSecret, publicUrl, sessionMs, store, failed, clock, random, log };
  const oidc = settings && new Oidc({ settings, ...oidcOptions });
  const app: App = {
    config,
    store,
    inspections,
    workers,
    archives,
    deployments,
    undo,
    passwords,
    sessions,
    signIn,
    oidc,
    backups,
    links: new Links(store, clock, (account) => canSignIn(config, account)),
    models: new ModelSearch(store),
    results: new RecentResults(random),
    overview,
    signing,
    packages: new PackageBuilder({ store, workers, archives, signing, clock }),
    tokens: new Tokens({ store, clock, random, log }),
    clock,
    random,
    log,
    logRequest,
    metrics: new Metrics({ store, backups, workers, inspections, clock, version: PLATEN_VERSION }),
  };
  return { app, close: () => closeApp(app, overrides.workers === undefined) };
}

/** @throws Error that names the problem with the setting but never repeats the password */
export async function adminPasswordOf({
  adminPassword,
  adminPasswordFile: path,
}: Config): Promise<string | undefined> {
  if (path === undefined) return adminPassword?.reveal();
  const password = await readSecretFile("ADMIN_PASSWORD_FILE", "password", path);
  const problem = passwordProblem(password, adminName);
  if (problem !== undefined) throw new Error(`ADMIN_PASSWORD_FILE cannot be used: ${problem}`);
  return password;
}

/** Undefined for a public client, and without OIDC. @throws Error that names the problem with the setting */
export async function oidcSecretOf({ oidc }: Config): Promise<string | undefined> {
  if (oidc?.secretFile === undefined) return oidc?.secret?.reveal();
  return readSecretFile("OIDC_CLIENT_SECRET_FILE", "client secret", oidc.secretFile);
}

/** Closes the store last, because that unlocks the data folder for other processes. */
async function closeApp(app: App, hasOwnWorkers: boolean): Promise<void> {
  const { archives, backups, inspections, workers, deployments, undo, store } = app;
  archives.close();
  inspections.close();
  if (hasOwnWorkers) await workers.close();
  await archives.finished();
  await backups.close();
  await undo.close();
  await deployments.close();
  await store.close();
}

function writeToStderr(text: string): void {
  process.stderr.write(text);
}
