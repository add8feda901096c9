import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { inspectArchive, inspectionJson } from "../src/services/inspect.ts";
import { reportOf } from "../src/services/inspect-report.ts";
import { openSource } from "../src/store/files.ts";
import { temporaryFolder } from "./support/app.ts";
import { some } from "./support/depth.ts";
import { filesZip } from "./support/files-zip.ts";
import { makeSharedZip, shared, withoutShared } from "./support/shared.ts";
import { sourceOf } from "./support/zip.ts";

type Fields = Record<string, unknown>;

const folders = withoutShared
  ? []
  : readdirSync(join(shared, "inf")).filter((name) => existsSync(join(shared, "inf", name, "expected.json")));

const compared = [
  "class",
  "classGuid",
  "isPrinter",
  "driverModel",
  "provider",
  "driverVer",
  "catalogs",
  "architectures",
  "descriptions",
  "modelLines",
  "manufacturers",
  "copyInf",
  "unused",
  "missing",
  "inCab",
  "foundCompressed",
];

test("every package of the corpus is read as expected", { skip: withoutShared }, async (t) => {
  assert.equal(folders.length, 44);
  const folder = await temporaryFolder(t);
  for (const name of some(folders, 15)) {
    await t.test(name, async () => {
      const zip = join(folder, `${name}.zip`);
      await makeSharedZip(name, zip, "--scale", "0.001");
      const expected = JSON.parse(readFileSync(join(shared, "inf", name, "expected.json"), "utf8"));

      const source = await openSource(zip);
      const inspection = await inspectArchive(source);
      const found = inspectionJson(inspection, "");
      const report = reportOf(inspection);
      await source.close();

      const infs = found.infs as Record<string, Fields>;
      assert.deepEqual(Object.keys(infs).sort(), Object.keys(expected.infs).sort());
      for (const [path, inf] of Object.entries(infs)) {
        for (const field of compared)
          assert.deepEqual(inf[field], expected.infs[path][field], `${path}: ${field}`);
      }
      const { fileCount, unused } = found.package as Fields;
      assert.equal(fileCount, expected.package.fileCount);
      assert.deepEqual(unused, expected.package.unusedByPrinterInfsAndTheirCopyInf);
      assert.equal(report.unused?.count, expected.package.unusedByPrinterInfsAndTheirCopyInf?.length);
    });
  }
});

interface Expected {
  readonly unused: readonly string[];
  readonly copyInf: readonly string[];
}

/** An INF and those that it brings along, and those again, as the corpus tells it. */
function withCopied(start: string, infs: Record<string, Expected>): Set<string> {
  const byName = new Map(Object.keys(infs).map((path) => [path.toLowerCase(), path]));
  const found = new Set([start]);
  for (const path of found) {
    const names = infs[path]?.copyInf.map((name) => join(dirname(path), name.replaceAll("\\", "/")));
    for (const name of names ?? []) found.add(byName.get(name.toLowerCase()) ?? path);
  }
  return found;
}

/** What they need of the archive's files. */
function neededBy(start: string, infs: Record<string, Expected>, paths: readonly string[]): string[] {
  const unused = [...withCopied(start, infs)].map((path) => new Set(infs[path]?.unused));
  return paths.filter((path) => !unused.every((files) => files.has(path)));
}

/** What must be the same of an INF whether its package was reduced or not. */
function kept({ unused, ...rest }: Fields): Fields {
  return rest;
}

test("what is left of a package without its dead weight is what its INF needs, and reads as before", {
  skip: withoutShared,
}, async (t) => {
  const folder = await temporaryFolder(t);
  for (const name of some(folders, 4)) {
    await t.test(name, async () => {
      const zip = join(folder, `${name}.zip`);
      await makeSharedZip(name, zip, "--scale", "0.001");
      const { infs } = JSON.parse(readFileSync(join(shared, "inf", name, "expected.json"), "utf8"));
      const archive = readFileSync(zip);
      const whole = await inspectArchive(sourceOf(archive));
      const before = inspectionJson(whole, "").infs as Record<string, Fields>;

      for (const { path } of whole.readings) {
        const reduced = await inspectArchive(sourceOf(await filesZip(archive, path)));
        const after = inspectionJson(reduced, "").infs as Record<string, Fields>;
        const paths = reduced.archive.entries.map((entry) => entry.path);
        const report = reportOf(whole).infs.find((inf) => inf.path === path);

        const needed = neededBy(path, infs, whole.files.sorted);
        assert.deepEqual(paths.sort(), needed.sort(), path);
        assert.deepEqual(kept(after[path] ?? {}), kept(before[path] ?? {}), path);
        assert.equal(paths.length, whole.archive.entries.length - (report?.unused.count ?? 0), path);
      }
    });
  }
});
