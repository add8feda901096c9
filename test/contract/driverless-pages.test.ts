import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { planOf } from "../support/lists.ts";

const ipp = "1000001";

/** What a form's select holds chosen, by the field's name. */
function chosenIn(page: string, name: string): string | undefined {
  const [, select = ""] = new RegExp(`<select id="f-${name}"([^]*?)</select>`).exec(page) ?? [];
  return /<option value="([^"]*)" selected/.exec(select)?.[1];
}

test("a form that is opened for the IPP class driver says IPP and its port, and can be saved as it is", async (t) => {
  const { fetch, post } = await startApp(t);

  const asked = await (await fetch(`/printers?driver_id=${ipp}`)).text();
  const saved = await post("/printers", { name: "First", address: "10.0.0.9", driver_id: ipp });
  const next = await saved.text();
  const plain = await (await fetch("/printers?driver_id=1000002")).text();

  for (const page of [asked, next]) {
    assert.deepEqual([chosenIn(page, "driver_id"), chosenIn(page, "protocol")], [ipp, "ipp"]);
    assert.match(page, /name="port_number" type="text"\s*value="631"/);
  }
  assert.deepEqual([chosenIn(plain, "driver_id"), chosenIn(plain, "protocol")], ["1000002", "raw"]);
});

test("an imported row that names IPP alone is shown with the driver that it gets", async (t) => {
  const app = await startApp(t);

  const { rows } = await planOf(app, "name,address,protocol\nHall,10.0.0.9,ipp\n");

  assert.deepEqual([rows[0]?.mark, rows[0]?.driver?.name], ["new", "Microsoft IPP Class Driver"]);
});

test("printers that print over IPP keep their driver when many are to have none", async (t) => {
  const { post, addPrinter, app } = await startApp(t);
  await addPrinter({ name: "Raw" });
  await addPrinter({ name: "Driverless", driver_id: ipp });

  const refused = await post("/printers/bulk", { ids: "1,2", action: "driver", driver_id: "" });
  const done = await post("/printers/bulk", { ids: "1", action: "driver", driver_id: "" });

  assert.deepEqual([refused.status, done.status], [422, 200]);
  assert.match(await refused.text(), /IPP comes with its own driver[^<]*“Driverless”/);
  const ids = [1, 2].map((id) => app.store.printers.get(id).printer.driver_id);
  assert.deepEqual(ids, [null, Number(ipp)]);
});
