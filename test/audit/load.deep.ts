import assert from "node:assert/strict";
import { createWriteStream, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { type TestContext, test } from "node:test";
import { chainEntry, zeroHash } from "../../src/domain/audit/audit-chain.ts";
import { openStore } from "../../src/store/store.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText, logEntries } from "../support/audit/audit.ts";
import { makePrinter } from "../support/records.ts";
import { assertWithin, leastBlock, longestBlock } from "../support/times.ts";
import { until } from "../support/until.ts";

const count = 70_000;

/** A folder with a log of 70,000 entries. */
async function makeLongLog(t: TestContext): Promise<string> {
  const dataDir = await temporaryFolder(t);
  mkdirSync(join(dataDir, "audit"));
  const file = createWriteStream(join(dataDir, "audit", "2026-10.jsonl"));
  let hash = zeroHash;
  for (let seq = 1; seq <= count; seq++) {
    const actor = { who: `account ${seq % 100}`, from: "10.0.0.1" };
    const made = chainEntry({ seq, at: Date.UTC(2026, 9, 2) + seq, event: "signed-in", ...actor }, hash);
    hash = made.hash;
    file.write(`${made.line}\n`);
  }
  file.end();
  await finished(file);
  return dataDir;
}

test("the CSV of a long log is complete, is sent in chunks, and does not block other requests", async (t) => {
  const app = await startApp(t, { dataDir: await makeLongLog(t) });
  const before = process.memoryUsage().arrayBuffers;
  const lines: number[] = [];
  let most = 0;

  const blockedMs = await leastBlock(3, async (run) => {
    const answer = await app.fetch("/audit.csv?kind=&event=signed-in");
    assert.equal(answer.headers.get("content-length"), null);
    for await (const chunk of answer.body ?? []) {
      lines[run] = (lines[run] ?? 0) + Buffer.from(chunk).toString("latin1").split("\n").length - 1;
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
  });

  t.diagnostic(
    `nothing else for ${Math.round(blockedMs)} ms at most, ${Math.round(most / 1024)} KB of buffers`,
  );
  assert.deepEqual(lines, [1 + count, 1 + count, 1 + count]);
  await until(async () => (await logEntries(app, "downloaded")).length === 3);
  assert.ok(most < 16 * 1024 * 1024, `${most} bytes`);
  await assertWithin(50, { blockedMs });
});

test("a CSV that cannot be completed breaks the connection", async (t) => {
  const dataDir = await makeLongLog(t);
  const app = await startApp(t, { dataDir });
  const unreadable = join(dataDir, "audit", "2026-09.jsonl");
  mkdirSync(unreadable);

  const answer = await app.fetch("/audit.csv");

  assert.equal(answer.status, 200);
  await assert.rejects(answer.text(), /terminated/);
  rmdirSync(unreadable);
  assert.match(app.lines.join("\n"), /broken off: GET \/audit\.csv: EISDIR/);
  assert.deepEqual((await logEntries(app)).slice(-1).map(entryText), ["download-begun audit.csv"]);
});

test("1,000 names from one address are one line a minute, and 50,000 addresses do not fill the disk", async (t) => {
  let time = Date.UTC(2026, 10, 22);
  const dataDir = await temporaryFolder(t);
  const store = await openStore(
    dataDir,
    () => time,
    () => {},
  );
  const fail = (who: string, from: string) => store.audit.record("sign-in-failed", { actor: { who, from } });

  for (let i = 0; i < 1000; i++) fail("an unknown name", "10.0.0.1");
  for (let i = 0; i < 50_000; i++) fail("admin", `2001:db8::${i.toString(16)}`);
  time += 1000;
  store.audit.record("signed-in", { actor: { who: "admin", from: "10.0.0.2" } });
  await store.close();
  const entries = entriesIn(dataDir);

  const failures = entries.filter(({ event }) => event === "sign-in-failed");
  const sum = failures.reduce((total, { count = 1 }) => total + count, 0);
  assert.equal(sum, 51_000);
  assert.ok(failures.length < 1500, `${failures.length} lines`);
  assert.deepEqual(failures.filter(({ from }) => from === "10.0.0.1").map(entryText), [
    "sign-in-failed",
    "sign-in-failed 999 times",
  ]);
  assert.equal(
    entries
      .filter(({ event }) => event === "signed-in")
      .map(({ who }) => who)
      .join(),
    "admin",
  );
});

test("a bulk change of 5,000 printers is logged for each record without blocking an idle machine for a second", async (t) => {
  const app = await startApp(t);
  const driver = await app.addDriver();
  const { store } = app.app;
  const bare = { ...makePrinter(), client_id: null, driver_id: null };
  const ids = await Promise.all(
    Array.from({ length: 5000 }, (_, i) => store.printers.add({ ...bare, name: `P ${i}` })),
  );
  await store.audit.flush();
  const models = new Map(ids.map((id) => [id, "Papyrus 100 PCL6"]));

  const longest = await longestBlock(async () => {
    await store.change(() => store.manyPrinters.useDriver(driver, models));
    await store.audit.flush();
  });

  t.diagnostic(`nothing else for ${Math.round(longest)} ms at most`);
  const changed = await logEntries(app, "changed");
  assert.equal(new Set(changed.map(({ record }) => record?.id)).size, 5000);
  await assertWithin(1000, { longest });
});
