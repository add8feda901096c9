import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { planOf } from "../support/printers/lists.ts";

const ipp = "1000001";

/** The selected option of a form's select, by the field's name. */
function selectedIn(page: string, name: string): string | undefined {
  const [, select = ""] = new RegExp(`<select id="f-${name}"([^]*?)</select>`).exec(page) ?? [];
  return /<option value="([^"]*)" selected/.exec(select)?.[1];
}

test("a form opened for the IPP class driver has protocol IPP and its port, and can be saved unchanged", async (t) => {
  const { fetch, post } = await startApp(t);

  const forIpp = await (await fetch(`/printers?driver_id=${ipp}`)).text();
  const saved = await post("/printers", { name: "First", address: "10.0.0.9", driver_id: ipp });
  const next = await saved.text();
  const plain = await (await fetch("/printers?driver_id=1000002")).text();

  for (const page of [forIpp, next]) {
    assert.deepEqual([selectedIn(page, "driver_id"), selectedIn(page, "protocol")], [ipp, "ipp"]);
    assert.match(page, /name="port_number" type="text"\s*value="631"/);
  }
  assert.deepEqual([selectedIn(plain, "driver_id"), selectedIn(plain, "protocol")], ["1000002", "raw"]);
});

test("the preview of a row that only names IPP shows the driver that it gets", async (t) => {
  const app = await startApp(t);

  const { rows } = await planOf(app, "name,address,protocol\nHall,10.0.0.9,ipp\n");

  assert.deepEqual([rows[0]?.status, rows[0]?.driver?.name], ["new", "Microsoft IPP Class Driver"]);
});

test("a bulk change that removes drivers is refused for printers that print over IPP", async (t) => {
  const { post, addPrinter, app } = await startApp(t);
  await addPrinter({ name: "Raw" });
  await addPrinter({ name: "Driverless", driver_id: ipp });

  const refused = await post("/printers/bulk", { ids: "1,2", action: "driver", driver_id: "" });
  const done = await post("/printers/bulk", { ids: "1", action: "driver", driver_id: "", confirmed: "1" });

  assert.deepEqual([refused.status, done.status], [422, 200]);
  assert.match(await refused.text(), /IPP requires the Microsoft IPP Class Driver[^<]*“Driverless”/);
  const ids = [1, 2].map((id) => app.store.printers.get(id).printer.driver_id);
  assert.deepEqual(ids, [null, Number(ipp)]);
});

test("a search finds Windows drivers", async (t) => {
  const { fetch } = await startApp(t);

  const page = await (await fetch("/search?q=ipp+class")).text();

  assert.match(page, /1 driver,[\s\S]*<a href="\/drivers\/1000001"><bdi>Microsoft IPP Class Driver</);
  assert.match(page, /<span class="soft facts"><bdi>Microsoft IPP Class Driver<\/bdi><\/span>/);
});

test("only a printer’s page mentions diagnose.ps1, a driver’s page does not", async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  await addPrinter();

  const [printer = "", driver = ""] = await Promise.all(
    ["/printers/1", "/drivers/1"].map(async (path) => (await fetch(path)).text()),
  );

  for (const page of [printer, driver]) assert.match(page, /Single scripts/);
  assert.match(printer, /It does not print\?<\/summary>\s+<p>Run <code>diagnose\.ps1<\/code>/);
  assert.doesNotMatch(driver, /diagnose\.ps1/);
});

test("a printer’s page lists each queue that it replaces on its own line, also names with spaces", async (t) => {
  const { addPrinter, fetch } = await startApp(t);
  await addPrinter({ driver_id: ipp, replaces: "Old one\nAnother old one\n\\\\server\\queue" });

  const page = await (await fetch("/printers/1")).text();

  assert.match(
    page,
    /<code>Old one<\/code><br><code>Another old one<\/code><br><code>\\\\server\\queue<\/code><\/dd>/,
  );
  assert.match(page, /<code>http:\/\/10\.0\.0\.9:631<wbr>\/ipp\/print<\/code>/);
});

test("the page of a driver that cannot be deployed has no link to the deploy section", async (t) => {
  const { addDriver, fetch } = await startApp(t);
  const good = await addDriver();
  const bad = await addDriver(makeZip([{ name: "net.inf", bytes: "[Version]\nClass=Net\n" }]));

  const [leading = "", silent = ""] = await Promise.all(
    [good, bad].map(async (id) => (await fetch(`/drivers/${id}`)).text()),
  );

  assert.match(leading, /href="\/drivers\/\d+\/packages\/mdm"/);
  assert.doesNotMatch(silent, /href="\/drivers\/\d+\/packages\/mdm"/);
});
