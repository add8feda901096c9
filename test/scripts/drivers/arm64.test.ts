import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOf, deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import type { Deployed } from "../../support/audit/deployed.ts";
import { isDeep } from "../../support/depth.ts";
import { armZip } from "../../support/drivers/arm64-pair.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import { changing, driverNamesOf, endsOf, lastLine, runAll } from "../../support/drivers/script-runs.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
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

const x64Process = { ...arm64Machine, ProcessArchitecture: "AMD64" };
/** Each machine with the model that it must install. */
const machines: readonly (readonly [what: string, machine: Machine, model: string])[] = [
  ["an x64 machine", {}, x64Model],
  ["an ARM64 machine", arm64Machine, arm64Model],
  ["a 32-bit process on x64", { ProcessArchitecture: "x86", Wow64: "AMD64" }, x64Model],
  ["a 32-bit process on ARM64", { ...arm64Machine, ProcessArchitecture: "x86", Wow64: "ARM64" }, arm64Model],
  ["an x64 process on ARM64", x64Process, arm64Model],
  ["an x64 process with ARM64 in its environment", { ...x64Process, Wow64: "ARM64" }, arm64Model],
];
const bothArchitectures = ["amd64", "arm64"] as const;
const pcl6 = "Microsoft PCL6 Class Driver";
const windowsOwn = windowsDeployable({}, pcl6).driver;

/** A driver for both architectures, used with another model on ARM64. */
function oneDriver() {
  const inf = { architectures: bothArchitectures, descriptions: [x64Model, arm64Model] };
  return deployable({ arm64_driver_desc: arm64Model }, { inf }, { id: 1, sha256: "a".repeat(64), inf });
}

/** A client with a pair of drivers and a driver for both architectures. */
function client() {
  const inf = { architectures: bothArchitectures, descriptions: ["Papyrus Both"] };
  const hall = deployable(
    { id: "8", name: "Hall", address: "10.0.0.8" },
    { id: 3, sha256: "c".repeat(64), inf },
  );
  return deploymentOfMany("Client", [driverPair(), hall]);
}

/** Deployments with the queues, staged INFs and trusted publishers on an x64 machine and on an ARM64 machine. */
const deployments: readonly (readonly [what: string, Deployed, onX64: string[], onArm: string[]])[] = [
  [
    "one driver with another model for ARM64 is staged once",
    oneDriver(),
    [`Office: ${x64Model}`, "papyrus.inf"],
    [`Office: ${arm64Model}`, "papyrus.inf"],
  ],
  [
    "the publisher of the other architecture's driver is not trusted",
    driverPair({}, { trust_publisher: false }, { trust_publisher: true }),
    [`Office: ${x64Model}`, "papyrus.inf"],
    [`Office: ${arm64Model}`, "arm.inf", "AABBCC"],
  ],
  [
    "each printer of a client gets its own driver, and one driver for both architectures is used on both",
    client(),
    ["Hall: Papyrus Both", `Office: ${x64Model}`, "papyrus.inf", "papyrus.inf"],
    ["Hall: Papyrus Both", `Office: ${arm64Model}`, "arm.inf", "papyrus.inf"],
  ],
  [
    "a pair of an uploaded driver for x64 and Windows' own for ARM64",
    { ...driverPair(), arm64Driver: windowsOwn },
    [`Office: ${x64Model}`, "papyrus.inf"],
    [`Office: ${pcl6}`],
  ],
  [
    "a pair of Windows' own driver for x64 and an uploaded one for ARM64",
    { ...driverPair(), driver: windowsOwn },
    [`Office: ${pcl6}`],
    [`Office: ${arm64Model}`, "arm.inf"],
  ],
];

describe("a driver for ARM64 on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const [what, machine, model] of isDeep ? machines : machines.slice(0, 2)) {
    test(`${what} gets only its own driver, detect finds it, and uninstall removes it`, async () => {
      await windows.setMachine(machine);

      const first = await runAll(windows, driverPair(), "detect", "install", "detect", "install");
      const last = await runAll(windows, driverPair(), "uninstall", "uninstall");

      const [, installed, , repeated] = first;
      const { Store, Registry } = installed.machine;
      const { DriverName, DriverSha256 } = Registry[markerPath] ?? {};
      const [inf, digit] = model === arm64Model ? ["arm.inf", "B"] : ["papyrus.inf", "A"];
      assert.deepEqual(endsOf(...first, ...last), [
        "1 Not installed: Office: there is no such queue",
        "0 Installed: Office: installed",
        "0 Installed: Office",
        "0 Installed: Office: nothing to change",
        "0 Removed: Office: removed",
        "0 Removed: Office: nothing was there",
      ]);
      assert.deepEqual(
        [getQueue(installed).DriverName, driverNamesOf(installed), Store],
        [model, [model], [inf]],
      );
      assert.deepEqual([DriverName, DriverSha256], [model, digit.repeat(64)]);
      assert.deepEqual([changing(repeated), changing(last[1])], [[], []]);
      assert.deepEqual([traces(last[0]), last[0].machine.Store], [[], []]);
    });
  }

  for (const [what, machine, model] of machines.slice(2)) {
    test(`${what} gets the driver of its machine`, async () => {
      const installed = await windows.install(machine, driverPair());

      assert.deepEqual([getQueue(installed).DriverName, driverNamesOf(installed)], [model, [model]]);
    });
  }

  for (const [what, office, onX64, onArm] of deployments) {
    for (const [machine, expected] of [[{}, onX64] as const, [arm64Machine, onArm] as const]) {
      const name = `${what}: on ${machine === arm64Machine ? "ARM64" : "x64"}, and nothing is left after uninstall`;
      test(name, async () => {
        const { machine: after, calls } = await windows.install(machine, office);
        const [repeated, removed] = await runAll(windows, office, "install", "uninstall");

        const queues = after.Queues.map(({ Name, DriverName }) => `${Name}: ${DriverName}`).sort();
        assert.deepEqual([...queues, ...after.Store.toSorted(), ...after.Publishers], expected);
        assert.equal(calls.includes("pnputil"), after.Store.length > 0);
        assert.deepEqual([repeated.code, changing(repeated), removed.code, traces(removed)], [0, [], 0, []]);
        assert.deepEqual([removed.machine.Store, removed.machine.Publishers], [[], []]);
      });
    }
  }

  test("detect on ARM64 reports another, an older or a missing driver for ARM64", async () => {
    await windows.install(arm64Machine, driverPair());
    const right = await windows.run("detect", driverPair());
    const outputs: string[] = [];
    for (const [model, driver] of [
      [x64Model, papyrusDriver()],
      [arm64Model, { ...papyrusDriver("2.0.0.0", "01/01/2025"), Name: arm64Model }],
      [arm64Model, undefined],
    ] as const) {
      const Queues = [queue("Office", "IP_10.0.0.9", model)];
      const Drivers = driver === undefined ? [] : [driver];
      await windows.setMachine({ ...arm64Machine, Queues, Drivers, Ports: [tcpPort("IP_10.0.0.9")] });
      outputs.push((await windows.run("detect", driverPair())).output.join());
    }

    assert.equal(right.output.join(), "Installed: Office");
    assert.deepEqual(outputs, [
      `Not installed: Office: DriverName is ${x64Model}, not ${arm64Model}`,
      "Not installed: Office: the driver's version is 2.0.0.0, not 3.0.0.0",
      `Not installed: Office: the driver ${arm64Model} is not there`,
    ]);
  });

  test("a queue with the x64 driver on ARM64 gets the driver for ARM64", async () => {
    const first = { inf: { architectures: bothArchitectures } };
    await windows.install(arm64Machine, deployable({}, first));

    const [stale, moved, detected] = await runAll(
      windows,
      driverPair({}, first),
      "detect",
      "install",
      "detect",
    );

    assert.match(lastLine(stale), new RegExp(`DriverName is ${x64Model}, not ${arm64Model}`));
    assert.deepEqual([moved.code, detected.code, getQueue(moved).DriverName], [0, 0, arm64Model]);
  });

  test("without a driver for ARM64 the message says where to choose one; on x86 it names only the architectures", async () => {
    await windows.setMachine(arm64Machine);
    const alone = await windows.run("install", deployable());
    await windows.setMachine({ Architecture: "x86", ProcessArchitecture: "x86" });
    const old = await windows.run("install", driverPair());

    assert.deepEqual([alone.code, old.code, changing(alone), changing(old)], [1603, 1603, [], []]);
    assert.match(
      lastLine(alone),
      /This machine is arm64; the driver is made for amd64\. A driver for ARM64 can be chosen in Platen/,
    );
    assert.match(lastLine(old), /This machine is x86; the driver is made for amd64\.$/);
  });

  test("a script without a package downloads only its machine's driver", async () => {
    const zip = await filesZip(armZip({ models: [arm64Model] }));
    const Download = join(windows.folder, "arm.zip");
    await writeFile(Download, zip);
    const sha256 = createHash("sha256").update(zip).digest("hex");
    const [x64Url, armUrl] = [
      "http://platen.lan:8080/drivers/1/files",
      "http://platen.lan:8080/drivers/2/files",
    ];
    const office = deployable(
      {},
      {},
      {
        inf: {
          architectures: ["arm64"],
          descriptions: [arm64Model],
          driverVer: { date: "06/21/2025", version: "3.0.0.0" },
        },
      },
    );
    const alone = deploymentOf(
      office,
      new Map([
        [1, { url: x64Url, sha256: "d".repeat(64) }],
        [2, { url: armUrl, sha256 }],
      ]),
    );

    await windows.setMachine({ ...arm64Machine, Download });
    const onArm = await windows.run("install", alone, { withoutFiles: true });
    const detected = await windows.run("detect", alone);
    await windows.setMachine({ Download });
    const onX64 = await windows.run("install", alone, { withoutFiles: true });

    assert.deepEqual([onArm.code, onArm.machine.Requested, detected.code, onArm.left], [0, [armUrl], 0, 0]);
    assert.equal(getQueue(onArm).DriverName, arm64Model);
    assert.deepEqual([onX64.code, onX64.machine.Requested], [1603, [x64Url]]);
    assert.match(lastLine(onX64), /not the expected one/, "each driver has its own digest");
  });
});
