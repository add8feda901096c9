import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspectArchive, inspectionJson } from "../src/services/inspect.ts";
import { openSource } from "../src/store/files.ts";
import { temporaryFolder } from "./support/app.ts";
import { makeSharedZip, shared, withoutShared } from "./support/shared.ts";

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
  for (const name of folders) {
    await t.test(name, async () => {
      const zip = join(folder, `${name}.zip`);
      await makeSharedZip(name, zip, "--scale", "0.001");
      const expected = JSON.parse(readFileSync(join(shared, "inf", name, "expected.json"), "utf8"));

      const source = await openSource(zip);
      const found = inspectionJson(await inspectArchive(source), "");
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
    });
  }
});
