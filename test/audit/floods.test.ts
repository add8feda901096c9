import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit/audit.ts";
import { LimitedLog } from "../../src/services/limited-log.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { adminPassword, startClosed } from "../support/access/people.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, entryText, logEntries, logFiles } from "../support/audit/audit.ts";
import { deepTest } from "../support/depth.ts";
import { connectRaw, hangUpAfter, postText } from "../support/raw.ts";
import { until } from "../support/until.ts";

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

test("many events of one sender do not hide those of others, and are counted by route and by network", async (t) => {
  const { store, endMinute, entries } = await startFlooded(t);
  const fail = (who: string, from: string) => store.audit.record("sign-in-failed", { actor: { who, from } });

  for (let i = 0; i < 2000; i++) {
    refuse(store, "mallory", "10.0.0.1", `/accounts/${i}${"a".repeat(400)}`, "/accounts/:id");
    refuse(store, "mallory", "10.0.0.1", `/nothing/${i}`, "an address where nothing is");
    // All addresses of a /64 are one.
    fail("an unknown name", `2001:db8:1:1::${i.toString(16)}`);
  }
  refuse(store, "eve", "10.0.0.2", "/accounts", "/accounts");
  fail("admin", "192.0.2.1");
  const atOnce = await entries();
  await endMinute();
  await store.close();
  const all = await entries();

  const senders = atOnce.map(({ who }) => who).join();
  assert.equal(senders, "mallory,mallory,an unknown name,eve,admin");
  assert.deepEqual(all.slice(5).map(entryText), [
    "refused GET /accounts/:id 1999 times",
    "refused GET an address where nothing is 1999 times",
    "sign-in-failed 1999 times",
  ]);
});

deepTest("failures from any number of networks take limited lines, and each is counted", async (t) => {
  const { store, dataDir, endMinute, entries } = await startFlooded(t);
  const perMinute: number[] = [];

  for (let round = 0; round < 20; round++) {
    const before = round === 0 ? 0 : (await entries()).length;
    for (let i = 0; i < 4000; i++) {
      const network = (round * 4000 + i).toString(16);
      const from = `2001:db8:${network.slice(-4)}:${network.slice(0, -4) || "0"}::1`;
      store.audit.record("sign-in-failed", { what: "wrong password", actor: { who: "admin", from } });
    }
    await endMinute();
    perMinute.push((await entries()).length - before);
  }
  const { size } = statSync(logFiles(dataDir)[0] ?? "");
  refuse(store, "eve", "10.0.0.2", "/accounts", "/accounts");
  await store.close();
  const all = await entries();

  assert.ok(Math.max(...perMinute) <= 110, perMinute.join(" "));
  assert.ok(size < 1_000_000, `${size} bytes`);
  assert.equal(all.at(-1)?.who, "eve");
  assert.equal(sum(all), 80_001);
});

const floods: readonly [string, (store: Store, i: number) => void][] = [
  ["unauthenticated refusals", (store, i) => refuse(store, "nobody", "10.0.0.1", "/x", `/${i}`)],
  [
    "failed sign-ins from many networks",
    ({ audit }, i) => audit.record("sign-in-failed", { actor: { who: "admin", from: `10.0.${i}.1` } }),
  ],
];

for (const [what, record] of floods)
  test(`${what} get 100 lines a minute, and one line for all others`, async (t) => {
    const { store, endMinute, entries } = await startFlooded(t);

    for (let i = 0; i < 150; i++) record(store, i);
    const atOnce = await entries();
    await endMinute();
    const all = await entries();
    // A minute later they get their own lines again.
    record(store, 149);
    await store.close();
    const last = (await entries()).at(-1);

    assert.deepEqual([atOnce.length, all.length, sum(all)], [101, 102, 150]);
    const { who, from, count } = all.at(-1) ?? {};
    assert.deepEqual([who, from, count], ["several", "several", 49]);
    assert.notEqual(last?.who, "several");
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

  for (let i = 0; i < 12; i++) {
    await viewer.fetch(`/accounts/${i}`);
    await viewer.fetch(`/nothing/${i}${"x".repeat(300)}`);
    await viewer.post(`/printers/${i}/delete?${i}`, {}, { "sec-fetch-site": "same-origin" });
  }
  const atOnce = (await logEntries(service, "refused")).map(entryText);
  await service.stop();
  const counted = entriesIn(service.dataDir).filter(({ event, count }) => event === "refused" && count);

  assert.equal(atOnce.length, 2, atOnce.join("\n"));
  assert.equal(counted.length, 2);
  for (const { what } of counted) assert.doesNotMatch(what ?? "", /\d|x{9}/);
});

const refusalLines = (lines: readonly string[]) => lines.filter((line) => line.startsWith("refused with"));

test("a network that causes many lines does not suppress those of others, and omitted lines are counted", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const lines = new LimitedLog((line) => written.push(line));

  for (let i = 0; i < 5000; i++) lines.log(`from one: ${i}`, "10.0.0.1");
  lines.log("from another", "10.0.0.2");
  t.mock.timers.tick(60_000);
  lines.log("a minute later", "10.0.0.1");
  const rest = written.slice(20);
  for (let i = 0; i < 5000; i++) lines.log("broken off", `2001:db8:0:${i.toString(16)}`);

  const omitted = "4980 more lines like these in the last minute";
  assert.deepEqual(rest, ["from another", omitted, "a minute later"]);
  assert.equal(written.filter((line) => line === "broken off").length, 119);
});

test("refusals of one kind get 20 lines a minute, and one line with the number of the others", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: string[] = [];
  const bounded = new LimitedLog((line) => lines.push(line));

  for (let i = 0; i < 215; i++) bounded.logRefused(503, "Too many pages.", `GET /${i} from 10.0.0.1`);
  bounded.logRefused(429, "Too many attempts.", "POST /sign-in from 10.0.0.2");
  bounded.logRefused(404, "There is nothing.", "GET /x from 10.0.0.3");
  t.mock.timers.tick(60_000);

  for (const line of lines.slice(0, 20)) assert.match(line, /^refused with 503: Too many pages\. \(GET \//);
  assert.deepEqual(lines.slice(20), [
    "refused with 429: Too many attempts. (POST /sign-in from 10.0.0.2)",
    "195 more lines like these in the last minute",
  ]);
});

test("sign-ins and sign-outs are logged however many attempts are refused", async (t) => {
  const { app, lines } = await startClosed(t);
  const from = (address: string) => ({ address, browser: "" });
  for (let i = 0; i < 150; i++) {
    const network = 1 + Math.floor(i / 25);
    const attempt = { name: `name ${network}`, password: "wrong" };
    await assert.rejects(app.signIn.signIn(attempt, from(`10.0.${network}.1`)));
  }

  await app.signIn.signIn({ name: "admin", password: adminPassword }, from("192.0.2.7"));
  const [session] = app.store.sessions.ofAccount(1);
  assert.ok(session);
  await app.signIn.signOut(session, "admin", "192.0.2.7");

  const said = lines.filter((line) => line.startsWith("sign-in: "));
  assert.equal(said.filter((line) => line.startsWith("sign-in: refused")).length, 120);
  assert.deepEqual(said.slice(120), [
    "sign-in: let in: “admin” from 192.0.2.7",
    "sign-in: signed out: “admin” from 192.0.2.7",
  ]);
});

test("many aborted forms do not fill the log, and a download over the limit is logged with its path", async (t) => {
  const service = await startApp(t, { limits: { downloads: 0 } });
  const id = await service.addPrinter();
  const form = postText("/clients", "application/x-www-form-urlencoded", "name=A", { length: 1000 });

  for (let i = 0; i < 25; i++) await hangUpAfter(service.url, form);
  const answer = await service.fetch(`/printers/${id}/packages/rmm`);

  assert.equal(service.lines.filter((line) => line.startsWith("broken off")).length, 20);
  assert.equal(answer.status, 503);
  assert.deepEqual(refusalLines(service.lines), [
    `refused with 503: ${(await answer.text()).trim()} (GET /printers/${id}/packages/rmm from 127.0.0.1)`,
  ]);
});

test("a connection over the limit, and a head or body that arrives too slowly, is logged", async (t) => {
  const tooMany = "503: Too many connections are open at the moment. Try again in a few seconds. (127.0.0.1)";
  const post = "POST /clients HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nname";
  for (const [limits, sent, line] of [
    [{ connections: 0 }, "", tooMany],
    [
      { headMs: 50, headCheckMs: 20 },
      "GET / HTTP/1.1\r\nHost: loc",
      "408: The request’s head came too slowly. (127.0.0.1)",
    ],
    [{ slowMs: 50 }, post, "408: The request came too slowly. (POST /clients from 127.0.0.1)"],
  ] as const) {
    const service = await startApp(t, { limits });
    const raw = await connectRaw(service.url);

    if (sent !== "") raw.socket.write(sent);
    const answer = await raw.closed;

    await until(() => refusalLines(service.lines).length > 0);
    assert.deepEqual(refusalLines(service.lines), [`refused with ${line}`]);
    assert.ok(sent !== "" || answer.startsWith("HTTP/1.1 503 "), answer);
  }
});
