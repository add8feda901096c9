import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { driverZip, type InfOptions } from "../support/drivers/driver-zip.ts";

/** A service with driver 1, its newer version, driver 2, and printers of driver 1. */
async function startWithVersions(
  t: TestContext,
  models: readonly string[],
  printers: readonly Record<string, string>[],
  older: InfOptions = {},
) {
  const service = await startApp(t);
  await service.addDriver(driverZip({ version: "1.0.0.0", models: ["Papyrus A", "Papyrus B"], ...older }));
  await service.addDriver(driverZip({ version: "2.0.0.0", models }));
  for (const printer of printers) await service.addPrinter({ driver_id: "1", ...printer });
  const move = (fields: Record<string, string>) =>
    service.post("/drivers/1/move", { to: "2", ...fields }, navigation);
  const pageOf = (query = "?to=2") => textOf(service.fetch(`/drivers/1/move${query}`));
  return { service, move, pageOf };
}

const previewIn = (page: string) => /name="preview" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";

/** The name, driver and model of each printer. */
const modelsOf = ({ app }: TestApp) =>
  app.store.printers
    .list()
    .map(({ printer, driver }) => [printer.name, driver?.id, printer.driver_desc].join("|"));

test("printers move to the newer version together, each to the model with the same name", async (t) => {
  const newer = ["PAPYRUS B", "Papyrus A", "Papyrus C"];
  const two = { name: "Two", driver_desc: "Papyrus B", location: "kept" };
  const printers = [{ name: "Own" }, two, { name: "There", driver_id: "2" }];
  const { service, move, pageOf } = await startWithVersions(t, newer, printers);

  const page = await pageOf("");
  const moved = await move({ preview: previewIn(page) });
  const after = await textOf(service.fetch(moved.headers.get("location")?.split("#")[0] ?? ""));

  assert.match(page, /<option value="2" selected/, "the newest version is chosen at first");
  assert.match(page, /<bdi>Papyrus A<\/bdi> <span class="soft">same model/);
  assert.match(page, /name="model_1" value="PAPYRUS B"/);
  assert.equal(moved.status, 303);
  assert.match(moved.headers.get("location") ?? "", /^\/drivers\/2\?moved=[\w-]{12}$/);
  assert.match(after, /2 printers moved to/);
  assert.deepEqual(modelsOf(service), ["Own|2|Papyrus A", "There|2|", "Two|2|PAPYRUS B"]);
  assert.equal(service.app.store.printers.get(2).printer.location, "kept");
});

test("printers without a matching model get the universal model, printers without an own model keep none, and the page names PCs that the driver does not support", async (t) => {
  const printers = [{ name: "Own" }, { name: "Two", driver_desc: "Papyrus B" }];
  const newer = ["Papyrus Universal", "Papyrus C"];
  const x86 = { decoration: "NTx86" };
  const { service, move, pageOf } = await startWithVersions(t, newer, printers, x86);

  const page = await pageOf();
  await move({ preview: previewIn(page) });

  assert.match(page, /The new driver does not work on x86 PCs:/);
  assert.deepEqual(modelsOf(service), ["Own|2|", "Two|2|Papyrus Universal"]);
});

test("a model without a match is chosen once for all of its printers, and nothing moves before", async (t) => {
  const models = Object.entries({ One: "Papyrus A", Three: "Papyrus B", Two: "Papyrus B" });
  const printers = models.map(([name, driver_desc]) => ({ name, driver_desc }));
  const newer = ["Papyrus A", "Papyrus X", "Papyrus Y"];
  const { service, move, pageOf } = await startWithVersions(t, newer, printers);
  const page = await pageOf();
  const preview = previewIn(page);

  const none = await move({ preview, model_1: "" });
  const wrong = await move({ preview, model_1: "Papyrus <Z>" });
  const before = modelsOf(service);
  const done = await move({ preview, model_1: "Papyrus Y" });

  const text = await wrong.text();
  assert.equal([...page.matchAll(/<input[^>]* name="model_\d+"/g)].length, 1, "one field for two printers");
  assert.deepEqual(statusesOf([none, wrong, done]), [422, 422, 303]);
  assert.match(await none.text(), /Choose a model for these printers/);
  assert.match(text, /The driver does not contain the model “Papyrus &lt;Z&gt;”/);
  assert.match(text, /name="model_1" value="Papyrus &lt;Z&gt;"/, "what was typed is kept");
  assert.deepEqual(before, ["One|1|Papyrus A", "Three|1|Papyrus B", "Two|1|Papyrus B"]);
  assert.deepEqual(modelsOf(service), ["One|2|Papyrus A", "Three|2|Papyrus Y", "Two|2|Papyrus Y"]);
});

test("an outdated plan is refused, and the current plan is shown", async (t) => {
  const { service, move, pageOf } = await startWithVersions(t, ["Papyrus A"], [{ name: "One" }]);
  const preview = previewIn(await pageOf());
  await service.addPrinter({ driver_id: "1", name: "Two" });

  const stale = await move({ preview });
  const page = await stale.text();
  const without = await service.post("/drivers/1/move", { to: "2" });
  const twice = await Promise.all([1, 2].map(() => move({ preview: previewIn(page) })));

  assert.deepEqual(statusesOf([stale, without]), [409, 409]);
  assert.match(page, /No printer was moved[\s\S]*Two/);
  assert.deepEqual(statusesOf(twice).sort(), [303, 409], "a second click moves nothing");
  assert.deepEqual(modelsOf(service), ["One|2|", "Two|2|"]);
});

test("a move without a target, to the same driver or from an unknown driver is refused", async (t) => {
  const { service, pageOf } = await startWithVersions(t, [], []);
  const move = (id: number, to: string) => service.post(`/drivers/${id}/move`, { to });

  const answers = [await move(1, ""), await move(1, "99"), await move(1, "1"), await move(99, "1")];
  answers.push(await service.fetch("/drivers/99/move"));

  assert.deepEqual(statusesOf(answers), [422, 422, 422, 404, 404]);
  assert.match(await pageOf(""), /No printer uses this driver/);
});
