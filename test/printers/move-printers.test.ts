import assert from "node:assert/strict";
import { test } from "node:test";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

/** Adds two versions of a driver with these models. @returns their ids */
async function twoVersions(service: TestApp, older: string[], newer: string[]): Promise<[number, number]> {
  return [
    await service.addDriver(driverZip({ version: "1.0.0.0", models: older })),
    await service.addDriver(driverZip({ version: "2.0.0.0", models: newer })),
  ];
}

async function previewOf(
  { fetch }: TestApp,
  from: number,
  to?: number,
): Promise<{ page: string; preview: string }> {
  const page = await (await fetch(`/drivers/${from}/move${to === undefined ? "" : `?to=${to}`}`)).text();
  return { page, preview: /name="preview" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "" };
}

function modelsOf({ app }: TestApp): [string, number | undefined, string][] {
  return app.store.printers
    .list()
    .map(({ printer, driver }) => [printer.name, driver?.id, printer.driver_desc]);
}

test("printers move to the newer version together, each to the model with the same name", async (t) => {
  const service = await startApp(t);
  const [from, to] = await twoVersions(
    service,
    ["Papyrus A", "Papyrus B"],
    ["PAPYRUS B", "Papyrus A", "Papyrus C"],
  );
  await service.addPrinter({ driver_id: String(from), name: "Own" });
  await service.addPrinter({
    driver_id: String(from),
    name: "Two",
    driver_desc: "Papyrus B",
    location: "kept",
  });
  await service.addPrinter({ driver_id: String(to), name: "There" });

  const { page, preview } = await previewOf(service, from);
  const moved = await service.post(`/drivers/${from}/move`, { to: String(to), preview }, navigation);
  const after = await (await service.fetch(moved.headers.get("location")?.split("#")[0] ?? "")).text();

  assert.match(page, new RegExp(`<option value="${to}" selected`), "the newest version is chosen at first");
  assert.match(page, /<bdi>Papyrus A<\/bdi> <span class="soft">same model/);
  assert.match(page, /name="model_1" value="PAPYRUS B"/);
  assert.equal(moved.status, 303);
  assert.match(moved.headers.get("location") ?? "", new RegExp(`^/drivers/${to}\\?moved=[\\w-]{12}$`));
  assert.match(after, /2 printers moved to/);
  assert.deepEqual(modelsOf(service), [
    ["Own", to, "Papyrus A"],
    ["There", to, ""],
    ["Two", to, "PAPYRUS B"],
  ]);
  const { printer } = service.app.store.printers.get(2);
  assert.equal(printer.location, "kept");
  assert.ok(revisionOf({ printer, driver: service.app.store.drivers.get(to), arm64Driver: undefined }));
});

test("printers without a matching model get the universal model, and printers without an own model keep none", async (t) => {
  const service = await startApp(t);
  const [from, to] = await twoVersions(
    service,
    ["Papyrus A", "Papyrus B"],
    ["Papyrus Universal", "Papyrus C"],
  );
  await service.addPrinter({ driver_id: String(from), name: "Own" });
  await service.addPrinter({ driver_id: String(from), name: "Two", driver_desc: "Papyrus B" });

  const { preview } = await previewOf(service, from, to);
  await service.post(`/drivers/${from}/move`, { to: String(to), preview });

  assert.deepEqual(modelsOf(service), [
    ["Own", to, ""],
    ["Two", to, "Papyrus Universal"],
  ]);
});

test("a model without a match is chosen once for all of its printers, and nothing moves before", async (t) => {
  const service = await startApp(t);
  const [from, to] = await twoVersions(
    service,
    ["Papyrus A", "Papyrus B"],
    ["Papyrus A", "Papyrus X", "Papyrus Y"],
  );
  await service.addPrinter({ driver_id: String(from), name: "One", driver_desc: "Papyrus A" });
  for (const name of ["Three", "Two"]) {
    await service.addPrinter({ driver_id: String(from), name, driver_desc: "Papyrus B" });
  }
  const { page, preview } = await previewOf(service, from, to);
  const move = (fields: Record<string, string>) =>
    service.post(`/drivers/${from}/move`, { to: String(to), preview, ...fields }, navigation);

  const none = await move({ model_1: "" });
  const wrong = await move({ model_1: "Papyrus <Z>" });
  const before = modelsOf(service).map(([, driver]) => driver);
  const done = await move({ model_1: "Papyrus Y" });

  assert.equal([...page.matchAll(/<input[^>]* name="model_\d+"/g)].length, 1, "one field for two printers");
  assert.deepEqual([none.status, wrong.status, done.status], [422, 422, 303]);
  assert.match(await none.text(), /Choose a model for these printers/);
  const text = await wrong.text();
  assert.match(text, /The driver does not contain the model “Papyrus &lt;Z&gt;”/);
  assert.match(text, /name="model_1" value="Papyrus &lt;Z&gt;"/, "what was typed is kept");
  assert.deepEqual(before, [from, from, from]);
  assert.deepEqual(
    modelsOf(service).map(([, , model]) => model),
    ["Papyrus A", "Papyrus Y", "Papyrus Y"],
  );
});

test("an outdated plan is refused, and the current plan is shown", async (t) => {
  const service = await startApp(t);
  const [from, to] = await twoVersions(service, ["Papyrus A"], ["Papyrus A"]);
  await service.addPrinter({ driver_id: String(from), name: "One" });
  const { preview } = await previewOf(service, from, to);
  await service.addPrinter({ driver_id: String(from), name: "Two" });

  const stale = await service.post(`/drivers/${from}/move`, { to: String(to), preview }, navigation);
  const page = await stale.text();
  const without = await service.post(`/drivers/${from}/move`, { to: String(to) });
  const fresh = /name="preview" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";
  const twice = await Promise.all(
    [1, 2].map(() => service.post(`/drivers/${from}/move`, { to: String(to), preview: fresh }, navigation)),
  );

  assert.deepEqual([stale.status, without.status], [409, 409]);
  assert.match(page, /No printer was moved/);
  assert.match(page, /Two/);
  assert.deepEqual(twice.map(({ status }) => status).sort(), [303, 409], "a second click moves nothing");
  assert.deepEqual(
    modelsOf(service).map(([, driver]) => driver),
    [to, to],
  );
});

test("a move without a target, to the same driver or from an unknown driver is refused", async (t) => {
  const service = await startApp(t);
  const from = await service.addDriver();
  const move = (id: number, to: string) => service.post(`/drivers/${id}/move`, { to });

  const answers = [
    await move(from, ""),
    await move(from, "99"),
    await move(from, String(from)),
    await move(99, "1"),
  ];
  const empty = await (await service.fetch(`/drivers/${from}/move`)).text();
  const unknown = await service.fetch("/drivers/99/move");

  assert.deepEqual([...answers.map(({ status }) => status), unknown.status], [422, 422, 422, 404, 404]);
  assert.match(empty, /No printer uses this driver/);
});

test("the preview names the machines that the new driver does not support", async (t) => {
  const service = await startApp(t);
  const from = await service.addDriver(driverZip({ decoration: "NTx86" }));
  const to = await service.addDriver(driverZip({ version: "2.0.0.0" }));
  await service.addPrinter({ driver_id: String(from) });

  const { page } = await previewOf(service, from, to);

  assert.match(page, /The new driver does not work on x86 PCs:/);
});
