import assert from "node:assert/strict";
import { test } from "node:test";
import { addPerson, signInAdmin, startClosed } from "../../support/access/people.ts";
import { startApp } from "../../support/app.ts";
import { recordsOf } from "../../support/backup/deletions.ts";
import { fourPrinters } from "../../support/printers/four-printers.ts";

const htmx = { "hx-request": "true", accept: "text/html" };

test("a viewer can neither preview, confirm nor undo a change, and sees no button", async (t) => {
  const service = await startClosed(t);
  const admin = { cookie: await signInAdmin(service) };
  const viewer = { cookie: await addPerson(service, "vera", "viewer") };
  await service.post("/clients", { name: "Alpha" }, admin);
  await service.post("/printers", { name: "Office", address: "10.0.0.1" }, admin);
  await service.post("/printers/1", { name: "Office", address: "10.0.0.1", location: "Hall" }, admin);
  const change = { ids: "1", action: "client", client_id: "1" };

  const answers = [
    await service.post("/printers/bulk", change, viewer),
    await service.post("/printers/bulk", { ...change, confirmed: "1" }, viewer),
    await service.post("/deletions/1/undo", {}, viewer),
  ];
  const dashboard = await (await service.fetch("/", { headers: viewer })).text();

  const { location, client_id } = service.app.store.printers.get(1).printer;
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 403, 403],
  );
  assert.doesNotMatch(dashboard, /\/undo/);
  assert.deepEqual([location, client_id], ["Hall", null]);
});

test("a made-up confirmation changes nothing while its preview is another, and markup in names stays text", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  await service.post("/printers/1", {
    name: "<img src=x>",
    client_id: "1",
    driver_id: "1",
    address: "10.0.0.1",
  });
  const before = recordsOf(service);
  const change = { ids: "1,2", action: "client", client_id: "2" };

  const forged = await Promise.all(
    ["", "0", "f".repeat(16), "<b>", "x".repeat(5000)].map((preview) =>
      service.post("/printers/bulk", { ...change, confirmed: "1", preview }, htmx),
    ),
  );
  const unconfirmed = await Promise.all(
    ["0", "on", "true", "11", " 1"].map((confirmed) =>
      service.post("/printers/bulk", { ...change, confirmed, narrowed: '"><script>' }, htmx),
    ),
  );
  const texts = await Promise.all([...forged, ...unconfirmed].map((answer) => answer.text()));

  assert.deepEqual(new Set(forged.map(({ status }) => status)), new Set([409]));
  assert.deepEqual(new Set(unconfirmed.map(({ status }) => status)), new Set([200]));
  for (const text of texts) {
    assert.match(text, /&lt;img src=x&gt;/);
    assert.doesNotMatch(text, /<img|<script/);
  }
  assert.deepEqual(recordsOf(service), before);
});

test("simultaneous changes, undos and deletions of the same printers end in a state that one of them left", async (t) => {
  const service = await startApp(t);
  await fourPrinters(service);
  const bulk = (client_id: string) =>
    service.post("/printers/bulk", { ids: "1,2,3,4", action: "client", client_id, confirmed: "1" });

  for (let round = 0; round < 5; round++) {
    const ids = service.app.undo.list().map(({ id }) => id);
    await Promise.all([
      bulk("2"),
      bulk("1"),
      bulk(""),
      ...ids.map((id) => service.post(`/deletions/${id}/undo`, {})),
    ]);
  }
  const undone: number[] = [];
  for (const { id } of service.app.undo.list())
    undone.push((await service.post(`/deletions/${id}/undo`, {})).status);

  const clients = service.app.store.printers.list().map(({ client }) => client?.id);
  assert.equal(new Set(clients).size, 1, `all four moved together: ${clients.join()}`);
  assert.ok(undone.every((status) => status === 200 || status === 409));
  service.app.store.deletions.check();
});
