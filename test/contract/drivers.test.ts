import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip } from "../support/drivers/zip.ts";

test("an upload creates one driver, with a list of models and a notice about unused files", async (t) => {
  const { upload, app, dataDir } = await startApp(t);
  const zip = driverZip({ extra: [{ name: "readme.txt", bytes: "x" }] });

  const first = await upload("/drivers/upload", zip, "Papyrus 1.2.zip");
  const second = await upload("/drivers/upload", zip, "again.zip");

  const text = await first.text();
  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.match(text, /<select [^>]*name="driver_id"/);
  assert.match(text, /Packages contain 1 unused file/);
  assert.match(text, /readme\.txt/);
  assert.match(await second.text(), /is already in Platen/);
  assert.equal(app.store.drivers.list().length, 1);
  assert.equal(app.store.drivers.get(1).file_name, "Papyrus 1.2.zip");
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
});

test("two concurrent uploads of the same content create one record", async (t) => {
  const { upload, app, dataDir } = await startApp(t);
  const zip = driverZip();

  const answers = await Promise.all([1, 2, 3, 4].map(() => upload("/drivers/upload", zip)));

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [200, 200, 200, 200],
  );
  assert.equal(app.store.drivers.list().length, 1);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
});

test("a file that is not a driver ZIP is refused with 422 and leaves nothing behind", async (t) => {
  const { upload, post, app, dataDir } = await startApp(t);

  const answers = [
    await upload("/drivers/upload", Buffer.from("this is no ZIP")),
    await upload("/drivers/upload", makeZip([{ name: "readme.txt", bytes: "no INF" }])),
    await upload("/drivers/upload", driverZip().subarray(0, 300)),
    await post("/drivers/upload", { file: "no file" }),
  ];

  assert.deepEqual(
    answers.map((answer) => answer.status),
    [422, 422, 422, 422],
  );
  assert.match((await answers[1]?.text()) ?? "", /contains no INF file/);
  assert.equal(app.store.drivers.list().length, 0);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
  assert.deepEqual(readdirSync(join(dataDir, "drivers")), []);
});

test("a ZIP over the limit is refused with 413 and leaves nothing behind", async (t) => {
  const { upload, app, dataDir } = await startApp(t, { uploadLimitBytes: 1024 * 1024 });

  const answer = await upload("/drivers/upload", Buffer.alloc(1024 * 1024 + 1));

  assert.equal(answer.status, 413);
  assert.match(await answer.text(), /larger than 1 MB/);
  assert.equal(app.store.drivers.list().length, 0);
  assert.deepEqual(readdirSync(join(dataDir, "incoming")), []);
});

test("uploads above the limit of waiting ones are refused with 503 and Retry-After", async (t) => {
  const { upload, app } = await startApp(t, { inspection: "process" });

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) => upload("/drivers/upload", driverZip({ version: `1.0.0.${i}` }))),
  );

  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0 && answers.every(({ status }) => status === 200 || status === 503));
  for (const answer of busy) assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
  assert.equal(app.store.drivers.list().length, 40 - busy.length);
});

test("a driver whose INF has no model is saved and needs attention until the operator completes it", async (t) => {
  const { addDriver, addPrinter, fetch, post } = await startApp(t);
  const driver = await addDriver(driverZip({ models: [] }));
  const printer = await addPrinter({ driver_id: String(driver) });

  const list = await (await fetch("/drivers")).text();
  const before = await fetch(`/printers/${printer}/scripts/install`);
  await post(`/drivers/${driver}`, { driver_desc_typed: "Papyrus typed" });
  const after = await fetch(`/printers/${printer}/scripts/install`);

  assert.match(list, /This driver has no model/);
  assert.equal(before.status, 422);
  assert.match(await before.text(), /has no model/);
  assert.equal(after.status, 200);
  assert.match(await after.text(), /DriverName = 'Papyrus typed'/);
});

test("uploading the same content restores a driver’s missing file", async (t) => {
  const { upload, addPrinter, fetch, dataDir, app } = await startApp(t);
  const printer = await addPrinter();
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);

  const missing = await fetch(`/printers/${printer}/packages/rmm`);
  await upload("/drivers/upload", driverZip());
  const back = await fetch(`/printers/${printer}/packages/rmm`);

  assert.equal(missing.status, 422);
  assert.match(await missing.text(), /missing on the server\. Upload driver\.zip again/);
  assert.equal(back.status, 200);
  assert.equal(readdirSync(join(dataDir, "drivers")).length, 1);
});

test("a chosen INF and model are saved, and another INF changes the model to its own", async (t) => {
  const { addDriver, post, app } = await startApp(t);
  const second = printerInf({ models: ["Second A v2.0", "Second A"], version: "9.9.9.9" });
  const id = await addDriver(
    driverZip({ models: ["First A", "First B"], extra: [{ name: "sub/second.inf", bytes: second }] }),
  );

  await post(`/drivers/${id}`, {
    driver_desc: "First B",
    name: "Named",
    comment: "c",
    trust_publisher: "on",
  });
  const first = app.store.drivers.get(id);
  await post(`/drivers/${id}`, { inf_path: "sub/second.inf" });
  const other = app.store.drivers.get(id);
  const wrong = await post(`/drivers/${id}`, { inf_path: "nothing.inf" });

  assert.deepEqual([first.driver_desc, first.name, first.trust_publisher], ["First B", "Named", true]);
  assert.deepEqual([other.inf_path, other.driver_desc], ["sub/second.inf", "Second A"]);
  assert.equal(wrong.status, 422);
});
