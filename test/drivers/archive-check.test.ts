import assert from "node:assert/strict";
import {
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { navigation, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

function archivePath({ app }: TestApp): string {
  return app.store.blobs.pathOf("drivers", app.store.drivers.get(1).sha256);
}

/** Changes one bit in a file's data, and no size. */
function flipBit(path: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf("papyrus.inf") + 40;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
}

/** The statuses of what needs the archive; one if all are the same. */
async function statuses({ fetch }: TestApp): Promise<number[]> {
  const packages = ["printers/1/packages/rmm", "printers/1/packages/mdm"];
  const paths = [...packages, "drivers/1/files", "drivers/1/archive"];
  const answers = await Promise.all(paths.map((path) => fetch(`/${path}`, { method: "HEAD" })));
  return [...new Set(answers.map(({ status }) => status))];
}

/** The lines about damage in the log of a service. */
const damagesIn = ({ lines }: TestApp) => lines.filter((line) => /damaged: its SHA-256 is/.test(line)).length;

test("an archive that is damaged while the service runs is refused until the same ZIP is uploaded again", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  const before = await statuses(app);

  flipBit(archivePath(app));
  const damaged = await statuses(app);
  const install = await app.fetch("/printers/1/scripts/install");
  const reason = await (await app.fetch("/printers/1/packages/rmm")).text();
  const page = await (await app.fetch("/drivers/1")).text();
  const uploaded = await app.upload("/drivers/upload", driverZip(), "again.zip", navigation);
  const replaced = await (await app.fetch(uploaded.headers.get("location") ?? "")).text();
  const after = await statuses(app);

  assert.deepEqual([before, damaged, after], [[200], [422], [200]]);
  assert.match(await install.text(), /Download = 'http[^']+\/drivers\/1\/files'\r\n\s+FilesSha256 = ''/);
  assert.match(reason, /is damaged on the server\. Upload driver\.zip again/);
  assert.match(page, /The driver ZIP is damaged on the server\. Upload driver\.zip again/);
  assert.equal(uploaded.headers.get("location"), "/drivers/1?uploaded=damaged");
  assert.match(replaced, /Its ZIP was damaged and was replaced/);
  assert.equal(damagesIn(app), 1);
  assert.equal((await app.app.overview.driver(1)).driver.state, "ready");
});

test("an archive that was damaged or deleted while the service was off is detected after the start", async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await startApp(t, { dataDir });
  await first.addPrinter();
  const path = archivePath(first);
  const { atime, mtime } = statSync(path);
  flipBit(path);
  utimesSync(path, atime, mtime);
  await first.stop();

  const second = await startApp(t, { dataDir });
  const atOnce = await statuses(second);
  await second.app.archives.finished();

  assert.deepEqual([atOnce, await statuses(second), damagesIn(second)], [[422], [422], 1]);
  await second.stop();
  rmSync(path);
  const third = await startApp(t, { dataDir });
  await third.app.archives.finished();
  assert.match(third.lines.join("\n"), /\.zip is missing\. Upload the same ZIP again/);
});

test("a sound archive is read once after the start and again only after its time stamp changes", async (t) => {
  const dataDir = await temporaryFolder(t);
  const first = await startApp(t, { dataDir });
  await first.addPrinter();
  await first.stop();
  const second = await startApp(t, { dataDir });
  const { archives, workers } = second.app;
  let reads = 0;
  const { verify, digest } = workers;
  workers.verify = (file) => {
    reads++;
    return verify.call(workers, file);
  };
  const path = archivePath(second);
  workers.digest = (input) => {
    if (input.files.length === 1 && input.layout.parts.every(({ literals }) => literals.length === 0))
      reads++;
    return digest.call(workers, input);
  };

  await archives.finished();
  await statuses(second);
  const afterStart = reads;
  utimesSync(path, 1, 1);
  const touched = await statuses(second);
  await archives.finished();
  const after = await statuses(second);

  assert.ok(afterStart <= 1, `${afterStart} reads after the start`);
  assert.equal(reads - afterStart, 1);
  assert.deepEqual([touched, after], [[200], [200]]);
});

test("missing and shortened archives are refused at once, with the remedy, until the same ZIP is uploaded again", async (t) => {
  const app = await startApp(t);
  await app.addPrinter();
  const path = archivePath(app);

  truncateSync(path, 100);
  const short = await app.fetch("/drivers/1/archive");
  await app.app.store.blobs.remove("drivers", app.app.store.drivers.get(1).sha256);
  const missing = await statuses(app);
  const reason = await (await app.fetch("/printers/1/packages/rmm")).text();
  const page = await (await app.fetch("/drivers/1")).text();
  const notice = await (await app.upload("/drivers/upload", driverZip())).text();

  assert.equal(short.status, 422);
  assert.match(await short.text(), /is damaged on the server\. Upload driver\.zip again/);
  assert.deepEqual(missing, [422]);
  assert.match(reason, /missing on the server\. Upload driver\.zip again/);
  assert.match(page, /The driver ZIP is missing on the server/);
  assert.match(notice, /<div class="notice good"[\s\S]*Its ZIP was missing and was replaced/);
  assert.deepEqual(await statuses(app), [200]);
  assert.equal(readdirSync(dirname(path)).length, 1);
});
