import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readConfig } from "../src/config.ts";
import { createApp, type Overrides } from "../src/create-app.ts";
import { parseClient } from "../src/domain/printers/client.ts";
import { openStore } from "../src/store/store.ts";
import { bundle, temporaryFolder } from "./support/app.ts";
import { cleanUp } from "./support/clean-up.ts";
import { driverZip } from "./support/drivers/driver-zip.ts";
import { makeDriver } from "./support/records.ts";

const gibi = 2 ** 30;
const quiet = () => {};

async function makeApp(t: TestContext, overrides: Overrides = {}) {
  const dataDir = await temporaryFolder(t);
  const config = { ...readConfig({}), dataDir, port: 0 };
  const created = await createApp(config, { script: bundle, log: quiet, ...overrides });
  return { ...created, dataDir };
}

test("closing an app ends its threads, inspections and checks, and releases its folder", async (t) => {
  const { app, close, dataDir } = await makeApp(t);
  // A sparse file of zeros, which takes seconds to read.
  const size = 8 * gibi;
  const { driver } = await app.store.drivers.add({ ...makeDriver(), sha256: "a".repeat(64), size });
  const archive = app.store.blobs.pathOf("drivers", driver.sha256);
  writeFileSync(archive, "");
  truncateSync(archive, size);
  const zip = join(dataDir, "upload.zip");
  writeFileSync(zip, driverZip());
  app.archives.start();
  const running = Promise.allSettled([
    app.archives.requireSound(driver),
    app.inspections.inspect({ path: zip, size: 1 }),
  ]);

  await close();

  const [checked, inspected] = (await running).map((work) => work.status === "rejected" && `${work.reason}`);
  const store = await openStore(dataDir, Date.now, quiet);
  await store.close();
  assert.match(String(checked), /a worker thread ended|is stopping/);
  assert.match(String(inspected), /is stopping/);
  await assert.rejects(app.archives.requireSound(driver), /is stopping/);
});

test("an app releases its folder only after the last work on its files", async (t) => {
  const { app, close, dataDir } = await makeApp(t);
  let finish = () => {};
  const held = app.store.blobs.inOrder("a", () => new Promise<void>((resolve) => (finish = resolve)));
  await Promise.resolve();

  const closing = close();
  const refusal = await openStore(dataDir, Date.now, quiet).catch(String);
  finish();
  await Promise.all([held, closing]);
  const store = await openStore(dataDir, Date.now, quiet);
  await store.close();

  assert.match(String(refusal), /Another Platen is running/);
});

test("an app uses the clock, randomness and log that it is given", async (t) => {
  const lines: string[] = [];
  const { app, close } = await makeApp(t, {
    clock: () => 7,
    random: (bytes) => Buffer.alloc(bytes, 7),
    log: (line) => lines.push(line),
  });
  cleanUp(t, close);

  const id = await app.store.clients.add(parseClient({ name: "Alpha" }));
  app.log("said");

  assert.equal(app.store.clients.get(id).created_at, 7);
  assert.deepEqual([...app.random(2)], [7, 7]);
  assert.deepEqual(lines, ["said"]);
});
