import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver, InfSummary } from "../../src/domain/drivers/driver.ts";
import { unusedHint, unusedRemark } from "../../src/html/drivers/driver-remarks.ts";
import { inspectArchive } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { startApp } from "../support/app.ts";
import { sha256Of } from "../support/backup/backup.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { filesZip, usedEntriesOf } from "../support/drivers/files-zip.ts";
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
import { makeZip, sourceOf } from "../support/drivers/zip.ts";
import { makeDriver } from "../support/records.ts";
import { assertWithin, longestBlock } from "../support/times.ts";
import { until } from "../support/until.ts";

const unusedOf = (count: number, bytes = 1024) => ({ count, bytes, paths: ["<a>.dll"] });

/** A driver with several printer INFs, each with unused files. @param total the files that no INF uses */
function driverOf(printers: number, total?: number, count = 10): Driver {
  const driver = makeDriver();
  const [first] = driver.report.infs;
  assert.ok(first);
  const infs = Array.from({ length: printers }, (_, i): InfSummary => {
    return { ...first, path: `${i}.inf`, unused: unusedOf(count, 2048) };
  });
  const unused = total === undefined ? {} : { unused: unusedOf(total) };
  return { ...driver, report: { ...driver.report, fileCount: 1200, infs, ...unused } };
}

function remarkOf(driver: Driver, bytes?: number): string {
  const [inf] = driver.report.infs;
  assert.ok(inf);
  if (bytes === undefined) return String(unusedRemark(inf, driver));
  return String(unusedRemark({ ...inf, unused: unusedOf(30, bytes) }, driver, "page"));
}

test("remarks call files unused only if no printer INF uses them, and say whether packages leave them out", () => {
  const ofChosen = /Packages contain 10 files that this INF does not use \(2\.0 KB\)\./;
  const remarks: [driver: Driver, expected: RegExp][] = [
    [driverOf(2, 3), /10 files that this INF does not use \(2\.0 KB\)[\s\S]*&lt;a&gt;\.dll and 9 more/],
    [driverOf(2, 10), /Packages contain 10 unused files \(2\.0 KB\)\./],
    [driverOf(1), /contain 10 unused files \(2\.0 KB\)\./],
    [driverOf(2), ofChosen],
    [{ ...driverOf(2, 3), drop_unused: true }, /Packages leave out 10 files that this INF does not use/],
    [driverOf(1, 1, 1), /Packages contain 1 unused file \(2\.0 KB\)\./],
    [driverOf(2, undefined, 1), /Packages contain 1 file that this INF does not use/],
    [driverOf(1, 0, 0), /^The driver uses all files of the ZIP\.$/],
  ];

  for (const [driver, expected] of remarks) assert.match(remarkOf(driver), expected);
  assert.match(unusedHint({ unused: unusedOf(0, 0) }), /This INF uses all files of the ZIP/);
  assert.match(unusedHint(undefined), /only the files that the chosen INF uses/);
});

test("the button says how many files it leaves out, and whose they are", () => {
  const large = 292 << 20;
  const buttons: [driver: Driver, bytes: number, label: string | undefined][] = [
    [driverOf(1, 30), large, "Leave out 30 unused files (292 MB smaller)"],
    [driverOf(2, 3), large, "Leave out 30 files that this INF does not use (292 MB smaller)"],
    [{ ...driverOf(1, 30), drop_unused: true }, large, "Include unused files"],
    [driverOf(1), 999_999, undefined],
  ];

  for (const [driver, bytes, label] of buttons)
    assert.equal(/<button [^>]*>([^<]*)</.exec(remarkOf(driver, bytes))?.[1], label);
});

test("INFs that copy each other are read once each", async () => {
  const count = rounds(50, 500);
  const inf = (i: number) => {
    const copied = [i + 1, i * 7, i + 100].map((number) => `${number % count}.inf`);
    const copy = `CopyFiles=Files\r\nCopyINF=${copied.join(",")},0.inf`;
    return printerInf({ files: [`${i}.dll`], catalog: null }).replace("CopyFiles=Files", copy);
  };
  const infs = Array.from({ length: count }, (_, i) => ({ name: `drv/${i}.inf`, bytes: inf(i) }));
  const files = Array.from({ length: count + 1 }, (_, i) => ({ name: `drv/${i}.dll` }));

  const used = (await usedEntriesOf(makeZip([...infs, ...files]), "drv/0.inf")).map(({ path }) => path);

  assert.equal(used.length, 2 * count);
  assert.ok(!used.includes(`drv/${count}.dll`));
});

test("an INF that is too large is refused with the remedy, and other INFs are not read", async () => {
  const strings = Array.from({ length: 201 }, (_, i) => `[Strings.${i}]\nA=a`).join("\n");
  const zip = driverZip({ extra: [{ name: "a.inf", bytes: strings }] });

  const used = await usedEntriesOf(zip, "papyrus.inf");

  assert.equal(used.length, 3);
  await assert.rejects(usedEntriesOf(zip, "a.inf"), {
    code: "invalid",
    message:
      /has over 200 languages.* Or turn off “Leave out unused files” on the driver’s page: packages then contain every file\.$/,
  });
});

test("a reduced package reads like the whole one, and other unpackers can open it", {
  skip: without.unzip || without.sevenZip,
}, async () => {
  const extra = Array.from({ length: 30 }, (_, i) => ({ name: `dead/weight ${i}.bin`, bytes: `dead ${i}` }));
  const archive = driverZip({ extra });

  const zip = await filesZip(archive, "papyrus.inf");
  const trees = [unpackers.unzip(zip), unpackers.sevenZip(zip)];
  const [before, after] = [await inspectArchive(sourceOf(archive)), await inspectArchive(sourceOf(zip))];

  for (const tree of trees)
    assert.deepEqual(Object.keys(tree).sort(), ["papyrus.cat", "papyrus.dll", "papyrus.inf"]);
  const [inf, reduced] = [before, after].map((inspection) => reportOf(inspection).infs[0]);
  assert.deepEqual({ ...reduced, unused: inf?.unused }, inf);
  assert.equal(reduced?.unused.count, 0);
});

const manyFiles = (count: number, seed = 0) =>
  driverZip({
    extra: Array.from({ length: count }, (_, i) => ({
      name: `a folder with a name/and another/file-${seed}-${i}.bin`,
      bytes: "x",
      method: 0,
    })),
  });

deepTest("three used files among sixty thousand are found without blocking other requests", async (t) => {
  const { addDriver, fetch, post } = await startApp(t);
  await addDriver(manyFiles(59_997));
  const statuses: number[] = [];
  const blocks: number[] = [];

  for (const fields of [dropUnused, {}, dropUnused]) {
    const block = await longestBlock(async () => {
      await post("/drivers/1", fields);
      const head = await fetch("/drivers/1/files", { method: "HEAD" });
      const range = await fetch("/drivers/1/files", { headers: { range: "bytes=0-99" } });
      await range.arrayBuffer();
      statuses.push(head.status, range.status);
    });
    blocks.push(block);
  }

  const tree = unpackers.fflate(await bytesOf(fetch("/drivers/1/files")));
  assert.deepEqual([...new Set(statuses)].sort(), [200, 206]);
  assert.deepEqual(Object.keys(tree).sort(), ["papyrus.cat", "papyrus.dll", "papyrus.inf"]);
  // The best of three runs must stay under 50 ms, so that garbage collections do not count.
  t.diagnostic(`longest blocks: ${blocks.map((block) => block.toFixed(1)).join(", ")} ms`);
  await assertWithin(50, { blocked: Math.min(...blocks) });
});

deepTest("two drivers that are too large for one package fit without their unused files", async (t) => {
  const { addDriver, addPrinter, post, fetch } = await startApp(t);
  await post("/clients", { name: "Large" });
  for (let i = 0; i < 2; i++) {
    const driver_id = String(await addDriver(manyFiles(33_000 + i, i)));
    await addPrinter({ name: `Printer ${i}`, client_id: "1", driver_id });
  }

  const before = await fetch("/clients/1/packages/rmm", { method: "HEAD" });
  for (const id of [1, 2]) await post(`/drivers/${id}`, dropUnused);
  const after = await fetch("/clients/1/packages/rmm", { method: "HEAD" });

  assert.deepEqual([before.status, after.status], [422, 200]);
});

/** The names of files below the drivers' folder. */
function filesOf(tree: Tree, folder = "driver/"): string[] {
  const names = Object.keys(withoutScripts(tree));
  return names.map((name) => name.replace(folder, "")).sort();
}

const [all, ofPapyrus, ofQuill] = [allPaths, usedByPapyrus, usedByQuill].map((paths) => paths.toSorted());

test("all packages and files for scripts are those of the chosen INF, the page says how much smaller, and the revision stays", async (t) => {
  const { save, rmm, fetch, text, id } = await startWithUnusedFiles(t);
  const plain = (page: string) => page.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
  const revision = async () =>
    /Revision = '[0-9a-f]{12}'/.exec(await text(`/printers/${id}/scripts/detect`))?.[0];
  const before = { page: plain(await text("/drivers/1")), revision: await revision() };

  await save(dropUnused);
  const page = await text("/drivers/1");
  const after = await revision();
  const tree = unpackers.fflate(await rmm());
  const alone = await bytesOf(fetch("/drivers/1/files"));
  const ofClient = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));
  const script = await text(`/printers/${id}/scripts/install`);
  await save({ ...dropUnused, ...quill });
  const [other, otherTree] = [plain(await text("/drivers/1")), unpackers.fflate(await rmm())];

  assert.match(before.page, /Packages become 1\.4 MB smaller\./);
  assert.match(before.page, /Packages contain 4 files that this INF does not use \(1\.4 MB\)\./);
  assert.match(page, /name="drop_unused" type="checkbox" value="on" checked/);
  assert.match(plain(page), /Packages leave out 4 files that this INF does not use \(1\.4 MB\)/);
  assert.match(other, /Packages leave out 7 files that this INF does not use/);
  assert.ok(after !== undefined);
  assert.equal(after, before.revision);
  assert.deepEqual([filesOf(tree), filesOf(otherTree)], [ofPapyrus, ofQuill]);
  assert.equal(tree["driver/Disk/PAPYRUS.DLL"]?.toString(), "the bytes of PAPYRUS.DLL");
  assert.equal(filesOf(ofClient, "").length, usedByPapyrus.length);
  assert.deepEqual(filesOf(unpackers.fflate(alone), ""), ofPapyrus);
  const sha256 = sha256Of(alone).toUpperCase();
  assert.ok(script.includes(`FilesSha256 = '${sha256}'`), "the script knows the ZIP that it downloads");
  assert.ok(script.includes("Inf = 'Disk\\papyrus.inf'"), "and the INF is where it was");
});

deepTest(
  "after switching, packages have different bytes, a resumed download starts again, and a running one ends as it began",
  {
    skip: without.verifier,
  },
  async (t) => {
    const { save, mdm, fetch, post, id } = await startWithUnusedFiles(t);
    const path = `/printers/${id}/packages/mdm`;
    const etag = async () => (await fetch(path, { method: "HEAD" })).headers.get("etag") ?? "";
    const get = async (headers: Record<string, string>) => {
      const answer = await fetch(path, { headers });
      return { status: answer.status, bytes: await bytesOf(answer) };
    };
    const whole = await mdm();
    const wholeTag = await etag();

    const running = await fetch(path);
    const body = bytesOf(running);
    await save(dropUnused);
    const reduced = await mdm();
    const resumed = await get({ range: "bytes=1000-", "if-range": wholeTag });
    const range = await get({ range: "bytes=1000-1999", "if-range": await etag() });
    const cached = await get({ "if-none-match": wholeTag });
    await save({});
    const restored = await mdm();
    await post(`/printers/${id}`, {
      name: "Office",
      address: "10.0.0.9",
      driver_id: "1",
      comment: "changed",
    });
    const changed = await mdm();

    assert.ok((await body).equals(whole));
    assert.deepEqual([resumed.status, range.status, cached.status], [200, 206, 200]);
    assert.ok(resumed.bytes.equals(reduced) && cached.bytes.equals(reduced));
    assert.ok(range.bytes.equals(reduced.subarray(1000, 2000)));
    assert.ok(restored.equals(whole), "the same contents give the same package");
    const trees = [changed, reduced].map((bytes) => filesOf(verifyIntunewin(bytes)));
    assert.deepEqual(trees, [all, ofPapyrus], "an encrypted beginning is reused only for the same files");
    assert.ok(whole.length - reduced.length > unusedBytes.length);
  },
);

test("packages of an archive without unused files stay the same, byte for byte", async (t) => {
  const { addPrinter, post, fetch } = await startApp(t);
  const id = await addPrinter();
  const before = await bytesOf(fetch(`/printers/${id}/packages/mdm`));

  await post("/drivers/1", dropUnused);
  const after = await bytesOf(fetch(`/printers/${id}/packages/mdm`));

  assert.ok(after.equals(before));
});

test("saving the choice encrypts the prefix in advance, so that the first package does not wait", async (t) => {
  const { app, save, mdm } = await startWithUnusedFiles(t);
  const { encryptPrefix } = app.workers;
  t.after(() => Object.assign(app.workers, { encryptPrefix }));
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
  t.after(() => Object.assign(app.workers, { layOutDrivers }));
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
