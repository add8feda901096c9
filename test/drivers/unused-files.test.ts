import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Driver, InfSummary } from "../../src/domain/drivers/driver.ts";
import { unusedHint, unusedRemark } from "../../src/html/drivers/unused-files.ts";
import { startApp } from "../support/app.ts";
import { deepTest, isDeep, rounds } from "../support/depth.ts";
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
import { makeDriver } from "../support/records.ts";
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

function remarkOf(driver: Driver): string {
  const [inf] = driver.report.infs;
  assert.ok(inf);
  return String(unusedRemark(inf, driver));
}

const remarks: [what: string, driver: Driver, expected: RegExp][] = [
  [
    "files that another printer INF uses are not called unused",
    driverOf(2, 3),
    /Packages contain 10 files that this INF does not use \(2\.0 KB\)\.[\s\S]*&lt;a&gt;\.dll and 9 more/,
  ],
  ["files that no INF uses are unused", driverOf(2, 10), /Packages contain 10 unused files \(2\.0 KB\)\./],
  [
    "without totals, the unused files of the only INF are named",
    driverOf(1),
    /contain 10 unused files \(2\.0 KB\)\./,
  ],
  [
    "without totals, those that the chosen INF does not use are named",
    driverOf(2),
    /contain 10 files that this INF does not use \(2\.0 KB\)\./,
  ],
  [
    "packages leave out the files that the chosen INF does not use",
    { ...driverOf(2, 3), drop_unused: true },
    /Packages leave out 10 files that this INF does not use \(2\.0 KB\)\./,
  ],
  ["one unused file", driverOf(1, 1, 1), /Packages contain 1 unused file \(2\.0 KB\)\./],
  [
    "one file of another INF",
    driverOf(2, undefined, 1),
    /Packages contain 1 file that this INF does not use/,
  ],
  ["all files are used", driverOf(1, 0, 0), /^The driver uses all files of the ZIP\.$/],
];
for (const [what, driver, expected] of remarks)
  test(`the remark about unused files: ${what}`, () => assert.match(remarkOf(driver), expected));

test("the hint of the option says what the chosen INF does not use", () => {
  assert.match(unusedHint({ unused: unusedOf(0, 0) }), /This INF uses all files of the ZIP/);
  assert.match(unusedHint(undefined), /only the files that the chosen INF uses/);
});

test("the button says how many files it leaves out, and whose they are", () => {
  const buttonOf = (driver: Driver, bytes = 292 << 20) => {
    const [inf] = driver.report.infs;
    assert.ok(inf);
    const remark = String(unusedRemark({ ...inf, unused: unusedOf(30, bytes) }, driver, "page"));
    return /<button [^>]*>([^<]*)</.exec(remark)?.[1];
  };

  const labels = [
    buttonOf(driverOf(1, 30)),
    buttonOf(driverOf(2, 3)),
    buttonOf({ ...driverOf(1, 30), drop_unused: true }),
    buttonOf(driverOf(1), 999_999),
  ];

  assert.deepEqual(labels, [
    "Leave out 30 unused files (292 MB smaller)",
    "Leave out 30 files that this INF does not use (292 MB smaller)",
    "Include unused files",
    undefined,
  ]);
});

/** The names of files below the drivers' folder. */
function filesOf(tree: Tree, folder = "driver/"): string[] {
  const names = Object.keys(withoutScripts(tree));
  return names.map((name) => name.replace(folder, "")).sort();
}

deepTest(
  "packages of every format leave out files that the chosen INF does not use, and other tools open them",
  {
    skip: without.unzip || without.sevenZip || without.verifier,
  },
  async (t) => {
    const { save, rmm, mdm } = await startWithUnusedFiles(t);
    const whole = filesOf(unpackers.fflate(await rmm()));

    await save(dropUnused);
    const zip = await rmm();
    const others = isDeep ? [unpackers.sevenZip(zip)] : [];
    const trees = [unpackers.unzip(zip), ...others, verifyIntunewin(await mdm())];

    assert.deepEqual(whole, [...allPaths].sort());
    for (const tree of trees) assert.deepEqual(filesOf(tree), [...usedByPapyrus].sort());
    assert.deepEqual(trees[0]?.["driver/Disk/PAPYRUS.DLL"]?.toString(), "the bytes of PAPYRUS.DLL");
  },
);

test("packages of a client and files for scripts leave out the same files", async (t) => {
  const { save, fetch, text, id } = await startWithUnusedFiles(t);

  await save(dropUnused);
  const alone = await bytesOf(fetch("/drivers/1/files"));
  const ofClient = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));
  const script = await text(`/printers/${id}/scripts/install`);

  assert.equal(filesOf(ofClient, "").length, usedByPapyrus.length);
  assert.deepEqual(filesOf(unpackers.fflate(alone), ""), [...usedByPapyrus].sort());
  const sha256 = createHash("sha256").update(alone).digest("hex").toUpperCase();
  assert.ok(script.includes(`FilesSha256 = '${sha256}'`), "the script knows the ZIP that it downloads");
  assert.ok(script.includes("Inf = 'Disk\\papyrus.inf'"), "and the INF is where it was");
});

test("packages contain the files of the chosen INF, and the revision does not depend on what they leave out", async (t) => {
  const { save, rmm, text, id } = await startWithUnusedFiles(t);
  const revision = async () =>
    /Revision = '([0-9a-f]{12})'/.exec(await text(`/printers/${id}/scripts/detect`))?.[1];
  const before = await revision();

  await save(dropUnused);
  const after = await revision();
  const ofPapyrus = filesOf(unpackers.fflate(await rmm()));
  await save({ ...dropUnused, ...quill });
  const ofQuill = filesOf(unpackers.fflate(await rmm()));

  assert.ok(before !== undefined);
  assert.equal(after, before);
  assert.deepEqual([ofPapyrus, ofQuill], [[...usedByPapyrus].sort(), [...usedByQuill].sort()]);
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
  const choices = [dropUnused, {}, dropUnused, {}].slice(0, rounds(2, 4));
  const sizes: number[] = [];

  for (const [i, fields] of choices.entries()) {
    await save(fields);
    const settings = { name: "Office", address: "10.0.0.9", driver_id: "1", comment: `content ${i}` };
    await post(`/printers/${id}`, settings);
    sizes.push(Object.keys(withoutScripts(verifyIntunewin(await mdm()))).length);
  }

  assert.deepEqual(
    sizes,
    choices.map((fields) => (fields === dropUnused ? usedByPapyrus : allPaths).length),
  );
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
