import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { adminPassword } from "../access/people.ts";
import { adminHeaders, proxySettings } from "../access/proxies.ts";
import { temporaryFolder } from "../app.ts";
import { logProblems } from "../audit/audit-state.ts";
import { sha256Of } from "../backup/backup.ts";
import { isDeep } from "../depth.ts";
import { seededRandom } from "../random.ts";
import { serve } from "../service.ts";
import { until } from "../until.ts";
import { fileProblems, type Rows, savedRows } from "./disk-state.ts";
import { type LifeKind, newSession, send, sessionKey } from "./kill-acts.ts";
import { Harness, keysIn } from "./kill-harness.ts";
import { missingWrites, needsPasswords, type Tally } from "./kill-tally.ts";

/** Concurrent senders. With passwords only two, because a user may have two concurrent sign-in attempts and hashing is sequential. */
const senders = { quick: 4, drivers: 4, passwords: 2 } as const satisfies Record<LifeKind, number>;
/** A kill comes after at most this many acknowledged writes, and after a delay of at most 20 ms. */
const maxWrites = { quick: 8, drivers: 5, passwords: 5 } as const satisfies Record<LifeKind, number>;
const maxKillDelayMs = 20;
const maxWaitMs = 10_000;
/** Limited, because deleted records stay for a while and every save writes them. */
const livesPerFolder = 25;
/** One of eight folders is for acts that hash passwords. Each act and each start takes a quarter of a second. */
const passwordFolders = 8;
/** One of eight lives is for uploads, because the service starts a process for each. */
const driverLives = 8;
/** The audit log gets missing changes shortly after a start. */
const maxLogDelayMs = 5000;

/** A folder whose service lives a number of times. `hasPasswords`: users sign in with them; otherwise a proxy names them. */
type Folder = { readonly seed: number; readonly lives: number; readonly hasPasswords: boolean };

/**
 * Kills the bundled service `kills` times at random times under load. After each start it checks that every acknowledged write
 * exists completely and is in the audit log, and that no write is half done. In the deep tier, when some kinds of writes were
 * not acknowledged often enough, for example on a slow machine, it adds up to as many kills again.
 * @param onKill is called after each kill that was survived
 */
export async function killUnderLoad(
  t: TestContext,
  kills: number,
  seed: number,
  onKill: (tally: Tally) => void = () => {},
): Promise<Tally> {
  const tally: Tally = { kills: 0, midway: 0, acknowledged: new Map() };
  const folders = Array.from({ length: Math.ceil(kills / livesPerFolder) }, (_, i) => ({
    ...{ seed: seed + i, lives: Math.min(livesPerFolder, kills - i * livesPerFolder) },
    hasPasswords: i % passwordFolders === passwordFolders - 1,
  }));
  const killIn = (folder: Folder) => killRepeatedly(t, folder, tally, () => onKill(tally));
  await runTwoAtATime(folders, killIn);
  for (let next = seed + folders.length; isDeep && tally.kills < 2 * kills; next += 2) {
    const lacking = missingWrites(tally, kills);
    if (lacking.length === 0) break;
    // One folder of each kind, when both kinds are missing writes.
    const sorts = [...new Set(lacking.map(needsPasswords))];
    const further = [0, 1].map((i) => ({
      ...{ seed: next + i, lives: 10 },
      hasPasswords: sorts[i % sorts.length] === true,
    }));
    await runTwoAtATime(further, killIn);
  }
  return tally;
}

async function runTwoAtATime(folders: readonly Folder[], killIn: (folder: Folder) => Promise<void>) {
  const waiting = [...folders];
  const take = async () => {
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) await killIn(folder);
  };
  await Promise.all([take(), take()]);
}

async function killRepeatedly(
  t: TestContext,
  { seed, lives, hasPasswords }: Folder,
  tally: Tally,
  onKill: () => void,
): Promise<void> {
  const folder = await temporaryFolder(t);
  const headers = hasPasswords ? {} : adminHeaders;
  const harness = new Harness(seededRandom(seed), tally, { hasPasswords, headers });
  for (let life = 0; life <= lives; life++) {
    const quickOrDrivers = life % driverLives === driverLives - 1 ? "drivers" : "quick";
    const sort = hasPasswords ? "passwords" : quickOrDrivers;
    await live(t, folder, harness, { where: `seed ${seed}, kill ${life}`, isLast: life === lives, sort });
    if (life === lives) break;
    tally.kills++;
    onKill();
  }
}

interface Life {
  readonly where: string;
  /** Whether the service is only checked, without further writes. */
  readonly isLast: boolean;
  readonly sort: LifeKind;
}

/** One life of the service: checks the saved state, then sends writes and kills the service. */
async function live(t: TestContext, folder: string, harness: Harness, { where, isLast, sort }: Life) {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir, { recursive: true });
  const service = await serve(
    t,
    folder,
    harness.hasPasswords ? { ADMIN_PASSWORD: adminPassword } : proxySettings,
  );
  assert.notEqual(service.url, "", `${where}: ${service.output()}`);
  harness.url = service.url;
  assert.deepEqual(await findProblems(dataDir, harness), [], where);
  assert.deepEqual(harness.refusals, [], where);
  if (harness.hasPasswords && harness.headers.cookie === undefined) {
    harness.headers = { cookie: await newSession(service.url) };
    harness.facts.set(sessionKey(harness.headers.cookie ?? ""), "there");
  }
  const over = new AbortController();
  harness.signal = over.signal;
  const sending = Array.from({ length: isLast ? 0 : senders[sort] }, (_, i) => send(harness, i, sort));
  const writes = harness.writes + harness.random(maxWrites[sort]);
  const delayMs = harness.random(maxKillDelayMs);
  const end = performance.now() + maxWaitMs;
  await until(() => isLast || harness.writes >= writes || performance.now() > end);
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  service.process.kill("SIGKILL");
  if ([...harness.facts.values()].includes("maybe")) harness.tally.midway++;
  await service.exited;
  over.abort();
  await Promise.all(sending);
}

async function findProblems(dataDir: string, harness: Harness): Promise<string[]> {
  const rows = await savedRows(dataDir);
  const wrong = fileProblems(dataDir, rows).filter((what) => what !== "not needed: lost");
  wrong.push(...harness.resolveFacts(keysIn(rows)), ...wrongContents(dataDir, rows));
  let logFound: string[] = [];
  const end = performance.now() + maxLogDelayMs;
  await until(async () => {
    logFound = await logProblems(dataDir, await savedRows(dataDir), harness.acknowledgedChanges);
    return logFound.length === 0 || performance.now() > end;
  });
  return [...wrong, ...logFound];
}

/** Archives and icons whose digest differs from their name. */
function wrongContents(dataDir: string, { drivers, icons }: Rows): string[] {
  const names = [
    ...drivers.map(({ sha256 }) => `drivers/${sha256}.zip`),
    ...icons.map(({ sha256 }) => `icons/${sha256}.png`),
  ];
  return names.flatMap((name) =>
    name.includes(sha256Of(readFileSync(join(dataDir, name)))) ? [] : [`another content: ${name}`],
  );
}
