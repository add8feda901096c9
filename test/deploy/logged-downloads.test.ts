import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit/audit.ts";
import { DeploymentMemory } from "../../src/services/deploy/deployment-memory.ts";
import { openStore } from "../../src/store/store.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText, logEntries } from "../support/audit/audit.ts";
import { textOf } from "../support/deploy/answers.ts";
import { rounds } from "../support/depth.ts";
import { makePrinter } from "../support/records.ts";
import { until } from "../support/until.ts";

const began = ({ who, range }: AuditEntry) => `${who} ${range ? `${range.first}-${range.last}` : "all"}`;

const take = async (app: Pick<TestApp, "fetch">, range: string) =>
  (await app.fetch("/printers/1/packages/rmm", { headers: { range: `bytes=${range}` } })).arrayBuffer();

test("a download byte by byte makes two lines: the first byte, and the others with their number", async (t) => {
  let now = Date.UTC(2026, 10, 22);
  const app = await startApp(t, { clock: () => now++ });
  await app.addPrinter();

  for (let at = 0; at < 40; at += 2) await take(app, `${at}-${at}`);
  for (let at = 1; at < 40; at += 2) await take(app, `${at}-${at}`);
  const first = await logEntries(app, "download-begun");
  await app.stop();
  const all = entriesIn(app.dataDir).filter(({ event }) => event === "download-begun");

  const lines = all.map(({ count = 1, range }) => `${count}: ${range?.first}-${range?.last}`);
  assert.deepEqual(first.map(began), ["anyone 0-0"]);
  assert.deepEqual(lines, ["1: 0-0", "39: 1-39"]);
});

test("the log has a line for each user who downloaded a part of a package or backup, with the record", async (t) => {
  const { service, admin, operator, viewer } = await startGuarded(t);
  await operator.addPrinter();

  await take(operator, "0-9");
  await take(viewer, "10-");
  await until(async () => (await logEntries(service, "downloaded")).length === 1);
  const entries = await logEntries(service, "download-begun", "downloaded");
  await admin.post("/backups", {});
  const [{ name } = { name: "" }] = service.app.backups.list();
  await (await admin.fetch(`/backups/${name}`, { headers: { range: "bytes=0-4094" } })).arrayBuffer();
  const [backup] = await logEntries(service, "backup-fetched");

  assert.deepEqual([backup?.what, backup?.range?.last], [name, 4094]);
  assert.deepEqual(entries.map(began), ["tech 0-9", "seller all"]);
  for (const { record, printers } of entries)
    assert.deepEqual([record?.name, printers?.[0]?.[0]], ["Office", 1]);
});

test("reading a script on its page makes a line, because the script contains a link to its driver", async (t) => {
  const { service, viewer, admin } = await startGuarded(t);
  await admin.addPrinter();

  const page = await textOf(viewer.fetch("/printers/1/read/install"));
  const link = /\/drivers\/1\/files\?link=[\w.-]+/.exec(page)?.[0] ?? "";
  const [made, ...more] = await logEntries(service, "link-made");
  await (await service.fetch(link)).arrayBuffer();
  await until(async () => (await logEntries(service, "downloaded")).length === 1);

  const [fetched] = await logEntries(service, "downloaded");
  const what = "in /printers/1/scripts/install, on its page";
  assert.match(fetched?.who ?? "", /^link driver 1, made by seller, until 20/);
  assert.deepEqual([made?.who, made?.record?.name, made?.what, more], ["seller", "Office", what, []]);
});

/** An audit log with a function that records downloads of a printer, a driver or neither. */
async function startLog(t: TestContext) {
  const dataDir = await temporaryFolder(t);
  const store = await openStore(
    dataDir,
    () => Date.UTC(2026, 10, 22),
    () => {},
  );
  const fetch = (who: string, what: string, kind?: "printer" | "driver", id = 0) => {
    const download = { what, by: "script", digest: `${what} ${id}`, actor: { who, from: "10.0.0.1" } };
    const record = kind && { kind, id, name: "N" };
    const printers = kind === "printer" ? [[id, "revision"] as const] : [];
    store.audit.recordDownload({ ...download, record, printers })();
  };
  const closed = async () => {
    await store.close();
    return entriesIn(dataDir);
  };
  return { store, dataDir, fetch, closed };
}

test("a line for several downloads counts all of them for its printer, and only once after restarts", async (t) => {
  const { store, dataDir, fetch, closed } = await startLog(t);
  const printer = await store.printers.add({ ...makePrinter(), client_id: null, driver_id: null });
  for (let i = 0; i < 1005; i++) fetch("token Datto", "install", "printer", printer);
  const lines = (await closed()).filter(({ count }) => count !== undefined);

  const counts: (number | undefined)[] = [];
  for (let start = 0; start < 2; start++) {
    const reopened = await openStore(dataDir, Date.now, () => {});
    const memory = new DeploymentMemory(reopened, () => {});
    await memory.start();
    counts.push(memory.ofPrinter(printer)[0]?.count);
    await memory.close();
    await reopened.close();
  }

  const found = lines.map(({ event, count, printers }) => `${event} ${count} ${printers?.length}`);
  assert.deepEqual(counts, [1005, 1005]);
  assert.deepEqual(found, ["download-begun 995 1", "downloaded 985 1"]);
});

test("each printer, driver and export has its own line, after any number of downloads by this and other users", async (t) => {
  const { store, fetch, closed } = await startLog(t);
  // At most 10,000 events wait to be written.
  const many = rounds(200, 9_000);

  for (let i = 0; i < 1500; i++) fetch("seller", "install", "printer", 1);
  for (let printer = 1; printer <= many; printer++) fetch("seller", "detect", "printer", printer);
  await store.audit.flush();
  for (let i = 0; i < 1500; i++) fetch("another", "archive", "driver", 1);
  for (let driver = 1; driver <= many; driver++) fetch("another", "files", "driver", driver);
  await store.audit.flush();
  fetch("another", "printers.csv");
  fetch("seller", "printers.csv");
  for (const what of ["archive", "files"]) fetch("seller", what, "driver", 1);
  const entries = (await closed()).filter(({ event }) => event === "downloaded");

  const linesOf = (user: string, of: string) =>
    entries.filter(({ who, what }) => who === user && what === of).length;
  const large = entries.filter(({ who, what }) => who === "seller" && !/install|detect/.test(what ?? ""));
  assert.deepEqual(large.map(entryText), [
    "downloaded printers.csv",
    "downloaded driver 1 N archive",
    "downloaded driver 1 N files",
  ]);
  assert.deepEqual([linesOf("seller", "detect"), linesOf("another", "files")], [many, many]);
  assert.equal(linesOf("another", "printers.csv"), 1);
});

test("failed sign-ins from one address have separate lines for each account and reason", async (t) => {
  const { store, closed } = await startLog(t);

  for (const [who, what, times] of [
    ["olga", "wrong password", 4],
    ["olga", "too many attempts", 6],
    ["admin", "too many attempts", 1],
    ["an unknown name", "wrong password", 100],
  ] as const)
    for (let i = 0; i < times; i++)
      store.audit.record("sign-in-failed", { what, actor: { who, from: "10.0.0.1" } });
  const entries = await closed();

  assert.deepEqual(
    entries.map(({ who, what, from, count = 1 }) => `${who} from ${from}: ${what} ${count}`),
    [
      "olga from 10.0.0.1: wrong password 1",
      "olga from 10.0.0.1: too many attempts 1",
      "admin from 10.0.0.1: too many attempts 1",
      "an unknown name from 10.0.0.1: wrong password 1",
      "olga from 10.0.0.1: wrong password 3",
      "olga from 10.0.0.1: too many attempts 5",
      "an unknown name from 10.0.0.1: wrong password 99",
    ],
  );
});
