import assert from "node:assert/strict";
import { test } from "node:test";
import type { ImportPlan } from "../../src/domain/import/import-plan.ts";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { planOf, rowStatuses, settingsOf } from "../support/printers/lists.ts";

test("a driver is found by its digest, its model in any case, or its title", async (t) => {
  const app = await startApp(t);
  const id = await app.addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] }));
  const { sha256 } = app.app.store.drivers.get(id);
  const rows = [
    "name,driver,driver_desc,driver_model,driver_sha256",
    `Digest,,,,${sha256.toUpperCase()}`,
    "Own model,,papyrus 100 ps,,",
    "Listed,,,PAPYRUS 100 PS,",
    "Default,,,Papyrus 100 PCL6,",
    "Title,papyrus papyrus.inf 1.2.3.4,,,",
    "Description as title,Papyrus 100 PS,,,",
    "None,,,,",
    "Not here,Scriptor 7,,,",
  ];

  const plan = await planOf(app, rows.join("\n"));

  const found = plan.rows.map((row) => [row.name, row.driver?.id, settingsOf(row).driver_desc]);
  assert.deepEqual(found, [
    ["Digest", id, ""],
    ["Own model", id, "Papyrus 100 PS"],
    ["Listed", id, "Papyrus 100 PS"],
    ["Default", id, ""],
    ["Title", id, ""],
    ["Description as title", id, "Papyrus 100 PS"],
    ["None", undefined, ""],
    ["Not here", undefined, ""],
  ]);
  assert.deepEqual(plan.missing, [{ name: "Scriptor 7", maker: "", printers: 1 }]);
});

test("of several drivers with a model, an import uses the named version, else the printer’s own, else the newest", async (t) => {
  const app = await startApp(t);
  const zip = (version: string) => driverZip({ version, date: `01/0${version[0]}/2025` });
  const newest = await app.addDriver(zip("3.0.0.0"));
  const oldest = await app.addDriver(zip("1.0.0.0"));
  const middle = await app.addDriver(zip("2.0.0.0"));
  await app.post("/printers", { name: "Mine", driver_id: String(middle) });
  const rows = [
    "name,driver,driver_version",
    "Mine,Papyrus 100 PCL6,",
    "New,Papyrus 100 PCL6,",
    "Old,Papyrus 100 PCL6,1.0.0.0",
  ];

  const plan = await planOf(app, rows.join("\n"));

  const found = plan.rows.map(({ status, driver, remarks }) => [status, driver?.id, remarks.length]);
  assert.deepEqual(found, [
    ["same", middle, 0],
    ["new", newest, 1],
    ["new", oldest, 0],
  ]);
  assert.match(plan.rows[1]?.remarks[0] ?? "", /the newest: 2 other drivers also have this model/);
});

test("a printer keeps its driver if Platen lacks the named one, and a model that the driver lacks is wrong", async (t) => {
  const app = await startApp(t);
  const id = await app.addDriver();
  const { sha256 } = app.app.store.drivers.get(id);
  await app.post("/printers", { name: "A", driver_id: String(id) });
  const rows = [
    "name,driver,driver_desc,driver_sha256",
    "A,Scriptor 7,Scriptor 7,",
    `B,,Papyrus 7,${sha256}`,
  ];

  const plan = await planOf(app, rows.join("\n"));

  assert.deepEqual(rowStatuses(plan), ["same: A", "wrong: B"]);
  assert.match(
    plan.rows[0]?.remarks[0] ?? "",
    /Platen has no driver “Scriptor 7”\. The printer keeps its driver/,
  );
  assert.match(
    plan.rows[1]?.reasons[0] ?? "",
    /does not contain the model “Papyrus 7”\. Similar models: “Papyrus 100 PCL6”\./,
  );
});

test("edited cells of an export override the digest of the old driver", async (t) => {
  const app = await startApp(t);
  const models = ["Papyrus 100 PCL6", "Papyrus 100 PS"];
  const old = await app.addDriver(driverZip({ models }));
  const other = await app.addDriver(
    driverZip({ models: ["Vellum 7"], version: "2.0.0.0", provider: "Vellum" }),
  );
  await app.post("/printers", { name: "A", driver_id: String(old) });
  const text = await (await app.fetch("/export/printers.csv")).text();
  const edit = (title: string, model: string) =>
    text.replace(",Papyrus 100 PCL6/PS 1.2,", `,${title},`).replace(",Papyrus 100 PCL6,", `,${model},`);
  const [title, model] = ["papyrus papyrus.inf 1.2.3.4", "papyrus 100 pcl6"];
  const edits: [string, string][] = [
    [title, model],
    ["", ""],
    [title, "Papyrus 100 PS"],
    ["Papyrus 100 PS", model],
    [title, "vellum 7"],
    ["Vellum papyrus.inf 2.0.0.0", model],
    ["Vellum papyrus.inf 2.0.0.0", "Vellum 7"],
    ["Vellum 7", ""],
    ["Scriptor 7", model],
    [title, "Scriptor 7"],
    ["Vellum 7", "Papyrus 100 PS"],
  ];

  const plans: ImportPlan[] = [];
  for (const cells of edits) plans.push(await planOf(app, edit(...cells)));

  const found = plans.flatMap(({ rows }) =>
    rows.map((row) => [row.status, row.write?.settings.driver_id, row.write && settingsOf(row).driver_desc]),
  );
  const isSame = ["same", undefined, undefined];
  const isWrong = ["wrong", undefined, undefined];
  assert.deepEqual(found, [
    isSame,
    isSame,
    ["changes", old, "Papyrus 100 PS"],
    ["changes", old, "Papyrus 100 PS"],
    ["changes", other, ""],
    ["changes", other, ""],
    ["changes", other, ""],
    ["changes", other, ""],
    isWrong,
    isWrong,
    isWrong,
  ]);
  const [unknown, , both] = plans.slice(-3).map(({ rows }) => rows[0]?.reasons[0] ?? "");
  assert.match(
    unknown ?? "",
    /“driver” is “Scriptor 7”, but Platen has no such driver\. “driver_sha256” is that of Papy/,
  );
  assert.match(both ?? "", /“driver” is “Vellum 7” and “driver_model” is “Papyrus 100 PS”/);
});

test("a version or an INF alone names no driver; empty cells remove the driver", async (t) => {
  const app = await startApp(t);
  const id = await app.addDriver();
  await app.post("/printers", { name: "A", driver_id: String(id) });

  const version = await planOf(app, "name,driver_version,driver_inf\nA,9.9,other.inf\n");
  const empty = await planOf(app, "name,driver,driver_model,driver_sha256\nA,,,\n");

  assert.deepEqual(rowStatuses(version), ["same: A"]);
  assert.deepEqual(rowStatuses(empty), ["changes: A"]);
  assert.equal(empty.rows[0]?.write?.settings.driver_id, null);
});
