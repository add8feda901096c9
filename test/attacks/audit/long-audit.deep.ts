import assert from "node:assert/strict";
import { createWriteStream, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { type TestContext, test } from "node:test";
import { noHash, sealed } from "../../../src/domain/audit/audit-chain.ts";
import { startApp, temporaryFolder } from "../../support/app.ts";
import { logOf, said } from "../../support/audit/audit.ts";
import { leastHold } from "../../support/times.ts";
import { until } from "../../support/until.ts";

const count = 70_000;

/** A folder with a long log, as a service left it. */
async function longLog(t: TestContext): Promise<string> {
  const dataDir = await temporaryFolder(t);
  mkdirSync(join(dataDir, "audit"));
  const file = createWriteStream(join(dataDir, "audit", "2026-10.jsonl"));
  let hash = noHash;
  for (let seq = 1; seq <= count; seq++) {
    const actor = { who: `account ${seq % 100}`, from: "10.0.0.1" };
    const made = sealed({ seq, at: Date.UTC(2026, 9, 2) + seq, event: "signed-in", ...actor }, hash);
    hash = made.hash;
    file.write(`${made.line}\n`);
  }
  file.end();
  await finished(file);
  return dataDir;
}

test("the CSV of a long log is whole, comes piece by piece, and holds nobody up", async (t) => {
  const app = await startApp(t, { dataDir: await longLog(t) });
  const before = process.memoryUsage().arrayBuffers;
  const lines: number[] = [];
  let most = 0;

  const hold = await leastHold(3, async (run) => {
    const answer = await app.fetch("/audit.csv?kind=&event=signed-in");
    assert.equal(answer.headers.get("content-length"), null);
    for await (const chunk of answer.body ?? []) {
      lines[run] = (lines[run] ?? 0) + Buffer.from(chunk).toString("latin1").split("\n").length - 1;
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
  });

  t.diagnostic(`nothing else for ${Math.round(hold)} ms at most, ${Math.round(most / 1024)} KB of buffers`);
  assert.deepEqual(lines, [1 + count, 1 + count, 1 + count]);
  await until(async () => (await logOf(app, "downloaded")).length === 3);
  assert.ok(most < 16 * 1024 * 1024, `${most} bytes`);
  assert.ok(hold < 50, `${hold} ms`);
});

test("a CSV that cannot be finished breaks off: it does not look whole", async (t) => {
  const dataDir = await longLog(t);
  const app = await startApp(t, { dataDir });
  const unreadable = join(dataDir, "audit", "2026-09.jsonl");
  mkdirSync(unreadable);

  const answer = await app.fetch("/audit.csv");

  assert.equal(answer.status, 200);
  await assert.rejects(answer.text(), /terminated/);
  rmdirSync(unreadable);
  assert.match(app.lines.join("\n"), /broken off: GET \/audit\.csv: EISDIR/);
  assert.deepEqual((await logOf(app)).slice(-1).map(said), ["download-begun audit.csv"]);
});
