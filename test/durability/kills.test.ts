import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parseClient } from "../../src/domain/printers/client.ts";
import { addPerson, ownPassword, signIn, signInAdmin, startClosed } from "../support/access/people.ts";
import { adminHeaders, proxySettings } from "../support/access/proxies.ts";
import { client, startApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText } from "../support/audit/audit.ts";
import { logProblems } from "../support/audit/audit-state.ts";
import { openAt, sha256Of } from "../support/backup/backup.ts";
import { copyData } from "../support/copies.ts";
import { isDeep, rounds, seedOr } from "../support/depth.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { fileProblems, type Rows, savedRows } from "../support/durability/disk-state.ts";
import { Harness, keysIn, send } from "../support/durability/kill-acts.ts";
import { seededRandom } from "../support/random.ts";
import { serve } from "../support/service.ts";
import { until } from "../support/until.ts";

const senders = [0, 1, 2, 3];
/** A kill comes after at most this many acknowledged writes, and after a delay of at most 20 ms. */
const maxWrites = { quick: 8, drivers: 5 } as const;
const maxKillDelayMs = 20;
const maxWaitMs = 10_000;
/** Limited, because deleted records stay for a while and every save writes them. */
const livesPerFolder = 25;
/** One of eight lives is for uploads, because the service starts a process for each. */
const driverLives = 8;
/** The audit log gets missing changes shortly after a start. */
const maxLogDelayMs = 5000;

interface Tally {
  kills: number;
  /** The number of acknowledged writes of each kind. */
  readonly acknowledged: Map<string, number>;
}

/**
 * Kills the bundled service `kills` times at random times under load. After each start it checks that every acknowledged write
 * exists completely and is in the audit log, and that no write is half done.
 */
async function killUnderLoad(t: TestContext, kills: number, seed: number): Promise<Tally> {
  const tally: Tally = { kills: 0, acknowledged: new Map() };
  let next = 0;
  const killInFolders = async () => {
    while (next * livesPerFolder < kills) {
      const lives = Math.min(livesPerFolder, kills - next * livesPerFolder);
      await killRepeatedly(t, seed + next++, lives, tally);
    }
  };
  await Promise.all([killInFolders(), killInFolders()]);
  return tally;
}

async function killRepeatedly(t: TestContext, seed: number, lives: number, tally: Tally): Promise<void> {
  const folder = await temporaryFolder(t);
  const harness = new Harness(seededRandom(seed), tally.acknowledged);
  for (let life = 0; life <= lives; life++) {
    const where = `seed ${seed}, kill ${life}`;
    const service = await serveChecked(t, folder, harness, where);
    if (life === lives) break;
    const kind = life % driverLives === driverLives - 1 ? "drivers" : "quick";
    const over = new AbortController();
    harness.site = client(service.url, adminHeaders, over.signal);
    const sending = senders.map((sender) => send(harness, sender, kind));
    const writes = harness.writes + harness.random(maxWrites[kind]);
    const end = performance.now() + maxWaitMs;
    await until(() => harness.writes >= writes || performance.now() > end);
    await new Promise((resolve) => setTimeout(resolve, harness.random(maxKillDelayMs)));
    service.process.kill("SIGKILL");
    await service.exited;
    over.abort();
    await Promise.all(sending);
    tally.kills++;
  }
}

/** Starts the service, and checks what it saved. */
async function serveChecked(t: TestContext, folder: string, harness: Harness, where: string) {
  const dataDir = join(folder, "data");
  mkdirSync(dataDir, { recursive: true });
  const service = await serve(t, folder, proxySettings);
  assert.notEqual(service.url, "", `${where}: ${service.output()}`);
  assert.deepEqual(await findProblems(dataDir, harness), [], where);
  assert.deepEqual(harness.refusals, [], where);
  return service;
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

const kills = rounds(1, 200);
/** Nearly every kill in a long run comes after some of each. */
const frequent = [
  ...["client", "printer", "driver", "token", "account"].flatMap((one) => [
    `a new ${one}`,
    `a deleted ${one}`,
  ]),
  ...["a restored client", "a final deletion", "an icon", "a deleted icon"],
];

test(`${kills} kills under load lose no acknowledged write and leave no half-done write`, {
  timeout: 900_000,
}, async (t) => {
  const seed = seedOr(2_078_000);

  const tally = await killUnderLoad(t, kills, seed);

  const counts = [...tally.acknowledged].map(([what, count]) => `${what} ${count}`).sort();
  t.diagnostic(`seed ${seed}: ${tally.kills} kills; ${counts.join(", ")}`);
  assert.equal(tally.kills, kills);
  assert.ok(counts.length > 0, "some writes were acknowledged");
  const missing = frequent.filter((what) => !tally.acknowledged.has(what));
  if (isDeep) assert.deepEqual(missing, []);
});

const clientNamed = (name: string) => parseClient({ name });

test("changes without a record of their own are in the audit log even if the service is killed at once", async (t) => {
  const app = await startClosed(t);
  const eve = { cookie: await addPerson(app, "eve") };
  await signIn(app, "eve", ownPassword);
  const admin = { cookie: await signInAdmin(app) };
  await app.post("/clients", { name: "Contoso" }, admin);
  await app.post("/clients/1/delete", {}, admin);
  await app.app.store.accounts.add("ann", "viewer", await app.app.passwords.hash(ownPassword));
  const ann = { cookie: "" };
  const signInAnn = async () => {
    ann.cookie = await signIn(app, "ann", ownPassword);
  };
  const office = { kind: "printer", id: 1, name: "Office" } as const;
  const acts: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => app.app.store.links.endOf(office), "links-ended printer 1 Office"],
    [() => app.post("/account/sessions/end", {}, eve), "sessions-ended 1 browser"],
    [() => app.post("/deletions/1/delete", {}, admin), "deleted-for-good client 1 Contoso"],
    [signInAnn, "ann: signed-in"],
    [() => app.post("/sign-out", {}, ann), "ann: signed-out"],
  ];

  for (const [act, line] of acts) {
    const copy = join(await temporaryFolder(t), "data");
    await act();
    await copyData(app.dataDir, copy);
    await (await openAt(copy)).close();
    const log = entriesIn(copy).flatMap((entry) => [entryText(entry), `${entry.who}: ${entry.event}`]);
    assert.ok(log.includes(line), log.join("\n"));
  }
});

test("a write during the closing of the audit log's file does not log a change twice", async (t) => {
  const { app, dataDir, post } = await startApp(t);
  const { audit } = app.store;
  const copy = join(await temporaryFolder(t), "data");
  let written: Promise<unknown> | undefined;
  const opened = (result: unknown) => {
    const file = result as { close: () => Promise<void> };
    const close = file.close;
    file.close = async () => {
      await close();
      written ??= app.store.clients.add(clientNamed("B"));
      await written;
    };
  };
  await watchDisk(t, dataDir, ({ name, path, args }) =>
    name === "open" && path.endsWith(".jsonl") && args[1] === "a" ? opened : undefined,
  );

  await post("/clients", { name: "A" });
  const flushed = audit.flush();
  await until(() => written !== undefined);
  await written;
  await copyData(dataDir, copy);
  await flushed;
  await (await openAt(copy)).close();

  const changes = entriesIn(copy).filter(({ change }) => change !== undefined);
  assert.deepEqual(changes.map(entryText), ["created client 1 A: name A", "created client 2 B: name B"]);
});

test("a write that arrives during a save is in the audit log only after its own save", async (t) => {
  const { app, dataDir } = await startApp(t);
  const { audit, clients } = app.store;
  const database = join(dataDir, "platen.sqlite");
  let holding: ((error: Error) => void) | undefined;
  let isHeld = false;
  await watchDisk(t, dataDir, ({ name, path }) => {
    if (!isHeld || name !== "rename" || path !== `${database}.new`) return undefined;
    return new Promise<undefined>((_, fail) => {
      holding = fail;
    });
  });
  const createdIn = () => entriesIn(dataDir).filter(({ change }) => change !== undefined);

  await clients.add(clientNamed("Saved"));
  isHeld = true;
  const refused = assert.rejects(clients.add(clientNamed("Refused")), /EIO/);
  await audit.flush();
  await until(() => holding !== undefined);
  await audit.flush();
  isHeld = false;
  holding?.(new Error("EIO"));
  await refused;
  await clients.add(clientNamed("Later"));
  await audit.flush();

  assert.deepEqual(createdIn().map(entryText), [
    "created client 1 Saved: name Saved",
    "created client 2 Later: name Later",
  ]);
});
