import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { client, temporaryFolder } from "../support/app.ts";
import { entriesIn } from "../support/audit/audit.ts";
import { sign } from "../support/deploy/authenticode.ts";
import { without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { serve } from "../support/service.ts";
import { until } from "../support/until.ts";

const kills = 40;
const people = ["Ann", "Ben, who signs with more words than Ann", "C".repeat(700), "D".repeat(3000)];

test(`${kills} kills while four people sign leave whole signatures, and the audit line of each acknowledged one`, {
  skip: without.osslsigncode,
  timeout: 600_000,
}, async (t) => {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "data");
  const signatures = join(dataDir, "signatures");
  mkdirSync(dataDir);
  const first = await serve(t, folder);
  const { fetch, addPrinter } = client(first.url);
  await addPrinter();
  const scripts = ((await (await fetch("/signatures")).json()) as { digest: string }[]).slice(0, 3);
  const signed = new Map<string, Buffer[]>();
  const blocks = new Map<string, Buffer[]>();
  for (const { digest } of scripts) {
    const script = await bytesOf(fetch(`/signatures/${digest}`));
    const whole = people.map((person) => sign(script, true, person));
    signed.set(digest, whole);
    blocks.set(
      digest,
      whole.map((body) => body.subarray(script.length)),
    );
  }
  first.process.kill("SIGKILL");
  await first.exited;
  const acknowledged = new Map<string, number>();
  let answers = 0;

  for (let kill = 1; kill <= kills; kill++) {
    const { url, process, exited } = await serve(t, folder);
    const over = new AbortController();
    const before = answers;
    const site = client(url, {}, over.signal);
    const signing = people.map(async (_, person) => {
      for (let i = person; !over.signal.aborted; i++) {
        const { digest = "" } = scripts[i % scripts.length] ?? {};
        const body = new Uint8Array(signed.get(digest)?.[person] ?? []);
        const answer = await site
          .fetch(`/signatures/${digest}`, { method: "POST", body })
          .catch(() => undefined);
        if (answer === undefined) return;
        assert.equal(answer.status, 204);
        acknowledged.set(digest, (acknowledged.get(digest) ?? 0) + 1);
        answers++;
      }
    });
    // A few kills come before the first answer of a life, the others up to 200 ms after it.
    if (kill > 4) await until(() => answers > before);
    await new Promise((resolve) => setTimeout(resolve, kill * 5));
    process.kill("SIGKILL");
    await exited;
    over.abort();
    await Promise.all(signing);

    const where = `kill ${kill}`;
    const lines = entriesIn(dataDir).filter(({ event }) => event === "signed");
    for (const [digest, count] of acknowledged) {
      const ofScript = lines.filter(({ what }) => what?.includes(digest.slice(0, 12)));
      assert.ok(ofScript.length >= count, `${where}: ${ofScript.length} lines of ${count} signatures`);
    }
    const again = await serve(t, folder);
    const names = readdirSync(signatures);
    again.process.kill("SIGKILL");
    await again.exited;
    for (const name of names) {
      const digest = name.slice(0, 64);
      const block = readFileSync(join(signatures, name));
      assert.ok(
        blocks.get(digest)?.some((known) => known.equals(block)),
        `${where}: ${name}`,
      );
    }
    const found = names.map((name) => name.slice(0, 64));
    assert.equal(new Set(found).size, found.length, `${where}: ${names.join()}`);
    for (const digest of acknowledged.keys())
      assert.ok(found.includes(digest), `${where}: ${digest} is gone`);
  }
  t.diagnostic(`${kills} kills, ${answers} acknowledged signatures`);
  assert.ok(answers > kills);
});
