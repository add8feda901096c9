import assert from "node:assert/strict";
import { readdirSync, truncateSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { openFilesBelow } from "../support/audit/downloads.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { appWithMixedDriver, bytesOf, noise } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { until } from "../support/until.ts";

test("a download writes no file", async (t) => {
  const { app, fetch, printer, dataDir } = await appWithMixedDriver(t);
  await app.store.audit.flush();
  const listing = () => readdirSync(dataDir, { recursive: true, encoding: "utf8" }).sort();
  const before = listing();

  await bytesOf(fetch(`/printers/${printer}/packages/mdm`));
  await fetch(`/printers/${printer}/packages/mdm`, { method: "HEAD" });

  assert.deepEqual(listing(), before);
});

/** A driver that is larger than socket buffers. */
const big = driverZip({
  extra: [{ name: "big.bin", bytes: Buffer.concat(Array.from({ length: 80 }, () => noise)), method: 0 }],
});
/** Adds the driver and a printer that uses it. */
const addBig = async ({ addDriver, addPrinter }: TestApp) =>
  addPrinter({ driver_id: String(await addDriver(big)) });

/** Starts a download and closes the connection after a number of bytes. */
function leaveAfter(url: string, path: string, bytes: number): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let received = 0;
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    );
    socket.on("data", (chunk) => {
      received += chunk.length;
      if (received >= bytes) socket.destroy();
    });
    socket.on("close", () => resolve());
  });
}

test("a client that disconnects during a download causes one log line and nothing else", async (t) => {
  const app = await startFilled(t, addBig);
  const openFiles = () => readdirSync("/proc/self/fd").length;
  await bytesOf(app.fetch("/printers/1/packages/mdm"));
  const before = openFiles();

  for (const format of ["mdm", "rmm"]) {
    for (let i = 0; i < 3; i++) await leaveAfter(app.url, `/printers/1/packages/${format}`, 100_000);
  }
  await until(() => openFilesBelow(app.dataDir).length === 0);

  assert.equal((await app.fetch("/health")).status, 200);
  assert.ok(openFiles() <= before + 2, "no open file is left");
  assert.ok(app.lines.filter((line) => /broken off: GET .*the client left/.test(line)).length >= 1);
  assert.equal(app.lines.filter((line) => /error/.test(line)).length, 0, app.lines.join("\n"));
});

test("a download above the limit is refused with 503 until another one has ended", async (t) => {
  const app = await startApp(t, { limits: { downloads: 2 } });
  const path = `/printers/${await addBig(app)}/packages/mdm`;
  const { hostname, port } = new URL(app.url);
  const stalled = Array.from({ length: 2 }, () => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    );
    return socket.once("data", () => socket.pause()).on("error", () => {});
  });
  await Promise.all(stalled.map((socket) => new Promise((resolve) => socket.once("data", resolve))));

  const refused = await app.fetch(path);
  for (const socket of stalled) socket.destroy();

  assert.equal(refused.status, 503);
  assert.match(refused.headers.get("retry-after") ?? "", /^\d+$/);
  await until(async () => {
    const retried = await app.fetch(path);
    await retried.arrayBuffer();
    return retried.status === 200;
  });
});

test("a package is refused with 503 after the workers have closed, and its files are closed", async (t) => {
  const { app, fetch, addPrinter, dataDir } = await startApp(t, { workers: "own" });
  const path = `/printers/${await addPrinter()}/packages/mdm`;
  await fetch(path, { method: "HEAD" });
  await app.workers.close();
  // The preparation after the upload keeps the archive open until its thread has ended.
  await until(() => openFilesBelow(dataDir).length === 0);

  const refused = await fetch(path);
  const open = openFilesBelow(dataDir);

  assert.deepEqual([refused.status, open], [503, []]);
});

test("an archive that is damaged during a download breaks the connection, so that a part does not look complete", async (t) => {
  const app = await startFilled(t, addBig);
  const path = app.app.store.blobs.pathOf("drivers", app.app.store.drivers.get(1).sha256);
  await bytesOf(app.fetch("/printers/1/packages/mdm"));

  for (const format of ["rmm", "mdm"]) {
    await writeFile(path, big);
    const answer = await app.fetch(`/printers/1/packages/${format}`);
    truncateSync(path, 2_000_000);
    await assert.rejects(answer.arrayBuffer(), `${format} broke off`);
  }
  const after = await app.fetch("/printers/1/packages/rmm");

  assert.equal(app.lines.filter((line) => /broken off/.test(line)).length, 2, app.lines.join("\n"));
  assert.equal(after.status, 422);
  assert.match(await after.text(), /damaged on the server/);
});
