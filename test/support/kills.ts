import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "./app.ts";
import { Told, wrongInLog } from "./audit-state.ts";
import { disorderIn, type Rows, savedRows } from "./disk-state.ts";
import { send } from "./kill-acts.ts";
import { type Harness, keysIn, settle } from "./kill-facts.ts";
import { newSession, sessionKey } from "./kill-people.ts";
import { adminPassword } from "./people.ts";
import { bossHeaders, proxySettings } from "./proxies.ts";
import { seededRandom } from "./random.ts";
import { serve } from "./service.ts";
import { until } from "./until.ts";

/** How many writes were acknowledged, by what they do. */
type Acknowledged = ReadonlyMap<string, number>;

/** So many send at once. */
const senders = 4;
/** A kill comes after so many acknowledged writes at most, and so many milliseconds later. */
const mostWrites = 8;
const mostMs = 20;
const patienceMs = 3000;
/** A folder serves so many lives: what is deleted is kept for a while, and each save writes it. */
const livesAFolder = 50;
/** With passwords every so many lives are for what hashes them, a third of a second each. */
const slowLives = 4;
/** What the audit log lacks at a start is in it a moment later. */
const logMs = 5000;

/** Two services at once, on two processors. @param note is told after each kill that was survived */
export async function killTwo(
  t: TestContext,
  kills: number,
  seed: number,
  note: () => void = () => {},
): Promise<Acknowledged> {
  const halves = [seed, seed + 1].map((one) => killAgainAndAgain(t, kills / 2, one, note));
  const all = new Map<string, number>();
  for (const half of await Promise.all(halves))
    for (const [what, count] of half) all.set(what, (all.get(what) ?? 0) + count);
  return all;
}

/** How often each kind of write was acknowledged, and which never was. */
export function killedWrites(acknowledged: Acknowledged) {
  const lines = [...acknowledged].map(([what, count]) => `${what} ${count}`).sort();
  const missing = kindsOfWrites.filter((what) => !acknowledged.has(what));
  return { all: sum(acknowledged), lines: lines.join(", "), missing };
}

/** Those that two hundred kills leave the time for; others are seldom acknowledged before one. */
const kindsOfWrites = [
  ...["client", "printer", "account", "token"].flatMap((kind) => [`a new ${kind}`, `a deleted ${kind}`]),
  ...["a new driver", "a client that comes back", "a deletion for good", "an icon", "links that end"],
  ...["a session", "an account to disable"],
];

/**
 * Kills the bundled service as often as asked for at random moments under load, and looks after each start whether
 * everything acknowledged is there, all of it or nothing, and whether the audit log tells of it. People have to sign in:
 * in every second folder with a password, which is hashed at each start, else at a proxy.
 */
async function killAgainAndAgain(
  t: TestContext,
  kills: number,
  seed: number,
  note: () => void,
): Promise<Acknowledged> {
  const acknowledged = new Map<string, number>();
  for (let done = 0; done < kills; done += livesAFolder) {
    const folder = await temporaryFolder(t);
    const harness = newHarness(seededRandom(seed + done), (done / livesAFolder) % 2 === 0, acknowledged);
    const lives = Math.min(livesAFolder, kills - done);
    for (let life = 0; life <= lives; life++) {
      const isSlow = harness.hasPasswords && life % slowLives === 0;
      await live(t, folder, harness, {
        where: `seed ${seed}, kill ${done + life}`,
        isLast: life === lives,
        isSlow,
      });
      if (life < lives) note();
    }
  }
  return acknowledged;
}

function newHarness(
  random: Harness["random"],
  hasPasswords: boolean,
  acknowledged: Map<string, number>,
): Harness {
  const none = { made: [], together: [], count: 0, refusals: [] };
  const headers = hasPasswords ? {} : bossHeaders;
  return {
    ...{ random, hasPasswords, headers, acknowledged, ...none },
    ...{ facts: new Map(), told: new Told(), ids: new Map() },
  };
}

const passwordSettings = { ADMIN_PASSWORD: adminPassword };
const sum = (counts: Acknowledged) => [...counts.values()].reduce((total, count) => total + count, 0);

interface Life {
  readonly where: string;
  /** Whether nothing is written any more. */
  readonly isLast: boolean;
  /** Whether what is written hashes passwords. */
  readonly isSlow: boolean;
}

/** One life of the service: what it finds is checked, then it is written to and killed. */
async function live(t: TestContext, folder: string, harness: Harness, { where, isLast, isSlow }: Life) {
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
  const sending = isLast
    ? []
    : Array.from({ length: senders }, (_, i) => send(service.url, harness, i, isSlow));
  const before = sum(harness.acknowledged);
  const [writes, moment] = [before + harness.random(mostWrites), harness.random(mostMs)];
  const end = performance.now() + patienceMs;
  await until(() => isLast || sum(harness.acknowledged) >= writes || performance.now() > end);
  await new Promise((resolve) => setTimeout(resolve, moment));
  service.process.kill("SIGKILL");
  await service.exited;
  // An upload that was cut off may never be told so.
  await Promise.race([Promise.all(sending), new Promise((resolve) => setTimeout(resolve, 200))]);
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
