import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { proposedNames } from "../../src/domain/drivers/driver-name.ts";
import { isUniversal, preselectedModel } from "../../src/domain/drivers/models.ts";
import { inspectArchive, inspectionJson } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { startApp } from "../support/app.ts";
import { filesZip } from "../support/drivers/files-zip.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { type VendorPackage, vendorTest } from "../support/drivers/vendors.ts";
import { sourceOf } from "../support/drivers/zip.ts";

type Fields = Record<string, unknown>;

const compared =
  "class classGuid isPrinter driverModel provider driverVer catalogs architectures descriptions modelLines manufacturers copyInf unused missing inCab foundCompressed";

interface Expected {
  readonly unused: readonly string[];
  readonly copyInf: readonly string[];
}

/** An INF and the INFs that it copies, directly or indirectly, by the independent reader. */
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

async function checkPackage({ expected, zip }: VendorPackage): Promise<void> {
  const archive = zip();
  const whole = await inspectArchive(sourceOf(archive));
  const report = reportOf(whole);
  const found = inspectionJson(whole, "");
  const infs = found.infs as Record<string, Fields>;

  assert.deepEqual(Object.keys(infs).sort(), Object.keys(expected.infs).sort());
  for (const [path, inf] of Object.entries(infs))
    for (const field of compared.split(" "))
      assert.deepEqual(inf[field], expected.infs[path][field], `${path}: ${field}`);
  const { fileCount, unused } = found.package as Fields;
  const { unusedByPrinterInfsAndTheirCopyInf: unusedInAll } = expected.package;
  assert.deepEqual([fileCount, unused], [expected.package.fileCount, unusedInAll]);
  assert.equal(report.unused?.count, unusedInAll?.length);
  for (const { path } of whole.readings) {
    const reduced = await inspectArchive(sourceOf(await filesZip(archive, path)));
    const paths = reduced.archive.entries.map((entry) => entry.path);
    const inf = (inspectionJson(reduced, "").infs as Record<string, Fields>)[path] ?? {};
    const count = report.infs.find((each) => each.path === path)?.unused.count ?? 0;

    assert.deepEqual(paths.sort(), neededBy(path, expected.infs, whole.files.sorted).sort(), path);
    assert.deepEqual({ ...inf, unused: infs[path]?.unused }, infs[path], path);
    assert.equal(paths.length, whole.archive.entries.length - count, path);
  }
}

vendorTest("each package and its reduced one are read as expected", async (packages, t) => {
  for (const each of packages.values()) {
    if (each.expected !== undefined) await t.test(each.name, () => checkPackage(each));
    else assert.ok((await inspectArchive(sourceOf(each.zip()))).readings.length > 0, each.name);
  }
});

const proposed: Record<string, string> = {
  "brother-hl-17a": "Brother HL series 1.9",
  "canon-mf810-pcl6": "Canon PCL6 21.75",
  "hp-upd-pcl6-701": "HP Universal PCL 6 7.0",
  "konica-c257i": "Konica Minolta Universal PCL 3.9",
  "kyocera-kx-merged": "Kyocera KX 8.5",
  "ricoh-imc3500": "Ricoh IM C3000/C3500 PCL 6 1.5",
  "triumphadler-3207ci": "TA/UTAX KX 8.6",
  "xerox-gpd-x64-5759": "Xerox Global Print Driver PCL6 5.759",
};

const withUniversalName = [
  "canon-ricoh-mixed/oemsetup.inf",
  "hp-upd-pcl6-701/hpcu255u.inf",
  "konica-c257i/KOAX5J__.inf",
  "kyocera-kx-merged/OEMSETUP (2).INF",
  "ricoh-universal-huz/oemsetup.inf",
  "ricoh-universal-old/oemsetup.inf",
  "triumphadler-3207ci/OEMSETUP.INF",
  "xerox-gpd-ps/x3UNIVP.inf",
  "xerox-gpd-x64-5759/x3UNIVX.inf",
  "xerox-gpd-x64/x3UNIVX.inf",
];

vendorTest("names are short, and models need a choice unless one is universal", async (packages) => {
  const several: string[] = [];
  const universal: string[] = [];
  for (const [folder, { zip }] of packages) {
    const inspection = await inspectArchive(sourceOf(zip()));
    const report = reportOf(inspection);
    const driver = { report, inf_path: report.printerInf ?? "", file_name: `${folder}.zip` };
    const [name] = proposedNames(driver);
    const readings = inspection.readings.filter(({ version }) => version.isPrinter);
    const choices = readings.filter(({ models }) => models.descriptions.length > 1);
    const broad = choices.filter(({ models }) => isUniversal(preselectedModel(models)));
    several.push(...choices.map(({ path }) => path));
    universal.push(...broad.map(({ path }) => `${folder}/${path}`));

    assert.equal(name, proposed[folder] ?? name);
    assert.ok(name.length <= 60, name);
    assert.doesNotMatch(name, /\.inf|oemsetup|%|todo| (?:inc|corp|ltd|gmbh|co)\b/i);
  }

  const expected = withUniversalName.filter((path) => packages.has(path.split("/")[0] ?? ""));
  assert.deepEqual(universal.sort(), expected);
  if (packages.size === 44) assert.ok(several.length > universal.length + 20, "most are of devices");
});

const inIntune =
  "xerox-gpd-ps hp-upd-pcl6-701 kyocera-5054ci ricoh-imc3500 epson-et-multi konica-c257i".split(" ");

vendorTest(
  "the verifier accepts Intune packages, and archives are served as uploaded",
  async (packages, t) => {
    if (without.verifier !== false) return t.skip(without.verifier);
    const { fetch, addDriver, addPrinter } = await startApp(t);
    for (const name of inIntune) {
      const source = packages.get(name)?.zip(0.05);
      if (source === undefined) continue;
      const driver = String(await addDriver(source));
      const printer = await addPrinter({ name, driver_id: driver });

      const tree = verifyIntunewin(await bytesOf(fetch(`/printers/${printer}/packages/mdm`)));

      assert.ok((await bytesOf(fetch(`/drivers/${driver}/archive`))).equals(source));
      const files = Object.entries(unpackers.fflate(source));
      assert.equal(Object.keys(tree).filter((path) => path.startsWith("driver/")).length, files.length);
      for (const [path, bytes] of files) assert.ok(tree[`driver/${path}`]?.equals(bytes), `${name}: ${path}`);
    }
  },
);
