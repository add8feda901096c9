import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openStore } from "../../src/store/store.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { disorderIn, savedRows } from "../support/disk-state.ts";
import { driverZip } from "../support/driver-zip.ts";
import { makePng } from "../support/png.ts";
import { RecordedDisk } from "../support/power-cuts.ts";
import { makeDriver } from "../support/records.ts";

// After every call that changes the disk the power goes, and the disk keeps as much or as little as it may.

/** What was acknowledged, by what it is: whether it is there; what is under way is left out. */
type Facts = Map<string, boolean>;

interface Left {
  readonly folder: string;
  readonly facts: Facts;
  readonly where: string;
}

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Whatever the service does with its disk. */
async function work({ post, fetch, upload, app, addPrinter }: TestApp, facts: Facts): Promise<void> {
  const done = async (key: string, isThere: boolean, ask: () => Promise<Response>) => {
    facts.delete(key);
    const answer = await ask();
    assert.equal(answer.status, 200, await answer.text());
    facts.set(key, isThere);
  };
  const remove = (path: string) => () => fetch(path, { method: "DELETE" });
  const zips = [1, 2].map((i) => driverZip({ version: `${i}.0` }));
  await done("client A", true, () => post("/clients", { name: "A" }));
  for (const zip of zips) await done(`driver ${digest(zip)}`, true, () => upload("/drivers/upload", zip));
  await addPrinter({ name: "P", driver_id: "1" });
  facts.set("printer P", true);
  await done("icon 1", true, () => upload("/printers/1/icon", makePng(), "icon.png"));
  await done("client A", false, remove("/clients/1"));
  await done("client A", true, () => post(`/deletions/${app.undo.list()[0]?.id}/undo`, {}));
  await done(`driver ${digest(zips[1] ?? Buffer.alloc(0))}`, false, remove("/drivers/2"));
  await done("over", true, remove(`/deletions/${app.undo.list()[0]?.id}`));
  await done("printer Q", true, () => post("/import", { text: "name,address\nQ,10.0.0.1\n" }));
  facts.delete("icon 1");
  await done("printer P", false, remove("/printers/1"));
}

/** Runs the service, and keeps what each power cut leaves. */
async function recorded(t: TestContext, skipped?: RegExp): Promise<{ left: Left[]; secret: Uint8Array }> {
  const [root, leftIn] = [await temporaryFolder(t), await temporaryFolder(t)];
  const facts: Facts = new Map();
  const left: Left[] = [];
  let isOver = false;
  const changed = (disk: RecordedDisk) => {
    if (isOver) return;
    const ways = [
      { way: "nothing", change: () => false, bytes: () => 0 },
      { way: "names without bytes", change: () => true, bytes: () => 0 },
      { way: "the first half", change: (i: number) => i < disk.unsettled / 2, bytes: (n: number) => n >> 1 },
    ];
    for (const { way, ...leaving } of disk.unsettled === 0 ? ways.slice(0, 1) : ways) {
      const folder = join(leftIn, String(left.length));
      disk.leave(folder, leaving);
      left.push({ folder, facts: new Map(facts), where: `cut ${left.length}, ${way} is kept` });
    }
  };
  await RecordedDisk.of(t, root, changed, skipped);
  const service = await startApp(t, { dataDir: join(root, "data") });
  service.app.inspections.inspect = async () => makeDriver().report;
  facts.set("secret", true);
  await work(service, facts);
  isOver = true;
  await service.stop();
  return { left, secret: service.app.store.secret };
}

/** Starts from what is left. @returns what is wrong with it */
async function wrongIn({ folder, facts, where }: Left, secret: Uint8Array): Promise<string[]> {
  const dataDir = join(folder, "data");
  const store = await openStore(dataDir, Date.now, () => {}).catch((error: Error) => error);
  if (store instanceof Error) return [`${where}: ${store.message}`];
  await store.close();
  const rows = await savedRows(dataDir);
  const there = new Set([
    ...rows.clients.map(({ name }) => `client ${name}`),
    ...rows.printers.map(({ name }) => `printer ${name}`),
    ...rows.drivers.map(({ sha256 }) => `driver ${sha256}`),
    ...rows.icons.map(({ printer_id }) => `icon ${printer_id}`),
    ...(Buffer.from(store.secret).equals(secret) ? ["secret"] : []),
  ]);
  const lies = [...facts].filter(([key, isThere]) => key !== "over" && there.has(key) !== isThere);
  const wrong = [
    ...disorderIn(dataDir, rows).filter((what) => what !== "not needed: lost"),
    ...lies.map(([key, isThere]) => `${isThere ? "lost" : "came back"}: ${key}`),
    ...rows.drivers
      .filter(({ sha256 }) => !isWhole(dataDir, String(sha256)))
      .map(({ id }) => `half-made: ${id}`),
  ];
  return wrong.map((what) => `${where}: ${what}`);
}

function isWhole(dataDir: string, sha256: string): boolean {
  const path = join(dataDir, "drivers", `${sha256}.zip`);
  return existsSync(path) && digest(readFileSync(path)) === sha256;
}

async function wrongAfterCuts(t: TestContext, skipped?: RegExp): Promise<string[]> {
  const { left, secret } = await recorded(t, skipped);
  const wrong: string[] = [];
  for (const one of left) wrong.push(...(await wrongIn(one, secret)));
  t.diagnostic(`${left.length} states of the disk`);
  assert.ok(left.length > 100, `${left.length}`);
  return wrong;
}

test("whenever the power goes, and whatever the disk keeps, what was acknowledged is there after the next start", async (t) => {
  assert.deepEqual(await wrongAfterCuts(t), []);
});

for (const [what, skipped] of [
  ["the database's bytes are", /sqlite\.new$/],
  ["the database's new name is", /^\/data$/],
  ["an upload's bytes are", /^\/data\/incoming\/[0-9a-f-]{36}$/],
  ["an archive's new name is", /^\/data\/drivers$/],
  ["the data folder is", /^$/],
] as const) {
  test(`the power cuts would find it if ${what} not synced`, async (t) => {
    assert.notDeepEqual(await wrongAfterCuts(t, skipped), []);
  });
}
