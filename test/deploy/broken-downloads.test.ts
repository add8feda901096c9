import assert from "node:assert/strict";
import { readdirSync, readFileSync, truncateSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { logEntries } from "../support/audit/audit.ts";
import { downloadCounts } from "../support/audit/counted.ts";
import { beginDownload, openFilesBelow, readRest } from "../support/audit/downloads.ts";
import { etagOf, statusesOf, textOf } from "../support/deploy/answers.ts";
import { addLargeDriver } from "../support/deploy/large-driver.ts";
import { selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { until } from "../support/until.ts";

const paths = {
  archive: "/drivers/1/archive",
  files: "/drivers/1/files",
  rmm: "/printers/1/packages/rmm",
  mdm: "/printers/1/packages/mdm",
} as const;
const kinds = selectCases(["archive", "files", "rmm", "mdm"] as const, 2);

test("responses without a body open no file", async (t) => {
  const { app, fetch } = await withOnePrinter(t);
  const { open } = app.store.blobs;

  for (const kind of kinds) {
    const path = paths[kind];
    app.store.blobs.open = open;
    const etag = await etagOf(fetch(path, { method: "HEAD" }));
    app.store.blobs.open = () => Promise.reject(new Error("opened"));
    const answers = [
      await fetch(path, { method: "HEAD" }),
      await fetch(path, { headers: { "if-none-match": etag } }),
      await fetch(path, { headers: { range: "bytes=999999999-" } }),
    ];
    assert.deepEqual(statusesOf(answers), [200, 304, 416], kind);
  }
});

test("a package is laid out once: a second response needs no thread; one that does is 503 after the threads have ended", async (t) => {
  const { app, addDriver, addPrinter, fetch, dataDir } = await startApp(t, { workers: "own" });
  const extra = Array.from({ length: 50 }, (_, i) => ({ name: `a/b ${i}.bin`, bytes: "x", method: 0 }));
  await addPrinter({ driver_id: String(await addDriver(driverZip({ extra }))) });
  const first = await fetch(paths.rmm, { method: "HEAD" });
  await fetch(paths.mdm, { method: "HEAD" });

  // Nothing can be laid out any more.
  app.workers.layOut = () => Promise.reject(new Error("laid out again"));
  const second = await fetch(paths.rmm, { method: "HEAD" });
  const range = await fetch(paths.rmm, { headers: { range: "bytes=0-9" } });
  await app.workers.close();
  // The preparation after the upload keeps the archive open until its thread has ended.
  await until(() => openFilesBelow(dataDir).length === 0);
  const refused = await fetch(paths.mdm);

  assert.deepEqual(statusesOf([first, second, range, refused]), [200, 200, 206, 503]);
  assert.equal(await etagOf(second), await etagOf(first));
  await until(() => openFilesBelow(dataDir).length === 0);
});

for (const kind of kinds) {
  test(`a download of ${kind} is complete even if its driver is deleted meanwhile`, async (t) => {
    const { url, fetch, dataDir } = await startFilled(t, addLargeDriver);
    const path = paths[kind];
    const expected = await readRest(await beginDownload(url + path));

    const download = await beginDownload(url + path);
    const deleted = [
      await fetch("/printers/1", { method: "DELETE" }),
      await fetch("/drivers/1", { method: "DELETE" }),
    ];
    const bytes = await readRest(download);
    const after = await fetch(path);

    assert.equal(download.statusCode, 200);
    assert.deepEqual(statusesOf([...deleted, after]), [200, 200, 404]);
    assert.ok(bytes.equals(expected), `${bytes.length} of ${expected.length} bytes`);
    await until(() => openFilesBelow(dataDir).length === 0);
  });
}

test("a client that disconnects during a download leaves no file open, a line in the log and no count", async (t) => {
  const app = await startFilled(t, addLargeDriver);
  const openFiles = () => readdirSync("/proc/self/fd").length;
  await bytesOf(app.fetch(paths.archive));
  const before = openFiles();

  for (const path of Object.values(paths)) {
    const whole = await beginDownload(app.url + path);
    const part = await beginDownload(app.url + path, { range: "bytes=1000-" });
    // The preparation after the upload keeps the archive open for a while.
    await until(() => openFilesBelow(app.dataDir).length === 2);
    await new Promise((resolve) => whole.once("data", resolve).resume());
    whole.destroy();
    part.destroy();
    await until(() => openFilesBelow(app.dataDir).length === 0);
  }
  await until(() => openFiles() <= before + 2);

  assert.equal((await app.fetch("/health")).status, 200);
  assert.ok(app.lines.filter((line) => /broken off: GET .*the client left/.test(line)).length >= 1);
  assert.equal(app.lines.filter((line) => /error/.test(line)).length, 0, app.lines.join("\n"));
  // The whole archive, before.
  assert.equal((await logEntries(app, "downloaded")).length, 1);
  assert.deepEqual(await downloadCounts(app, 1), []);
});

test("an archive that is damaged during a download breaks the connection, so that a part does not look complete", async (t) => {
  const app = await startFilled(t, addLargeDriver);
  const { blobs, drivers } = app.app.store;
  const path = blobs.pathOf("drivers", drivers.get(1).sha256);
  const whole = readFileSync(path);
  await bytesOf(app.fetch(paths.mdm));

  for (const format of ["rmm", "mdm"] as const) {
    await writeFile(path, whole);
    const answer = await app.fetch(paths[format]);
    truncateSync(path, 2_000_000);
    await assert.rejects(answer.arrayBuffer(), `${format} broke off`);
  }
  const after = await app.fetch(paths.rmm);

  assert.equal(app.lines.filter((line) => /broken off/.test(line)).length, 2, app.lines.join("\n"));
  assert.equal(after.status, 422);
  assert.match(await textOf(after), /damaged on the server/);
});
