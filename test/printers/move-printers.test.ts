import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

type Printers = readonly Record<string, string>[];

/** A service with driver 1, its newer version, driver 2, and printers of driver 1. */
async function startWithVersions(t: TestContext, older: string[], newer: string[], printers: Printers) {
  const service = await startApp(t);
  await service.addDriver(driverZip({ version: "1.0.0.0", models: older }));
  await service.addDriver(driverZip({ version: "2.0.0.0", models: newer }));
  for (const printer of printers) await service.addPrinter({ driver_id: "1", ...printer });
  const move = (fields: Record<string, string>) =>
    service.post("/drivers/1/move", { to: "2", ...fields }, navigation);
  return { service, move };
}

const previewIn = (page: string) => /name="preview" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";

async function previewOf({ fetch }: TestApp, query = "?to=2") {
  const page = await (await fetch(`/drivers/1/move${query}`)).text();
  return { page, preview: previewIn(page) };
}

/** The name, driver and model of each printer. */
function modelsOf({ app }: TestApp): [string, number | undefined, string][] {
  return app.store.printers
    .list()
    .map(({ printer, driver }) => [printer.name, driver?.id, printer.driver_desc]);
}

test("printers move to the newer version together, each to the model with the same name", async (t) => {
  const newer = ["PAPYRUS B", "Papyrus A", "Papyrus C"];
  const { service, move } = await startWithVersions(t, ["Papyrus A", "Papyrus B"], newer, [
    { name: "Own" },
    { name: "Two", driver_desc: "Papyrus B", location: "kept" },
    { name: "There", driver_id: "2" },
  ]);

  const { page, preview } = await previewOf(service, "");
  const moved = await move({ preview });
  const after = await (await service.fetch(moved.headers.get("location")?.split("#")[0] ?? "")).text();

  assert.match(page, /<option value="2" selected/, "the newest version is chosen at first");
  assert.match(page, /<bdi>Papyrus A<\/bdi> <span class="soft">same model/);
  assert.match(page, /name="model_1" value="PAPYRUS B"/);
  assert.equal(moved.status, 303);
  assert.match(moved.headers.get("location") ?? "", /^\/drivers\/2\?moved=[\w-]{12}$/);
  assert.match(after, /2 printers moved to/);
  assert.deepEqual(modelsOf(service), [
    ["Own", 2, "Papyrus A"],
    ["There", 2, ""],
    ["Two", 2, "PAPYRUS B"],
  ]);
  const { printer } = service.app.store.printers.get(2);
  assert.equal(printer.location, "kept");
  assert.ok(revisionOf({ printer, driver: service.app.store.drivers.get(2), arm64Driver: undefined }));
});

test("printers without a matching model get the universal model, and printers without an own model keep none", async (t) => {
  const newer = ["Papyrus Universal", "Papyrus C"];
  const { service, move } = await startWithVersions(t, ["Papyrus A", "Papyrus B"], newer, [
    { name: "Own" },
    { name: "Two", driver_desc: "Papyrus B" },
  ]);

  const { preview } = await previewOf(service);
  await move({ preview });

  assert.deepEqual(modelsOf(service), [
    ["Own", 2, ""],
    ["Two", 2, "Papyrus Universal"],
  ]);
});

test("a model without a match is chosen once for all of its printers, and nothing moves before", async (t) => {
  const newer = ["Papyrus A", "Papyrus X", "Papyrus Y"];
  const { service, move } = await startWithVersions(t, ["Papyrus A", "Papyrus B"], newer, [
    { name: "One", driver_desc: "Papyrus A" },
    { name: "Three", driver_desc: "Papyrus B" },
    { name: "Two", driver_desc: "Papyrus B" },
  ]);
  const { page, preview } = await previewOf(service);

  const none = await move({ preview, model_1: "" });
  const wrong = await move({ preview, model_1: "Papyrus <Z>" });
  const before = modelsOf(service).map(([, driver]) => driver);
  const done = await move({ preview, model_1: "Papyrus Y" });

  const text = await wrong.text();
  assert.equal([...page.matchAll(/<input[^>]* name="model_\d+"/g)].length, 1, "one field for two printers");
  assert.deepEqual([none.status, wrong.status, done.status], [422, 422, 303]);
  assert.match(await none.text(), /Choose a model for these printers/);
  assert.match(text, /The driver does not contain the model “Papyrus &lt;Z&gt;”/);
  assert.match(text, /name="model_1" value="Papyrus &lt;Z&gt;"/, "what was typed is kept");
  assert.deepEqual(before, [1, 1, 1]);
  assert.deepEqual(
    modelsOf(service).map(([, , model]) => model),
    ["Papyrus A", "Papyrus Y", "Papyrus Y"],
  );
});

test("an outdated plan is refused, and the current plan is shown", async (t) => {
  const models = ["Papyrus A"];
  const { service, move } = await startWithVersions(t, models, models, [{ name: "One" }]);
  const { preview } = await previewOf(service);
  await service.addPrinter({ driver_id: "1", name: "Two" });

  const stale = await move({ preview });
  const page = await stale.text();
  const without = await service.post("/drivers/1/move", { to: "2" });
  const twice = await Promise.all([1, 2].map(() => move({ preview: previewIn(page) })));

  assert.deepEqual([stale.status, without.status], [409, 409]);
  assert.match(page, /No printer was moved/);
  assert.match(page, /Two/);
  assert.deepEqual(twice.map(({ status }) => status).sort(), [303, 409], "a second click moves nothing");
  assert.deepEqual(
    modelsOf(service).map(([, driver]) => driver),
    [2, 2],
  );
});

test("a move without a target, to the same driver or from an unknown driver is refused", async (t) => {
  const service = await startApp(t);
  await service.addDriver();
  const move = (id: number, to: string) => service.post(`/drivers/${id}/move`, { to });

  const answers = [await move(1, ""), await move(1, "99"), await move(1, "1"), await move(99, "1")];
  const empty = await (await service.fetch("/drivers/1/move")).text();
  const unknown = await service.fetch("/drivers/99/move");

  assert.deepEqual([...answers.map(({ status }) => status), unknown.status], [422, 422, 422, 404, 404]);
  assert.match(empty, /No printer uses this driver/);
});

test("the preview names the machines that the new driver does not support", async (t) => {
  const service = await startApp(t);
  await service.addDriver(driverZip({ decoration: "NTx86" }));
  await service.addDriver(driverZip({ version: "2.0.0.0" }));
  await service.addPrinter({ driver_id: "1" });

  const { page } = await previewOf(service);

  assert.match(page, /The new driver does not work on x86 PCs:/);
});
