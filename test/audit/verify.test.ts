import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { auditCommand } from "../../src/cli/audit.ts";
import type { entryHead } from "../../src/domain/audit/audit.ts";
import { chainEntry, readLine } from "../../src/domain/audit/audit-chain.ts";
import { parseClient } from "../../src/domain/printers/client.ts";
import { dayMs } from "../../src/domain/text.ts";
import { type AuditReport, verifyAudit } from "../../src/store/audit/verify.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { logFiles } from "../support/audit/audit.ts";
import { deepTest } from "../support/depth.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";

const openAt = (dataDir: string, clock: () => number, lines: string[] = []) =>
  openStore(dataDir, clock, (line) => lines.push(line));

/** A folder with a log of ten entries, five in each of two months, written by a store. */
async function makeLog(t: TestContext): Promise<{ dataDir: string; files: string[] }> {
  const dataDir = await temporaryFolder(t);
  let now = Date.UTC(2026, 9, 28);
  const store = await openAt(dataDir, () => now);
  for (let i = 1; i <= 10; i++) {
    if (i === 6) now += 10 * dayMs;
    store.audit.record("signed-in", { actor: { who: `account ${i}`, from: "10.0.0.1" } });
    await store.audit.flush();
  }
  await store.close();
  return { dataDir, files: logFiles(dataDir) };
}

/** Opens the store at a time when the first month expires, so that the database stores the new start of the log. */
async function expireFirstMonth(dataDir: string): Promise<void> {
  const clock = () => Date.UTC(2026, 11, 3);
  const store = await openStore(dataDir, clock, () => {}, { auditDays: 31 });
  await store.close();
}

/** Changes the lines of a file, as with an editor. */
function edit(path: string | undefined, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(String(path), "utf8").split("\n").slice(0, -1);
  const changed = change(lines).map((line) => `${line}\n`);
  writeFileSync(String(path), changed.join(""));
}

function summary({ broken, count }: AuditReport): string {
  return broken ? `${broken.file}:${broken.line} ${broken.kind}, behind ${count}` : `whole, ${count}`;
}

const tamperings: Record<string, [change: (files: string[]) => void, found: string]> = {
  "a word in a line is changed": [
    ([file]) => edit(file, (lines) => lines.map((line) => line.replace("account 3", "account 4"))),
    "2026-10.jsonl:3 changed, behind 2",
  ],
  "a line is changed and gets a matching hash": [
    ([file]) =>
      edit(file, (lines) => {
        const { entry } = readLine(lines[2] ?? "") ?? {};
        const before = readLine(lines[1] ?? "")?.hash ?? "";
        return entry ? lines.with(2, chainEntry({ ...entry, who: "nobody" }, before).line) : [];
      }),
    "2026-10.jsonl:4 changed, behind 3",
  ],
  "a line is removed": [
    ([, file]) => edit(file, (lines) => lines.toSpliced(1, 1)),
    "2026-11.jsonl:2 removed, behind 6",
  ],
  "two lines are swapped": [
    ([file]) => edit(file, ([a = "", b = "", c = "", ...rest]) => [a, c, b, ...rest]),
    "2026-10.jsonl:2 removed, behind 1",
  ],
  "a line is inserted": [
    ([file]) =>
      edit(file, (lines) => lines.toSpliced(2, 0, lines[2]?.replace("account 3", "account 9") ?? "")),
    "2026-10.jsonl:3 changed, behind 2",
  ],
  "a line is duplicated": [
    ([file]) => edit(file, (lines) => lines.toSpliced(2, 0, lines[1] ?? "")),
    "2026-10.jsonl:3 inserted, behind 2",
  ],
  "the last lines are cut off": [
    ([, file]) => edit(file, (lines) => lines.slice(0, 3)),
    "2026-11.jsonl:0 cut off, behind 8",
  ],
  "the last line is cut in the middle": [
    ([, file]) => writeFileSync(String(file), readFileSync(String(file), "utf8").slice(0, -30)),
    "2026-11.jsonl:0 cut off, behind 9",
  ],
  "the first lines are cut off": [
    ([file]) => edit(file, (lines) => lines.slice(2)),
    "2026-10.jsonl:1 removed, behind 0",
  ],
  "a whole month is removed": [([file]) => rmSync(String(file)), "2026-11.jsonl:1 removed, behind 0"],
  "the whole chain is rewritten": [
    (files) => {
      let hash = "0".repeat(64);
      for (const file of files)
        edit(file, (lines) =>
          lines.map((line) => {
            const { entry } = readLine(line) ?? {};
            const made = chainEntry({ ...entry, who: "nobody" } as Parameters<typeof entryHead>[0], hash);
            hash = made.hash;
            return made.line;
          }),
        );
    },
    "2026-11.jsonl:5 changed, behind 10",
  ],
  "lines that are no entries are inserted": [
    ([file]) => edit(file, (lines) => lines.toSpliced(1, 0, "<script>", "[".repeat(100_000))),
    "2026-10.jsonl:2 changed, behind 1",
  ],
  "a line of a megabyte is inserted": [
    ([file]) => edit(file, (lines) => lines.toSpliced(1, 0, "x".repeat(1_000_000))),
    "2026-10.jsonl:2 changed, behind 1",
  ],
};

for (const [name, [tamper, found]] of Object.entries(tamperings)) {
  test(`verify finds the place where ${name}`, async (t) => {
    const { dataDir, files } = await makeLog(t);

    tamper(files);
    const report = await verifyAudit(dataDir);

    assert.equal(summary(report), found);
  });
}

test("new entries are added to a changed log, and verify still finds the break", async (t) => {
  const { dataDir, files } = await makeLog(t);
  edit(files[1], (lines) => lines.slice(0, 3));
  const lines: string[] = [];

  const store = await openAt(dataDir, () => Date.UTC(2026, 10, 9), lines);
  store.audit.record("started");
  await store.close();
  const report = await verifyAudit(dataDir);

  assert.match(lines.join("\n"), /warning: the audit log: entry 10 is not where it was, in 2026-11\.jsonl/);
  assert.equal(summary(report), "2026-11.jsonl:4 removed, behind 8");
});

deepTest("whole months are removed after their time, and the rest of the log is verified", async (t) => {
  const dataDir = await temporaryFolder(t);
  let now = Date.UTC(2025, 0, 15);
  for (let month = 0; month < 15; month++, now += 30.5 * dayMs) {
    const store = await openAt(dataDir, () => now);
    store.audit.record("started");
    await store.close();
    if (month === 9) assert.equal(logFiles(dataDir).length, 10);
  }
  const store = await openAt(dataDir, () => now);
  await store.clients.add(parseClient({ name: "Contoso" }));
  await store.close();

  const report = await verifyAudit(dataDir);

  // 400 days before 17 April 2026 is the 13th of March 2025.
  assert.equal(logFiles(dataDir)[0]?.slice(-13), "2025-03.jsonl");
  assert.equal(report.broken, undefined);
});

test("an expired month that a crash left is no break", async (t) => {
  const { dataDir, files } = await makeLog(t);
  const [first = ""] = files;
  const month = readFileSync(first);
  await expireFirstMonth(dataDir);
  const isGone = !existsSync(first);
  writeFileSync(first, month);

  const report = await verifyAudit(dataDir);

  assert.equal(isGone, true);
  assert.equal(summary(report), "whole, 6");
});

test("months that expire while verify runs are not reported as missing", async (t) => {
  const { dataDir, files } = await makeLog(t);
  let isReached = false;
  await watchDisk(t, join(dataDir, "audit"), async ({ name }) => {
    if (name !== "readdir" || isReached) return undefined;
    isReached = true;
    await expireFirstMonth(dataDir);
    return undefined;
  });

  const report = await verifyAudit(dataDir);

  assert.equal(existsSync(String(files[0])), false);
  assert.equal(summary(report), "whole, 6");
});

test("a clock that is set forward by years removes nothing", async (t) => {
  const { dataDir } = await makeLog(t);

  const store = await openAt(dataDir, () => Date.UTC(2036, 1, 1));
  store.audit.record("started");
  await store.audit.flush();
  await store.clients.add(parseClient({ name: "Contoso" }));
  await store.close();

  assert.equal(logFiles(dataDir).length, 3);
});

test("a copy of the log's folder is verified and exported, and a wrong path is refused", async (t) => {
  const { dataDir } = await makeLog(t);
  const elsewhere = await temporaryFolder(t);
  const copy = join(elsewhere, "copied");
  cpSync(join(dataDir, "audit"), copy, { recursive: true });
  const fresh = await temporaryFolder(t);
  writeFileSync(join(fresh, "platen.sqlite"), "");

  const answers = await Promise.all(
    [copy, join(dataDir, "audit"), join(elsewhere, "nothing"), elsewhere, fresh].map(
      async (dir) => await runAudit("verify", dir),
    ),
  );
  const csv = await runAudit("export", "--csv", copy);
  const noCsv = await runAudit("export", "--csv", elsewhere);

  const [ofCopy, ofFolder, ofNothing, ofEmpty, ofFresh] = answers;
  const sound = ofFolder?.printed.trimEnd() ?? "";
  assert.match(sound, /^10 entries are intact\. The last one is number 10, [0-9a-f]{64}\.$/);
  assert.ok(
    ofCopy?.printed.startsWith(
      `${sound} Without the database (platen.sqlite beside the log’s folder), missing entries`,
    ),
  );
  assert.deepEqual(ofNothing, {
    code: 1,
    printed: `platen: no audit log at ${join(elsewhere, "nothing")}\n`,
  });
  assert.deepEqual([ofEmpty?.code, noCsv.code], [1, 1]);
  assert.deepEqual(ofFresh, { code: 0, printed: "The audit log has no entries yet.\n" });
  assert.equal(csv.printed.trim().split("\n").length, 11);
});

test("an unchanged log is verified across months, with the database also when only its folder is given", async (t) => {
  const { dataDir, files } = await makeLog(t);
  const report = await verifyAudit(dataDir);
  edit(files[1], (lines) => lines.slice(0, -1));

  const { code, printed } = await runAudit("verify", join(dataDir, "audit"));

  assert.equal(files.length, 2);
  assert.deepEqual([summary(report), report.last.seq], ["whole, 10", 10]);
  assert.equal(code, 1);
  assert.match(printed, /^platen: audit\/2026-11\.jsonl, its end: cut off: entry 10 is missing/);
});

async function runAudit(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const code = await auditCommand(args, { dataDir: "", out: print, err: print });
  return { code, printed };
}
