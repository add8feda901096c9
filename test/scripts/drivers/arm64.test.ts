import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOf, deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import { armZip } from "../../support/drivers/arm64-pair.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../../support/powershell/powershell.ts";
import { arm, arm64, main, pair } from "../../support/powershell/simulated-arm64.ts";
import {
  markerPath,
  papyrus,
  queue,
  queueOf,
  tcp,
  traces,
} from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

/** Each with the model that it must install. */
const machines: readonly (readonly [what: string, machine: Machine, model: string])[] = [
  ["an x64 machine", {}, main],
  ["a 32-bit process on x64", { ProcessArchitecture: "x86", Wow64: "AMD64" }, main],
  ["an ARM64 machine", arm64, arm],
  ["a 32-bit process on ARM64", { ...arm64, ProcessArchitecture: "x86", Wow64: "ARM64" }, arm],
  ["an x64 process on ARM64", { ...arm64, ProcessArchitecture: "AMD64" }, arm],
  ["an x64 process that is told of ARM64", { ...arm64, ProcessArchitecture: "AMD64", Wow64: "ARM64" }, arm],
];

function changing(result: RunResult): string[] {
  return result.calls.filter((call) => /Add-|Set-|Remove-|pnputil|registry/.test(call));
}

describe("a driver for ARM64 on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const [what, machine, model] of machines) {
    test(`${what} gets its own driver alone, is detected with it, and is cleaned of it`, async () => {
      const office = pair();
      await windows.machine(machine);

      const missing = await windows.run("detect", office);
      const installed = await windows.run("install", office);
      const detected = await windows.run("detect", office);
      const again = await windows.run("install", office);
      const removed = await windows.run("uninstall", office);
      const removedAgain = await windows.run("uninstall", office);

      const { Drivers, Store, Registry } = installed.machine;
      const isArm = model === arm;
      const runs = [missing, installed, detected, again, removed, removedAgain];
      assert.deepEqual(
        runs.map(({ code }) => code),
        [1, 0, 0, 0, 0, 0],
        runs.map(({ output }) => output.join(" ")).join("\n"),
      );
      for (const run of runs) assert.deepEqual(run.errors, []);
      assert.equal(queueOf(installed).DriverName, model);
      assert.deepEqual(
        [Drivers.map(({ Name }) => Name), Store],
        [[model], [isArm ? "arm.inf" : "papyrus.inf"]],
      );
      const { DriverName, DriverSha256 } = Registry[markerPath] ?? {};
      assert.deepEqual([DriverName, DriverSha256], [model, (isArm ? "B" : "A").repeat(64)]);
      assert.match(again.output.at(-1) ?? "", /nothing to change/);
      assert.deepEqual([changing(again), changing(removedAgain)], [[], []]);
      assert.match(removedAgain.output.at(-1) ?? "", /nothing was there/);
      assert.deepEqual(traces(removed), []);
      assert.deepEqual(removed.machine.Store, []);
    });
  }

  test("detection on ARM64 compares the machine's own driver: another one, an older one, none", async () => {
    const office = pair();
    await windows.installed(arm64, office);
    const right = await windows.run("detect", office);

    const without = { ...arm64, Queues: [queue("Office", "IP_10.0.0.9", arm)], Ports: [tcp("IP_10.0.0.9")] };
    const said: string[] = [];
    for (const machine of [
      { ...without, Queues: [queue("Office", "IP_10.0.0.9")], Drivers: [papyrus()] },
      { ...without, Drivers: [{ Name: arm, Version: "2.0.0.0", Date: "01/01/2025" }] },
      without,
    ]) {
      await windows.machine(machine);
      said.push((await windows.run("detect", office)).output.join());
    }

    assert.equal(right.output.join(), "Installed: Office");
    assert.deepEqual(said, [
      `Not installed: Office: DriverName is ${main}, not ${arm}`,
      "Not installed: Office: the driver's version is 2.0.0.0, not 3.0.0.0",
      `Not installed: Office: the driver ${arm} is not there`,
    ]);
  });

  test("a queue that had the x64 machines' driver on ARM64 is moved to its own", async () => {
    const both = deployable({}, { inf: { architectures: ["amd64", "arm64"] } });
    const office = pair({}, { inf: { architectures: ["amd64", "arm64"] } });
    await windows.installed(arm64, both);

    const stale = await windows.run("detect", office);
    const moved = await windows.run("install", office);
    const detected = await windows.run("detect", office);

    assert.match(stale.output.join(), new RegExp(`DriverName is ${main}, not ${arm}`));
    assert.deepEqual([moved.code, detected.code, queueOf(moved).DriverName], [0, 0, arm]);
  });

  test("without a second driver an ARM64 machine says where one is chosen; an x86 machine is told the machines alone", async () => {
    await windows.machine(arm64);
    const alone = await windows.run("install", deployable());
    await windows.machine({ Architecture: "x86", ProcessArchitecture: "x86" });
    const old = await windows.run("install", pair());

    assert.deepEqual([alone.code, old.code, changing(alone), changing(old)], [1603, 1603, [], []]);
    assert.match(
      alone.output.at(-1) ?? "",
      /This machine is arm64; the driver is made for amd64\. A driver for ARM64 can be chosen in Platen/,
    );
    assert.match(old.output.at(-1) ?? "", /This machine is x86; the driver is made for amd64\.$/);
  });

  test("one driver for both with another model for ARM64 is staged once, each machine with its model", async () => {
    const inf = { architectures: ["amd64", "arm64"], descriptions: [main, arm] } as const;
    const office = deployable({ arm64_driver_desc: arm }, { inf }, { id: 1, sha256: "a".repeat(64), inf });
    const models: unknown[] = [];

    for (const machine of [{}, arm64]) {
      const installed = await windows.installed(machine, office);
      models.push([queueOf(installed).DriverName, installed.machine.Store.length]);
      const removed = await windows.run("uninstall", office);
      assert.deepEqual([removed.code, traces(removed)], [0, []]);
    }

    assert.deepEqual(
      [deploymentOf(office).folders.size, models],
      [
        1,
        [
          [main, 1],
          [arm, 1],
        ],
      ],
    );
  });

  test("the publisher of the other machines' driver is not trusted", async () => {
    const office = pair({}, { trust_publisher: false }, { trust_publisher: true });
    const trusted: string[][] = [];

    for (const machine of [{}, arm64]) {
      const installed = await windows.installed(machine, office);
      trusted.push(installed.machine.Publishers);
      const removed = await windows.run("uninstall", office);
      assert.deepEqual([traces(removed), removed.machine.Publishers], [[], []]);
    }

    assert.deepEqual(trusted, [[], ["AABBCC"]]);
  });

  test("a client's printers each get their own; a printer with one driver for both keeps it", async () => {
    const both = deployable(
      { id: "8", name: "Hall", address: "10.0.0.8" },
      {
        id: 3,
        sha256: "c".repeat(64),
        inf: { architectures: ["amd64", "arm64"], descriptions: ["Papyrus Both"] },
      },
    );
    const client = deploymentOfMany("Client", [pair(), both]);
    const found: unknown[] = [];

    for (const machine of [{}, arm64]) {
      await windows.machine(machine);
      const installed = await windows.run("install", client);
      const detected = await windows.run("detect", client);
      found.push([
        installed.code,
        detected.output.join(),
        ...["Office", "Hall"].map((name) => queueOf(installed, name).DriverName),
      ]);
      const removed = await windows.run("uninstall", client);
      assert.deepEqual(traces(removed), []);
    }

    assert.deepEqual(found, [
      [0, "Installed: all 2 printers", main, "Papyrus Both"],
      [0, "Installed: all 2 printers", arm, "Papyrus Both"],
    ]);
  });

  test("a script fetched alone downloads its machine's driver and no other", async () => {
    const zip = await filesZip(armZip({ models: [arm] }));
    const file = join(windows.folder, "arm.zip");
    await writeFile(file, zip);
    const inf = {
      architectures: ["arm64"],
      descriptions: [arm],
      driverVer: { date: "06/21/2025", version: "3.0.0.0" },
    } as const;
    const office = deployable({}, {}, { inf });
    const sha256 = createHash("sha256").update(zip).digest("hex");
    const url = (id: number) => `http://platen.lan:8080/drivers/${id}/files`;
    const alone = deploymentOf(
      office,
      new Map([
        [1, { url: url(1), sha256: "d".repeat(64) }],
        [2, { url: url(2), sha256 }],
      ]),
    );

    await windows.machine({ ...arm64, Download: file });
    const onArm = await windows.run("install", alone, { withoutFiles: true });
    const detected = await windows.run("detect", alone);
    await windows.machine({ Download: file });
    const onX64 = await windows.run("install", alone, { withoutFiles: true });

    assert.deepEqual([onArm.code, onArm.machine.Requested, detected.code, onArm.left], [0, [url(2)], 0, 0]);
    assert.equal(queueOf(onArm).DriverName, arm);
    assert.deepEqual([onX64.code, onX64.machine.Requested], [1603, [url(1)]]);
    assert.match(onX64.output.at(-1) ?? "", /not the expected one/, "each has a digest of its own");
  });

  const pcl6 = "Microsoft PCL6 Class Driver";
  const windowsOwn = windowsDeployable({}, pcl6).driver;
  const mixed = [
    ["uploaded for x64, Windows' own for ARM64", { ...pair(), arm64Driver: windowsOwn }, main, pcl6],
    ["Windows' own for x64, uploaded for ARM64", { ...pair(), driver: windowsOwn }, pcl6, arm],
  ] as const;
  for (const [what, office, onX64, onArm] of mixed) {
    test(`a pair of which one comes by its name alone: ${what}`, async () => {
      for (const [machine, model] of [
        [{}, onX64],
        [arm64, onArm],
      ] as const) {
        const installed = await windows.installed(machine, office);
        const again = await windows.run("install", office);
        const removed = await windows.run("uninstall", office);

        assert.equal(queueOf(installed).DriverName, model);
        assert.equal(installed.calls.includes("pnputil"), model !== pcl6);
        assert.deepEqual([again.code, changing(again)], [0, []]);
        assert.deepEqual([removed.code, traces(removed), removed.machine.Store], [0, [], []]);
      }
    });
  }
});
