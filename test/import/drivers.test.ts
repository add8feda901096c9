import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { appWithPair, driversOf } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { planOf, rowStatuses, settingsOf } from "../support/printers/lists.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";

const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"];

test("a driver is found by its digest, its model in any case, or its title", async (t) => {
  const app = await startApp(t);
  const id = await app.addDriver(driverZip({ models }));
  const { sha256 } = app.app.store.drivers.get(id);
  const found: [row: string, number | undefined, model: string][] = [
    [`Digest,,,,${sha256.toUpperCase()}`, id, ""],
    ["Own model,,papyrus 100 ps,,", id, "Papyrus 100 PS"],
    ["Listed,,,PAPYRUS 100 PS,", id, "Papyrus 100 PS"],
    ["Default,,,Papyrus 100 PCL6,", id, ""],
    ["Title,papyrus papyrus.inf 1.2.3.4,,,", id, ""],
    ["Description as title,Papyrus 100 PS,,,", id, "Papyrus 100 PS"],
    ["None,,,,", undefined, ""],
    ["Not here,Scriptor 7,,,", undefined, ""],
  ];
  const lines = ["name,driver,driver_desc,driver_model,driver_sha256", ...found.map(([row]) => row)];

  const { rows, missing } = await planOf(app, lines.join("\n"));

  for (const [i, [line, driver, model]] of found.entries()) {
    const row = rows[i];
    assert.deepEqual([row?.driver?.id, row && settingsOf(row).driver_desc], [driver, model], line);
  }
  assert.deepEqual(missing, [{ name: "Scriptor 7", maker: "", printers: 1 }]);
});

test("of several drivers with a model, an import uses the named version, else the printer’s own, else the newest", async (t) => {
  const app = await startApp(t);
  const add = (version: string) => app.addDriver(driverZip({ version, date: `01/0${version[0]}/2025` }));
  const [newest, oldest, middle] = [await add("3.0.0.0"), await add("1.0.0.0"), await add("2.0.0.0")];
  await app.post("/printers", { name: "Mine", driver_id: String(middle) });
  const list =
    "name,driver,driver_version\nMine,Papyrus 100 PCL6,\nNew,Papyrus 100 PCL6,\nOld,Papyrus 100 PCL6,1.0.0.0";

  const { rows } = await planOf(app, list);

  const found = rows.map(({ status, driver, remarks }) => `${status} ${driver?.id} ${remarks.length}`);
  assert.deepEqual(found, [`same ${middle} 0`, `new ${newest} 1`, `new ${oldest} 0`]);
  assert.match(rows[1]?.remarks[0] ?? "", /the newest: 2 other drivers also have this model/);
});

test("a printer keeps its driver if Platen lacks the named one, a model that the driver lacks is wrong, and empty cells remove the driver", async (t) => {
  const app = await withOnePrinter(t);
  const { sha256 } = app.app.store.drivers.get(1);
  const named = `name,driver,driver_desc,driver_sha256\nOffice,Scriptor 7,Scriptor 7,\nB,,Papyrus 7,${sha256}`;

  const plan = await planOf(app, named);
  const version = await planOf(app, "name,driver_version,driver_inf\nOffice,9.9,other.inf\n");
  const empty = await planOf(app, "name,driver,driver_model,driver_sha256\nOffice,,,\n");

  const [kept = "", wrong = ""] = [plan.rows[0]?.remarks[0], plan.rows[1]?.reasons[0]];
  const statuses = [plan, version, empty].flatMap(rowStatuses);
  assert.deepEqual(statuses, ["same: Office", "wrong: B", "same: Office", "changes: Office"]);
  assert.match(kept, /Platen has no driver “Scriptor 7”\. The printer keeps its driver/);
  assert.match(wrong, /does not contain the model “Papyrus 7”\. Similar models: “Papyrus 100 PCL6”\./);
  assert.equal(empty.rows[0]?.write?.settings.driver_id, null);
});

test("edited cells of an export override the digest of the old driver", async (t) => {
  const app = await startApp(t);
  const vellumZip = driverZip({ models: ["Vellum 7"], version: "2.0.0.0", provider: "Vellum" });
  const [old, other] = [await app.addDriver(driverZip({ models })), await app.addDriver(vellumZip)];
  await app.post("/printers", { name: "A", driver_id: String(old) });
  const text = await (await app.fetch("/export/printers.csv")).text();
  const [title, model] = ["papyrus papyrus.inf 1.2.3.4", "papyrus 100 pcl6"];
  const vellum = "Vellum papyrus.inf 2.0.0.0";
  const [same, wrong] = ["same undefined undefined", "wrong undefined undefined"];
  const [toPs, toOther] = [`changes ${old} Papyrus 100 PS`, `changes ${other} `];
  const unknown = /“driver” is “Scriptor 7”, but Platen has no such driver\. “driver_sha256” is that of Papy/;
  const contrary = /“driver” is “Vellum 7” and “driver_model” is “Papyrus 100 PS”/;
  const edits: [title: string, model: string, outcome: string, reason?: RegExp][] = [
    [title, model, same],
    ["", "", same],
    [title, "Papyrus 100 PS", toPs],
    ["Papyrus 100 PS", model, toPs],
    [title, "vellum 7", toOther],
    [vellum, model, toOther],
    [vellum, "Vellum 7", toOther],
    ["Vellum 7", "", toOther],
    ["Scriptor 7", model, wrong, unknown],
    [title, "Scriptor 7", wrong],
    ["Vellum 7", "Papyrus 100 PS", wrong, contrary],
  ];

  for (const [newTitle, newModel, outcome, reason = /^/] of edits) {
    const edited = text
      .replace(",Papyrus 100 PCL6/PS 1.2,", `,${newTitle},`)
      .replace(",Papyrus 100 PCL6,", `,${newModel},`);
    const [row] = (await planOf(app, edited)).rows;

    const { driver_id, driver_desc } = row?.write?.settings ?? {};
    assert.equal(`${row?.status} ${driver_id} ${driver_desc}`, outcome, `${newTitle}, ${newModel}`);
    assert.match(row?.reasons[0] ?? "", reason);
  }
});

test("an export restores both drivers of a printer, and rows name a driver for ARM64 by its model", async (t) => {
  const service = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM PS" });
  const { fetch, post, addPrinter, main, arm } = service;
  await addPrinter({ driver_id: String(main), name: "Plain" });
  const csv = await (await fetch("/export/printers.csv")).text();
  const model = "Papyrus 100 PCL6";
  const columns = "name,driver_model,arm64_driver_model,arm64_driver_version";
  const lists: [list: string, ...found: unknown[]][] = [
    ["name,arm64_driver,arm64_driver_model,arm64_driver_sha256\nOffice,,,", "changes", main, null, ""],
    [`${columns}\nPlain,${model},PAPYRUS ARM PS,`, "changes", main, arm, "Papyrus ARM PS"],
    [`${columns}\nNew,${model},Papyrus ARM,3.0.0.0`, "new", main, arm, ""],
  ];

  const same = await planOf(service, csv);
  const before = driversOf(service);
  for (const [list, ...found] of lists) {
    const [row] = (await planOf(service, list)).rows;
    const { driver_id, arm64_driver_id, arm64_driver_desc } = row?.write?.settings ?? {};
    assert.deepEqual([row?.status, driver_id, arm64_driver_id, arm64_driver_desc], found, list);
    assert.equal((await post("/import", { text: list })).status, 200);
  }
  const changed = driversOf(service);
  await post("/import", { text: csv });

  const arm64 = "arm64_driver,arm64_driver_model,arm64_driver_inf,arm64_driver_version,arm64_driver_sha256,";
  assert.match(csv.split("\r\n")[0] ?? "", new RegExp(`arm64_driver_desc.*,${arm64}`));
  assert.deepEqual(same.counts, { wrong: 0, changes: 0, new: 0, same: 2, "left out": 0 });
  assert.deepEqual(changed, [
    ["New", main, "", arm, ""],
    ["Office", main, "", null, ""],
    ["Plain", main, "", arm, "Papyrus ARM PS"],
  ]);
  assert.deepEqual(driversOf(service).slice(1), before);
});

test("wrong columns for a driver for ARM64 are named, and an unknown driver leaves the printer’s own", async (t) => {
  const service = await appWithPair(t);
  const { sha256 } = service.app.store.drivers.get(service.arm);
  const ipp = "Office,ipp,Microsoft IPP Class Driver";

  const keeps = /Platen has no driver for ARM64 “Nothing Like It”\. The printer keeps its driver for ARM64\./;
  const unknown =
    /^“arm64_driver” is “Scriptor 7”, but Platen has no such driver\. “arm64_driver_sha256” is that/;
  const ippColumns = "name,protocol,driver_model";
  const empty = "arm64_driver,arm64_driver_model,arm64_driver_sha256";
  const lists: [list: string, status: string, text: RegExp][] = [
    ["name,arm64_driver_model\nOffice,Papyrus 100 PCL6\n", "wrong", /has no ARM64 files/],
    ["name,arm64_driver_model\nOffice,Nothing Like It\n", "same", keeps],
    [`name,arm64_driver,arm64_driver_sha256\nOffice,Scriptor 7,${sha256}\n`, "wrong", unknown],
    [`${ippColumns}\n${ipp}\n`, "wrong", /^IPP requires no driver for ARM64\. Leave this empty\.$/],
    [`${ippColumns},${empty}\n${ipp},,,\n`, "changes", /^$/],
  ];

  for (const [list, status, text] of lists) {
    const [row] = (await planOf(service, list)).rows;

    assert.equal(row?.status, status, list);
    assert.match([...(row?.reasons ?? []), ...(status === "same" ? row.remarks : [])].join(), text);
  }
});
