import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { planMove } from "../../../src/services/printers/move-printers.ts";
import { navigation, startApp, type TestApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { assertWithin, longestBlock } from "../../support/times.ts";
import { until } from "../../support/until.ts";

const models = Array.from({ length: 2000 }, (_, i) => `Papyrus ${i} PCL6`);

/** Adds two drivers with the same models, and printers of the first. @returns the ids of both drivers and the printers */
async function fill({ app, addDriver }: TestApp, count: number): Promise<[number, number, number[]]> {
  const from = await addDriver(driverZip({ models }));
  const to = await addDriver(driverZip({ models, version: "2.0.0.0" }));
  const made = Array.from({ length: count }, (_, i) => {
    const fields = { name: `P${i}`, address: "10.0.0.1", driver_id: `${from}`, driver_desc: `${models[i]}` };
    return app.store.printers.add(parsePrinter(fields));
  });
  const ids = await Promise.all(made);
  await app.overview.read();
  return [from, to, ids];
}

deepTest(
  "a move and a driver change of 2000 printers with 2000 models each block the event loop for less than half a second",
  {
    timeout: 120_000,
  },
  async (t) => {
    const service = await startApp(t);
    const { app, post } = service;
    const [from, to, ids] = await fill(service, 2000);
    const statuses: number[] = [];
    const answered = async (answer: Promise<Response>) => statuses.push((await answer).status);

    const { digest } = await planMove(app.store, from, to);
    const moving = await longestBlock(() =>
      answered(post(`/drivers/${from}/move`, { to: String(to), preview: digest }, navigation)),
    );
    const fields = { ids: ids.join(), confirmed: "1", action: "driver", driver_id: String(from) };
    const giving = await longestBlock(() => answered(post("/printers/bulk", fields, navigation)));

    const rows = app.store.printers.list();
    t.diagnostic(`held for ${moving.toFixed()} and ${giving.toFixed()} ms`);
    assert.deepEqual(statuses, [303, 303]);
    assert.ok(rows.every(({ printer, driver }) => driver?.id === from && printer.driver_desc !== ""));
    assert.equal(new Set(rows.map(({ printer }) => printer.driver_desc)).size, 2000);
    await assertWithin(500, { moving, giving });
  },
);

test("a bulk change sees earlier requests' changes, and overwrites none of them", async (t) => {
  const service = await startApp(t);
  const { app, post } = service;
  const [, to, ids] = await fill(service, 600);
  const fields = { ids: ids.join(), confirmed: "1", action: "driver", driver_id: String(to) };
  const { printers } = app.store;
  const chosen = { driver_id: String(to), driver_desc: "Papyrus 7 PCL6" };
  const settings = parsePrinter({ name: "Renamed", address: "10.9.9.9", ...chosen });
  const { change } = app.store;
  t.mock.method(app.store, "change", (work: Parameters<typeof change>[0]) => {
    void printers.update(ids[0] ?? 0, settings);
    const done = change(work);
    void printers.update(ids[1] ?? 0, settings);
    return done;
  });

  const answer = await post("/printers/bulk", fields);
  await until(() => printers.get(ids[1] ?? 0).printer.name === "Renamed");

  const after = ids.map((id) => printers.get(id).printer);
  assert.equal(answer.status, 200);
  assert.deepEqual(
    after.slice(0, 3).map(({ name, driver_desc }) => [name, driver_desc]),
    [
      ["Renamed", "Papyrus 7 PCL6"],
      ["Renamed", "Papyrus 7 PCL6"],
      ["P2", "Papyrus 2 PCL6"],
    ],
  );
  assert.ok(after.every(({ driver_id }) => driver_id === to));
});
