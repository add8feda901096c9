import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf, withoutScripts } from "../support/drivers/mixed-driver.ts";
import {
  allPaths,
  dropUnused,
  quill,
  startWithUnusedFiles,
  unusedBytes,
  usedByPapyrus,
  usedByQuill,
} from "../support/drivers/unused-files.ts";
import { until } from "../support/until.ts";

/** The names of files below the drivers' folder. */
function filesOf(tree: Tree, folder = "driver/"): string[] {
  const names = Object.keys(withoutScripts(tree));
  return names.map((name) => name.replace(folder, "")).sort();
}

test("packages of every format leave out files that the chosen INF does not use, and other tools open them", {
  skip: without.unzip || without.sevenZip || without.verifier,
}, async (t) => {
  const { save, rmm, mdm, fetch, text, id } = await startWithUnusedFiles(t);
  const whole = filesOf(unpackers.fflate(await rmm()));

  await save(dropUnused);
  const zip = await rmm();
  const alone = await bytesOf(fetch("/drivers/1/files"));
  const trees = [unpackers.unzip(zip), unpackers.sevenZip(zip), verifyIntunewin(await mdm())];
  const ofClient = unpackers.sevenZip(await bytesOf(fetch("/clients/1/packages/rmm")));
  const script = await text(`/printers/${id}/scripts/install`);

  assert.deepEqual(whole, [...allPaths].sort());
  for (const tree of trees) assert.deepEqual(filesOf(tree), [...usedByPapyrus].sort());
  assert.deepEqual(filesOf(ofClient, "").length, usedByPapyrus.length);
  assert.deepEqual(filesOf(unpackers.sevenZip(alone), "").sort(), [...usedByPapyrus].sort());
  assert.deepEqual(trees[0]?.["driver/Disk/PAPYRUS.DLL"]?.toString(), "the bytes of PAPYRUS.DLL");
  const sha256 = createHash("sha256").update(alone).digest("hex").toUpperCase();
  assert.ok(script.includes(`FilesSha256 = '${sha256}'`), "the script knows the ZIP that it downloads");
  assert.ok(script.includes("Inf = 'Disk\\papyrus.inf'"), "and the INF is where it was");
});

test("packages contain the files of the newly chosen INF", async (t) => {
  const { save, rmm } = await startWithUnusedFiles(t);
  await save(dropUnused);
  const before = filesOf(unpackers.fflate(await rmm()));

  await save({ ...dropUnused, ...quill });
  const after = filesOf(unpackers.fflate(await rmm()));

  assert.deepEqual(before, [...usedByPapyrus].sort());
  assert.deepEqual(after, [...usedByQuill].sort());
});

test("a printer’s revision does not depend on the files that packages leave out", async (t) => {
  const { save, text, id } = await startWithUnusedFiles(t);
  const revision = async () =>
    /Revision = '(\w{12})'/.exec(await text(`/printers/${id}/scripts/detect`))?.[1];
  const before = await revision();

  await save(dropUnused);
  const after = await revision();

  assert.match(before ?? "", /^[0-9a-f]{12}$/);
  assert.equal(after, before);
});

test("packages before and after switching have different bytes, and a resumed download starts again", {
  skip: without.verifier,
}, async (t) => {
  const { save, mdm, fetch, id } = await startWithUnusedFiles(t);
  const path = `/printers/${id}/packages/mdm`;
  const etag = async () => (await fetch(path, { method: "HEAD" })).headers.get("etag") ?? "";
  const whole = await mdm();
  const wholeTag = await etag();

  await save(dropUnused);
  const reduced = await mdm();
  const resumed = await fetch(path, { headers: { range: "bytes=1000-", "if-range": wholeTag } });
  const resumedBytes = await bytesOf(resumed);
  const range = await fetch(path, { headers: { range: "bytes=1000-1999", "if-range": await etag() } });
  const rangeBytes = await bytesOf(range);
  const cached = await fetch(path, { headers: { "if-none-match": wholeTag } });
  const cachedBytes = await bytesOf(cached);
  await save({});
  const restored = await mdm();
  const trees = [whole, reduced].map((bytes) => filesOf(verifyIntunewin(bytes)));

  assert.deepEqual([resumed.status, range.status, cached.status], [200, 206, 200]);
  assert.ok(resumedBytes.equals(reduced) && cachedBytes.equals(reduced));
  assert.ok(rangeBytes.equals(reduced.subarray(1000, 2000)));
  assert.ok(restored.equals(whole), "the same contents give the same package");
  assert.deepEqual(trees, [[...allPaths].sort(), [...usedByPapyrus].sort()]);
  assert.ok(whole.length - reduced.length > unusedBytes.length);
});

test("an encrypted prefix is reused only for packages that begin with the same bytes", {
  skip: without.verifier,
}, async (t) => {
  const { save, mdm, post, id } = await startWithUnusedFiles(t);
  const sizes: number[] = [];

  for (const [i, fields] of [dropUnused, {}, dropUnused, {}].entries()) {
    await save(fields);
    const settings = { name: "Office", address: "10.0.0.9", driver_id: "1", comment: `content ${i}` };
    await post(`/printers/${id}`, settings);
    sizes.push(Object.keys(withoutScripts(verifyIntunewin(await mdm()))).length);
  }

  assert.deepEqual(sizes, [usedByPapyrus.length, allPaths.length, usedByPapyrus.length, allPaths.length]);
});

test("a running download finishes with the bytes with which it began", async (t) => {
  const { save, rmm, fetch, id } = await startWithUnusedFiles(t);
  const whole = await rmm();

  const answer = await fetch(`/printers/${id}/packages/rmm`);
  const body = bytesOf(answer);
  await save(dropUnused);
  const reduced = await rmm();

  assert.ok((await body).equals(whole));
  assert.ok(reduced.length < whole.length - unusedBytes.length);
});

test("packages of an archive without unused files stay the same, byte for byte", async (t) => {
  const { addDriver, addPrinter, post, fetch } = await startApp(t);
  const id = await addPrinter({ driver_id: String(await addDriver()) });
  const before = await bytesOf(fetch(`/printers/${id}/packages/mdm`));

  await post("/drivers/1", dropUnused);
  const after = await bytesOf(fetch(`/printers/${id}/packages/mdm`));

  assert.ok(after.equals(before));
});

test("the driver’s page says how much smaller packages become, before and after the checkbox is ticked", async (t) => {
  const { save, text } = await startWithUnusedFiles(t);
  const plain = (page: string) => page.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");

  const before = plain(await text("/drivers/1"));
  await save(dropUnused);
  const page = await text("/drivers/1");
  const after = plain(page);
  await save({ ...dropUnused, ...quill });
  const other = plain(await text("/drivers/1"));

  assert.match(before, /Packages become 1\.4 MB smaller\./);
  assert.match(before, /Packages contain 4 files that this INF does not use \(1\.4 MB\)\./);
  assert.match(page, /name="drop_unused" type="checkbox" value="on" checked/);
  assert.match(after, /Packages leave out 4 files that this INF does not use \(1\.4 MB\)/);
  assert.match(other, /Packages leave out 7 files that this INF does not use/);
});

test("saving the choice encrypts the prefix in advance, so that the first package does not wait", async (t) => {
  const { app, save, mdm } = await startWithUnusedFiles(t);
  const { encryptPrefix } = app.workers;
  const sizes: number[] = [];
  app.workers.encryptPrefix = async (prefix) => {
    sizes.push(prefix.size);
    return encryptPrefix.call(app.workers, prefix);
  };
  await mdm();
  const before = sizes.length;

  await save({ ...dropUnused, comment: "first" });
  await until(() => sizes.length === before + 1);
  await save({ ...dropUnused, comment: "second" });
  await mdm();

  assert.equal(sizes.length, before + 1);
});

test("an INF that exceeds the limits is refused with the remedy, which is to switch the option off", async (t) => {
  const { app, save, fetch, text, id } = await startWithUnusedFiles(t);
  const { layOutDrivers } = app.workers;
  // A record of an earlier version with other limits may be like this.
  app.workers.layOutDrivers = (input) => {
    const drivers = input.drivers.map((driver) => ({
      ...driver,
      onlyUsedBy: driver.onlyUsedBy && "gone.inf",
    }));
    return layOutDrivers.call(app.workers, { ...input, drivers });
  };
  await save(dropUnused);

  const refused = await fetch(`/printers/${id}/packages/rmm`);
  const reason = await refused.text();
  const files = await fetch("/drivers/1/files", { method: "HEAD" });
  const script = await text(`/printers/${id}/scripts/install`);
  await save({});
  const whole = await fetch(`/printers/${id}/packages/rmm`, { method: "HEAD" });

  assert.deepEqual([refused.status, files.status, whole.status], [422, 422, 200]);
  assert.match(reason, /“gone\.inf” is not an INF file of the ZIP\. Or turn off “Leave out unused files”/);
  assert.match(script, /FilesSha256 = ''/);
});
