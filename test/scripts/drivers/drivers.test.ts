import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { deploymentOf } from "../../../src/pkg/scripts/deployment.ts";
import { selectCases } from "../../support/depth.ts";
import { driverZip, printerInf } from "../../support/drivers/driver-zip.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import { changing, endsOf, lastLine, runAll, unchanged } from "../../support/drivers/script-runs.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { arm64Machine } from "../../support/powershell/simulated-arm64.ts";
import {
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  traces,
} from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const [pcl6, ps, text] = ["Microsoft PCL6 Class Driver", "Microsoft PS Class Driver", "Generic / Text Only"];
const x86Machine: Machine = { Architecture: "x86", ProcessArchitecture: "x86" };
/** Every driver on every machine; every fourth of them has each driver and each machine once. */
const cases = [pcl6, ps, text].flatMap((name) =>
  [["x64", {}] as const, ["ARM64", arm64Machine] as const, ["32-bit", x86Machine] as const].map(
    ([what, machine]) => ({ name, what, machine }),
  ),
);

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

    assert.deepEqual([byInf.machine.Restarts, byRestart.machine.Restarts], [0, 1]);
  });

  test("an INF in a sub-folder, in UTF-16, is found and installed", async () => {
    const office = deployable({}, { inf: { path: "x64/Deutsch ä/papyrus.inf" } });
    await windows.setMachine();
    const inf = Buffer.from(`\ufeff${printerInf({ version: "1.2.3.4", date: "06/21/2025" })}`, "utf16le");

    const result = await windows.runSuccessfully("install", office, { inf });

    assert.equal(result.machine.Drivers[0]?.Version, "1.2.3.4");
  });

  const pnputil: [PnpCode: number, code: number, RegExp][] = [
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
  const never = /^Failed: Office: The driver .* was staged, but Windows does not install it: /;
  for (const [what, machine, code, last, restarts] of [
    ["a driver that Windows never adds", { DriverNever: true }, 1603, never, 1] as const,
    ...pnputil.map(([PnpCode, ...rest]) => [`pnputil's code ${PnpCode}`, { PnpCode }, ...rest, 0] as const),
  ]) {
    test(`${what} becomes exit code ${code}, and only a success leaves a marker`, async () => {
      await windows.setMachine(machine);

      const result = await windows.run("install", deployable());

      assert.deepEqual([result.code, result.machine.Restarts], [code, restarts]);
      assert.match(lastLine(result), last);
      assert.equal(result.machine.Registry[markerPath] !== undefined, [0, 3010, 1641].includes(code));
    });
  }

  for (const [what, Publishers, left] of [
    ["removed on uninstall", [], []],
    ["kept if it was trusted before", ["AABBCC"], ["AABBCC"]],
  ] as const) {
    test(`a trusted publisher is added if the driver allows it, and ${what}`, async () => {
      const office = deployable({}, { trust_publisher: true });
      const result = await windows.install({ Publishers }, office);
      const removed = await windows.run("uninstall", office);

      const publishers = [result, removed].map(({ machine }) => machine.Publishers);
      assert.deepEqual(publishers, [["AABBCC"], left]);
      assert.equal(/trusted publisher CN=Papyrus \(AABBCC\) added/.test(result.log), left.length === 0);
      assert.deepEqual(traces(removed), []);
    });
  }

  test("no publisher is trusted unless the driver allows it", async () => {
    const result = await windows.install({});

    assert.deepEqual(result.machine.Publishers, []);
  });

  test("a driver with a slash in its name is found again", async () => {
    const name = "CD 1015 / DC 2015 KX";
    const slash = deployable({}, { driver_desc: name, inf: { descriptions: [name] } });

    const result = await windows.install({}, slash);
    const repeated = await windows.run("install", slash);

    assert.equal(result.machine.Drivers[0]?.Name, name);
    assert.match(lastLine(repeated), /nothing to change/);
  });
});

describe("a script without its package", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  // Windows cannot unpack names that differ only by case or use another code page.
  const extra = [
    { name: "Readme.txt", bytes: "the earlier one" },
    { name: "README.TXT", bytes: "the later one" },
    { name: "", rawName: Buffer.from("B\x81ro\\Gr\x94\xe1e.txt", "latin1"), bytes: "CP437" },
  ];
  const Download = join(windows.folder, "download.zip");
  let digest = "";
  before(async () => {
    const inf = { models: ["Papyrus 100 PCL6"], version: "1.2.3.4", date: "06/21/2025" };
    const zip = await filesZip(driverZip({ ...inf, extra }));
    digest = createHash("sha256").update(zip).digest("hex");
    await writeFile(Download, zip);
  });
  const url = "http://platen.lan:8080/drivers/1/files";
  const alone = (sha256 = digest) => deploymentOf(deployable(), new Map([[1, { url, sha256 }]]));

  interface Outcome {
    readonly code: number;
    readonly downloads: number;
    readonly drivers: number;
    /** Milliseconds that the script waited. */
    readonly waited?: number;
    readonly last?: RegExp;
  }
  const busy = [{ Status: 503, RetryAfter: 40 }, { Status: 429 }, {}];
  const offline = /could not be downloaded from http:\/\/platen\.lan:8080\/drivers\/1\/files/;
  const cases: [what: string, Machine, Outcome, sha256?: string][] = [
    ["the driver is downloaded and installed", { Download }, { code: 0, downloads: 1, drivers: 1 }],
    [
      "a machine with the driver downloads nothing",
      { Drivers: [papyrusDriver()] },
      { code: 0, downloads: 0, drivers: 1 },
    ],
    [
      "a wrong digest fails",
      { Download },
      { code: 1603, downloads: 1, drivers: 0, last: /is not the expected one: its SHA-256 is/ },
      "c".repeat(64),
    ],
    [
      "a missing network is busy after five minutes",
      {},
      { code: 1618, downloads: 20, drivers: 0, waited: 19 * 15_000, last: offline },
    ],
    [
      "a busy service is asked again as Retry-After says, and a lost connection is tried again",
      { Download, Refusals: busy },
      { code: 0, downloads: 4, drivers: 1, waited: 70_000 },
    ],
    [
      "a service that is busy for an hour is not waited for",
      { Download, Refusals: [{ Status: 503, RetryAfter: 3600 }] },
      { code: 1618, downloads: 1, drivers: 0, last: /could not be downloaded from .* Try again later\.$/ },
    ],
    [
      "a refusal is final",
      { Download, Refusals: [{ Status: 403, RetryAfter: 5 }] },
      { code: 1603, downloads: 1, drivers: 0 },
    ],
  ];
  for (const [what, machine, { last = /./, waited = 0, ...outcome }, sha256] of cases) {
    test(`${what}, and no files are left`, async () => {
      await windows.setMachine(machine);

      const result = await windows.run("install", alone(sha256), { withoutFiles: true });

      const { Downloads: downloads, Drivers, Slept } = result.machine;
      const found = { code: result.code, downloads, drivers: Drivers.length };
      assert.deepEqual([found, Slept, result.left], [outcome, waited, 0], lastLine(result));
      assert.match(lastLine(result), last);
    });
  }

  test("files in the script's folder are never used as the driver", async () => {
    await windows.setMachine();
    const without = await windows.run("install", alone());
    await windows.setMachine({ Download });
    const online = await windows.run("install", alone());

    assert.deepEqual([without.code, without.machine.Drivers.length], [1618, 0]);
    assert.match(lastLine(without), offline);
    assert.deepEqual([online.code, online.machine.Downloads], [0, 1]);
  });

  test("a package's script names the missing files", async () => {
    await windows.setMachine();

    const result = await windows.run("install", deployable(), { withoutFiles: true });

    assert.equal(result.code, 1603);
    assert.match(lastLine(result), /files are missing: expected papyrus\.inf in the folder driver/);
  });
});

describe("drivers that Windows includes, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const { name, what, machine } of selectCases(cases, 3)) {
    test(`${name} is added by name on ${what}, once, and removed without its files`, async () => {
      const label = windowsDeployable({ protocol: "lpr", lpr_queue: "lp1" }, name);
      const first = await windows.install(machine, label);
      const [second, removed] = await runAll(windows, label, "install", "uninstall");

      assert.equal(getQueue(first).DriverName, name);
      assert.equal(first.calls.includes("pnputil"), false);
      assert.deepEqual(endsOf(second), [unchanged]);
      assert.deepEqual([removed.code, traces(removed)], [0, []]);
      const removals = removed.calls.filter((call) => call === "Remove-PrinterDriver");
      assert.equal(removals.length, 1, "the files in the driver store are not removed");
    });
  }

  test("a machine that lacks the driver and cannot get it fails without changes, as in protected print mode", async () => {
    const wpp = "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP";
    for (const [machine, reason] of [
      [{ WindowsDrivers: [] }, /lacks the driver Generic \/ Text Only, .*\(0x80070705\)$/],
      [{ Registry: { [wpp]: { WindowsProtectedPrintMode: 1 } } }, /protected print mode is on/],
    ] as const) {
      await windows.setMachine(machine);

      const result = await windows.run("install", windowsDeployable({}, text));

      assert.equal(result.code, 1603);
      assert.match(lastLine(result), reason);
      assert.deepEqual([traces(result), result.machine.Restarts], [[], 0]);
    }
  });

  test("detect reports a removed driver, and install adds it again", async () => {
    const label = windowsDeployable({ address: "" }, text);
    await windows.install({}, label);
    await windows.changeMachine({ Drivers: [] });

    const [detected, result] = await runAll(windows, label, "detect", "install");

    assert.match(detected.output.join(), /the driver Generic \/ Text Only is not there/);
    assert.deepEqual([result.code, result.machine.Drivers.length], [0, 1]);
  });

  test("a driver that another queue uses, or with keep_driver, stays", async () => {
    const Drivers = [{ Name: text, Version: "10.0.1.0", Date: "06/21/2006" }];
    const theirs = { Queues: [queue("Theirs", "LPT1:", text)], Drivers };
    const keeping = windowsDeployable({ keep_driver: "on" }, text);
    await windows.install(theirs, windowsDeployable({}, text));
    const used = await windows.run("uninstall", windowsDeployable({}, text));
    await windows.install({}, keeping);
    const kept = await windows.run("uninstall", keeping);

    assert.deepEqual(traces(used), ["queue Theirs", `driver ${text}`]);
    assert.deepEqual(traces(kept), [`driver ${text}`]);
  });

  test("-WhatIf prints that it would add the driver, and changes nothing", async () => {
    await windows.setMachine();

    const whatIf = { parameters: { WhatIf: true } };
    const result = await windows.runSuccessfully("install", windowsDeployable({}, text), whatIf);

    assert.ok(result.output.includes(`What if: add Windows' own driver ${text}`), result.output.join());
    assert.deepEqual(changing(result), []);
  });
});
