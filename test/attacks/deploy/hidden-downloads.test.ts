import assert from "node:assert/strict";
import { get } from "node:http";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../../src/domain/audit/audit.ts";
import { startGuarded } from "../../support/access/guarded.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { entriesIn, logEntries } from "../../support/audit/audit.ts";
import { downloadCounts } from "../../support/audit/counted.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { until } from "../../support/until.ts";

const path = "/printers/1/packages/rmm";
const began = ({ who, range }: AuditEntry) => `${who} ${range ? `${range.first}-${range.last}` : "all"}`;

async function startWithPackage(t: TestContext): Promise<{ app: TestApp; size: number }> {
  let now = Date.UTC(2026, 10, 22);
  const app = await startApp(t, { clock: () => now++ });
  await app.addPrinter();
  const size = Number((await app.fetch(path, { method: "HEAD" })).headers.get("content-length"));
  return { app, size };
}

const take = async (app: Pick<TestApp, "fetch">, range: string, headers: Record<string, string> = {}) =>
  (await app.fetch(path, { headers: { range: `bytes=${range}`, ...headers } })).arrayBuffer();

test("a download without its last byte is in the audit log with its range, and is not a deployment", async (t) => {
  const { app, size } = await startWithPackage(t);

  await take(app, `0-${size - 2}`);
  const entries = await logEntries(app, "download-begun", "downloaded");

  assert.deepEqual(
    entries.map(({ event, range }) => [event, range]),
    [["download-begun", { first: 0, last: size - 2, size }]],
  );
  assert.deepEqual([entries[0]?.record?.name, entries[0]?.printers?.[0]?.[0]], ["Office", 1]);
  assert.deepEqual(await downloadCounts(app, 1), []);
});

test("a download byte by byte makes two lines: the first byte, and the others with their number", async (t) => {
  const { app } = await startWithPackage(t);

  for (let at = 0; at < 100; at += 2) await take(app, `${at}-${at}`);
  for (let at = 1; at < 100; at += 2) await take(app, `${at}-${at}`);
  const first = await logEntries(app, "download-begun");
  await app.stop();
  const all = entriesIn(app.dataDir).filter(({ event }) => event === "download-begun");

  assert.deepEqual(first.map(began), ["anyone 0-0"]);
  assert.deepEqual(
    all.map(({ count = 1, range }) => [count, range?.first, range?.last]),
    [
      [1, 0, 0],
      [99, 1, 99],
    ],
  );
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

test("a cross-site download is in the log like any other", async (t) => {
  const { app } = await startWithPackage(t);
  const spellings = [
    { "sec-fetch-site": "cross-site" },
    { origin: "http://elsewhere.test" },
    { referer: "http://elsewhere.test/", "user-agent": "Mozilla/5.0" },
  ];

  for (const headers of spellings) await (await app.fetch(path, { headers })).arrayBuffer();
  const entries = await logEntries(app, "downloaded");

  assert.deepEqual(
    entries.map(({ by, printers }) => [by, printers?.[0]?.[0]]),
    spellings.map(() => ["page of another site", 1]),
  );
  assert.deepEqual(await downloadCounts(app, 1), []);
});

test("a client that disconnects after some bytes is in the log", async (t) => {
  const app = await startApp(t);
  const bytes = Buffer.from(Uint32Array.from({ length: 4_000_000 }, (_, i) => (i * 2654435761) >>> 7).buffer);
  const driver = await app.addDriver(driverZip({ extra: [{ name: "big.bin", bytes, method: 0 }] }));
  await app.addPrinter({ driver_id: String(driver) });

  await new Promise<void>((left) => {
    get(app.url + path, { agent: false }, (response) =>
      response.once("data", () => {
        response.destroy();
        left();
      }),
    );
  });
  await until(async () => (await logEntries(app, "download-begun")).length === 1);

  assert.deepEqual(await logEntries(app, "downloaded"), []);
});

test("responses without a byte make no line: HEAD, 304, a range beyond the end", async (t) => {
  const { app } = await startWithPackage(t);
  const etag = (await app.fetch(path, { method: "HEAD" })).headers.get("etag") ?? "";

  const answers = [
    await app.fetch(path, { method: "HEAD", headers: { range: "bytes=0-9" } }),
    await app.fetch(path, { headers: { "if-none-match": etag } }),
    await app.fetch(path, { headers: { range: "bytes=999999999-" } }),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [206, 304, 416],
  );
  assert.deepEqual(await logEntries(app, "download-begun", "downloaded"), []);
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

  const page = await (await viewer.fetch("/printers/1/read/install")).text();
  const link = /\/drivers\/1\/files\?link=[\w.-]+/.exec(page)?.[0] ?? "";
  const entries = await logEntries(service, "link-made");

  await (await service.fetch(link)).arrayBuffer();
  await until(async () => (await logEntries(service, "downloaded")).length === 1);

  const [fetched] = await logEntries(service, "downloaded");
  assert.match(fetched?.who ?? "", /^link driver 1, until 20/);
  assert.deepEqual(
    entries.map(({ who, record, what }) => [who, record?.name, what]),
    [["seller", "Office", "in /printers/1/scripts/install, on its page"]],
  );
});
