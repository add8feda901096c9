import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit/audit.ts";
import { DeploymentMemory } from "../../src/services/deploy/deployment-memory.ts";
import { openStore } from "../../src/store/store.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText, logEntries } from "../support/audit/audit.ts";
import { downloadCounts } from "../support/audit/counted.ts";
import { beginDownload } from "../support/audit/downloads.ts";
import { textOf } from "../support/deploy/answers.ts";
import { addLargeDriver } from "../support/deploy/large-driver.ts";
import { deepTest } from "../support/depth.ts";
import { makePrinter } from "../support/records.ts";
import { until } from "../support/until.ts";

const path = "/printers/1/packages/rmm";
const began = ({ who, range }: AuditEntry) => `${who} ${range ? `${range.first}-${range.last}` : "all"}`;

async function startWithPackage(t: TestContext): Promise<{ app: TestApp; size: number }> {
  let now = Date.UTC(2026, 10, 22);
  const app = await startApp(t, { clock: () => now++ });
  await app.addPrinter();
  const size = Number((await app.fetch(path, { method: "HEAD" })).headers.get("content-length"));
  return { app, size };
}

const take = async (app: Pick<TestApp, "fetch">, range: string) =>
  (await app.fetch(path, { headers: { range: `bytes=${range}` } })).arrayBuffer();

test("a download without its last byte is in the audit log with its range, and is not a deployment", async (t) => {
  const { app, size } = await startWithPackage(t);

  await take(app, `0-${size - 2}`);
  const [entry, ...more] = await logEntries(app, "download-begun", "downloaded");

  assert.deepEqual(
    [entry?.event, entry?.range, more],
    ["download-begun", { first: 0, last: size - 2, size }, []],
  );
  assert.deepEqual([entry?.record?.name, entry?.printers?.[0]?.[0]], ["Office", 1]);
  assert.deepEqual(await downloadCounts(app, 1), []);
});

test("a download byte by byte makes two lines: the first byte, and the others with their number", async (t) => {
  const { app } = await startWithPackage(t);

  for (let at = 0; at < 40; at += 2) await take(app, `${at}-${at}`);
  for (let at = 1; at < 40; at += 2) await take(app, `${at}-${at}`);
  const first = await logEntries(app, "download-begun");
  await app.stop();
  const all = entriesIn(app.dataDir).filter(({ event }) => event === "download-begun");

  const lines = all.map(({ count = 1, range }) => `${count}: ${range?.first}-${range?.last}`);
  assert.deepEqual(first.map(began), ["anyone 0-0"]);
  assert.deepEqual(lines, ["1: 0-0", "39: 1-39"]);
});

test("the log has a line for each user who downloaded a part", async (t) => {
  const { service, operator, viewer } = await startGuarded(t);
  await operator.addPrinter();

  await take(operator, "0-9");
  await take(viewer, "10-");
  await until(async () => (await logEntries(service, "downloaded")).length === 1);
  const entries = await logEntries(service, "download-begun", "downloaded");

  assert.deepEqual(entries.map(began), ["tech 0-9", "seller all"]);
});

test("a client that disconnects after some bytes is in the log, and its download does not count", async (t) => {
  const app = await startApp(t);
  await addLargeDriver(app);

  const download = await beginDownload(app.url + path);
  await new Promise((resolve) => download.once("data", resolve).resume());
  download.destroy();
  await until(async () => (await logEntries(app, "download-begun")).length === 1);
  await until(() => app.lines.some((line) => line.includes("the client left")));

  assert.equal(download.statusCode, 200);
  assert.deepEqual(await logEntries(app, "downloaded"), []);
  assert.deepEqual(await downloadCounts(app, 1), []);
});

test("a backup that is downloaded except for its last byte is in the log", async (t) => {
  const app = await startApp(t);
  await app.post("/clients", { name: "Contoso" });
  await app.post("/backups", {});
  const [{ name } = { name: "" }] = app.app.backups.list();

  const answer = await app.fetch(`/backups/${name}`, { headers: { range: "bytes=0-4094" } });
  await answer.arrayBuffer();
  const [entry] = await logEntries(app, "backup-fetched");

  assert.equal(answer.status, 206);
  assert.deepEqual([entry?.what, entry?.range?.last], [name, 4094]);
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
  assert.match(fetched?.who ?? "", /^link driver 1, until 20/);
  assert.deepEqual([made?.who, made?.record?.name, made?.what, more], ["seller", "Office", what, []]);
});

/** An audit log with functions that record downloads. */
async function startLog(t: TestContext) {
  const now = Date.UTC(2026, 10, 22);
  const dataDir = await temporaryFolder(t);
  const clock = () => now;
  const store = await openStore(dataDir, clock, () => {});
  const fetch = (who: string, what: string, printer: number, from = "10.0.0.1") => {
    const record = { kind: "printer", id: printer, name: `P ${printer}` } as const;
    const printers = [[printer, "revision"]] as const;
    const download = { what, by: "script", digest: `${what} ${printer}`, record, printers };
    store.audit.recordDownload({ ...download, actor: { who, from } })();
  };
  const take = (who: string, what: string, driver?: number, from = "10.0.0.1") => {
    const record = driver === undefined ? undefined : ({ kind: "driver", id: driver, name: "D" } as const);
    store.audit.recordDownload({ what, by: "script", digest: what, record, actor: { who, from } })();
  };
  const closed = async () => {
    await store.close();
    return entriesIn(dataDir);
  };
  return { store, dataDir, fetch, take, closed };
}

deepTest("each of 10,000 printers that one token downloads has its own line and counts once", async (t) => {
  const { store, fetch, closed } = await startLog(t);
  const memory = new DeploymentMemory(store, () => {});
  await memory.start();

  for (let printer = 1; printer <= 10_000; printer++) fetch("token Datto", "install", printer);
  await store.audit.flush();
  const counts = Array.from({ length: 10_000 }, (_, i) => memory.lastDeployed(i + 1)?.revision);
  const some = [1, 1001, 10_000].map((id) => memory.ofPrinter(id)[0]?.count);
  await memory.close();
  const entries = await closed();

  assert.deepEqual(new Set(counts), new Set(["revision"]));
  assert.deepEqual(some, [1, 1, 1]);
  assert.equal(entries.filter(({ event }) => event === "downloaded").length, 10_000);
});

test("a line for several downloads counts all of them for its printer, and only once after restarts", async (t) => {
  const { store, dataDir, fetch, closed } = await startLog(t);
  const printer = await store.printers.add({ ...makePrinter(), client_id: null, driver_id: null });
  for (let i = 0; i < 1005; i++) fetch("token Datto", "install", printer);
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

test("an export, a driver's archive and its files have their own lines after any number of scripts and others", async (t) => {
  const { fetch, take, closed } = await startLog(t);

  for (let i = 0; i < 1500; i++) fetch("seller", "install", 1);
  for (let printer = 2; printer < 200; printer++) fetch("seller", "detect", printer);
  for (let i = 0; i < 1500; i++) take("another", "archive", 1);
  for (let driver = 2; driver < 200; driver++) take("another", "files", driver);
  take("another", "printers.csv");
  take("seller", "printers.csv");
  take("seller", "archive", 1);
  take("seller", "files", 1);
  const entries = await closed();

  const own = entries.filter(({ who }) => who === "seller");
  const large = own.filter(({ what }) => ["printers.csv", "archive", "files"].includes(what ?? ""));
  const sum = (what: string, who: string) =>
    entries
      .filter((entry) => entry.event === "downloaded" && entry.what === what && entry.who === who)
      .reduce((total, { count = 1 }) => total + count, 0);
  assert.deepEqual(large.map(entryText), [
    "downloaded printers.csv",
    "downloaded driver 1 D archive",
    "downloaded driver 1 D files",
  ]);
  assert.equal(sum("detect", "seller"), 198);
  const another = entries.filter(({ who, event }) => who === "another" && event === "downloaded");
  assert.equal(another.filter(({ what }) => what === "files").length, 198);
  assert.equal(another.filter(({ what }) => what === "printers.csv").length, 1);
  assert.deepEqual(new Set(entries.map(({ from }) => from)), new Set(["10.0.0.1"]));
});

test("failed sign-ins from one address have separate lines for each account and reason", async (t) => {
  const { store, closed } = await startLog(t);
  const fail = (who: string, what: string, times: number) => {
    const entry = { what, actor: { who, from: "10.0.0.1" } };
    for (let i = 0; i < times; i++) store.audit.record("sign-in-failed", entry);
  };

  fail("olga", "wrong password", 4);
  fail("olga", "too many attempts", 6);
  fail("admin", "too many attempts", 1);
  fail("an unknown name", "wrong password", 100);
  const entries = await closed();

  assert.deepEqual(
    entries.map((entry) => `${entry.who} from ${entry.from}: ${entryText(entry)}`),
    [
      "olga from 10.0.0.1: sign-in-failed wrong password",
      "olga from 10.0.0.1: sign-in-failed too many attempts",
      "admin from 10.0.0.1: sign-in-failed too many attempts",
      "an unknown name from 10.0.0.1: sign-in-failed wrong password",
      "olga from 10.0.0.1: sign-in-failed wrong password 3 times",
      "olga from 10.0.0.1: sign-in-failed too many attempts 5 times",
      "an unknown name from 10.0.0.1: sign-in-failed wrong password 99 times",
    ],
  );
});
