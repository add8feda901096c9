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
import { arm64Machine, arm64Model, driverPair, x64Model } from "../../support/powershell/simulated-arm64.ts";
import {
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

/** Each machine with the model that it must install. */
const machines: readonly (readonly [what: string, machine: Machine, model: string])[] = [
  ["an x64 machine", {}, x64Model],
  ["a 32-bit process on x64", { ProcessArchitecture: "x86", Wow64: "AMD64" }, x64Model],
  ["an ARM64 machine", arm64Machine, arm64Model],
  ["a 32-bit process on ARM64", { ...arm64Machine, ProcessArchitecture: "x86", Wow64: "ARM64" }, arm64Model],
  ["an x64 process on ARM64", { ...arm64Machine, ProcessArchitecture: "AMD64" }, arm64Model],
  [
    "an x64 process with ARM64 in its environment",
    { ...arm64Machine, ProcessArchitecture: "AMD64", Wow64: "ARM64" },
    arm64Model,
  ],
];

function changing(result: RunResult): string[] {
  return result.calls.filter((call) => /Add-|Set-|Remove-|pnputil|registry/.test(call));
}

describe("a driver for ARM64 on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const [what, machine, model] of machines) {
    test(`${what} gets only its own driver, detect finds it, and uninstall removes it`, async () => {
      const office = driverPair();
      await windows.setMachine(machine);

      const missing = await windows.run("detect", office);
      const installed = await windows.run("install", office);
      const detected = await windows.run("detect", office);
      const repeated = await windows.run("install", office);
      const removed = await windows.run("uninstall", office);
      const removedTwice = await windows.run("uninstall", office);

      const { Drivers, Store, Registry } = installed.machine;
      const isArm = model === arm64Model;
      const runs = [missing, installed, detected, repeated, removed, removedTwice];
      assert.deepEqual(
        runs.map(({ code }) => code),
        [1, 0, 0, 0, 0, 0],
        runs.map(({ output }) => output.join(" ")).join("\n"),
      );
      for (const run of runs) assert.deepEqual(run.errors, []);
      assert.equal(getQueue(installed).DriverName, model);
      assert.deepEqual(
        [Drivers.map(({ Name }) => Name), Store],
        [[model], [isArm ? "arm.inf" : "papyrus.inf"]],
      );
      const { DriverName, DriverSha256 } = Registry[markerPath] ?? {};
      assert.deepEqual([DriverName, DriverSha256], [model, (isArm ? "B" : "A").repeat(64)]);
      assert.match(repeated.output.at(-1) ?? "", /nothing to change/);
      assert.deepEqual([changing(repeated), changing(removedTwice)], [[], []]);
      assert.match(removedTwice.output.at(-1) ?? "", /nothing was there/);
      assert.deepEqual(traces(removed), []);
      assert.deepEqual(removed.machine.Store, []);
    });
  }

  test("detect on ARM64 reports another, an older or a missing driver for ARM64", async () => {
    const office = driverPair();
    await windows.install(arm64Machine, office);
    const right = await windows.run("detect", office);

    const without = {
      ...arm64Machine,
      Queues: [queue("Office", "IP_10.0.0.9", arm64Model)],
      Ports: [tcpPort("IP_10.0.0.9")],
    };
    const outputs: string[] = [];
    for (const machine of [
      { ...without, Queues: [queue("Office", "IP_10.0.0.9")], Drivers: [papyrusDriver()] },
      { ...without, Drivers: [{ Name: arm64Model, Version: "2.0.0.0", Date: "01/01/2025" }] },
      without,
    ]) {
      await windows.setMachine(machine);
      outputs.push((await windows.run("detect", office)).output.join());
    }

    assert.equal(right.output.join(), "Installed: Office");
    assert.deepEqual(outputs, [
      `Not installed: Office: DriverName is ${x64Model}, not ${arm64Model}`,
      "Not installed: Office: the driver's version is 2.0.0.0, not 3.0.0.0",
      `Not installed: Office: the driver ${arm64Model} is not there`,
    ]);
  });

  test("a queue with the x64 driver on ARM64 gets the driver for ARM64", async () => {
    const both = deployable({}, { inf: { architectures: ["amd64", "arm64"] } });
    const office = driverPair({}, { inf: { architectures: ["amd64", "arm64"] } });
    await windows.install(arm64Machine, both);

    const stale = await windows.run("detect", office);
    const moved = await windows.run("install", office);
    const detected = await windows.run("detect", office);

    assert.match(stale.output.join(), new RegExp(`DriverName is ${x64Model}, not ${arm64Model}`));
    assert.deepEqual([moved.code, detected.code, getQueue(moved).DriverName], [0, 0, arm64Model]);
  });

  test("without a driver for ARM64 the message says where to choose one; on x86 it names only the architectures", async () => {
    await windows.setMachine(arm64Machine);
    const alone = await windows.run("install", deployable());
    await windows.setMachine({ Architecture: "x86", ProcessArchitecture: "x86" });
    const old = await windows.run("install", driverPair());

    assert.deepEqual([alone.code, old.code, changing(alone), changing(old)], [1603, 1603, [], []]);
    assert.match(
      alone.output.at(-1) ?? "",
      /This machine is arm64; the driver is made for amd64\. A driver for ARM64 can be chosen in Platen/,
    );
    assert.match(old.output.at(-1) ?? "", /This machine is x86; the driver is made for amd64\.$/);
  });

  test("one driver with another model for ARM64 is staged once, and each machine gets its model", async () => {
    const inf = { architectures: ["amd64", "arm64"], descriptions: [x64Model, arm64Model] } as const;
    const office = deployable(
      { arm64_driver_desc: arm64Model },
      { inf },
      { id: 1, sha256: "a".repeat(64), inf },
    );
    const models: unknown[] = [];

    for (const machine of [{}, arm64Machine]) {
      const installed = await windows.install(machine, office);
      models.push([getQueue(installed).DriverName, installed.machine.Store.length]);
      const removed = await windows.run("uninstall", office);
      assert.deepEqual([removed.code, traces(removed)], [0, []]);
    }

    assert.deepEqual(
      [deploymentOf(office).folders.size, models],
      [
        1,
        [
          [x64Model, 1],
          [arm64Model, 1],
        ],
      ],
    );
  });

  test("the publisher of the other architecture's driver is not trusted", async () => {
    const office = driverPair({}, { trust_publisher: false }, { trust_publisher: true });
    const trusted: string[][] = [];

    for (const machine of [{}, arm64Machine]) {
      const installed = await windows.install(machine, office);
      trusted.push(installed.machine.Publishers);
      const removed = await windows.run("uninstall", office);
      assert.deepEqual([traces(removed), removed.machine.Publishers], [[], []]);
    }

    assert.deepEqual(trusted, [[], ["AABBCC"]]);
  });

  test("each printer of a client gets its own driver, and one driver for both architectures is used on both", async () => {
    const both = deployable(
      { id: "8", name: "Hall", address: "10.0.0.8" },
      {
        id: 3,
        sha256: "c".repeat(64),
        inf: { architectures: ["amd64", "arm64"], descriptions: ["Papyrus Both"] },
      },
    );
    const client = deploymentOfMany("Client", [driverPair(), both]);
    const found: unknown[] = [];

    for (const machine of [{}, arm64Machine]) {
      await windows.setMachine(machine);
      const installed = await windows.run("install", client);
      const detected = await windows.run("detect", client);
      found.push([
        installed.code,
        detected.output.join(),
        ...["Office", "Hall"].map((name) => getQueue(installed, name).DriverName),
      ]);
      const removed = await windows.run("uninstall", client);
      assert.deepEqual(traces(removed), []);
    }

    assert.deepEqual(found, [
      [0, "Installed: all 2 printers", x64Model, "Papyrus Both"],
      [0, "Installed: all 2 printers", arm64Model, "Papyrus Both"],
    ]);
  });

  test("a script without a package downloads only its machine's driver", async () => {
    const zip = await filesZip(armZip({ models: [arm64Model] }));
    const file = join(windows.folder, "arm.zip");
    await writeFile(file, zip);
    const inf = {
      architectures: ["arm64"],
      descriptions: [arm64Model],
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

    await windows.setMachine({ ...arm64Machine, Download: file });
    const onArm = await windows.run("install", alone, { withoutFiles: true });
    const detected = await windows.run("detect", alone);
    await windows.setMachine({ Download: file });
    const onX64 = await windows.run("install", alone, { withoutFiles: true });

    assert.deepEqual([onArm.code, onArm.machine.Requested, detected.code, onArm.left], [0, [url(2)], 0, 0]);
    assert.equal(getQueue(onArm).DriverName, arm64Model);
    assert.deepEqual([onX64.code, onX64.machine.Requested], [1603, [url(1)]]);
    assert.match(onX64.output.at(-1) ?? "", /not the expected one/, "each driver has its own digest");
  });

  const pcl6 = "Microsoft PCL6 Class Driver";
  const windowsOwn = windowsDeployable({}, pcl6).driver;
  const mixed = [
    [
      "uploaded for x64, Windows' own for ARM64",
      { ...driverPair(), arm64Driver: windowsOwn },
      x64Model,
      pcl6,
    ],
    ["Windows' own for x64, uploaded for ARM64", { ...driverPair(), driver: windowsOwn }, pcl6, arm64Model],
  ] as const;
  for (const [what, office, onX64, onArm] of mixed) {
    test(`a pair with an own driver of Windows: ${what}`, async () => {
      for (const [machine, model] of [
        [{}, onX64],
        [arm64Machine, onArm],
      ] as const) {
        const installed = await windows.install(machine, office);
        const repeated = await windows.run("install", office);
        const removed = await windows.run("uninstall", office);

        assert.equal(getQueue(installed).DriverName, model);
        assert.equal(installed.calls.includes("pnputil"), model !== pcl6);
        assert.deepEqual([repeated.code, changing(repeated)], [0, []]);
        assert.deepEqual([removed.code, traces(removed), removed.machine.Store], [0, [], []]);
      }
    });
  }
});
