import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { client, temporaryFolder } from "./app.ts";
import { disorderIn, type Rows, savedRows } from "./disk-state.ts";
import { driverZip } from "./driver-zip.ts";
import { seededRandom } from "./random.ts";
import { serve } from "./service.ts";
import { until } from "./until.ts";

/** What must be there after a kill: `maybe` where no answer came. */
type Fact = "there" | "gone" | "maybe";

/** Records that are written together; by `client NAME`, `printer NAME` and `driver DIGEST`. */
interface Written {
  readonly keys: readonly string[];
  fact: Fact;
}

interface Harness {
  readonly random: (bound: number) => number;
  readonly written: Written[];
  /** Of records at the last start, by key. */
  ids: ReadonlyMap<string, number>;
  count: number;
  /** Answers that say no, which none should. */
  readonly refusals: string[];
  acknowledged: number;
}

/** So many send at once. */
const senders = 4;
/** A kill comes after so many acknowledged writes at most, and so many milliseconds later. */
const mostWrites = 8;
const mostMs = 20;
const patienceMs = 3000;
/** A folder serves so many lives: what is deleted is kept for a while, and each save writes it. */
const livesAFolder = 50;

/** Two services at once, on two processors. @returns how many writes were acknowledged */
export async function killTwo(t: TestContext, kills: number, seed: number): Promise<number> {
  const halves = [seed, seed + 1].map((one) => killAgainAndAgain(t, kills / 2, one));
  const [first = 0, second = 0] = await Promise.all(halves);
  return first + second;
}

/**
 * Kills the bundled service as often as asked for at random moments under load, and looks after each start whether
 * everything acknowledged is there, all of it or nothing.
 * @returns how many writes were acknowledged
 */
async function killAgainAndAgain(t: TestContext, kills: number, seed: number): Promise<number> {
  const random = seededRandom(seed);
  let acknowledged = 0;
  for (let done = 0; done < kills; done += livesAFolder) {
    const folder = await temporaryFolder(t);
    const harness: Harness = { random, written: [], ids: new Map(), count: 0, refusals: [], acknowledged: 0 };
    const lives = Math.min(livesAFolder, kills - done);
    for (let life = 0; life <= lives; life++) {
      const where = `seed ${seed}, kill ${done + life}`;
      await live(t, folder, harness, where, life === lives);
    }
    acknowledged += harness.acknowledged;
  }
  return acknowledged;
}

/** One life of the service: what it finds is checked, then it is written to and killed. */
async function live(t: TestContext, folder: string, harness: Harness, where: string, isLast: boolean) {
  mkdirSync(join(folder, "data"), { recursive: true });
  const service = await serve(t, folder);
  assert.notEqual(service.url, "", `${where}: ${service.output()}`);
  const rows = await savedRows(join(folder, "data"));
  assert.deepEqual(wrongIn(join(folder, "data"), rows, harness), [], where);
  assert.deepEqual(harness.refusals, [], where);
  harness.ids = idsIn(rows);
  const sending = isLast ? [] : Array.from({ length: senders }, (_, i) => send(service.url, harness, i));
  const [writes, moment] = [harness.acknowledged + harness.random(mostWrites), harness.random(mostMs)];
  const end = performance.now() + patienceMs;
  await until(() => isLast || harness.acknowledged >= writes || performance.now() > end);
  await new Promise((resolve) => setTimeout(resolve, moment));
  service.process.kill("SIGKILL");
  await service.exited;
  // An upload that was cut off may never be told so.
  await Promise.race([Promise.all(sending), new Promise((resolve) => setTimeout(resolve, 200))]);
}

function idsIn({ clients, printers, drivers }: Rows): Map<string, number> {
  return new Map([
    ...clients.map(({ id, name }) => [`client ${name}`, Number(id)] as const),
    ...printers.map(({ id, name }) => [`printer ${name}`, Number(id)] as const),
    ...drivers.map(({ id, sha256 }) => [`driver ${sha256}`, Number(id)] as const),
  ]);
}

function wrongIn(dataDir: string, rows: Rows, { written }: Harness): string[] {
  const there = idsIn(rows);
  const wrong = disorderIn(dataDir, rows).filter((what) => what !== "not needed: lost");
  for (const one of written) wrong.push(...settled(one, there));
  for (const { sha256 } of rows.drivers) {
    const bytes = readFileSync(join(dataDir, "drivers", `${sha256}.zip`));
    if (createHash("sha256").update(bytes).digest("hex") !== sha256) wrong.push(`another content: ${sha256}`);
  }
  return wrong;
}

/** What was not answered is known from now on. @returns what is wrong */
function settled(one: Written, there: ReadonlyMap<string, number>): string[] {
  const found = one.keys.filter((key) => there.has(key)).length;
  const { fact } = one;
  one.fact = found > 0 ? "there" : "gone";
  if (found !== 0 && found !== one.keys.length) return [`half-made: ${one.keys.join()}`];
  if (fact === "there" && found === 0) return [`lost: ${one.keys.join()}`];
  return fact === "gone" && found > 0 ? [`came back: ${one.keys.join()}`] : [];
}

/** Writes one thing after the other until the service is gone. */
async function send(url: string, harness: Harness, sender: number): Promise<void> {
  const acts = [addClient, addClient, addDriver, addPrinters, remove, remove, remove];
  try {
    for (;;) await acts[harness.random(acts.length)]?.(url, harness, sender);
  } catch (error) {
    if (error instanceof assert.AssertionError) harness.refusals.push(error.message);
  }
}

/** Does one write: it counts when the whole answer is there. */
async function write(
  harness: Harness,
  one: Written,
  fact: Fact,
  ask: () => Promise<Response>,
): Promise<string> {
  one.fact = "maybe";
  const answer = await ask();
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  one.fact = fact;
  harness.acknowledged++;
  return text;
}

function begun(harness: Harness, keys: readonly string[]): Written {
  const one: Written = { keys, fact: "maybe" };
  harness.written.push(one);
  return one;
}

async function addClient(url: string, harness: Harness): Promise<void> {
  const name = `C${harness.count++}`;
  const one = begun(harness, [`client ${name}`]);
  await write(harness, one, "there", () => client(url).post("/clients", { name }));
}

async function addPrinters(url: string, harness: Harness): Promise<void> {
  const names = Array.from({ length: 1 + harness.random(20) }, () => `P${harness.count++}`);
  const text = `name,address\n${names.map((name) => `${name},10.0.0.1\n`).join("")}`;
  const one = begun(
    harness,
    names.map((name) => `printer ${name}`),
  );
  await write(harness, one, "there", () => client(url).post("/import", { text }));
}

async function addDriver(url: string, harness: Harness): Promise<void> {
  const zip = driverZip({ version: `1.${harness.count++}` });
  const one = begun(harness, [`driver ${createHash("sha256").update(zip).digest("hex")}`]);
  await write(harness, one, "there", () => client(url).upload("/drivers/upload", zip));
}

/** Deletes one of the records that a sender has to itself, and then takes it back, ends it, or leaves it. */
async function remove(url: string, harness: Harness, sender: number): Promise<void> {
  const mine = harness.written.filter(({ keys, fact }, i) => {
    return i % senders === sender && fact === "there" && harness.ids.has(keys[0] ?? "");
  });
  const one = mine[harness.random(Math.max(1, mine.length))];
  if (one === undefined) return;
  const { fetch, post } = client(url);
  const [kind = ""] = one.keys[0]?.split(" ") ?? [];
  const ids = one.keys.map((key) => harness.ids.get(key));
  const text = await write(harness, one, "gone", () =>
    kind === "printer"
      ? post("/printers/bulk", { action: "delete", ids: ids.join() })
      : fetch(`/${kind}s/${ids[0]}`, { method: "DELETE" }),
  );
  const deletion = /\/deletions\/(\d+)\/undo/.exec(text)?.[1];
  const next = harness.random(3);
  if (next === 0) await write(harness, one, "there", () => post(`/deletions/${deletion}/undo`, {}));
  if (next === 1)
    await write(harness, { keys: [], fact: "gone" }, "gone", () =>
      fetch(`/deletions/${deletion}`, { method: "DELETE" }),
    );
}
