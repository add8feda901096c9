import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit/audit.ts";
import { limitLog } from "../../src/domain/flood-limit.ts";
import { openStore } from "../../src/store/store.ts";
import { adminPassword, startClosed } from "../support/access/people.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { entriesIn, logFiles } from "../support/audit/audit.ts";
import { deepTest } from "../support/depth.ts";
import { connectRaw, hangUpAfter, postText } from "../support/raw.ts";

/** A store and a function that ends the minute, for floods of events. */
async function startFlooded(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const dataDir = await temporaryFolder(t);
  const store = await openStore(dataDir, Date.now, () => {});
  const endMinute = () => t.mock.timers.tick(60_000);
  const entries = async () => {
    await store.audit.flush();
    return entriesIn(dataDir);
  };
  return { store, dataDir, endMinute, entries };
}

const sum = (entries: readonly AuditEntry[]) => entries.reduce((total, { count = 1 }) => total + count, 0);

test("a flood of refusals gets 20 lines a minute for each sender and 120 in all, and one line counts the rest", async (t) => {
  const { store, endMinute, entries } = await startFlooded(t);
  const refuse = (who: string, from: string) =>
    store.audit.record("refused", { what: "GET /accounts", actor: { who, from } });
  const fail = (from: string) => store.audit.record("sign-in-failed", { actor: { who: "admin", from } });

  // All addresses of a /64 are one sender.
  for (let i = 0; i < 2000; i++) refuse("nobody", `2001:db8:1:1::${i.toString(16)}`);
  refuse("eve", "10.0.0.2");
  for (let i = 0; i < 5000; i++) fail(`10.${i >> 8}.${i & 255}.1`);
  endMinute();
  fail("10.0.0.1");
  await store.close();

  const lines: Record<string, number> = {};
  for (const { event, who, count = 1 } of await entries()) {
    const line = `${event} ${who} ${count}`;
    lines[line] = (lines[line] ?? 0) + 1;
  }
  assert.deepEqual(lines, {
    "refused nobody 1": 20,
    "refused eve 1": 1,
    "sign-in-failed admin 1": 121,
    "refused several 1980": 1,
    "sign-in-failed several 4880": 1,
  });
});

test("a store that closes writes what it counted, and changes and downloads are never counted together", async (t) => {
  const { store, entries } = await startFlooded(t);
  const actor = { who: "nobody", from: "10.0.0.1" };

  for (let i = 0; i < 150; i++) store.audit.record("refused", { actor });
  for (let i = 0; i < 150; i++) store.audit.record("downloaded", { what: "rmm", by: "script", actor });
  await store.close();
  const all = await entries();

  assert.deepEqual([sum(all), all.length], [300, 171]);
  assert.equal(all.find(({ count }) => count !== undefined)?.count, 130);
});

deepTest("failures from any number of networks take limited lines, and each is counted", async (t) => {
  const { store, dataDir, endMinute, entries } = await startFlooded(t);

  for (let i = 0; i < 80_000; i++) {
    const from = `2001:db8:${(i % 4000).toString(16)}:${Math.floor(i / 4000)}::1`;
    store.audit.record("sign-in-failed", { what: "wrong password", actor: { who: "admin", from } });
    if (i % 4000 === 3999) endMinute();
  }
  await store.close();
  const all = await entries();

  assert.deepEqual([sum(all), all.length], [80_000, 20 * 121]);
  assert.ok(statSync(logFiles(dataDir)[0] ?? "").size < 1_000_000);
});

const refusalLines = (lines: readonly string[]) => lines.filter((line) => line.startsWith("refused with"));

test("a network that causes many log lines does not suppress those of others, and omitted lines are counted", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const written: string[] = [];
  const log = limitLog((line) => written.push(line));

  for (let i = 0; i < 5000; i++) log(`from one: ${i}`, "10.0.0.1");
  log("from another", "10.0.0.2");
  t.mock.timers.tick(60_000);
  log("a minute later", "10.0.0.1");
  const rest = written.slice(20);
  for (let i = 0; i < 5000; i++) log("broken off", `2001:db8:0:${i.toString(16)}`);

  const omitted = "4980 more lines like these in the last minute";
  assert.deepEqual(rest, ["from another", omitted, "a minute later"]);
  assert.equal(written.filter((line) => line === "broken off").length, 119);
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

test("many aborted forms do not fill the log, and a page over the limit is logged with its path", async (t) => {
  const service = await startApp(t, { limits: { pages: 0 } });
  const form = postText("/clients", "application/x-www-form-urlencoded", "name=A", { length: 1000 });

  for (let i = 0; i < 25; i++) await hangUpAfter(service.url, form);
  const answer = await service.fetch("/printers?q=x");

  assert.equal(service.lines.filter((line) => line.startsWith("broken off")).length, 20);
  assert.equal(answer.status, 503);
  assert.deepEqual(refusalLines(service.lines), [
    `refused with 503: ${(await answer.text()).trim()} (GET /printers from 127.0.0.1)`,
  ]);
});

test("a connection over the limit gets 503 and a line in the log", async (t) => {
  const service = await startApp(t, { limits: { connections: 0 } });

  const answer = await (await connectRaw(service.url)).closed;

  const why = "Too many connections are open at the moment. Try again in a few seconds.";
  assert.match(answer, /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 5\r\n/);
  assert.ok(answer.endsWith(`\r\n\r\n${why}\n`), answer);
  assert.deepEqual(refusalLines(service.lines), [`refused with 503: ${why} (127.0.0.1)`]);
});
