import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { inspectArchive, inspectionJson } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { temporaryFolder } from "../support/app.ts";
import { selectCases } from "../support/depth.ts";
import { filesZip } from "../support/drivers/files-zip.ts";
import { sourceOf } from "../support/drivers/zip.ts";
import { makeSharedZip, shared, withoutShared } from "../support/shared.ts";

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

interface Expected {
  readonly unused: readonly string[];
  readonly copyInf: readonly string[];
}

/** An INF and the INFs that it copies, directly or indirectly, by the corpus. */
function withCopied(start: string, infs: Record<string, Expected>): Set<string> {
  const byName = new Map(Object.keys(infs).map((path) => [path.toLowerCase(), path]));
  const found = new Set([start]);
  for (const path of found) {
    const names = infs[path]?.copyInf.map((name) => join(dirname(path), name.replaceAll("\\", "/")));
    for (const name of names ?? []) found.add(byName.get(name.toLowerCase()) ?? path);
  }
  return found;
}

/** The archive's files that these INFs need. */
function neededBy(start: string, infs: Record<string, Expected>, paths: readonly string[]): string[] {
  const unused = [...withCopied(start, infs)].map((path) => new Set(infs[path]?.unused));
  return paths.filter((path) => !unused.every((files) => files.has(path)));
}

/** The facts of an INF that a reduced package must keep. */
function withoutUnused({ unused, ...rest }: Fields): Fields {
  return rest;
}

/** A package reduced to the files of an INF: its paths, and the facts of the INF. */
async function reducedPackage(archive: Buffer, path: string): Promise<{ paths: string[]; inf: Fields }> {
  const reduced = await inspectArchive(sourceOf(await filesZip(archive, path)));
  const infs = inspectionJson(reduced, "").infs as Record<string, Fields>;
  return { paths: reduced.archive.entries.map((entry) => entry.path), inf: infs[path] ?? {} };
}

test("every package of the corpus is read as expected, and a reduced package has the files that its INF needs", {
  skip: withoutShared,
}, async (t) => {
  assert.equal(folders.length, 44);
  const folder = await temporaryFolder(t);
  for (const name of selectCases(folders, 10)) {
    await t.test(name, async () => {
      const zip = join(folder, `${name}.zip`);
      await makeSharedZip(name, zip, "--scale", "0.001");
      const expected = JSON.parse(readFileSync(join(shared, "inf", name, "expected.json"), "utf8"));
      const archive = readFileSync(zip);
      const whole = await inspectArchive(sourceOf(archive));
      const report = reportOf(whole);
      const found = inspectionJson(whole, "");
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
      for (const { path } of selectCases(whole.readings, 2)) {
        const { paths, inf } = await reducedPackage(archive, path);

        const needed = neededBy(path, expected.infs, whole.files.sorted);
        const count = report.infs.find((each) => each.path === path)?.unused.count ?? 0;
        assert.deepEqual(paths.sort(), needed.sort(), path);
        assert.deepEqual(withoutUnused(inf), withoutUnused(infs[path] ?? {}), path);
        assert.equal(paths.length, whole.archive.entries.length - count, path);
      }
    });
  }
});
