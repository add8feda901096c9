import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit/audit.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText, logEntries, logFiles } from "../support/audit/audit.ts";
import { deepTest } from "../support/depth.ts";

const minute = 60_000;

/** A store whose clock the test controls, for floods of events. */
async function startFlooded(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = Date.UTC(2026, 10, 22);
  const dataDir = await temporaryFolder(t);
  const clock = () => now;
  const store = await openStore(dataDir, clock, () => {});
  const endMinute = async () => {
    now += minute;
    t.mock.timers.tick(minute);
    await store.audit.flush();
  };
  const entries = async () => {
    await store.audit.flush();
    return entriesIn(dataDir);
  };
  const setBack = (ms: number) => {
    now -= ms;
  };
  return { store, dataDir, endMinute, setBack, entries };
}

const refuse = ({ audit }: Store, who: string, from: string, path: string, pattern: string) =>
  audit.record("refused", { what: `GET ${path}`, countedAs: `GET ${pattern}`, actor: { who, from } });

const sum = (entries: readonly AuditEntry[]) => entries.reduce((total, { count = 1 }) => total + count, 0);

test("many refusals of one account do not hide those of others, and are counted by route", async (t) => {
  const { store, endMinute, entries } = await startFlooded(t);

  for (let i = 0; i < 2000; i++) {
    refuse(store, "mallory", "10.0.0.1", `/accounts/${i}${"a".repeat(400)}`, "/accounts/:id");
    refuse(store, "mallory", "10.0.0.1", `/nothing/${i}`, "an address where nothing is");
  }
  refuse(store, "eve", "10.0.0.2", "/accounts", "/accounts");
  const atOnce = await entries();
  await endMinute();
  await store.close();
  const all = await entries();

  assert.deepEqual(
    atOnce.map(({ who }) => who),
    ["mallory", "mallory", "eve"],
  );
  assert.deepEqual(all.slice(3).map(entryText), [
    "refused GET /accounts/:id 1999 times",
    "refused GET an address where nothing is 1999 times",
  ]);
});

deepTest(
  "failures from any number of networks take limited memory and lines, and each one is counted",
  async (t) => {
    const { store, dataDir, endMinute, entries } = await startFlooded(t);
    const perMinute: number[] = [];
    store.audit.record("started");

    for (let round = 0; round < 20; round++) {
      const before = (await entries()).length;
      for (let i = 0; i < 4000; i++) {
        const network = (round * 4000 + i).toString(16);
        const from = `2001:db8:${network.slice(-4)}:${network.slice(0, -4) || "0"}::1`;
        store.audit.record("sign-in-failed", { what: "wrong password", actor: { who: "admin", from } });
      }
      await endMinute();
      perMinute.push((await entries()).length - before);
    }
    const lines = (await entries()).length;
    const { size } = statSync(logFiles(dataDir)[0] ?? "");
    refuse(store, "eve", "10.0.0.2", "/accounts", "/accounts");
    const last = (await entries()).at(-1);
    await store.close();

    t.diagnostic(`${lines} lines in 20 minutes: ${perMinute.join(" ")}`);
    assert.ok(Math.max(...perMinute) <= 110, perMinute.join(" "));
    assert.ok(size < 1_000_000, `${size} bytes`);
    assert.equal(last?.who, "eve");
    assert.equal(sum((await entries()).filter(({ event }) => event === "sign-in-failed")), 80_000);
  },
);

test("all addresses of a /64 share the lines of one address", async (t) => {
  const { store, entries } = await startFlooded(t);

  for (let i = 0; i < 5000; i++) {
    const from = `2001:db8:1:1::${i.toString(16)}`;
    store.audit.record("sign-in-failed", { actor: { who: "an unknown name", from } });
  }
  store.audit.record("sign-in-failed", { actor: { who: "admin", from: "192.0.2.1" } });
  const atOnce = await entries();
  await store.close();

  assert.deepEqual(
    atOnce.map(({ who }) => who),
    ["an unknown name", "admin"],
  );
  assert.deepEqual((await entries()).slice(2).map(entryText), ["sign-in-failed 4999 times"]);
});

test("unauthenticated refusals get 100 lines a minute, and one line for all others", async (t) => {
  const { store, endMinute, entries } = await startFlooded(t);

  for (let i = 0; i < 500; i++) refuse(store, "nobody", "10.0.0.1", `/x/${i}`, `/pattern/${i % 125}`);
  refuse(store, "nobody", "10.0.0.2", "/printers/1", "/printers/:id");
  const atOnce = await entries();
  await endMinute();
  const before = await entries();
  refuse(store, "nobody", "10.0.0.3", "/clients/1", "/clients/:id");
  await store.close();
  const [after] = (await entries()).slice(before.length);

  const rest = before.filter(({ who }) => who === "several").map(({ from, count }) => [from, count]);
  assert.equal(atOnce.filter(({ from }) => from === "10.0.0.1").length, 101);
  assert.equal(sum(before), 501);
  assert.deepEqual(rest, [["several", 100]]);
  // A minute later they get their own lines again.
  assert.equal(
    after && `${after.who} from ${after.from}: ${entryText(after)}`,
    "nobody from 10.0.0.3: refused GET /clients/1",
  );
});

test("failed sign-ins from many networks get 100 lines a minute, and one line for all others", async (t) => {
  const { store, endMinute, entries } = await startFlooded(t);

  for (let i = 0; i < 150; i++) {
    const actor = { who: "admin", from: `10.0.${i}.1` };
    store.audit.record("sign-in-failed", { what: "wrong password", actor });
  }
  const atOnce = await entries();
  await endMinute();
  await store.close();
  const all = await entries();

  assert.deepEqual([atOnce.length, all.length, sum(all)], [101, 102, 150]);
  const { who, from, count } = all.at(-1) ?? {};
  assert.deepEqual([who, from, count], ["several", "several", 49]);
});

test("a clock that is set back ends the minute: counted events are written, and new ones get their own lines", async (t) => {
  const { store, setBack, entries } = await startFlooded(t);
  for (let i = 0; i < 5; i++) refuse(store, "eve", "10.0.0.2", "/accounts", "/accounts");

  setBack(60 * minute);
  refuse(store, "eve", "10.0.0.2", "/accounts", "/accounts");
  const atOnce = await entries();
  await store.close();

  assert.deepEqual(atOnce.map(entryText), [
    "refused GET /accounts",
    "refused GET /accounts",
    "refused GET /accounts 4 times",
  ]);
});

test("a machine that downloads the same in a loop gets a few lines a minute, and every download is counted", async (t) => {
  const { store, endMinute, entries } = await startFlooded(t);
  const printers = Array.from({ length: 300 }, (_, i) => [i + 1, "revision"] as const);
  const actor = { who: "token Datto", from: "10.0.0.1" };

  for (let i = 0; i < 200; i++)
    store.audit.recordDownload({ what: "rmm", by: "script", digest: "same", printers, actor })();
  const atOnce = (await entries()).length;
  await endMinute();
  await store.close();
  const downloaded = (await entries()).filter(({ event }) => event === "downloaded");

  assert.equal(atOnce, 20);
  assert.equal(downloaded.length, 21);
  assert.equal(sum(downloaded), 200);
  for (const entry of downloaded) assert.equal(entry.printers?.length, 300);
});

test("a viewer who requests many forbidden paths gets one line a minute for each route", async (t) => {
  const { service, viewer } = await startGuarded(t);

  for (let i = 0; i < 40; i++) {
    await viewer.fetch(`/accounts/${i}`);
    await viewer.fetch(`/nothing/${i}${"x".repeat(300)}`);
    await viewer.post(`/printers/${i}/delete?${i}`, {}, { "sec-fetch-site": "same-origin" });
  }
  const atOnce = (await logEntries(service, "refused")).map(entryText);
  await service.stop();
  const counted = entriesIn(service.dataDir).filter(({ event, count }) => event === "refused" && count);

  assert.ok(atOnce.length <= 3, atOnce.join("\n"));
  assert.ok(
    counted.every(({ what = "" }) => !/\d|x{9}/.test(what)),
    counted.map(entryText).join("\n"),
  );
});

test("refusals are counted by route, without the text that clients choose", async (t) => {
  const { store, endMinute, entries } = await startFlooded(t);
  const pattern = "/printers/:id/scripts/:kind";

  for (let i = 0; i < 5; i++) {
    refuse(store, "token Datto", "10.0.0.1", "/printers/2/scripts/install", pattern);
    refuse(store, "eve", "10.0.0.2", `/printers/${i}/scripts/install`, pattern);
    refuse(store, "nobody", "10.0.0.3", "/printers/2/scripts/install", pattern);
  }
  await endMinute();
  await store.close();

  assert.deepEqual((await entries()).slice(3).map(entryText), [
    "refused GET /printers/:id/scripts/:kind 4 times",
    "refused GET /printers/:id/scripts/:kind 4 times",
    "refused GET /printers/:id/scripts/:kind 4 times",
  ]);
});
