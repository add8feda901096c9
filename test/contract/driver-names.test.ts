import assert from "node:assert/strict";
import { test } from "node:test";
import { packageTitle } from "../../src/domain/drivers/driver.ts";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { planOf, rowStatuses } from "../support/printers/lists.ts";

const networkDriver = driverZip({ className: "Net", provider: "Acme", models: ["Acme Network Adapter"] });

/** The texts and groups of a select's options, in order: `Blocked: Papyrus 100 1.2 · x64`. */
function optionsOf(page: string, select: string): string[] {
  const [, inside = "none"] = new RegExp(`<select id="${select}"[^>]*>(.*?)</select>`, "s").exec(page) ?? [];
  let group = "";
  return [...inside.matchAll(/<optgroup label="([^"]*)">|<\/optgroup>|<option[^>]*>([^<]*)/g)].flatMap(
    ([tag, label, text]) => {
      if (text !== undefined) return [group + text];
      group = tag === "</optgroup>" ? "" : `${label}: `;
      return [];
    },
  );
}

test("an upload names the driver, and a second with the same name gets more of its version", async (t) => {
  const { addDriver, fetch, app } = await startApp(t);
  await addDriver(driverZip({ provider: "PAPYRUS Corp.", models: ["Papyrus Universal Printing PCL 6"] }));
  await addDriver(driverZip({ version: "1.2.9.0", models: ["Papyrus Universal PCL 6"] }));

  const names = app.store.drivers.list().map(({ name }) => name);
  const page = await (await fetch("/drivers/1")).text();

  assert.deepEqual(names, ["Papyrus Universal PCL 6 1.2.9", "Papyrus Universal PCL 6 1.2"]);
  assert.match(page, /<h1><bdi>Papyrus Universal PCL 6 1\.2<\/bdi><\/h1>/);
  assert.match(page, /name="name"[^>]*\n?\s*value="Papyrus Universal PCL 6 1\.2"/);
});

test("a name that another driver has in any case is refused with 409 beside the field, and nothing is saved", async (t) => {
  const { addDriver, app, post } = await startApp(t);
  await addDriver();
  await addDriver(driverZip({ version: "2.0.0.0" }));
  const form = { name: "PAPYRUS 100 pcl6 1.2", comment: "typed" };

  const fragment = await post("/drivers/2", form);
  const page = await post("/drivers/2", form, navigation);
  const ofWindows = await post("/drivers/2", { name: "generic / text only" });
  const own = await post("/drivers/2", { name: "papyrus 100 PCL6 2.0" });

  for (const answer of [fragment, page]) {
    const text = await answer.text();
    assert.equal(answer.status, 409);
    assert.match(
      text,
      /“Papyrus 100 PCL6 1\.2” is already the name of another driver \(driver\.zip\)\. Choose another name\./,
    );
    assert.match(text, /id="f-name-problem"/);
    assert.match(text, /value="PAPYRUS 100 pcl6 1\.2"/);
  }
  assert.match(
    await ofWindows.text(),
    /“Generic \/ Text Only” is already the name of a driver that comes with Windows/,
  );
  assert.deepEqual([ofWindows.status, own.status], [409, 200]);
  const { name, comment } = app.store.drivers.get(2);
  assert.deepEqual([name, comment], ["papyrus 100 PCL6 2.0", ""]);
});

test("an empty name becomes the proposed one again, and a form without the field keeps the name", async (t) => {
  const { addDriver, app, post } = await startApp(t);
  await addDriver();
  const nameAfter = async (fields: Record<string, string>) => {
    await post("/drivers/1", fields);
    return app.store.drivers.get(1).name;
  };

  const names = [
    await nameAfter({ name: "Cellar" }),
    await nameAfter({ comment: "By the door" }),
    await nameAfter({ name: " " }),
  ];

  assert.deepEqual(names, ["Cellar", "Cellar", "Papyrus 100 PCL6 1.2"]);
});

test("names that look the same are the same, and an invisible one is empty", async (t) => {
  const { addDriver, app, post } = await startApp(t);
  await addDriver();
  await addDriver(driverZip({ version: "3.0.0.0" }));
  await post("/drivers/1", { name: "Cellar door" });

  const taken = ["\u200bCellar door", "Cel\u00adlar door", "Cellar  door"];
  const answers = await Promise.all(taken.map((name) => post("/drivers/2", { name })));
  const invisible = await post("/drivers/2", { name: "\u2060\ufeff" });

  assert.deepEqual(
    [...answers, invisible].map(({ status }) => status),
    [409, 409, 409, 200],
  );
  assert.equal(app.store.drivers.get(2).name, "Papyrus 100 PCL6 3.0");
});

test("a restored driver whose name is taken gets a number, also in packages, and the page says so", async (t) => {
  const { addDriver, app, fetch, post } = await startApp(t);
  await addDriver();
  await fetch("/drivers/1", { method: "DELETE" });
  await addDriver(driverZip({ version: "1.2.9.0" }));

  const answer = await post("/deletions/1/undo", {}, navigation);
  const page = await (await fetch(answer.headers.get("location") ?? "")).text();

  const driver = app.store.drivers.get(1);
  assert.deepEqual([driver.name, packageTitle(driver)], Array(2).fill("Papyrus 100 PCL6 1.2 (2)"));
  assert.match(
    page,
    /The driver is now called “Papyrus 100 PCL6 1\.2 \(2\)”\. Another driver has the old name\./,
  );
});

test("a rename is undone with a number if another driver has the earlier name now", async (t) => {
  const { addDriver, app, post } = await startApp(t);
  await addDriver();
  await post("/drivers/1", { name: "Cellar" });
  await addDriver(driverZip({ version: "1.2.9.0" }));

  const answer = await post("/deletions/1/undo", {}, navigation);

  const names = app.store.drivers.list().map(({ name }) => name);
  assert.equal(answer.status, 303);
  assert.deepEqual(names, ["Papyrus 100 PCL6 1.2", "Papyrus 100 PCL6 1.2 (2)"]);
});

test("a driver for no printer is in no select, and an address cannot choose it", async (t) => {
  const { addDriver, addPrinter, fetch, upload } = await startApp(t);
  const alone = await (await upload("/drivers/upload", networkDriver)).text();
  const fresh = await (await fetch("/printers?driver_id=1")).text();
  await addPrinter({ driver_id: String(await addDriver()) });
  await addPrinter({ name: "Wrong", driver_id: "1" });

  const pages = [];
  for (const path of ["/printers", "/printers?copy=2", "/printers/1/edit", "/drivers/2/move"])
    pages.push(await (await fetch(path)).text());
  const kept = await (await fetch("/printers/2/edit")).text();

  assert.doesNotMatch(alone, /id="driver-select"/);
  for (const page of [fresh, ...pages]) assert.doesNotMatch(page, /<option[^>]*>Acme/);
  assert.doesNotMatch(fresh, /<option value="\d+" selected/);
  assert.match(kept, /<option value="1" selected>Acme/, "a printer’s form keeps what is chosen");
});

test("blocked drivers are marked and last in every select", async (t) => {
  const { addDriver, addPrinter, fetch } = await startApp(t);
  await addDriver(driverZip({ provider: "Acme", models: ["Acme 7"], catalog: null }));
  await addPrinter({ driver_id: String(await addDriver()) });
  const expected = [
    "Papyrus 100 PCL6 1.2 · x64",
    "Included in Windows: Microsoft IPP Class Driver · x64, ARM64",
    "Included in Windows: Microsoft PCL6 and PS Class Drivers · x64, ARM64, x86",
    "Included in Windows: Generic / Text Only · x64, ARM64, x86",
    "Blocked: Acme 7 1.2 · x64",
  ];

  const list = await (await fetch("/printers")).text();
  const edit = await (await fetch("/printers/1/edit")).text();
  const move = await (await fetch("/drivers/2/move")).text();

  assert.deepEqual(optionsOf(list, "f-driver_id"), ["No driver", ...expected]);
  assert.deepEqual(optionsOf(edit, "f-driver_id"), ["No driver", ...expected]);
  assert.deepEqual(optionsOf(list, "bulk-driver"), ["Choose one", ...expected, "No driver"]);
  assert.deepEqual(optionsOf(move, "f-to"), [
    "Choose one",
    ...expected.filter((text) => !/Papyrus|IPP/.test(text)),
  ]);
});

test("an exported list finds its drivers by their names, and another driver’s name in a cell chooses that driver", async (t) => {
  const service = await startApp(t);
  await service.addPrinter({ driver_id: String(await service.addDriver(driverZip({ version: "1.2.0.0" }))) });
  const second = await service.addDriver(driverZip({ version: "1.2.9.0" }));
  await service.addPrinter({ name: "Second", driver_id: String(second), address: "10.0.0.8" });
  const exported = await (await service.fetch("/export/printers.csv")).text();
  await service.post("/drivers/1", { name: "Cellar" });
  await service.post(`/drivers/${second}`, { name: "Roof" });

  const renamed = await planOf(service, exported);
  const edited = await planOf(service, exported.replace(",Papyrus 100 PCL6 1.2.9,", ",cellar,"));
  const byName = await planOf(service, "name,driver\nNew,ROOF\nOther,Papyrus papyrus.inf 1.2.0.0\n");

  assert.match(exported, /,Papyrus 100 PCL6 1\.2,/);
  assert.match(exported, /,Papyrus 100 PCL6 1\.2\.9,/);
  assert.deepEqual(rowStatuses(renamed), ["same: Office", "same: Second"]);
  assert.deepEqual(rowStatuses(edited), ["same: Office", "changes: Second"]);
  assert.deepEqual(
    edited.rows.map(({ driver }) => driver?.id),
    [1, 1],
  );
  assert.deepEqual(
    byName.rows.map(({ driver }) => driver?.id),
    [second, 1],
  );
});
