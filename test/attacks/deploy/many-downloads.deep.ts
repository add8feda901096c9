import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { connectRaw } from "../../support/raw.ts";
import { until } from "../../support/until.ts";

/** Adds a client with printers. @returns how many scripts for several printers were started */
async function startShop(service: TestApp, count: number): Promise<() => number> {
  const { app, addDriver, post } = service;
  const driver_id = String(await addDriver());
  await post("/clients", { name: "Northwind" });
  const settings = parsePrinter({ name: "Office", address: "10.0.0.1", driver_id, client_id: "1" });
  await Promise.all(
    Array.from({ length: count }, (_, i) => app.store.printers.add({ ...settings, name: `Office ${i}` })),
  );
  let begun = 0;
  const make = app.packages.scriptOfGroup.bind(app.packages);
  app.packages.scriptOfGroup = (...args) => {
    begun++;
    return make(...args);
  };
  return () => begun;
}

test("other requests are answered while many scripts are requested", async (t) => {
  const service = await startApp(t);
  const begun = await startShop(service, 1000);
  const many = 30;

  const scripts = Promise.all(
    Array.from({ length: many }, async () => {
      const answer = await service.fetch("/clients/1/scripts/install");
      return [answer.status, (await answer.arrayBuffer()).byteLength > 100_000] as const;
    }),
  );
  await until(() => begun() > 0);
  let answered = 0;
  void scripts.then(() => {
    answered = many;
  });
  const health = await service.fetch("/health");
  const before = answered;
  const answers = await scripts;

  assert.equal(health.status, 200);
  assert.equal(before, 0, "the scripts were made first");
  assert.deepEqual(new Set(answers.map(String)), new Set(["200,true"]));
});

test("a script is not made after its client has disconnected", async (t) => {
  const service = await startApp(t);
  const begun = await startShop(service, 1000);
  const raws = await Promise.all(Array.from({ length: 120 }, () => connectRaw(service.url)));

  for (const { socket } of raws)
    socket.write("GET /clients/1/scripts/install HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await until(() => begun() > 0);
  for (const { socket } of raws) socket.destroy();
  const after = await service.fetch("/clients/1/scripts/install");

  assert.equal(after.status, 200);
  assert.ok(begun() < raws.length / 2, `${begun()} of ${raws.length + 1} were made`);
});
