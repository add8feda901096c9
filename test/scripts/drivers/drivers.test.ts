import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { deploymentOf } from "../../../src/pkg/scripts/deployment.ts";
import { driverZip, printerInf } from "../../support/drivers/driver-zip.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import {
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  traces,
} from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

describe("drivers on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("a driver of this or a newer version is not installed again", async () => {
    for (const driver of [
      papyrusDriver(),
      papyrusDriver("1.2.3.10"),
      papyrusDriver("1.0.0.0", "07/01/2026"),
    ]) {
      const result = await windows.install({ Drivers: [driver] });
      assert.equal(result.calls.includes("pnputil"), false);
      assert.equal(result.machine.Drivers[0]?.Version, driver.Version);
    }
  });

  test("an older driver is updated, and its queues keep it", async () => {
    const machine = { Drivers: [papyrusDriver("1.2.3.3")], Queues: [queue("Theirs", "LPT1:")] };
    await windows.setMachine(machine);
    const before = await windows.run("detect", deployable());

    const result = await windows.install(machine);

    assert.equal(before.code, 1);
    assert.equal(result.machine.Drivers[0]?.Version, "1.2.3.4");
    assert.equal(getQueue(result, "Theirs").DriverName, "Papyrus 100 PCL6");
  });

  test("a driver that Windows adds only by its INF, or only after a spooler restart, is installed", async () => {
    const byInf = await windows.install({ DriverNeedsInf: true });
    const byRestart = await windows.install({ DriverNeedsRestart: true });

    assert.equal(byInf.machine.Restarts, 0);
    assert.equal(byRestart.machine.Restarts, 1);
  });

  test("a driver that Windows never adds fails after one restart, with its reason", async () => {
    await windows.setMachine({ DriverNever: true });

    const result = await windows.run("install", deployable());

    assert.equal(result.code, 1603);
    assert.equal(result.machine.Restarts, 1);
    assert.match(
      result.output.at(-1) ?? "",
      /^Failed: Office: The driver .* was staged, but Windows does not install it: /,
    );
    assert.equal(result.machine.Registry[markerPath], undefined);
  });

  test("an INF in a sub-folder, in UTF-16, is found and installed", async () => {
    const office = deployable({}, { inf: { path: "x64/Deutsch ä/papyrus.inf" } });
    await windows.setMachine();
    const inf = Buffer.from(`\ufeff${printerInf({ version: "1.2.3.4", date: "06/21/2025" })}`, "utf16le");

    const result = await windows.run("install", office, { inf });

    assert.equal(result.code, 0, result.output.join());
    assert.equal(result.machine.Drivers[0]?.Version, "1.2.3.4");
  });

  const pnputil: [number, number, RegExp][] = [
    [0, 0, /^Installed: Office: installed$/],
    [259, 0, /^Installed: Office: installed$/],
    [3010, 3010, /asks for a restart/],
    [1641, 1641, /asks for a restart/],
    [1618, 1618, /busy with another installation/],
    [5, 1603, /rights are not enough/],
    [2, 1603, /its INF is not there/],
    [-536870353, 1603, /no catalog \(0xE000022F\)/],
    [-2146762487, 1603, /root that is not trusted \(0x800B0109\)/],
    [-536870334, 1603, /publisher is not trusted \(0xE0000242\)/],
    [87, 1603, /pnputil 87/],
  ];
  for (const [PnpCode, code, last] of pnputil) {
    test(`pnputil's code ${PnpCode} becomes exit code ${code}`, async () => {
      await windows.setMachine({ PnpCode });

      const result = await windows.run("install", deployable());

      assert.equal(result.code, code);
      assert.match(result.output.at(-1) ?? "", last);
      assert.equal(result.machine.Registry[markerPath] !== undefined, [0, 3010, 1641].includes(code));
    });
  }

  test("a trusted publisher is added only if the driver allows it, and removed on uninstall if install added it", async () => {
    const without = await windows.install({});
    const office = deployable({}, { trust_publisher: true });
    const result = await windows.install({}, office);
    const removed = await windows.run("uninstall", office);
    const theirs = await windows.install({ Publishers: ["AABBCC"] }, office);
    const kept = await windows.run("uninstall", office);

    assert.deepEqual(without.machine.Publishers, []);
    assert.deepEqual(result.machine.Publishers, ["AABBCC"]);
    assert.match(result.log, /trusted publisher CN=Papyrus \(AABBCC\) added/);
    assert.deepEqual([removed.machine.Publishers, traces(removed)], [[], []]);
    assert.deepEqual([theirs.machine.Publishers, kept.machine.Publishers], [["AABBCC"], ["AABBCC"]]);
  });

  test("a driver with a slash in its name is found again", async () => {
    const slash = { driver_desc: "CD 1015 / DC 2015 KX", inf: { descriptions: ["CD 1015 / DC 2015 KX"] } };

    const result = await windows.install({}, deployable({}, slash));
    const repeated = await windows.run("install", deployable({}, slash));

    assert.equal(result.machine.Drivers[0]?.Name, "CD 1015 / DC 2015 KX");
    assert.match(repeated.output.join(), /nothing to change/);
  });

  describe("a script without its package", () => {
    const inf = { models: ["Papyrus 100 PCL6"], version: "1.2.3.4", date: "06/21/2025" };
    // Windows cannot unpack names that differ only by case or use another code page.
    const extra = [
      { name: "Readme.txt", bytes: "the earlier one" },
      { name: "README.TXT", bytes: "the later one" },
      { name: "", rawName: Buffer.from("B\x81ro\\Gr\x94\xe1e.txt", "latin1"), bytes: "CP437" },
    ];
    let zip: Buffer;
    before(async () => {
      zip = await filesZip(driverZip({ ...inf, extra }));
    });
    const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    const alone = (sha256 = digestOf(zip)) =>
      deploymentOf(
        deployable({}, {}),
        new Map([[1, { url: "http://platen.lan:8080/drivers/1/files", sha256 }]]),
      );

    async function fetched(deployment: ReturnType<typeof alone>, machine: Machine): Promise<RunResult> {
      await windows.setMachine(machine);
      return windows.run("install", deployment, { withoutFiles: true });
    }

    test("the driver is downloaded, checked and installed, and no files are left", async () => {
      const path = join(windows.folder, "download.zip");
      await writeFile(path, zip);

      const result = await fetched(alone(), { Download: path });

      assert.equal(result.code, 0, result.output.join());
      assert.deepEqual([result.machine.Downloads, result.machine.Drivers.length, result.left], [1, 1, 0]);
    });

    test("a machine with the driver downloads nothing", async () => {
      const result = await fetched(alone(), { Drivers: [papyrusDriver()] });

      assert.deepEqual([result.code, result.machine.Downloads], [0, 0]);
    });

    test("files in the script's folder are never used as the driver", async () => {
      const path = join(windows.folder, "download.zip");
      await writeFile(path, zip);
      const planted = async (machine: Machine) => {
        await windows.setMachine(machine);
        return windows.run("install", alone());
      };

      const [offline, online] = [await planted({}), await planted({ Download: path })];

      assert.deepEqual([offline.code, offline.machine.Drivers.length], [1618, 0]);
      assert.match(offline.output.at(-1) ?? "", /could not be downloaded/);
      assert.deepEqual([online.code, online.machine.Downloads], [0, 1]);
    });

    test("a wrong digest fails, a missing network is busy after five minutes, and neither leaves files", async () => {
      const path = join(windows.folder, "download.zip");
      await writeFile(path, zip);

      const wrong = await fetched(alone("c".repeat(64)), { Download: path });
      const none = await fetched(alone(), {});

      assert.deepEqual([wrong.code, none.code, wrong.left, none.left], [1603, 1618, 0, 0]);
      assert.deepEqual([none.machine.Slept, none.machine.Downloads], [19 * 15_000, 20]);
      assert.match(wrong.output.at(-1) ?? "", /is not the expected one: its SHA-256 is/);
      assert.match(
        none.output.at(-1) ?? "",
        /could not be downloaded from http:\/\/platen\.lan:8080\/drivers\/1\/files/,
      );
    });

    test("a service that is busy is asked again as Retry-After says, and lost connections are tried again", async () => {
      const path = join(windows.folder, "download.zip");
      await writeFile(path, zip);
      const refusals = (...Refusals: Record<string, unknown>[]) =>
        fetched(alone(), { Download: path, Refusals });

      const busy = await refusals({ Status: 503, RetryAfter: 40 }, { Status: 429 }, {});
      const late = await refusals({ Status: 503, RetryAfter: 3600 });
      const forbidden = await refusals({ Status: 403, RetryAfter: 5 });

      assert.deepEqual([busy.code, busy.machine.Slept, busy.machine.Downloads], [0, 70_000, 4]);
      assert.deepEqual([late.code, late.machine.Slept], [1618, 0]);
      assert.match(late.output.at(-1) ?? "", /could not be downloaded from .* Try again later\.$/);
      assert.deepEqual([forbidden.code, forbidden.machine.Downloads, forbidden.left], [1603, 1, 0]);
    });

    test("a package's script names the missing files", async () => {
      await windows.setMachine();

      const result = await windows.run("install", deployable(), { withoutFiles: true });

      assert.equal(result.code, 1603);
      assert.match(
        result.output.at(-1) ?? "",
        /files are missing: expected papyrus\.inf in the folder driver/,
      );
    });
  });
});
