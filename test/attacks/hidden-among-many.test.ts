import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit.ts";
import { DeploymentMemory } from "../../src/services/deployment-memory.ts";
import { openStore } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/app.ts";
import { entriesIn, said } from "../support/audit.ts";
import { deepTest } from "../support/depth.ts";
import { makePrinter } from "../support/records.ts";

/** A log with somebody who fetches scripts of printers, whole. */
async function flooded(t: TestContext) {
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
    store.audit.download({ ...download, actor: { who, from } })();
  };
  const take = (who: string, what: string, driver?: number, from = "10.0.0.1") => {
    const record = driver === undefined ? undefined : ({ kind: "driver", id: driver, name: "D" } as const);
    store.audit.download({ what, by: "script", digest: what, record, actor: { who, from } })();
  };
  const closed = async () => {
    await store.close();
    return entriesIn(dataDir);
  };
  return { store, dataDir, fetch, take, closed };
}

const sum = (entries: readonly AuditEntry[]) => entries.reduce((total, { count = 1 }) => total + count, 0);
const of = (entries: readonly AuditEntry[], name: string) => entries.filter(({ who }) => who === name);

deepTest("each of 10,000 printers that one token fetches at once counts as deployed, once", async (t) => {
  const { store, fetch, closed } = await flooded(t);
  const memory = new DeploymentMemory(store, () => {});
  await memory.start();
  const deployed = (most: number) =>
    Array.from({ length: most }, (_, i) => i + 1).filter((id) => memory.latest(id)).length;

  for (let printer = 1; printer <= 3000; printer++) fetch("token Datto", "install", printer);
  await store.audit.flush();
  const first = deployed(10_000);
  for (let printer = 3001; printer <= 10_000; printer++) fetch("token Datto", "install", printer);
  await store.audit.close();
  const counts = [1, 1001, 1030, 2999, 10_000].map((id) => memory.ofPrinter(id)[0]?.count);
  const all = deployed(10_000);
  await memory.close();
  const entries = await closed();

  assert.deepEqual([first, all], [3000, 10_000]);
  assert.deepEqual(counts, [1, 1, 1, 1, 1]);
  assert.equal(sum(entries.filter(({ event }) => event === "downloaded")), 10_000);
  assert.ok(entries.length < 1500, `${entries.length} lines`);
});

test("what was counted before its line was written is not counted again by a start that reads the line", async (t) => {
  const { store, dataDir, fetch, closed } = await flooded(t);
  const bare = { ...makePrinter(), client_id: null, driver_id: null };
  const printer = await store.printers.add(bare);
  for (let i = 0; i < 1005; i++) fetch("token Datto", "install", printer);
  const lines = (await closed()).filter(({ count }) => count !== undefined);

  const again = await openStore(dataDir, Date.now, () => {});
  const memory = new DeploymentMemory(again, () => {});
  await memory.start();
  const [counted] = memory.ofPrinter(printer);
  await memory.close();
  await again.close();

  assert.equal(counted?.count, 1000);
  assert.deepEqual(
    lines.map(({ event, count, isTallied, printers }) => [event, count, isTallied, printers?.length]),
    [
      ["download-begun", 5, undefined, 1],
      ["downloaded", 5, true, 1],
    ],
  );
});

test("an export, a driver's archive and its files have their lines behind any number of scripts", async (t) => {
  const { fetch, take, closed } = await flooded(t);

  for (let i = 0; i < 1500; i++) fetch("seller", "install", 1);
  for (let printer = 2; printer < 200; printer++) fetch("seller", "detect", printer);
  take("seller", "printers.csv");
  take("seller", "archive", 1);
  take("seller", "files", 1);
  const entries = await closed();

  const weighty = entries.filter(({ what }) => ["printers.csv", "archive", "files"].includes(what ?? ""));
  assert.deepEqual(weighty.map(said), [
    "downloaded printers.csv",
    "downloaded driver 1 D archive",
    "downloaded driver 1 D files",
  ]);
  const together = entries.filter(
    ({ event, what, count }) => event === "downloaded" && what === "detect" && !count,
  );
  assert.deepEqual(together, []);
  assert.equal(sum(entries.filter(({ event, what }) => event === "downloaded" && what === "detect")), 198);
  assert.deepEqual(new Set(entries.map(({ who, from }) => `${who} ${from}`)), new Set(["seller 10.0.0.1"]));
});

test("weighty downloads are named behind any number of weighty ones, and what is put together says what it was", async (t) => {
  const { take, closed } = await flooded(t);

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

deepTest(
  "a token that leaked to thirty addresses has one share, and what people and other tokens do keeps its lines",
  async (t) => {
    const { fetch, closed } = await flooded(t);

    for (let address = 1; address <= 30; address++)
      for (let printer = 1; printer <= 400; printer++)
        fetch("token leaked", "install", printer, `192.0.2.${address}`);
    for (let printer = 1; printer <= 20; printer++) {
      fetch("otto", "rmm", printer);
      fetch("token Datto", "rmm", printer);
    }
    const entries = await closed();

    assert.ok(of(entries, "token leaked").length < 1600, `${of(entries, "token leaked").length} lines`);
    assert.equal(sum(of(entries, "token leaked").filter(({ event }) => event === "downloaded")), 12_000);
    for (const name of ["otto", "token Datto"])
      assert.deepEqual(
        of(entries, name).map(({ record, from, count }) => [record?.id, from, count]),
        Array.from({ length: 20 }, (_, i) => [i + 1, "10.0.0.1", undefined]),
      );
    assert.equal(of(entries, "several").length, 0);
  },
);

deepTest(
  "thirty accounts that fetch without end leave another one its lines, and what is counted of it its name",
  async (t) => {
    const { store, fetch, closed } = await flooded(t);
    const part = (printer: number, first: number) => {
      const record = { kind: "printer", id: printer, name: `P ${printer}` } as const;
      const download = { what: "rmm", by: "script", digest: `rmm ${printer}`, record };
      store.audit.download(
        { ...download, actor: { who: "otto", from: "10.0.0.9" } },
        { first, last: first, size: 9 },
      );
    };

    for (let person = 0; person < 30; person++)
      for (let i = 0; i < 1200; i++) fetch(`person ${person}`, "install", i);
    for (let printer = 1; printer <= 20; printer++) fetch("otto", "rmm", printer, "10.0.0.9");
    for (const first of [0, 1, 2]) part(30, first);
    const entries = of(await closed(), "otto");

    assert.deepEqual(
      entries.map(({ record, from, count = 1 }) => [record?.id, from, count]),
      [
        ...Array.from({ length: 20 }, (_, i) => [i + 1, "10.0.0.9", 1]),
        [30, "10.0.0.9", 1],
        [30, "10.0.0.9", 2],
      ],
    );
  },
);

test("failed sign-ins of one address keep the names of accounts and the reasons apart", async (t) => {
  const { store, closed } = await flooded(t);
  const fail = (who: string, what: string) =>
    store.audit.note("sign-in-failed", { what, actor: { who, from: "10.0.0.1" } });

  for (let i = 0; i < 4; i++) fail("olga", "wrong password");
  for (let i = 0; i < 6; i++) fail("olga", "too many attempts");
  fail("admin", "too many attempts");
  for (let i = 0; i < 100; i++) fail("an unknown name", "wrong password");
  const entries = await closed();

  assert.deepEqual(
    entries.map((entry) => `${entry.who} from ${entry.from}: ${said(entry)}`),
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

deepTest(
  "guesses at a thousand accounts from addresses without end are counted for each name, with their reasons",
  async (t) => {
    const { store, closed } = await flooded(t);
    const reasons = ["wrong password", "too many attempts"];

    for (let i = 0; i < 40_000; i++) {
      const from = `2001:db8:${(i % 7919).toString(16)}::1`;
      const actor = { who: `person ${i % 1000}`, from };
      store.audit.note("sign-in-failed", { what: reasons[Math.floor(i / 1000) % 2] ?? "", actor });
    }
    const entries = await closed();

    const counts = new Map<string, number>();
    for (const { who, what, count = 1 } of entries)
      counts.set(`${who} ${what}`, (counts.get(`${who} ${what}`) ?? 0) + count);
    assert.equal(counts.size, 2000);
    assert.deepEqual(new Set(counts.values()), new Set([20]));
    assert.ok(entries.length < 6000, `${entries.length} lines`);
  },
);
