import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../src/domain/audit/audit.ts";
import { dayMs } from "../../src/domain/text.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { addPerson, adminPassword, startClosed } from "../support/access/people.ts";
import { groupedProxies, namingProxies } from "../support/access/proxies.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { entriesIn, entryText, logEntries } from "../support/audit/audit.ts";
import { until } from "../support/until.ts";

const detect = "/printers/1/scripts/detect";
const senderAndText = (entry: AuditEntry) => `${entry.who} from ${entry.from}: ${entryText(entry)}`;
const refusals = async (app: TestApp) => (await logEntries(app, "refused")).map(senderAndText);

/** Whether the log on disk contains a text. */
const hasText = ({ dataDir }: TestApp, text: string) => JSON.stringify(entriesIn(dataDir)).includes(text);

test("making, using and revoking tokens is logged without their texts, as is using wrong and expired ones", async (t) => {
  let now = Date.UTC(2026, 10, 21, 14, 5);
  const { service, admin, bearer, addToken } = await startGuarded(t, { clock: () => now++ });
  await admin.addPrinter();
  const token = await addToken("printer:1");
  const short = await addToken("read", "30");

  await (await bearer(token).fetch(detect)).arrayBuffer();
  await until(async () => (await logEntries(service, "downloaded")).length > 0);
  await admin.post("/tokens/1/delete", {}, navigation);
  now += 40 * dayMs;
  await bearer("platen_wrong").fetch("/printers");
  await bearer(token).fetch("/clients");
  await bearer(short).fetch("/drivers");
  await service.fetch("/drivers/1", { headers: { authorization: "Digest x" } });

  const entries = await logEntries(service, "created", "downloaded", "deleted", "refused");
  const lines = entries
    .filter(({ record }) => !/^(?:client|driver)$/.test(record?.kind ?? ""))
    .map(senderAndText);
  const unknown = "Platen does not know this token. It may have been revoked or mistyped.";
  assert.deepEqual(
    lines
      .slice(1)
      .map((line) => line.replace(/; expires_at .*|(?<=expired on )\S+ .*|(?<=“platen_”\. ).*/, "")),
    [
      "boss from 127.0.0.1: created token 1 for printer:1: name for printer:1; scope printer; scope_id 1",
      "boss from 127.0.0.1: created token 2 for read: name for read; scope read",
      "token for printer:1 from 127.0.0.1: downloaded printer 1 Office detect",
      "boss from 127.0.0.1: deleted token 1 for printer:1",
      `nobody from 127.0.0.1: refused GET /printers: ${unknown}`,
      `nobody from 127.0.0.1: refused GET /clients: ${unknown}`,
      "nobody from 127.0.0.1: refused GET /drivers: The token “for read” expired on ",
      "nobody from 127.0.0.1: refused GET /drivers/1: This is not a token. Tokens begin with “platen_”. ",
    ],
  );
  assert.match(lines[1] ?? "", /; expires_at 2027-11-21T14:05:00\.\d{3}Z$/);
  for (const text of [token, short]) assert.equal(hasText(service, text.slice(7)), false);
});

test("making, using and revoking links is logged without their signatures, as is using changed and expired ones", async (t) => {
  let now = Date.UTC(2026, 10, 21, 14, 5);
  const { service, operator, linkTo } = await startGuarded(t, { clock: () => now++ });
  await operator.addPrinter();
  const link = await linkTo(detect);

  await (await service.fetch(link)).arrayBuffer();
  await until(async () => (await logEntries(service, "downloaded")).length > 0);
  await service.fetch(link.replace("detect", "install"));
  now += 9 * dayMs;
  await service.fetch(link);
  await operator.post("/printers/1/links/end", {}, navigation);

  const logged = await logEntries(service, "link-made", "downloaded", "refused", "links-ended");
  const lines = logged.map((entry) => `${entry.who}: ${entryText(entry)}`);
  assert.deepEqual(
    lines.map((line) => line.replace(/(: This link (?:is not valid|has ended on [\d-]+\.)).*/, "$1")),
    [
      "tech: link-made printer 1 Office /printers/1/scripts/detect, until 2026-11-29",
      "link printer 1, made by tech, until 2026-11-29: downloaded printer 1 Office detect",
      "nobody: refused GET /printers/1/scripts/install: This link is not valid",
      "nobody: refused GET /printers/1/scripts/detect: This link has ended on 2026-11-29.",
      "tech: links-ended printer 1 Office",
    ],
  );
  assert.equal(hasText(service, link.slice(-20)), false);
});

test("making and downloading a backup, and deleting kept archives, is logged", async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "Contoso" });

  for (let i = 0; i < 2; i++) await service.post("/backups", {}, navigation);
  const [{ name } = { name: "" }] = service.app.backups.list();
  await (await service.fetch(`/backups/${name}`)).arrayBuffer();
  await service.post("/backups/files/delete", {}, navigation);

  const logged = await logEntries(service, "backup-made", "backup-fetched", "backup-files-deleted");
  assert.deepEqual(logged.map(entryText).sort(), [
    `backup-fetched ${name}`,
    "backup-files-deleted",
    "backup-made",
  ]);
});

test("names from an untrusted proxy, users without a permitted group and disabled accounts are logged", async (t) => {
  const service = await startApp(t, { proxies: groupedProxies() });
  const { accounts } = service.app.store;
  const elsewhere = await startApp(t, { proxies: namingProxies({ TRUSTED_PROXIES: "192.0.2.1" }) });
  await accounts.setDisabled(await accounts.add("olga", "viewer"), true);
  const ask = (path: string, name: string, groups: string) =>
    service.fetch(path, { headers: { "remote-user": name, "remote-groups": groups } });

  await ask("/printers", "eve", "guests");
  await ask("/clients", "token x", "");
  const disabled = await ask("/drivers", "olga", "sales");
  const forged = await elsewhere.fetch("/printers", { headers: { "remote-user": "boss" } });

  assert.deepEqual([disabled.status, forged.status], [403, 400]);
  assert.match(
    (await refusals(service)).join("\n"),
    /printers: You are signed in as “eve”[^\n]*\n.*clients: The name “token x”[^\n]*\n.*refused GET \/drivers: The account “olga” is disabled\./,
  );
  assert.match(
    (await refusals(elsewhere)).join("\n"),
    /^nobody from 127\.0\.0\.1: refused GET \/printers: Only trusted proxies may send the header remote-user/,
  );
});

test("a wrong password in a password change, and each attempt over the limit, is in both logs", async (t) => {
  let now = Date.UTC(2026, 10, 22);
  const app = await startClosed(t, { clock: () => now });
  const eve = await addPerson(app, "eve");
  const chosen = "another velvet harbour";

  await app.post("/account/password", { password: "wrong", chosen, again: chosen }, { cookie: eve });
  now += 61_000;
  for (let i = 0; i < 12; i++) await app.post("/sign-in", { name: "eve", password: "not this one" });
  await app.stop();

  const failed = entriesIn(app.dataDir).filter(({ event }) => event === "sign-in-failed");
  const lines = app.lines.filter((line) => line.startsWith("sign-in: refused: "));
  const total = failed.reduce((sum, { count = 1 }) => sum + count, 0);
  assert.deepEqual(failed.slice(0, 2).map(senderAndText), [
    "eve from 127.0.0.1: sign-in-failed wrong password where it was to be changed",
    "eve from 127.0.0.1: sign-in-failed wrong password",
  ]);
  assert.deepEqual([total, lines.length], [13, 13]);
  assert.equal(lines.at(-1), "sign-in: refused: “eve” from 127.0.0.1 (too many attempts)");
  const limited = "refused with 429: Too many attempts to sign in. (POST /sign-in from 127.0.0.1)";
  assert.ok(app.lines.includes(limited));
  assert.doesNotMatch(app.lines.join("\n"), /not this one/);
});

test("sign-ins, failed sign-ins and refusals are logged, but not the unknown names that were typed", async (t) => {
  let now = Date.UTC(2026, 10, 21);
  const app = await startClosed(t, { clock: () => now++ });

  await app.post("/sign-in", { name: "admin", password: "wrong" });
  await app.post("/sign-in", { name: "hunter2-typed-here", password: "x" });
  const eve = { cookie: await addPerson(app, "eve", "viewer") };
  await app.fetch("/accounts", { headers: eve });
  await app.post("/sign-out", {}, eve);

  const entries = (await logEntries(app)).map((entry) => `${entry.who}: ${entryText(entry)}`);
  await app.stop();
  assert.deepEqual(entries, [
    "platen: created account 1 admin: name admin; role admin",
    "admin: sign-in-failed wrong password",
    "an unknown name: sign-in-failed wrong password",
    "admin: signed-in",
    "admin: created account 2 eve: name eve; role viewer; one_time yes",
    "eve: signed-in",
    "eve: changed account 2 eve: one_time yes → no; password_hash",
    "eve: refused GET /accounts",
    "eve: signed-out",
  ]);
  assert.doesNotMatch(JSON.stringify(entriesIn(app.dataDir)), /hunter2|\$|scrypt/);
  assert.ok(!app.lines.join("\n").includes(adminPassword));
});
