import assert from "node:assert/strict";
import { createWriteStream, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { type TestContext, test } from "node:test";
import { noHash, sealed } from "../../src/domain/audit-chain.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { logOf, said } from "../support/audit.ts";
import { until } from "../support/until.ts";

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
  let [longest, last] = [0, performance.now()];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);

  const answer = await app.fetch("/audit.csv");
  const before = process.memoryUsage().arrayBuffers;
  let [lines, most] = [0, 0];
  for await (const chunk of answer.body ?? []) {
    lines += Buffer.from(chunk).filter((byte) => byte === 10).length;
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  clearInterval(timer);
  await until(async () => (await logOf(app, "downloaded")).length === 1);

  t.diagnostic(
    `nothing else for ${Math.round(longest)} ms at most, ${Math.round(most / 1024)} KB of buffers`,
  );
  assert.equal(lines, 1 + count);
  assert.equal(answer.headers.get("content-length"), null);
  assert.ok(most < 16 * 1024 * 1024, `${most} bytes`);
  assert.ok(longest < 250, `${longest} ms`);
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
