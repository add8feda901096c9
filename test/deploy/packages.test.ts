import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageFormats } from "../../src/pkg/formats/formats.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { copyData } from "../support/copies.ts";
import { etagOf, textOf } from "../support/deploy/answers.ts";
import { isDeep } from "../support/depth.ts";
import { addPair, appWithPair, armZip } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import {
  appWithMixedDriver,
  bytesOf,
  expectedTree,
  withoutScripts,
} from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makePng } from "../support/printers/png.ts";

/** A driver's files as another tool reads them from its archive, with a folder before each path. */
function filesOf(zip: Buffer, folder: string): Tree {
  const files = Object.entries(unpackers.fflate(zip));
  return Object.fromEntries(files.map(([path, bytes]) => [`${folder}/${path}`, bytes]));
}

/** A driver with two names that differ only by case, and one in CP437. */
const odd = driverZip({
  extra: [
    { name: "Readme.txt", bytes: "the earlier one" },
    { name: "README.TXT", bytes: "the later one" },
    { name: "", rawName: Buffer.from("Ordner\\Gr\x94\xe1e.txt", "latin1"), bytes: "a CP437 name" },
  ],
});
const oddTree: Tree = {
  ...unpackers.fflate(driverZip()),
  "README.TXT": Buffer.from("the later one"),
  "Ordner/Größe.txt": Buffer.from("a CP437 name"),
};

describe("other people's tools open the packages", () => {
  for (const [name, unpack] of Object.entries(unpackers)) {
    if (name !== "sevenZip" && !isDeep) continue;
    const skip = name in without ? without[name as keyof typeof without] : false;
    test(`${name} finds the files of a driver, of two drivers, and a driver's own, byte by byte`, {
      skip,
    }, async (t) => {
      const { fetch, addDriver, addPrinter } = await appWithMixedDriver(t);
      const [driver_id, arm64_driver_id] = [String(await addDriver(odd)), String(await addDriver(armZip()))];
      await addPrinter({ driver_id, arm64_driver_id });
      const read = async (path: string) => unpack(await bytesOf(fetch(path)));

      const one = await read("/printers/1/packages/rmm");
      const two = await read("/printers/2/packages/rmm");
      const own = await read("/drivers/2/files");

      const inFolder = Object.entries(oddTree).map(([path, bytes]) => [`driver/${path}`, bytes]);
      assert.deepEqual(withoutScripts(one), expectedTree);
      assert.deepEqual(withoutScripts(two), {
        ...Object.fromEntries(inFolder),
        ...filesOf(armZip(), "driver-arm64"),
      });
      assert.deepEqual(own, oddTree);
      assert.match(String(one["install.ps1"]), /Name = 'Büro'/);
      assert.match(String(two["install.ps1"]), /Folder = 'driver'.*Folder = 'driver-arm64'/s);
      for (const kind of ["install", "uninstall", "detect"])
        for (const tree of [one, two]) {
          assert.match(String(tree[`${kind}.ps1`]), /\.SYNOPSIS/);
          assert.doesNotMatch(String(tree[`${kind}.ps1`]), /https?:/);
        }
    });
  }
});

/** Other programs that read packages, by file extension. A new format needs one. */
const readers: Record<string, (bytes: Buffer) => Tree> = {
  ".zip": unpackers.fflate,
  ".intunewin": verifyIntunewin,
};

test("the packages of every format have the driver's files, an icon if the format has one, and the same scripts", {
  skip: without.verifier,
}, async (t) => {
  const { fetch, printer, upload } = await appWithMixedDriver(t);
  await upload(`/printers/${printer}/icon`, makePng(), "icon.png");
  const scripts: Tree[] = [];

  for (const { id, extension, hasIcon } of packageFormats) {
    const read = readers[extension];
    assert.ok(read, `no foreign reader of ${extension} is known to this test`);
    const tree = read(await bytesOf(fetch(`/printers/${printer}/packages/${id}`)));

    const { "icon.png": icon, ...driver } = withoutScripts(tree);
    const { "install.ps1": install, "uninstall.ps1": uninstall, "detect.ps1": detect } = tree;
    assert.deepEqual(driver, expectedTree);
    assert.deepEqual(icon, hasIcon ? makePng() : undefined);
    assert.ok(install && uninstall && detect);
    scripts.push({ install, uninstall, detect });
  }
  for (const each of scripts) assert.deepEqual(each, scripts[0]);
});

test("packages are the same bytes in a copy of the data folder, and have another ETag for other contents", async (t) => {
  const first = await withOnePrinter(t);
  const paths = packageFormats.map(({ id }) => `/printers/1/packages/${id}`);
  const take = async ({ fetch }: Pick<typeof first, "fetch">) =>
    Promise.all(
      paths.map(
        async (path) => [await etagOf(fetch(path)), (await bytesOf(fetch(path))).toString("hex")] as const,
      ),
    );
  const before = await take(first);
  const dataDir = await temporaryFolder(t);
  await copyData(first.dataDir, dataDir);
  const copy = await startApp(t, { dataDir });

  const same = await take(copy);
  const fields = { name: "Office", address: "10.0.0.9", driver_id: "1", comment: "changed" };
  await copy.post("/printers/1", fields);
  const other = await take(copy);

  assert.deepEqual(same, before);
  for (const [i, [etag, bytes]] of other.entries())
    assert.deepEqual([etag === before[i]?.[0], bytes === before[i]?.[1]], [false, false]);
});

test("a package contains each of several drivers once, in whichever role printers use it", {
  skip: without.verifier,
}, async (t) => {
  const { fetch, post, addPrinter, app } = await startFilled(t, addPair);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ driver_id: "2", client_id: "1", name: "Arm alone" });
  await post("/printers/bulk", { ids: "1", action: "client", client_id: "1", confirmed: "1" });
  const folderOf = (id: number) => `driver/${app.store.drivers.get(id).sha256.slice(0, 12)}`;

  const zip = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));
  const inner = verifyIntunewin(await bytesOf(fetch("/clients/1/packages/mdm")));

  const ofClient = { ...filesOf(driverZip(), folderOf(1)), ...filesOf(armZip(), folderOf(2)) };
  for (const tree of [zip, inner]) assert.deepEqual(withoutScripts(tree), ofClient);
});

test("a driver chosen for both architectures is packed once, and a driver of Windows adds no folder", async (t) => {
  const { fetch, addDriver, addPrinter } = await startApp(t);
  const zip = driverZip({ decoration: "NTamd64,NTarm64", models: ["Papyrus A", "Papyrus B"] });
  const driver_id = String(await addDriver(zip));
  const scripts: string[] = [];

  for (const second of [
    { arm64_driver_id: driver_id, arm64_driver_desc: "Papyrus B" },
    { arm64_driver_id: "1000002", name: "W" },
  ]) {
    const id = await addPrinter({ driver_id, driver_desc: "Papyrus A", ...second });
    const tree = unpackers.fflate(await bytesOf(fetch(`/printers/${id}/packages/rmm`)));
    assert.deepEqual(withoutScripts(tree), filesOf(zip, "driver"));
    scripts.push(String(tree["install.ps1"]));
  }

  assert.equal(scripts[0]?.match(/Sha256 = '[0-9A-F]{64}'/g)?.length, 1);
  assert.match(scripts[0] ?? "", /Arm64DriverName = 'Papyrus B'/);
});

test("a package is refused if the archive of its second driver is missing, and refusal and page name the driver", async (t) => {
  const { fetch, app, dataDir, arm, printer } = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM" });
  await rm(join(dataDir, "drivers", `${app.store.drivers.get(arm).sha256}.zip`));

  const refused = await fetch(`/printers/${printer}/packages/rmm`);
  const why = await refused.text();
  const script = await textOf(fetch(`/printers/${printer}/scripts/install`));
  const page = await textOf(fetch(`/printers/${printer}`, { headers: { accept: "text/html" } }));

  assert.equal(refused.status, 422);
  assert.match(why, /The ZIP of “Papyrus ARM 3\.0” is missing on the server\. Upload driver\.zip again/);
  assert.match(script, /driver-2/, "machines that have the driver need no download");
  assert.match(page, /The ZIP of the driver for ARM64 is missing on the server\. Upload driver\.zip again/);
  assert.match(page, /<a class="button primary" href="\/drivers#upload-form">Upload driver</);
});
