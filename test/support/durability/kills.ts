import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { adminPassword } from "../access/people.ts";
import { bossHeaders, proxySettings } from "../access/proxies.ts";
import { temporaryFolder } from "../app.ts";
import { Told, wrongInLog } from "../audit/audit-state.ts";
import { isDeep } from "../depth.ts";
import { seededRandom } from "../random.ts";
import { serve } from "../service.ts";
import { until } from "../until.ts";
import { disorderIn, type Rows, savedRows } from "./disk-state.ts";
import { type LifeSort, send } from "./kill-acts.ts";
import { type Harness, keysIn, settle } from "./kill-facts.ts";
import { newSession, sessionKey } from "./kill-people.ts";
import { lackingIn, needsPasswords, type Tally } from "./kill-tally.ts";

/** So many send at once: passwords are hashed one after the other, and one person has two attempts to sign in at once. */
const senders = { quick: 4, drivers: 4, passwords: 2 } as const satisfies Record<LifeSort, number>;
/** A kill comes after so many acknowledged writes at most, and so many milliseconds later. */
const maxWrites = { quick: 8, drivers: 5, passwords: 5 } as const satisfies Record<LifeSort, number>;
const maxMs = 20;
const patienceMs = 10_000;
/** A folder serves so many lives: what is deleted is kept for a while, and each save writes it. */
const livesAFolder = 25;
/** Every so many folders one is for what hashes passwords, a quarter of a second each, as does each of its starts. */
const passwordFolders = 8;
/** Every so many lives one is for uploads, for each of which the service starts a process. */
const driverLives = 8;
/** What the audit log lacks at a start is in it a moment later. */
const logMs = 5000;

interface Folder {
  readonly seed: number;
  readonly lives: number;
  /** Whether people sign in with a password; else a proxy says who they are. */
  readonly hasPasswords: boolean;
}

/**
 * Kills the bundled service as often as asked for at random moments under load, and looks after each start whether
 * everything acknowledged is there, all of it or nothing, and whether the audit log tells of it. A slow machine does
 * less between two kills: in the deep tier, where a floor is not reached yet there are further kills, as many again at most.
 * @param note is told after each kill that was survived
 */
export async function killUnderLoad(
  t: TestContext,
  kills: number,
  seed: number,
  note: (tally: Tally) => void = () => {},
): Promise<Tally> {
  const tally: Tally = { kills: 0, midway: 0, acknowledged: new Map() };
  const folders = Array.from({ length: Math.ceil(kills / livesAFolder) }, (_, i) => ({
    ...{ seed: seed + i, lives: Math.min(livesAFolder, kills - i * livesAFolder) },
    hasPasswords: i % passwordFolders === passwordFolders - 1,
  }));
  const killIn = (folder: Folder) => killAgainAndAgain(t, folder, tally, () => note(tally));
  await twoAtOnce(folders, killIn);
  for (let next = seed + folders.length; isDeep && tally.kills < 2 * kills; next += 2) {
    const lacking = lackingIn(tally, kills);
    if (lacking.length === 0) break;
    // One of each sort where both lack something.
    const sorts = [...new Set(lacking.map(needsPasswords))];
    const further = [0, 1].map((i) => ({
      ...{ seed: next + i, lives: 10 },
      hasPasswords: sorts[i % sorts.length] === true,
    }));
    await twoAtOnce(further, killIn);
  }
  return tally;
}

async function twoAtOnce(folders: readonly Folder[], killIn: (folder: Folder) => Promise<void>) {
  const waiting = [...folders];
  const take = async () => {
    for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) await killIn(folder);
  };
  await Promise.all([take(), take()]);
}

async function killAgainAndAgain(
  t: TestContext,
  { seed, lives, hasPasswords }: Folder,
  tally: Tally,
  note: () => void,
): Promise<void> {
  const folder = await temporaryFolder(t);
  const harness = newHarness(seededRandom(seed), hasPasswords, tally);
  for (let life = 0; life <= lives; life++) {
    const quickOrDrivers = life % driverLives === driverLives - 1 ? "drivers" : "quick";
    const sort = hasPasswords ? "passwords" : quickOrDrivers;
    await live(t, folder, harness, { where: `seed ${seed}, kill ${life}`, isLast: life === lives, sort });
    if (life === lives) break;
    tally.kills++;
    note();
  }
}

function newHarness(random: Harness["random"], hasPasswords: boolean, tally: Tally): Harness {
  const none = { made: [], count: 0, writes: 0, refusals: [] };
  return {
    ...{ random, hasPasswords, headers: hasPasswords ? {} : bossHeaders, tally, ...none },
    ...{
      facts: new Map(),
      owners: new Map(),
      together: new Set(),
      told: new Told(),
      ids: new Map(),
      signal: new AbortController().signal,
    },
  };
}

const passwordSettings = { ADMIN_PASSWORD: adminPassword };

interface Life {
  readonly where: string;
  /** Whether nothing is written any more. */
  readonly isLast: boolean;
  readonly sort: LifeSort;
}

/** One life of the service: what it finds is checked, then it is written to and killed. */
async function live(t: TestContext, folder: string, harness: Harness, { where, isLast, sort }: Life) {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir, { recursive: true });
  const service = await serve(t, folder, harness.hasPasswords ? passwordSettings : proxySettings);
  assert.notEqual(service.url, "", `${where}: ${service.output()}`);
  assert.deepEqual(await wrongIn(dataDir, harness), [], where);
  assert.deepEqual(harness.refusals, [], where);
  if (harness.hasPasswords && harness.headers.cookie === undefined) {
    harness.headers = { cookie: await newSession(service.url) };
    harness.facts.set(sessionKey(harness.headers.cookie ?? ""), "there");
  }
  const over = new AbortController();
  harness.signal = over.signal;
  const sending = isLast
    ? []
    : Array.from({ length: senders[sort] }, (_, i) => send(service.url, harness, i, sort));
  const [writes, moment] = [harness.writes + harness.random(maxWrites[sort]), harness.random(maxMs)];
  const end = performance.now() + patienceMs;
  await until(() => isLast || harness.writes >= writes || performance.now() > end);
  await new Promise((resolve) => setTimeout(resolve, moment));
  service.process.kill("SIGKILL");
  if ([...harness.facts.values()].includes("maybe")) harness.tally.midway++;
  await service.exited;
  over.abort();
  await Promise.all(sending);
}

async function wrongIn(dataDir: string, harness: Harness): Promise<string[]> {
  const rows = await savedRows(dataDir);
  const wrong = disorderIn(dataDir, rows).filter((what) => what !== "not needed: lost");
  wrong.push(...settle(harness, keysIn(rows)), ...otherContents(dataDir, rows));
  let untold: string[] = [];
  const end = performance.now() + logMs;
  await until(async () => {
    untold = await wrongInLog(dataDir, await savedRows(dataDir), harness.told);
    return untold.length === 0 || performance.now() > end;
  });
  return [...wrong, ...untold];
}

/** Archives and icons whose bytes are not those of their names. */
function otherContents(dataDir: string, { drivers, icons }: Rows): string[] {
  const names = [
    ...drivers.map(({ sha256 }) => `drivers/${sha256}.zip`),
    ...icons.map(({ sha256 }) => `icons/${sha256}.png`),
  ];
  return names.flatMap((name) => {
    const found = createHash("sha256")
      .update(readFileSync(join(dataDir, name)))
      .digest("hex");
    return name.includes(found) ? [] : [`another content: ${name}`];
  });
}
