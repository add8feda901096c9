import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit/audit.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { addPerson, ownPassword, signIn, startClosed } from "../support/access/people.ts";
import { groupedProxies, namingProxies } from "../support/access/proxies.ts";
import { client, navigation, startApp, type TestApp } from "../support/app.ts";
import { entriesIn, entryText, logEntries } from "../support/audit/audit.ts";

const senderAndText = (entry: AuditEntry) => `${entry.who} from ${entry.from}: ${entryText(entry)}`;
const refusals = async (app: TestApp) => (await logEntries(app, "refused")).map(senderAndText);

test("wrong, revoked and expired tokens are logged", async (t) => {
  let now = Date.UTC(2026, 10, 22);
  const { service, admin, bearer, addToken } = await startGuarded(t, { clock: () => now });
  const [revoked, expired] = [await addToken("read"), await addToken("read", "30")];
  await admin.post("/tokens/1/delete", {}, navigation);
  now += 40 * 24 * 60 * 60_000;

  await bearer("platen_wrong").fetch("/printers");
  await bearer(revoked).fetch("/clients");
  await bearer(expired).fetch("/drivers");
  await service.fetch("/drivers/1", { headers: { authorization: "Digest x" } });
  const entries = await refusals(service);

  assert.deepEqual(
    entries.map((entry) => entry.slice(0, 90)),
    [
      "nobody from 127.0.0.1: refused GET /printers: Platen does not know this token. It may have been revoked or mistyped.",
      "nobody from 127.0.0.1: refused GET /clients: Platen does not know this token. It may have been revoked or mistyped.",
      "nobody from 127.0.0.1: refused GET /drivers: The token “for read” expired on 2026-12-22. Ask an administrator for a new token.",
      "nobody from 127.0.0.1: refused GET /drivers/1: This is not a token. Tokens begin with “platen_”. Send one as",
    ].map((entry) => entry.slice(0, 90)),
  );
  for (const token of [revoked, expired])
    assert.ok(!JSON.stringify(entriesIn(service.dataDir)).includes(token.slice(7)));
});

test("changed, revoked and expired links are logged without their signature", async (t) => {
  let now = Date.UTC(2026, 10, 22);
  const { service, operator } = await startGuarded(t, { clock: () => now });
  await operator.addPrinter();
  const script = "/printers/1/scripts/detect";
  const page = await (
    await operator.post("/printers/1/links", { address: script, days: "7" }, navigation)
  ).text();
  const link = /\?link=([\w.-]+)/.exec(page)?.[1] ?? "";

  await service.fetch(`/printers/1/scripts/install?link=${link}`);
  now += 9 * 24 * 60 * 60_000;
  await service.fetch(`${script}?link=${link}`);
  const entries = await refusals(service);

  assert.deepEqual(
    entries.map((entry) => entry.replace(/: This link .*$/, "")),
    [
      "nobody from 127.0.0.1: refused GET /printers/1/scripts/install",
      "nobody from 127.0.0.1: refused GET /printers/1/scripts/detect",
    ],
  );
  assert.match(entries[0] ?? "", /This link is not valid/);
  assert.match(entries[1] ?? "", /This link expired on 2026-11-30\./);
  assert.ok(!JSON.stringify(entriesIn(service.dataDir)).includes(link.slice(8)));
});

test("names from an untrusted proxy and users without a permitted group are logged", async (t) => {
  const service = await startApp(t, { proxies: groupedProxies() });
  const elsewhere = await startApp(t, { proxies: namingProxies({ TRUSTED_PROXIES: "192.0.2.1" }) });

  await service.fetch("/printers", { headers: { "remote-user": "eve", "remote-groups": "guests" } });
  await service.fetch("/clients", { headers: { "remote-user": "token x" } });
  const forged = await elsewhere.fetch("/printers", { headers: { "remote-user": "boss" } });

  assert.equal(forged.status, 400);
  assert.match(
    (await refusals(service)).join("\n"),
    /printers: You are signed in as “eve”[^\n]*\n.*clients: The name “token x”/,
  );
  assert.match(
    (await refusals(elsewhere)).join("\n"),
    /^nobody from 127\.0\.0\.1: refused GET \/printers: Only trusted proxies may send the header remote-user/,
  );
});

test("a proxy user with a disabled account is logged", async (t) => {
  const app = await startClosed(t, { proxies: groupedProxies() });
  await addPerson(app, "eve", "viewer");
  const admin = await signIn(app, "admin", "orbit lantern copper");
  await app.post("/accounts/2/disable", {}, { cookie: admin });

  const eve = client(app.url, { "remote-user": "eve", "remote-groups": "sales" });
  const answer = await eve.fetch("/printers");

  assert.equal(answer.status, 403);
  assert.match((await refusals(app)).join("\n"), /refused GET \/printers: The account “eve” is disabled\./);
});

test("sessions that a user ends from another browser are logged with their number", async (t) => {
  const app = await startClosed(t);
  const first = await addPerson(app, "eve");
  await signIn(app, "eve", ownPassword);
  await signIn(app, "eve", ownPassword);
  const other = Math.max(...app.app.store.sessions.ofAccount(2).map(({ id }) => id));

  await app.post(`/account/sessions/${other}/end`, {}, { cookie: first });
  await app.post(`/account/sessions/${other}/end`, {}, { cookie: first });
  await app.post("/account/sessions/end", {}, { cookie: first });
  const entries = await logEntries(app, "sessions-ended");

  assert.equal(new Set(entries.map(({ who }) => who)).size, 1);
  assert.deepEqual(entries.map(senderAndText).slice(0, 1), ["eve from 127.0.0.1: sessions-ended 1 browser"]);
  assert.equal(entries.length, 2);
});

test("a wrong password in a password change, and each attempt over the limit, is in both logs", async (t) => {
  let now = Date.UTC(2026, 10, 22);
  const app = await startClosed(t, { clock: () => now });
  const eve = await addPerson(app, "eve");
  const chosen = "another velvet harbour";

  await app.post("/account/password", { password: "wrong", chosen, again: chosen }, { cookie: eve });
  now += 61_000;
  for (let i = 0; i < 12; i++) await app.post("/sign-in", { name: "eve", password: "wrong" });
  await app.stop();
  const failed = entriesIn(app.dataDir).filter(({ event }) => event === "sign-in-failed");
  const lines = app.lines.filter((line) => line.startsWith("sign-in: refused: "));

  assert.deepEqual(failed.slice(0, 2).map(senderAndText), [
    "eve from 127.0.0.1: sign-in-failed wrong password where it was to be changed",
    "eve from 127.0.0.1: sign-in-failed wrong password",
  ]);
  assert.equal(
    failed.reduce((sum, { count = 1 }) => sum + count, 0),
    13,
  );
  assert.equal(lines.length, 13);
  assert.equal(lines.at(-1), "sign-in: refused: “eve” from 127.0.0.1 (too many attempts)");
});

test("a deletion made final by a user is logged with the record", async (t) => {
  const { service, operator } = await startGuarded(t);
  await operator.post("/clients", { name: "Contoso" });
  await operator.post("/clients/1/delete", {});

  await operator.post("/deletions/1/delete", {});
  await operator.post("/deletions/1/delete", {});
  const entries = await logEntries(service, "deleted-for-good");

  assert.deepEqual(entries.map(senderAndText), ["tech from 127.0.0.1: deleted-for-good client 1 Contoso"]);
});
