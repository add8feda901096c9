import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { printersDigest } from "../../src/pkg/scripts/revision.ts";
import { startApp } from "../support/app.ts";
import { selectCases } from "../support/depth.ts";
import { addPair, appWithPair, armZip } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { everyUnpacker } from "../support/drivers/every-unpacker.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf, noise, withoutScripts } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

/** A driver's files as another tool reads them from its archive, with a folder before each path. */
function filesOf(zip: Buffer, folder: string): Tree {
  const files = Object.entries(unpackers.fflate(zip));
  return Object.fromEntries(files.map(([path, bytes]) => [`${folder}/${path}`, bytes]));
}

const expected = { ...filesOf(driverZip(), "driver"), ...filesOf(armZip(), "driver-arm64") };

function assertSame(tree: Tree, wanted: Tree): void {
  assert.deepEqual(Object.keys(withoutScripts(tree)).sort(), Object.keys(wanted).sort());
  for (const [path, bytes] of Object.entries(wanted)) assert.ok(tree[path]?.equals(bytes), path);
}

describe("other people's tools open packages with a driver for ARM64", () => {
  for (const [name, unpack] of selectCases(everyUnpacker, 2)) {
    const skip = name in without ? without[name as keyof typeof without] : false;
    test(`${name} finds both folders byte by byte, and scripts that name them`, { skip }, async (t) => {
      const { fetch } = await startFilled(t, addPair);

      const tree = unpack(await bytesOf(fetch("/printers/1/packages/rmm")));

      assertSame(tree, expected);
      for (const kind of ["install", "uninstall", "detect"]) {
        const text = tree[`${kind}.ps1`]?.toString() ?? "";
        if (kind === "install") assert.match(text, /Folder = 'driver'.*Folder = 'driver-arm64'/s);
        assert.match(text, /Arm64DriverName = 'Papyrus ARM'/);
        assert.doesNotMatch(text, /https?:/);
      }
    });
  }

  test("the verifier accepts the Intune package, with both folders inside", {
    skip: without.verifier,
  }, async (t) => {
    const { fetch } = await startFilled(t, addPair);

    const tree = verifyIntunewin(await bytesOf(fetch("/printers/1/packages/mdm")));

    assertSame(tree, expected);
  });

  test("a client's package contains each driver once, even if printers use it in different roles", {
    skip: without.verifier,
  }, async (t) => {
    const { fetch, post, addPrinter, app } = await startFilled(t, addPair);
    const [main, arm, printer] = [1, 2, 1];
    await post("/clients", { name: "Alpha" });
    await addPrinter({ driver_id: String(arm), client_id: "1", name: "Arm alone" });
    await post("/printers/bulk", { ids: String(printer), action: "client", client_id: "1", confirmed: "1" });
    const folderOf = (id: number) => `driver/${app.store.drivers.get(id).sha256.slice(0, 12)}`;
    const wanted = { ...filesOf(driverZip(), folderOf(main)), ...filesOf(armZip(), folderOf(arm)) };

    const zip = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));
    const inner = verifyIntunewin(await bytesOf(fetch("/clients/1/packages/mdm")));

    assertSame(zip, wanted);
    assertSame(inner, wanted);
  });
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
    assertSame(tree, filesOf(zip, "driver"));
    scripts.push(tree["install.ps1"]?.toString() ?? "");
  }

  assert.equal(scripts[0]?.match(/Sha256 = '[0-9A-F]{64}'/g)?.length, 1);
  assert.match(scripts[0] ?? "", /Arm64DriverName = 'Papyrus B'/);
});

test("a package is refused if the archive of its second driver is missing, and the refusal names the driver", async (t) => {
  const { fetch, app, dataDir, arm, printer } = await appWithPair(t, { arm64_driver_desc: "Papyrus ARM" });
  const { sha256 } = app.store.drivers.get(arm);
  const sound = await fetch(`/drivers/${arm}/files`);
  await sound.arrayBuffer();

  await rm(join(dataDir, "drivers", `${sha256}.zip`));
  const refused = await fetch(`/printers/${printer}/packages/rmm`);
  const text = await refused.text();
  const script = await (await fetch(`/printers/${printer}/scripts/install`)).text();
  const row = (await app.overview.printer(printer)).row;
  const page = await (await fetch(`/printers/${printer}`, { headers: { accept: "text/html" } })).text();

  assert.deepEqual([sound.status, refused.status], [200, 422]);
  assert.match(text, /The ZIP of “Papyrus ARM 3\.0” is missing on the server\. Upload driver\.zip again/);
  assert.match(script, /driver-2/, "machines that have the driver need no download");
  assert.deepEqual(
    row.findings.map(({ kind, state, isArm64 }) => [kind, state, isArm64]),
    [["archive", "blocked", true]],
  );
  assert.match(page, /The ZIP of the driver for ARM64 is missing on the server\. Upload driver\.zip again/);
  assert.match(page, /<a class="button primary" href="\/drivers#upload-form">Upload driver</);
});

test("a package with two drivers is as large as both drivers together: nothing is packed twice", async (t) => {
  const { fetch, addDriver, addPrinter } = await startApp(t);
  const extra = [{ name: "big.bin", bytes: noise, method: 0 as const }];
  const driver_id = String(await addDriver(driverZip({ extra })));
  const arm64_driver_id = String(await addDriver(armZip({ extra })));
  const sizeWith = async (second: Record<string, string>) => {
    const id = await addPrinter({ driver_id, ...second });
    const { headers } = await fetch(`/printers/${id}/packages/rmm`, { method: "HEAD" });
    return Number(headers.get("content-length"));
  };

  const plain = await sizeWith({ name: "Plain" });
  const difference = (await sizeWith({ arm64_driver_id, arm64_driver_desc: "Papyrus ARM" })) - plain;

  assert.ok(difference > noise.length && difference < noise.length + 4000, `${difference} bytes`);
});

test("the digest of several printers changes with the ARM64 driver of one of them", () => {
  const made = ["b", "c"].map((digit) => makeDriver({ sha256: digit.repeat(64) }));
  const digests = [undefined, ...made].map((arm64Driver) =>
    printersDigest([{ printer: makePrinter(), driver: makeDriver(), arm64Driver }]),
  );

  assert.equal(new Set(digests).size, 3);
});
