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

/** Opens the store, by default as soon as the first month expires, so that the database stores the new start of the log. */
async function expireFirstMonth(dataDir: string, now = Date.UTC(2026, 11, 2, 0, 0, 0, 1)): Promise<void> {
  const clock = () => now;
  const store = await openStore(dataDir, clock, () => {}, { auditDays: 31 });
  await store.close();
}

/** Removes the last lines of a file, as with an editor. */
function cutOff(path: string | undefined, count: number): void {
  const lines = readFileSync(String(path), "utf8").split("\n");
  writeFileSync(String(path), lines.toSpliced(-1 - count, count).join("\n"));
}

function summary({ broken, count }: AuditReport): string {
  return broken ? `${broken.file}:${broken.line} ${broken.kind}, behind ${count}` : `whole, ${count}`;
}

/** The lines with another author, in an intact chain that begins after `hash`. */
function rewritten(lines: readonly string[], hash: string): string[] {
  return lines.map((line) => {
    const { entry } = readLine(line) ?? {};
    const made = chainEntry({ ...entry, who: "nobody" } as Parameters<typeof entryHead>[0], hash);
    hash = made.hash;
    return made.line;
  });
}

/** Each changes the lines of October and November, which end with an empty one, and is found there. */
const tamperings: readonly [string, (a: string[], b: string[]) => [string[], string[]], found: string][] = [
  [
    "a word in a line is changed",
    (a, b) => [a.map((line) => line.replace("account 3", "account 4")), b],
    "10:3 changed, behind 2",
  ],
  [
    "a line is changed and gets a matching hash",
    (a, b) => [a.with(2, rewritten(a.slice(2, 3), readLine(a[1] ?? "")?.hash ?? "")[0] ?? ""), b],
    "10:4 changed, behind 3",
  ],
  ["a line is removed", (a, b) => [a, b.toSpliced(1, 1)], "11:2 removed, behind 6"],
  [
    "two lines are swapped",
    (a, b) => [[0, 2, 1, 3, 4, 5].map((i) => a[i] ?? ""), b],
    "10:2 removed, behind 1",
  ],
  [
    "a line is inserted",
    (a, b) => [a.toSpliced(2, 0, a[2]?.replace("account 3", "account 9") ?? ""), b],
    "10:3 changed, behind 2",
  ],
  ["a line is duplicated", (a, b) => [a.toSpliced(2, 0, a[1] ?? ""), b], "10:3 inserted, behind 2"],
  ["the last lines are cut off", (a, b) => [a, b.toSpliced(3, 2)], "11:0 cut off, behind 8"],
  [
    "the last line is cut in the middle",
    (a, b) => [a, [...b.slice(0, 4), b[4]?.slice(0, -30) ?? ""]],
    "11:0 cut off, behind 9",
  ],
  ["the first lines are cut off", (a, b) => [a.slice(2), b], "10:1 removed, behind 0"],
  ["a whole month is removed", (_, b) => [[], b], "11:1 removed, behind 0"],
  [
    "the whole chain is rewritten",
    (a, b) => {
      const all = rewritten([...a.slice(0, 5), ...b.slice(0, 5)], zeroHash);
      return [
        [...all.slice(0, 5), ""],
        [...all.slice(5), ""],
      ];
    },
    "11:5 changed, behind 10",
  ],
  [
    "lines that are no entries are inserted",
    (a, b) => [a.toSpliced(1, 0, "<script>", "[".repeat(100_000)), b],
    "10:2 changed, behind 1",
  ],
  [
    "a line of a megabyte is inserted",
    (a, b) => [a.toSpliced(1, 0, "x".repeat(1e6)), b],
    "10:2 changed, behind 1",
  ],
];

for (const [name, tamper, found] of tamperings)
  test(`verify finds the place where ${name}`, async (t) => {
    const { dataDir, files } = await makeLog(t);
    const [a = [], b = []] = files.map((file) => readFileSync(file, "utf8").split("\n"));

    for (const [i, lines] of tamper(a, b).entries())
      if (lines.length === 0) rmSync(files[i] ?? "");
      else writeFileSync(files[i] ?? "", lines.join("\n"));
    const report = await verifyAudit(dataDir);

    assert.equal(summary(report), `2026-${found.replace(":", ".jsonl:")}`);
  });

test("new entries are added to a changed log, and verify still finds the break", async (t) => {
  const { dataDir, files } = await makeLog(t);
  cutOff(files[1], 2);
  const lines: string[] = [];

  const store = await openAt(dataDir, () => Date.UTC(2026, 10, 9), lines);
  store.audit.record("started");
  await store.close();
  const report = await verifyAudit(dataDir);

  assert.match(lines.join("\n"), /warning: the audit log: entry 10 is not where it was, in 2026-11\.jsonl/);
  assert.equal(summary(report), "2026-11.jsonl:4 removed, behind 8");
});

test("a month expires just after its time, and one that a crash left is no break", async (t) => {
  const { dataDir, files } = await makeLog(t);
  const [first = ""] = files;
  const month = readFileSync(first);
  await expireFirstMonth(dataDir, Date.UTC(2026, 11, 2));
  const isKept = existsSync(first);
  await expireFirstMonth(dataDir);
  const isGone = !existsSync(first);
  writeFileSync(first, month);

  const report = await verifyAudit(dataDir);

  assert.deepEqual([isKept, isGone], [true, true], "it goes more than 31 days after its end");
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
  cutOff(files[1], 1);
  const cut = await runAudit("verify", join(dataDir, "audit"));

  assert.deepEqual([files.length, code], [2, 0]);
  assert.match(printed, /^10 entries are intact\. The last one is number 10, [0-9a-f]{64}\.\n$/);
  const without = "Without the database (platen.sqlite beside the log’s folder), missing entries";
  assert.ok(ofCopy.printed.startsWith(`${printed.trimEnd()} ${without}`), ofCopy.printed);
  assert.equal(csv.printed.trim().split("\n").length, 11);
  assert.equal(refused[0]?.printed, `platen: no audit log at ${nothing}\n`);
  for (const { code } of [...refused, noCsv, cut]) assert.equal(code, 1);
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
