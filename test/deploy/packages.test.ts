import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { everyUnpacker } from "../support/drivers/every-unpacker.ts";
import { without } from "../support/drivers/foreign.ts";
import {
  appWithMixedDriver,
  bytesOf,
  expectedTree,
  withoutScripts,
} from "../support/drivers/mixed-driver.ts";

describe("other people's tools open the packages", () => {
  for (const [name, unpack] of everyUnpacker) {
    const skip = name in without ? without[name as keyof typeof without] : false;
    test(`${name} finds the driver's files and the scripts byte by byte`, { skip }, async (t) => {
      const { fetch, printer } = await appWithMixedDriver(t);

      const tree = unpack(await bytesOf(fetch(`/printers/${printer}/packages/rmm`)));

      assert.deepEqual(Object.keys(withoutScripts(tree)).sort(), Object.keys(expectedTree).sort());
      for (const [path, bytes] of Object.entries(expectedTree)) assert.ok(tree[path]?.equals(bytes), path);
      assert.match(tree["install.ps1"]?.toString() ?? "", /Name = 'Büro'/);
      assert.doesNotMatch(tree["install.ps1"]?.toString() ?? "", /https?:/);
      assert.ok(tree["uninstall.ps1"] && tree["detect.ps1"]);
    });

    test(`${name} finds a driver's files as in packages, and only the later of two that differ by case`, {
      skip,
    }, async (t) => {
      const { fetch, addDriver } = await startApp(t);
      const twins = [
        { name: "Readme.txt", bytes: "the earlier one" },
        { name: "README.TXT", bytes: "the later one" },
        { name: "", rawName: Buffer.from("Ordner\\Gr\x94\xe1e.txt", "latin1"), bytes: "a CP437 name" },
      ];
      await addDriver(driverZip({ extra: twins }));

      const answer = await fetch("/drivers/1/files");
      const tree = unpack(await bytesOf(answer));

      const names = ["Ordner/Größe.txt", "README.TXT", "papyrus.cat", "papyrus.dll", "papyrus.inf"];
      assert.deepEqual(Object.keys(tree).sort(), names);
      assert.equal(tree["README.TXT"]?.toString(), "the later one");
      assert.equal(tree["Ordner/Größe.txt"]?.toString(), "a CP437 name");
      assert.match(answer.headers.get("content-disposition") ?? "", /filename="driver-files\.zip"/);
      assert.equal(answer.headers.get("content-type"), "application/zip");
    });
  }
});
