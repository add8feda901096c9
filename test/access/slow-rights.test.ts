import assert from "node:assert/strict";
import { test } from "node:test";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import type { TestApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { stateOf } from "../support/durability/whole-state.ts";
import { connectRaw, statusOf } from "../support/raw.ts";
import { until } from "../support/until.ts";

const boundary = "----platen";
const form = "application/x-www-form-urlencoded";
const multipart = `multipart/form-data; boundary=${boundary}`;

function part(name: string, bytes: Buffer | string): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.zip"\r\n\r\n`;
  return Buffer.concat([head, bytes, `\r\n--${boundary}--\r\n`].map((text) => Buffer.from(text)));
}

const bodies: readonly (readonly [path: string, type: string, body: Buffer])[] = [
  ["/clients", form, Buffer.from("name=Late")],
  ["/clients/1", multipart, part("x", "y")],
  ["/import", multipart, part("file", "client,name,address\nKunde,From a list,10.0.0.77\n")],
  ["/drivers/upload", multipart, part("file", driverZip())],
  ["/printers/bulk", form, Buffer.from("ids=1&action=delete")],
];

/** Sends each request up to its last byte. @returns a function that sends the rest, and gives the statuses */
async function begin({ url, fetch }: TestApp, cookie: string): Promise<() => Promise<number[]>> {
  const clients = await Promise.all(
    bodies.map(async ([path, type, body]) => {
      const client = await connectRaw(url);
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: ${cookie}`;
      client.socket.write(`${head}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`);
      client.socket.write(body.subarray(0, -1));
      return { ...client, rest: body.subarray(-1) };
    }),
  );
  // The answers show that everything sent before was read.
  for (let i = 0; i < 5; i++) await fetch("/health");
  return async () => {
    for (const { socket, rest } of clients) socket.write(rest);
    return (await Promise.all(clients.map(({ closed }) => closed))).map(statusOf);
  };
}

test("a request that began before an account lost its rights changes nothing when it ends later", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  await app.post("/clients", { name: "Kunde" }, admin);
  await app.post("/printers", { name: "Office", address: "10.0.0.1", client_id: "1" }, admin);

  for (const [i, what] of ["/disable", "/delete", "/password", ""].entries()) {
    const finish = await begin(app, await addPerson(app, `jo${i}`, "operator"));
    const id = app.app.store.accounts.findByName(`jo${i}`)?.account.id;
    await app.post(`/accounts/${id}${what}`, what === "" ? { role: "viewer" } : {}, admin);
    const before = await stateOf(app.dataDir);

    const statuses = await finish();

    assert.ok(
      statuses.every((status) => status === 401 || status === 403),
      `${what} ${statuses}`,
    );
    const after = await stateOf(app.dataDir);
    assert.deepEqual(after, withoutUploads(before), what);
  }
  const refusals = await logEntries(app, "refused");
  assert.deepEqual(new Set(refusals.map(({ who }) => who)), new Set(["jo0", "jo1", "jo2", "jo3"]));
});

const withoutUploads = (state: readonly string[]) => state.filter((line) => !line.startsWith("incoming/"));

test("an upload changes nothing if its account is disabled while the driver is read", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const cookie = await addPerson(app, "jo", "operator");
  const { inspections } = app.app;
  const inspect = inspections.inspect.bind(inspections);
  let readOn = () => {};
  const isRead = new Promise<void>((resolve) => {
    readOn = resolve;
  });
  let isBegun = false;
  inspections.inspect = async (...args) => {
    const report = await inspect(...args);
    isBegun = true;
    await isRead;
    return report;
  };

  const uploaded = app.upload("/drivers/upload", driverZip(), "a.zip", { cookie });
  await until(() => isBegun);
  await app.post("/accounts/2/disable", {}, admin);
  const before = await stateOf(app.dataDir);
  readOn();
  const answer = await uploaded;

  assert.equal(answer.status, 403);
  assert.match(await answer.text(), /Your access ended/);
  assert.deepEqual(await stateOf(app.dataDir), withoutUploads(before));
});
