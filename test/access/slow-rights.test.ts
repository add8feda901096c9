import assert from "node:assert/strict";
import { test } from "node:test";
import { addPerson, signInAdmin, startClosed } from "../support/access/people.ts";
import { logEntries } from "../support/audit/audit.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { stateOf } from "../support/durability/whole-state.ts";
import { connectRaw, statusOf } from "../support/raw.ts";
import { until } from "../support/until.ts";

const boundary = "----platen";

function multipart(name: string, bytes: Buffer): Buffer {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.zip"\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

const list = "client,name,address\nKunde,From a list,10.0.0.77\n";
const bodies: readonly { readonly path: string; readonly type: string; readonly body: Buffer }[] = [
  { path: "/clients", type: "application/x-www-form-urlencoded", body: Buffer.from("name=Late") },
  {
    path: "/clients/1",
    type: `multipart/form-data; boundary=${boundary}`,
    body: multipart("x", Buffer.from("y")),
  },
  {
    path: "/import",
    type: `multipart/form-data; boundary=${boundary}`,
    body: multipart("file", Buffer.from(list)),
  },
  {
    path: "/drivers/upload",
    type: `multipart/form-data; boundary=${boundary}`,
    body: multipart("file", driverZip()),
  },
  {
    path: "/printers/bulk",
    type: "application/x-www-form-urlencoded",
    body: Buffer.from("ids=1&action=delete"),
  },
];

for (const [what, fields] of [
  ["disable", {}],
  ["delete", {}],
  ["password", {}],
  ["", { role: "viewer" }],
] as const) {
  test(`a request that began before an account lost its rights (${what || "role"}) changes nothing when it ends later`, async (t) => {
    const app = await startClosed(t);
    const admin = { cookie: await signInAdmin(app) };
    const cookie = await addPerson(app, "jo", "operator");
    await app.post("/clients", { name: "Kunde" }, admin);
    await app.post("/printers", { name: "Office", address: "10.0.0.1", client_id: "1" }, admin);

    const begun = await Promise.all(
      bodies.map(async ({ path, type, body }) => {
        const client = await connectRaw(app.url);
        const head = [
          `POST ${path} HTTP/1.1`,
          "Host: localhost",
          "Connection: close",
          `Cookie: ${cookie}`,
          `Content-Type: ${type}`,
          `Content-Length: ${body.length}`,
        ];
        client.socket.write(`${head.join("\r\n")}\r\n\r\n`);
        client.socket.write(body.subarray(0, body.length - 1));
        return { client, rest: body.subarray(body.length - 1) };
      }),
    );
    // The answers show that everything sent before was read.
    for (let i = 0; i < 5; i++) await app.fetch("/health");
    await app.post(`/accounts/2${what && `/${what}`}`, fields, admin);
    const before = await stateOf(app.dataDir);
    for (const { client, rest } of begun) client.socket.write(rest);
    const statuses = (await Promise.all(begun.map(({ client }) => client.closed))).map(statusOf);
    const refusals = await logEntries(app, "refused");

    assert.ok(
      statuses.every((status) => status === 401 || status === 403),
      `${statuses}`,
    );
    assert.deepEqual(new Set(refusals.map(({ who }) => who)), new Set(["jo"]));
    const after = await stateOf(app.dataDir);
    assert.deepEqual(
      after,
      before.filter((line) => !line.startsWith("incoming/")),
    );
  });
}

test("an upload changes nothing if its account is disabled while the driver is read", async (t) => {
  const app = await startClosed(t);
  const admin = { cookie: await signInAdmin(app) };
  const cookie = await addPerson(app, "jo", "operator");
  const { inspections } = app.app;
  const inspect = inspections.inspect.bind(inspections);
  const [isRead, readOn] = gate();
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
  assert.deepEqual(
    await stateOf(app.dataDir),
    before.filter((line) => !line.startsWith("incoming/")),
  );
});

/** A promise, and the function that resolves it. */
function gate(): [Promise<void>, () => void] {
  let open = () => {};
  const waits = new Promise<void>((resolve) => {
    open = resolve;
  });
  return [waits, open];
}
