import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { auditCommand } from "../../src/cli/audit.ts";
import type { entryHead } from "../../src/domain/audit/audit.ts";
import { readLine, sealed } from "../../src/domain/audit/audit-chain.ts";
import { type AuditReport, verifyAudit } from "../../src/store/audit/verify.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { logFiles } from "../support/audit/audit.ts";
import { watchDisk } from "../support/durability/disk-calls.ts";

const day = 24 * 60 * 60_000;

/** A folder with a log of ten entries, five of them in each of two months, as a service left it. */
async function makeLog(t: TestContext): Promise<{ dataDir: string; files: string[] }> {
  const dataDir = await temporaryFolder(t);
  let now = Date.UTC(2026, 9, 28);
  const store = await openStore(
    dataDir,
    () => now,
    () => {},
  );
  for (let i = 1; i <= 10; i++) {
    if (i === 6) now += 10 * day;
    store.audit.note("signed-in", { actor: { who: `account ${i}`, from: "10.0.0.1" } });
    await store.audit.flush();
  }
  await store.close();
  return { dataDir, files: logFiles(dataDir) };
}

/** Opens the store when the first month of such a log is to go, which its database knows from then on. */
async function expireFirstMonth(dataDir: string): Promise<void> {
  const clock = () => Date.UTC(2026, 11, 3);
  const store = await openStore(dataDir, clock, () => {}, { auditDays: 31 });
  await store.close();
}

/** Changes the lines of one of the files as somebody with an editor could. */
function edit(path: string | undefined, change: (lines: string[]) => string[]): void {
  const lines = readFileSync(String(path), "utf8").split("\n").slice(0, -1);
  writeFileSync(
    String(path),
    change(lines)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

function summary({ broken, count }: AuditReport): string {
  return broken ? `${broken.file}:${broken.line} ${broken.kind}, behind ${count}` : `whole, ${count}`;
}

test("a log that nobody touched holds together, also over months", async (t) => {
  const { dataDir, files } = await makeLog(t);

  const report = await verifyAudit(dataDir);

  assert.equal(files.length, 2);
  assert.equal(summary(report), "whole, 10");
  assert.equal(report.last.seq, 10);
});

const tamperings: Record<string, [change: (files: string[]) => void, found: string]> = {
  "a word in a line is changed": [
    ([file]) => edit(file, (lines) => lines.map((line) => line.replace("account 3", "account 4"))),
    "2026-10.jsonl:3 changed, behind 2",
  ],
  "a line is changed and given a hash that fits": [
    ([file]) =>
      edit(file, (lines) => {
        const { entry } = readLine(lines[2] ?? "") ?? {};
        const before = readLine(lines[1] ?? "")?.hash ?? "";
        return entry ? lines.with(2, sealed({ ...entry, who: "nobody" }, before).line) : [];
      }),
    "2026-10.jsonl:4 changed, behind 3",
  ],
  "a line is taken out": [
    ([, file]) => edit(file, (lines) => lines.toSpliced(1, 1)),
    "2026-11.jsonl:2 removed, behind 6",
  ],
  "two lines change places": [
    ([file]) => edit(file, ([a = "", b = "", c = "", ...rest]) => [a, c, b, ...rest]),
    "2026-10.jsonl:2 removed, behind 1",
  ],
  "a line is put in": [
    ([file]) =>
      edit(file, (lines) => lines.toSpliced(2, 0, lines[2]?.replace("account 3", "account 9") ?? "")),
    "2026-10.jsonl:3 changed, behind 2",
  ],
  "a line stands there twice": [
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
  "a whole month is taken away": [([file]) => rmSync(String(file)), "2026-11.jsonl:1 removed, behind 0"],
  "the whole chain is made anew": [
    (files) => {
      let hash = "0".repeat(64);
      for (const file of files)
        edit(file, (lines) =>
          lines.map((line) => {
            const { entry } = readLine(line) ?? {};
            const made = sealed({ ...entry, who: "nobody" } as Parameters<typeof entryHead>[0], hash);
            hash = made.hash;
            return made.line;
          }),
        );
    },
    "2026-11.jsonl:5 changed, behind 10",
  ],
  "something that is no entry is put in": [
    ([file]) => edit(file, (lines) => lines.toSpliced(1, 0, "<script>", "[".repeat(100_000))),
    "2026-10.jsonl:2 changed, behind 1",
  ],
  "a line of a megabyte is put in": [
    ([file]) => edit(file, (lines) => lines.toSpliced(1, 0, "x".repeat(1_000_000))),
    "2026-10.jsonl:2 changed, behind 1",
  ],
};

for (const [name, [tamper, found]] of Object.entries(tamperings)) {
  test(`verify says where: ${name}`, async (t) => {
    const { dataDir, files } = await makeLog(t);

    tamper(files);
    const report = await verifyAudit(dataDir);

    assert.equal(summary(report), found);
  });
}

test("a log that was tampered with goes on, and the break stays to be seen", async (t) => {
  const { dataDir, files } = await makeLog(t);
  edit(files[1], (lines) => lines.slice(0, 3));
  const lines: string[] = [];

  const store = await openStore(
    dataDir,
    () => Date.UTC(2026, 10, 9),
    (line) => lines.push(line),
  );
  store.audit.note("started");
  await store.close();
  const report = await verifyAudit(dataDir);

  assert.match(lines.join("\n"), /warning: the audit log: entry 10 is not where it was, in 2026-11\.jsonl/);
  assert.equal(summary(report), "2026-11.jsonl:4 removed, behind 8");
});

test("whole months are removed when their time is over, and what is left still holds together", async (t) => {
  const dataDir = await temporaryFolder(t);
  let now = Date.UTC(2025, 0, 15);
  for (let month = 0; month < 20; month++, now += 30.5 * day) {
    const store = await openStore(
      dataDir,
      () => now,
      () => {},
    );
    store.audit.note("started");
    await store.close();
    if (month === 9) assert.equal(logFiles(dataDir).length, 10);
  }
  const store = await openStore(
    dataDir,
    () => now,
    () => {},
  );
  await store.clients.add({ name: "Contoso", notes: "", subnets: [] });
  await store.audit.flush();
  await store.close();

  const report = await verifyAudit(dataDir);

  const files = logFiles(dataDir).map((path) => path.slice(-13));
  // 400 days before 16 September 2026 is the 12th of that month.
  assert.equal(files[0], "2025-08.jsonl");
  assert.equal(report.broken, undefined);
});

test("a month that a crash left behind, although the database knows that it has gone, breaks nothing", async (t) => {
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

test("months that go because of their age while verify runs are not missed", async (t) => {
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

test("a clock that is set forward by years takes nothing away", async (t) => {
  const { dataDir } = await makeLog(t);

  const store = await openStore(
    dataDir,
    () => Date.UTC(2036, 1, 1),
    () => {},
  );
  store.audit.note("started");
  await store.audit.flush();
  await store.clients.add({ name: "Contoso", notes: "", subnets: [] });
  await store.close();

  assert.equal(logFiles(dataDir).length, 3);
});

test("a copy of the log's folder alone is verified and printed, and a wrong path is no log", async (t) => {
  const { dataDir } = await makeLog(t);
  const elsewhere = await temporaryFolder(t);
  const copy = join(elsewhere, "copied");
  cpSync(join(dataDir, "audit"), copy, { recursive: true });
  const fresh = await temporaryFolder(t);
  writeFileSync(join(fresh, "platen.sqlite"), "");

  const answers = await Promise.all(
    [copy, join(dataDir, "audit"), join(elsewhere, "nothing"), elsewhere, fresh].map(
      async (dir) => await audit("verify", dir),
    ),
  );
  const csv = await audit("export", "--csv", copy);
  const noCsv = await audit("export", "--csv", elsewhere);

  const [ofCopy, ofFolder, ofNothing, ofEmpty, ofFresh] = answers;
  const sound = ofFolder?.printed.trimEnd() ?? "";
  assert.match(sound, /^10 entries hold together\. The last one is number 10, [0-9a-f]{64}\.$/);
  assert.ok(
    ofCopy?.printed.startsWith(`${sound} Whether entries are missing behind it cannot be seen without`),
  );
  assert.deepEqual(ofNothing, {
    code: 1,
    printed: `platen: no audit log at ${join(elsewhere, "nothing")}\n`,
  });
  assert.deepEqual([ofEmpty?.code, noCsv.code], [1, 1]);
  assert.deepEqual(ofFresh, { code: 0, printed: "The audit log has no entries yet.\n" });
  assert.equal(csv.printed.trim().split("\n").length, 11);
});

test("the log's folder in its data folder is compared with the database, also when it is named itself", async (t) => {
  const { dataDir, files } = await makeLog(t);
  edit(files[1], (lines) => lines.slice(0, -1));

  const { code, printed } = await audit("verify", join(dataDir, "audit"));

  assert.equal(code, 1);
  assert.match(printed, /^platen: audit\/2026-11\.jsonl, its end: cut off: entry 10 is missing/);
});

async function audit(...args: string[]): Promise<{ code: number; printed: string }> {
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const code = await auditCommand(args, { dataDir: "", out: print, err: print });
  return { code, printed };
}
