import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { connectRaw } from "../../support/raw.ts";
import { until } from "../../support/until.ts";

/** A client's printers with a driver, and how often a script for all of them was begun. */
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
  app.packages.scriptOfGroup = (...asked) => {
    begun++;
    return make(...asked);
  };
  return () => begun;
}

test("however many scripts are asked for, others are answered in between", async (t) => {
  const service = await startApp(t);
  const begun = await startShop(service, 1000);
  const many = 30;

  const asked = Promise.all(
    Array.from({ length: many }, async () => {
      const answer = await service.fetch("/clients/1/scripts/install");
      return [answer.status, (await answer.arrayBuffer()).byteLength > 100_000] as const;
    }),
  );
  await until(() => begun() > 0);
  let answered = 0;
  void asked.then(() => {
    answered = many;
  });
  const health = await service.fetch("/health");
  const before = answered;
  const answers = await asked;

  assert.equal(health.status, 200);
  assert.equal(before, 0, "the scripts were made first");
  assert.deepEqual(new Set(answers.map(String)), new Set(["200,true"]));
});

test("what nobody waits for any more is not made", async (t) => {
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
