import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../../src/domain/audit/audit.ts";
import { DeploymentMemory } from "../../../src/services/deploy/deployment-memory.ts";
import { openStore } from "../../../src/store/store.ts";
import { temporaryFolder } from "../../support/app.ts";
import { entriesIn, entryText } from "../../support/audit/audit.ts";
import { deepTest } from "../../support/depth.ts";
import { makePrinter } from "../../support/records.ts";

/** An audit log with functions that record downloads. */
async function startLog(t: TestContext) {
  const now = Date.UTC(2026, 10, 22);
  const dataDir = await temporaryFolder(t);
  const store = await openStore(
    dataDir,
    () => now,
    () => {},
  );
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

const sum = (entries: readonly AuditEntry[]) => entries.reduce((total, { count = 1 }) => total + count, 0);

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
  const bare = { ...makePrinter(), client_id: null, driver_id: null };
  const printer = await store.printers.add(bare);
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

  assert.deepEqual(counts, [1005, 1005]);
  assert.deepEqual(
    lines.map(({ event, count, printers }) => [event, count, printers?.length]),
    [
      ["download-begun", 995, 1],
      ["downloaded", 985, 1],
    ],
  );
});

test("an export, a driver's archive and its files have their own lines after any number of scripts", async (t) => {
  const { fetch, take, closed } = await startLog(t);

  for (let i = 0; i < 1500; i++) fetch("seller", "install", 1);
  for (let printer = 2; printer < 200; printer++) fetch("seller", "detect", printer);
  take("seller", "printers.csv");
  take("seller", "archive", 1);
  take("seller", "files", 1);
  const entries = await closed();

  const large = entries.filter(({ what }) => ["printers.csv", "archive", "files"].includes(what ?? ""));
  assert.deepEqual(large.map(entryText), [
    "downloaded printers.csv",
    "downloaded driver 1 D archive",
    "downloaded driver 1 D files",
  ]);
  assert.equal(sum(entries.filter(({ event, what }) => event === "downloaded" && what === "detect")), 198);
  assert.deepEqual(new Set(entries.map(({ who, from }) => `${who} ${from}`)), new Set(["seller 10.0.0.1"]));
});

test("each archive and export has its own line after any number of others", async (t) => {
  const { take, closed } = await startLog(t);

  for (let i = 0; i < 1500; i++) take("seller", "archive", 1);
  for (let driver = 2; driver < 200; driver++) take("seller", "files", driver);
  take("seller", "printers.csv");
  const entries = await closed();

  assert.equal(entries.filter(({ what, event }) => what === "files" && event === "downloaded").length, 198);
  assert.equal(
    entries.filter(({ what, event }) => what === "printers.csv" && event === "downloaded").length,
    1,
  );
});

test("failed sign-ins from one address have separate lines for each account and reason", async (t) => {
  const { store, closed } = await startLog(t);
  const fail = (who: string, what: string) =>
    store.audit.record("sign-in-failed", { what, actor: { who, from: "10.0.0.1" } });

  for (let i = 0; i < 4; i++) fail("olga", "wrong password");
  for (let i = 0; i < 6; i++) fail("olga", "too many attempts");
  fail("admin", "too many attempts");
  for (let i = 0; i < 100; i++) fail("an unknown name", "wrong password");
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
