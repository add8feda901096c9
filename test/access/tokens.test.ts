import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTokenText } from "../../src/domain/access/token.ts";
import { dayMs } from "../../src/domain/text.ts";
import { startGuarded, statusesOf } from "../support/access/guarded.ts";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { exchange, statusOf } from "../support/raw.ts";

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;

test("secret scanners recognise a token's text", () => {
  const made = [0, 1, 255].map((fill) => makeTokenText((bytes) => Buffer.alloc(bytes, fill)));

  for (const text of made) assert.match(text, /^platen_[0-9A-Za-z]{39}$/);
  assert.equal(new Set(made).size, 3);
});

test("a token is shown once, saved as a digest, works as Bearer and as the password of curl -u, and changes nothing", async (t) => {
  const { service, admin, addToken, bearer } = await startGuarded(t);
  await admin.addPrinter();
  const token = await addToken("read");
  const { post, fetch } = bearer(token);

  const downloaded = await statusesOf(bearer(token), ["/printers", "/printers/1/packages/rmm"]);
  const others = [basic(`anybody:${token}`), basic(`:${token}`), `bearer ${token}`];
  const used = others.map((authorization) =>
    service.fetch("/printers", { headers: { authorization } }).then(({ status }) => status),
  );
  const refused = [
    (await post("/clients", { name: "A" })).status,
    (await fetch("/tokens")).status,
    (await post("/tokens", { name: "x", scope: "read" })).status,
  ];
  const laterPage = await admin.fetch("/tokens");

  assert.deepEqual([...downloaded, ...(await Promise.all(used))], [200, 200, 200, 200, 200]);
  assert.deepEqual(refused, [403, 403, 403]);
  assert.equal(laterPage.headers.get("cache-control"), "no-store");
  const text = await laterPage.text();
  assert.ok(!text.includes(token) && text.includes(token.slice(0, 11)));
  assert.ok(!JSON.stringify(service.app.store.tokens.list()).includes(token));
  assert.deepEqual([service.app.store.clients.count(), service.app.store.tokens.list().length], [0, 1]);
});

test("texts that are no tokens open nothing, in any form", async (t) => {
  const { service, addToken } = await startGuarded(t);
  const token = await addToken("read");
  const unknown = makeTokenText((bytes) => Buffer.alloc(bytes, 7));
  const attempts = [
    ...[unknown, `Bearer ${unknown}`, "Bearer", "Bearer ", `Bearer  ${token}`, `Bearer ${token} x`],
    ...[`Token ${token}`, token, `Bearer ${token}x`, `Bearer ${"a".repeat(5000)}`, "Basic", "Basic ===="],
    ...[basic(token), basic(`${token}:`), basic(`boss:${token} `), basic("boss:wrong")],
  ];
  const header = `Authorization: Bearer ${token}\r\n`;

  for (const authorization of attempts) {
    const { status } = await service.fetch("/printers", { headers: { authorization } });
    assert.equal(status, 401, authorization);
  }
  const twice = await exchange(
    service.url,
    `GET /printers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}${header}\r\n`,
  );
  const inAddress = await service.fetch(`/printers?token=${token}&access_token=${token}`);

  assert.deepEqual([statusOf(twice), inAddress.status], [401, 401]);
});

test("a token of a client or printer opens its downloads, nothing else by any spelling, and changes nothing", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  for (const name of ["A", "B"]) await admin.post("/clients", { name });
  await admin.addPrinter({ client_id: "1" });
  const other = await admin.addDriver(driverZip({ extra: [{ name: "other.txt", bytes: "x" }] }));
  await admin.addPrinter({ name: "Other", client_id: "2", driver_id: String(other) });
  const [ofClient, ofPrinter] = [bearer(await addToken("client:1")), bearer(await addToken("printer:1"))];
  const own = ["/printers/1/scripts/install", "/printers/1/packages/mdm", "/drivers/1/files"];
  const foreign = [
    ...["/printers/2/scripts/install", "/printers/%32/scripts/install", "/printers/02/scripts/install"],
    ...["/printers/2.0/scripts/install", "/printers/1/../2/scripts/install"],
    ...["/printers/1%2f..%2f2/scripts/install", "/printers/1/scripts/../../2/scripts/install"],
    ...["/printers/1/scripts/install/../../../2/packages/rmm", "//printers/2/scripts/install"],
    ...["/clients/2/scripts/install", "/clients/1/../2/scripts/install", "/clients/2/packages/rmm"],
    ...["/drivers/2/files", "/drivers/1/../2/files", "/printers/1/read/install", "/clients/1"],
    ...["/drivers/1", "/drivers/1/scripts/install", "/drivers/1/archive", "/drivers/1/packages/rmm"],
    ...["/packages/rmm?ids=1", "/packages/rmm?ids=2", "/search?q=Other", "/printers/1/edit", "/"],
    ...["/printers", "/printers/1", "/export/printers.csv", "/nothing"],
  ];
  const paths = ["/printers/1", "/printers/1/delete", "/printers/1/scripts/install", "/drivers/1/files"];
  const isRefused = (status = 0, path = "") => status === 403 || (status === 404 && path.includes("2"));

  assert.deepEqual(await statusesOf(ofClient, [...own, "/clients/1/packages/rmm"]), [200, 200, 200, 200]);
  assert.deepEqual(await statusesOf(ofPrinter, [...own, "/clients/1/packages/rmm"]), [200, 200, 200, 403]);
  for (const sender of [ofClient, ofPrinter]) {
    const statuses = await statusesOf(sender, foreign);
    for (const [i, path] of foreign.entries()) assert.ok(isRefused(statuses[i], path), path);
  }
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    assert.deepEqual(await statusesOf(ofPrinter, paths, { method }), [403, 403, 403, 403], method);
  assert.equal((await admin.fetch("/printers/1")).status, 200);
});

test("a token for uploads uploads drivers, and no answer shows it another record", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  await admin.post("/clients", { name: "Secret client" });
  await admin.addPrinter({ client_id: "1" });
  const sender = bearer(await addToken("upload"));
  const forms = [{}, { accept: "text/html" }, { "hx-request": "true" }, navigation];

  for (const [i, headers] of forms.entries())
    for (const [bytes, status] of [
      [driverZip({ version: `2.0.0.${i}` }), 200] as const,
      [Buffer.from("x"), 422] as const,
    ]) {
      const answer = await sender.upload("/drivers/upload", bytes, "driver.zip", headers);
      const text = await answer.text();
      assert.deepEqual(
        [answer.status, text.split("\n").length, text.includes("<")],
        [status, 2, false],
        text,
      );
    }
  const others = ["/drivers", "/drivers/1", "/drivers/2", "/printers/1/scripts/install", "/sign", "/tokens"];
  assert.deepEqual(await statusesOf(sender, others), [403, 403, 403, 403, 403, 403]);
});

test("a client's token and links made with it no longer open a printer that moved away, nor a printer's token a later one", async (t) => {
  const { service, admin, viewer, addToken, bearer } = await startGuarded(t);
  for (const name of ["A", "B"]) await admin.post("/clients", { name });
  await admin.addPrinter({ client_id: "1" });
  const ofClient = bearer(await addToken("client:1"));
  const ofPrinter = bearer(await addToken("printer:1"));
  const paths = ["/printers/1/scripts/detect", "/drivers/1/files"];
  const linkOf = async ({ fetch }: typeof viewer) =>
    /\/printers\/1\/publish\?link=[\w.-]+/.exec(await (await fetch("/printers/1/publish")).text())?.[0] ?? "";
  const links = [await linkOf(ofClient), await linkOf(viewer)];
  const ask = async () => [...(await statusesOf(ofClient, paths)), ...(await statusesOf(service, links))];

  const before = await ask();
  await admin.post("/printers/1", { name: "Office", address: "10.0.0.9", driver_id: "1", client_id: "2" });
  const after = await ask();
  await admin.post("/printers/1/delete", {});
  const next = await admin.addPrinter({ name: "Next", driver_id: "1" });
  const deleted = await statusesOf(ofPrinter, [...paths, "/printers/2/scripts/detect"]);

  assert.deepEqual([...before, ...after], [200, 200, 200, 200, 403, 403, 403, 200]);
  assert.equal(next, 2);
  assert.deepEqual(deleted, [404, 403, 403]);
});

test("a token is marked in its last two weeks, ends at its expiry, and ends at once when it is revoked", async (t) => {
  let now = Date.UTC(2026, 10, 21, 14, 5);
  const start = now;
  const { admin, addToken, bearer } = await startGuarded(t, { clock: () => now });
  const made = await (await admin.post("/tokens", { name: "Datto", scope: "read", days: "30" })).text();
  const short = bearer(/platen_\w{39}/.exec(made)?.[0] ?? "");
  const long = bearer(await addToken("read", "1095"));
  const isMarked: boolean[] = [];
  for (const days of [0, 15, 17]) {
    now = start + days * dayMs;
    isMarked.push((await (await admin.fetch("/tokens")).text()).includes(">Expires soon<"));
  }

  now = start + 30 * dayMs - 1;
  const lastMoment = (await short.fetch("/printers")).status;
  now += 1;
  const expired = await short.fetch("/printers");
  const before = (await long.fetch("/printers")).status;
  const posted = await admin.post("/tokens/2/delete", {}, navigation);
  const revoked = (await long.fetch("/printers")).status;
  const deleted = await admin.fetch("/tokens/1", { method: "DELETE" });
  const again = await admin.fetch("/tokens/1", { method: "DELETE" });

  assert.match(made, /Token “<bdi>Datto<\/bdi>” was created\./);
  assert.deepEqual(isMarked, [false, false, true]);
  assert.deepEqual([lastMoment, expired.status, before, revoked], [200, 401, 200, 401]);
  assert.match(expired.headers.get("www-authenticate") ?? "", /Bearer.*invalid_token/);
  assert.match(await expired.text(), /expired on 2026-12-21/);
  assert.deepEqual([posted.status, deleted.status, again.status], [303, 303, 404]);
  for (const [{ headers }, name] of [
    [posted, "for read"],
    [deleted, "Datto"],
  ] as const) {
    const place = headers.get("location") ?? "";
    assert.match(place, /^\/tokens\?revoked=[\w-]+$/);
    const page = await (await admin.fetch(place)).text();
    assert.match(page, new RegExp(`Revoked: token “<bdi>${name}</bdi>” and its links`));
  }
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

test("a form with invalid values is answered with messages beside its fields, and there are at most 500 tokens", async (t) => {
  const { admin, service } = await startGuarded(t);
  const { tokens } = service.app;

  const empty = await admin.post("/tokens", { name: "", scope: "client:x", days: "9999" });
  const missing = await admin.post("/tokens", { name: "A", scope: "printer:7", days: "30" });
  const none = service.app.store.tokens.list().length;
  const add = (i: number) => tokens.add({ name: `Agent ${i}`, scope: "read", days: "30" }, "boss");
  await Promise.all(Array.from({ length: 500 }, (_, i) => add(i)));
  const more = await admin.post("/tokens", { name: "One more", scope: "read", days: "30" });

  assert.deepEqual([empty.status, missing.status, more.status], [422, 422, 409]);
  assert.match(
    await empty.text(),
    /id="f-name-problem"[\s\S]*Choose what the token gives access to[\s\S]*Choose how long/,
  );
  assert.match(await missing.text(), /The printer 7 no longer exists/);
  assert.deepEqual([none, service.app.store.tokens.list().length], [0, 500]);
});

test("a client's or printer's page leads an administrator to the form for a token, which tells namesakes apart", async (t) => {
  const { admin, operator, addToken } = await startGuarded(t);
  for (const name of ["Contoso", "Fabrikam"]) await admin.post("/clients", { name });
  const driver_id = String(await admin.addDriver());
  for (const client_id of ["1", "2", ""]) await admin.addPrinter({ name: "Hall", client_id, driver_id });
  await addToken("printer:2");
  const textAt = async (path: string, { fetch } = admin) => (await fetch(path)).text();
  const formAt = async (path: string, sender = admin) =>
    /href="(\/tokens\?[^"]*)">a token</.exec(await textAt(path, sender))?.[1];

  const forms = [
    await formAt("/printers/1"),
    await formAt("/clients/1"),
    await formAt("/drivers/1"),
    await formAt("/printers/1", operator),
  ];
  const page = await textAt("/tokens?scope=printer:1");

  assert.deepEqual(forms, ["/tokens?scope=printer:1", "/tokens?scope=client:1", undefined, undefined]);
  const offered = page.match(/value="printer:\d+"[^>]*>[^<]*/g)?.map((option) => option.split(">")[1]);
  assert.deepEqual(offered, ["Hall, Contoso", "Hall, Fabrikam", "Hall"]);
  assert.match(page, /<option value="printer:1" selected>Hall/);
  assert.match(page, /printer “<bdi>Hall<\/bdi>” of “<bdi>Fabrikam<\/bdi>”/);
  assert.match(await textAt("/tokens?scope=client:1"), /<option value="client:1" selected>Contoso/);
  assert.equal((await admin.fetch("/tokens?scope=printer:99&scope=%3Cb%3E")).status, 200);
});
