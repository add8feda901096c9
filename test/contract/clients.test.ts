import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";

test("a client’s name must be unique regardless of case: a duplicate is refused with 409", async (t) => {
  const { post, app } = await startApp(t);
  const first = await post("/clients", { name: "  Müller GmbH " });

  const second = await post("/clients", { name: "MÜLLER gmbh", notes: "kept" });

  const text = await second.text();
  assert.equal(first.status, 200);
  assert.equal(second.status, 409);
  assert.match(text, /Client “Müller GmbH” already exists/);
  assert.match(text, /kept/);
  assert.deepEqual(
    app.store.clients.list().map(({ name }) => name),
    ["Müller GmbH"],
  );
});

test("deleting a client or driver in use is refused and names its printers", async (t) => {
  const { post, fetch, addPrinter, app } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ name: "Hall printer", client_id: "1" });

  const client = await fetch("/clients/1", { method: "DELETE" });
  const driver = await fetch("/drivers/1", { method: "DELETE" });

  assert.deepEqual([client.status, driver.status], [409, 409]);
  assert.match(await client.text(), /Hall printer/);
  assert.match(await driver.text(), /Hall printer/);
  assert.equal(app.store.clients.count(), 1);
  assert.equal(app.store.drivers.list().length, 1);
});
