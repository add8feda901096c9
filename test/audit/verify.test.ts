import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { auditCommand } from "../../src/cli/audit.ts";
import type { entryHead } from "../../src/domain/audit/audit.ts";
import { chainEntry, readLine, zeroHash } from "../../src/domain/audit/audit-chain.ts";
import { parseClient } from "../../src/domain/printers/client.ts";
import { dayMs } from "../../src/domain/text.ts";
import { type AuditReport, verifyAudit } from "../../src/store/audit/verify.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { logFiles } from "../support/audit/audit.ts";
import { deepTest } from "../support/depth.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";
import { makeOnce } from "../support/filled.ts";

const openAt = (dataDir: string, clock: () => number, lines: string[] = []) =>
  openStore(dataDir, clock, (line) => lines.push(line));

/** A folder with a log of ten entries, five in each of two months, written by a store. */
async function makeLog(t: TestContext): Promise<{ dataDir: string; files: string[] }> {
  const { folder: dataDir } = await makeOnce(t, writeLog);
  return { dataDir, files: logFiles(dataDir) };
}

async function writeLog(_: TestContext, dataDir: string): Promise<void> {
  let now = Date.UTC(2026, 9, 28);
  const store = await openAt(dataDir, () => now);
  for (let i = 1; i <= 10; i++) {
    if (i === 6) now += 10 * dayMs;
    store.audit.record("signed-in", { actor: { who: `account ${i}`, from: "10.0.0.1" } });
    await store.audit.flush();
  }
  await store.close();
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

type Change = (lines: string[]) => string[];
const inFirst =
  (change: Change) =>
  ([file]: string[]) =>
    edit(file, change);
const inSecond =
  (change: Change) =>
  ([, file]: string[]) =>
    edit(file, change);

/** The lines with another author, in an intact chain that begins after `hash`. */
function rewritten(lines: readonly string[], hash: string): string[] {
  return lines.map((line) => {
    const { entry } = readLine(line) ?? {};
    const made = chainEntry({ ...entry, who: "nobody" } as Parameters<typeof entryHead>[0], hash);
    hash = made.hash;
    return made.line;
  });
}

const tamperings: Record<string, [change: (files: string[]) => void, found: string]> = {
  "a word in a line is changed": [
    inFirst((lines) => lines.map((line) => line.replace("account 3", "account 4"))),
    "2026-10.jsonl:3 changed, behind 2",
  ],
  "a line is changed and gets a matching hash": [
    inFirst((lines) => lines.with(2, rewritten(lines.slice(2, 3), hashOf(lines[1]))[0] ?? "")),
    "2026-10.jsonl:4 changed, behind 3",
  ],
  "a line is removed": [inSecond((lines) => lines.toSpliced(1, 1)), "2026-11.jsonl:2 removed, behind 6"],
  "two lines are swapped": [
    inFirst(([a = "", b = "", c = "", ...rest]) => [a, c, b, ...rest]),
    "2026-10.jsonl:2 removed, behind 1",
  ],
  "a line is inserted": [
    inFirst((lines) => lines.toSpliced(2, 0, lines[2]?.replace("account 3", "account 9") ?? "")),
    "2026-10.jsonl:3 changed, behind 2",
  ],
  "a line is duplicated": [
    inFirst((lines) => lines.toSpliced(2, 0, lines[1] ?? "")),
    "2026-10.jsonl:3 inserted, behind 2",
  ],
  "the last lines are cut off": [inSecond((lines) => lines.slice(0, 3)), "2026-11.jsonl:0 cut off, behind 8"],
  "the last line is cut in the middle": [
    ([, file]) => writeFileSync(String(file), readFileSync(String(file), "utf8").slice(0, -30)),
    "2026-11.jsonl:0 cut off, behind 9",
  ],
  "the first lines are cut off": [inFirst((lines) => lines.slice(2)), "2026-10.jsonl:1 removed, behind 0"],
  "a whole month is removed": [([file]) => rmSync(String(file)), "2026-11.jsonl:1 removed, behind 0"],
  "the whole chain is rewritten": [
    (files) => {
      let hash = zeroHash;
      for (const file of files)
        edit(file, (lines) => {
          const made = rewritten(lines, hash);
          hash = hashOf(made.at(-1));
          return made;
        });
    },
    "2026-11.jsonl:5 changed, behind 10",
  ],
  "lines that are no entries are inserted": [
    inFirst((lines) => lines.toSpliced(1, 0, "<script>", "[".repeat(100_000))),
    "2026-10.jsonl:2 changed, behind 1",
  ],
  "a line of a megabyte is inserted": [
    inFirst((lines) => lines.toSpliced(1, 0, "x".repeat(1_000_000))),
    "2026-10.jsonl:2 changed, behind 1",
  ],
};
const hashOf = (line = "") => readLine(line)?.hash ?? "";

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

test("a log across months, or a copy of its folder, is verified and exported, and a wrong path is refused", async (t) => {
  const { dataDir, files } = await makeLog(t);
  const elsewhere = await temporaryFolder(t);
  const [copy, nothing] = [join(elsewhere, "copied"), join(elsewhere, "nothing")];
  cpSync(join(dataDir, "audit"), copy, { recursive: true });
  const fresh = await temporaryFolder(t);
  writeFileSync(join(fresh, "platen.sqlite"), "");

  const { code, printed } = await runAudit("verify", join(dataDir, "audit"));
  const ofCopy = await runAudit("verify", copy);
  const csv = await runAudit("export", "--csv", copy);
  const refused = [await runAudit("verify", nothing), await runAudit("verify", elsewhere)];
  const noCsv = await runAudit("export", "--csv", elsewhere);
  const ofFresh = await runAudit("verify", fresh);
  edit(files[1], (lines) => lines.slice(0, -1));
  const cut = await runAudit("verify", join(dataDir, "audit"));

  assert.deepEqual([files.length, code], [2, 0]);
  assert.match(printed, /^10 entries are intact\. The last one is number 10, [0-9a-f]{64}\.\n$/);
  const without = "Without the database (platen.sqlite beside the log’s folder), missing entries";
  assert.ok(ofCopy.printed.startsWith(`${printed.trimEnd()} ${without}`), ofCopy.printed);
  assert.equal(csv.printed.trim().split("\n").length, 11);
  assert.equal(refused[0]?.printed, `platen: no audit log at ${nothing}\n`);
  assert.deepEqual(
    [...refused, noCsv, cut].map(({ code }) => code),
    [1, 1, 1, 1],
  );
  assert.deepEqual(ofFresh, { code: 0, printed: "The audit log has no entries yet.\n" });
  // With only the log's folder, the database beside it is used, too.
  assert.match(cut.printed, /^platen: audit\/2026-11\.jsonl, its end: cut off: entry 10 is missing/);
});

async function runAudit(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const code = await auditCommand(args, { dataDir: "", out: print, err: print });
  return { code, printed };
}
