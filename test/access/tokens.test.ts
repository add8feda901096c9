import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTokenText } from "../../src/domain/access/token.ts";
import { startGuarded } from "../support/access/guarded.ts";
import { navigation, startApp } from "../support/app.ts";

const dayMs = 24 * 60 * 60_000;

test("secret scanners recognise a token's text", () => {
  const made = [0, 1, 255].map((fill) => makeTokenText((bytes) => Buffer.alloc(bytes, fill)));

  for (const text of made) assert.match(text, /^platen_[0-9A-Za-z]{39}$/);
  assert.equal(new Set(made).size, 3);
});

test("a token is shown once, saved as a digest, and works as Bearer and as the password of curl -u", async (t) => {
  const { service, admin, addToken, bearer } = await startGuarded(t);
  await admin.addPrinter();
  const token = await addToken("read");
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString("base64")}` });

  const answers = [
    await bearer(token).fetch("/printers"),
    await bearer(token).fetch("/printers/1/packages/rmm"),
    await service.fetch("/printers", { headers: basic(`anybody:${token}`) }),
    await service.fetch("/printers", { headers: basic(`:${token}`) }),
    await service.fetch("/printers", { headers: { authorization: `bearer ${token}` } }),
  ];
  const laterPage = await admin.fetch("/tokens");
  const bytes = JSON.stringify(service.app.store.tokens.list());

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  assert.equal(laterPage.headers.get("cache-control"), "no-store");
  const text = await laterPage.text();
  assert.ok(!text.includes(token) && text.includes(token.slice(0, 11)));
  assert.ok(!bytes.includes(token));
});

test("a token for reading changes nothing, and cannot open the page of tokens", async (t) => {
  const { addToken, bearer, service } = await startGuarded(t);
  const { post, fetch } = bearer(await addToken("read"));

  const statuses = [
    (await post("/clients", { name: "A" })).status,
    (await fetch("/tokens")).status,
    (await post("/tokens", { name: "x", scope: "read" })).status,
  ];

  assert.deepEqual(statuses, [403, 403, 403]);
  assert.deepEqual([service.app.store.clients.count(), service.app.store.tokens.list().length], [0, 1]);
});

test("a token of a client or printer opens its downloads and nothing else", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  await admin.post("/clients", { name: "A" });
  await admin.post("/clients", { name: "B" });
  const printer = await admin.addPrinter({ client_id: "1" });
  const { fetch: ofClient } = bearer(await addToken("client:1"));
  const { fetch: ofPrinter } = bearer(await addToken(`printer:${printer}`));
  const paths = [
    "/printers/1/scripts/install",
    "/printers/1/packages/mdm",
    "/drivers/1/files",
    "/clients/1/packages/rmm",
    "/clients/2/packages/rmm",
    "/printers/1",
    "/printers",
    "/drivers/1/archive",
    "/drivers/1/packages/rmm",
    "/packages/rmm?ids=1",
    "/export/printers.csv",
    "/nothing",
  ];

  const statuses = async (fetch: typeof ofClient) =>
    Promise.all(paths.map(async (path) => (await fetch(path)).status));
  const [clients, printers] = [await statuses(ofClient), await statuses(ofPrinter)];

  assert.deepEqual(clients, [200, 200, 200, 200, 403, 403, 403, 403, 403, 403, 403, 403]);
  assert.deepEqual(printers, [200, 200, 200, 403, 403, 403, 403, 403, 403, 403, 403, 403]);
});

test("printers of the same name are listed with their clients", async (t) => {
  const { admin, addToken } = await startGuarded(t);
  for (const name of ["Contoso", "Fabrikam"]) await admin.post("/clients", { name });
  for (const client_id of ["1", "2", ""]) await admin.addPrinter({ name: "Hall", client_id });
  await addToken("printer:2");

  const page = await (await admin.fetch("/tokens")).text();

  const offered = page.match(/value="printer:\d+"[^>]*>[^<]*/g)?.map((option) => option.split(">")[1]);
  assert.deepEqual(offered, ["Hall, Contoso", "Hall, Fabrikam", "Hall"]);
  assert.match(page, /printer “<bdi>Hall<\/bdi>” of “<bdi>Fabrikam<\/bdi>”/);
});

test("a token of a client no longer opens a printer that moved to another client, nor its driver", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  await admin.post("/clients", { name: "A" });
  await admin.post("/clients", { name: "B" });
  await admin.addPrinter({ client_id: "1" });
  const { fetch } = bearer(await addToken("client:1"));
  const ask = async () =>
    Promise.all(
      ["/printers/1/scripts/detect", "/drivers/1/files"].map(async (path) => (await fetch(path)).status),
    );

  const before = await ask();
  await admin.post("/printers/1", { name: "Office", address: "10.0.0.9", driver_id: "1", client_id: "2" });
  const after = await ask();

  assert.deepEqual(
    [before, after],
    [
      [200, 200],
      [403, 403],
    ],
  );
});

test("a token ends at its expiry, and at once when it is revoked", async (t) => {
  let now = Date.UTC(2026, 10, 21, 14, 5);
  const { admin, addToken, bearer } = await startGuarded(t, { clock: () => now });
  const [short, long] = [await addToken("read", "30"), await addToken("read", "1095")];
  const ask = async (token: string) => bearer(token).fetch("/printers");

  now += 30 * dayMs - 1;
  const lastMoment = (await ask(short)).status;
  now += 1;
  const expired = await ask(short);
  const before = (await ask(long)).status;
  const answer = await admin.post("/tokens/2/delete", {}, navigation);
  const revoked = await ask(long);

  assert.deepEqual([lastMoment, expired.status, before, revoked.status], [200, 401, 200, 401]);
  assert.match(expired.headers.get("www-authenticate") ?? "", /Bearer.*invalid_token/);
  assert.match(await expired.text(), /expired on 2026-12-21/);
  assert.equal(answer.status, 303);
  assert.match(answer.headers.get("location") ?? "", /^\/tokens\?revoked=[\w-]+$/);
});

test("the last use of a token is visible at once, and saved once for many uses", async (t) => {
  const { service, admin, addToken, bearer } = await startGuarded(t);
  const token = await addToken("read");

  const before = service.app.store.version();
  for (let i = 0; i < 20; i++) await bearer(token).fetch("/printers");
  const saves = service.app.store.version() - before;
  const shown = await (await admin.fetch("/tokens")).text();
  await service.stop();
  const restartedApp = await startApp(t, { dataDir: service.dataDir });
  const [kept] = restartedApp.app.store.tokens.list();

  assert.equal(saves, 1);
  assert.match(shown, /21 Nov 2026, \d\d:\d\d<\/time><br><code>127\.0\.0\.1/);
  assert.deepEqual([kept?.used_at, kept?.used_from], [Date.UTC(2026, 10, 21, 14, 5), "127.0.0.1"]);
});

test("a form with invalid values is answered with messages beside its fields", async (t) => {
  const { admin, service } = await startGuarded(t);
  const ask = async (fields: Record<string, string>) => {
    const answer = await admin.post("/tokens", fields);
    return { status: answer.status, text: await answer.text() };
  };

  const empty = await ask({ name: "", scope: "client:x", days: "9999" });
  const missingPrinter = await ask({ name: "A", scope: "printer:7", days: "30" });

  assert.deepEqual([empty.status, missingPrinter.status], [422, 422]);
  assert.match(
    empty.text,
    /id="f-name-problem"[\s\S]*Choose what the token gives access to[\s\S]*Choose how long/,
  );
  assert.match(missingPrinter.text, /The printer 7 no longer exists/);
  assert.equal(service.app.store.tokens.list().length, 0);
});

test("each client's and printer's page leads to the form for a token, and there are at most 500 tokens", async (t) => {
  const { admin, operator, service } = await startGuarded(t);
  await admin.post("/clients", { name: "Contoso" });
  await admin.addPrinter({ client_id: "1" });
  const add = (i: number) =>
    service.app.tokens.add({ name: `Agent ${i}`, scope: "read", days: "30" }, "boss");
  const tokenFormPath = async (who: typeof admin, path: string) =>
    /href="(\/tokens\?[^"]*)">a token</.exec(await (await who.fetch(path)).text())?.[1];

  const tokenFormPaths = await Promise.all(
    ["/printers/1", "/clients/1", "/drivers/1"].map((path) => tokenFormPath(admin, path)),
  );
  const pages = await Promise.all(
    ["printer", "client"].map(async (kind) => (await admin.fetch(`/tokens?scope=${kind}:1`)).text()),
  );
  const odd = await admin.fetch("/tokens?scope=printer:99&scope=%3Cb%3E");
  await Promise.all(Array.from({ length: 500 }, (_, i) => add(i)));
  const more = await admin.post("/tokens", { name: "One more", scope: "read", days: "30" });

  assert.deepEqual(tokenFormPaths, ["/tokens?scope=printer:1", "/tokens?scope=client:1", undefined]);
  assert.equal(await tokenFormPath(operator, "/printers/1"), undefined);
  assert.match(pages[0] ?? "", /<option value="printer:1" selected>Office/);
  assert.match(pages[1] ?? "", /<option value="client:1" selected>Contoso/);
  assert.equal(odd.status, 200);
  assert.equal(more.status, 409);
  assert.equal(service.app.store.tokens.list().length, 500);
});

test("DELETE also revokes a token, and the page confirms it", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  const [first, second] = [await addToken("read"), await addToken("read")];

  const deleted = await admin.fetch("/tokens/1", { method: "DELETE" });
  const posted = await admin.post("/tokens/2/delete", {});
  const secondRevoke = await admin.fetch("/tokens/2", { method: "DELETE" });
  const statuses = await Promise.all(
    [first, second].map(async (text) => (await bearer(text).fetch("/")).status),
  );

  assert.deepEqual([deleted.status, posted.status, secondRevoke.status], [303, 303, 404]);
  for (const { headers } of [deleted, posted])
    assert.match(
      await (await admin.fetch(headers.get("location") ?? "")).text(),
      /Revoked: token “.*” and its links/,
    );
  assert.deepEqual(statuses, [401, 401]);
});

test("without sign-in there are no tokens, and the credentials of a proxy's own log-in are ignored", async (t) => {
  const service = await startApp(t);

  const made = await service.post("/tokens", { name: "A", scope: "read" });
  const page = await service.fetch("/tokens");
  const accounts = await service.fetch("/accounts");
  const other = await service.fetch("/printers", { headers: { authorization: "Basic am86c2VjcmV0" } });

  assert.deepEqual([made.status, page.status, accounts.status, other.status], [404, 404, 404, 200]);
  assert.match(await page.text(), /Set ADMIN_PASSWORD_FILE to turn it on/);
  assert.equal(service.app.store.tokens.list().length, 0);
});
