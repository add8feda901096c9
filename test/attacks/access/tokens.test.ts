import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTokenText } from "../../../src/domain/access/token.ts";
import { startGuarded } from "../../support/access/guarded.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { exchange, statusOf } from "../../support/raw.ts";

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
/** A text in the form of a token that was never made. */
const unknown = makeTokenText((bytes) => Buffer.alloc(bytes, 7));

test("texts that are no tokens open nothing, in any form", async (t) => {
  const { service, addToken } = await startGuarded(t);
  const token = await addToken("read");
  const attempts = [
    unknown,
    `Bearer ${unknown}`,
    "Bearer",
    "Bearer ",
    `Bearer  ${token}`,
    `Bearer ${token} x`,
    `Token ${token}`,
    token,
    `Bearer ${token}x`,
    `Bearer ${"a".repeat(5000)}`,
    "Basic",
    "Basic ====",
    basic(token),
    basic(`${token}:`),
    basic(`boss:${token} `),
    basic(`boss:wrong`),
  ];

  const statuses = [];
  for (const authorization of attempts)
    statuses.push((await service.fetch("/printers", { headers: { authorization } })).status);
  const twice = await exchange(
    service.url,
    `GET /printers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  const inAddress = await service.fetch(`/printers?token=${token}&access_token=${token}`);

  assert.deepEqual(
    statuses,
    attempts.map(() => 401),
  );
  assert.deepEqual([inAddress.status], [401]);
  assert.equal(statusOf(twice), 401);
});

test("a token of one client opens nothing of another, by any spelling of an address", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  for (const name of ["A", "B"]) await admin.post("/clients", { name });
  await admin.addPrinter({ client_id: "1" });
  const other = await admin.addDriver(driverZip({ extra: [{ name: "other.txt", bytes: "x" }] }));
  await admin.addPrinter({ name: "Other", client_id: "2", driver_id: String(other) });
  const { fetch } = bearer(await addToken("client:1"));
  const attempts = [
    "/printers/2/scripts/install",
    "/printers/%32/scripts/install",
    "/printers/02/scripts/install",
    "/printers/2.0/scripts/install",
    "/printers/1/../2/scripts/install",
    "/printers/1%2f..%2f2/scripts/install",
    "/printers/1/scripts/../../2/scripts/install",
    "/printers/1/scripts/install/../../../2/packages/rmm",
    "//printers/2/scripts/install",
    "/clients/2/scripts/install",
    "/clients/1/../2/scripts/install",
    `/drivers/${other}/files`,
    `/drivers/1/../${other}/files`,
    "/printers/1/read/install",
    "/clients/1",
    "/drivers/1",
    "/drivers/1/scripts/install",
    "/packages/rmm?ids=2",
    "/search?q=Other",
    "/printers/1/edit",
    "/",
  ];

  const statuses = await Promise.all(attempts.map(async (path) => (await fetch(path)).status));
  const heads = await Promise.all(
    attempts.map(async (path) => (await fetch(path, { method: "HEAD" })).status),
  );
  const own = (await fetch("/printers/1/scripts/install", { method: "HEAD" })).status;

  for (const [i, path] of attempts.entries()) {
    assert.ok([403, 404].includes(statuses[i] ?? 0), `${path}: ${statuses[i]}`);
    assert.ok([403, 404].includes(heads[i] ?? 0), `HEAD ${path}: ${heads[i]}`);
  }
  assert.equal(own, 200);
});

test("a token of a client or printer changes nothing, by any method", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  await admin.addPrinter();
  const { fetch } = bearer(await addToken("printer:1"));
  const statuses = [];

  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    for (const path of [
      "/printers/1",
      "/printers/1/delete",
      "/printers/1/scripts/install",
      "/drivers/1/files",
    ])
      statuses.push((await fetch(path, { method })).status);

  assert.deepEqual([...new Set(statuses)], [403]);
  assert.equal((await admin.fetch("/printers/1")).status, 200);
});

test("a token of a deleted printer opens nothing, and no later printer gets its id", async (t) => {
  const { admin, addToken, bearer } = await startGuarded(t);
  await admin.addPrinter();
  const { fetch } = bearer(await addToken("printer:1"));

  await admin.post("/printers/1/delete", {});
  const next = await admin.addPrinter({ name: "Next", driver_id: "1" });
  const statuses = [
    (await fetch("/printers/1/scripts/install")).status,
    (await fetch(`/printers/${next}/scripts/install`)).status,
    (await fetch("/drivers/1/files")).status,
  ];

  assert.equal(next, 2);
  assert.deepEqual(statuses, [404, 403, 403]);
});
