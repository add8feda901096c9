import assert from "node:assert/strict";
import { createWriteStream, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { type TestContext, test } from "node:test";
import { chainEntry, zeroHash } from "../../src/domain/audit/audit-chain.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { assertWithin, leastBlock } from "../support/times.ts";
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
  assert.deepEqual(await logEntries(app, "downloaded"), []);
});
