import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { deploymentOf } from "../../../src/pkg/scripts/deployment.ts";
import { driverOnly, pcl } from "../../support/drivers/driver-only.ts";
import { driverZip, printerInf } from "../../support/drivers/driver-zip.ts";
import { filesZip } from "../../support/drivers/files-zip.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { arm64Machine } from "../../support/powershell/simulated-arm64.ts";
import { papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { storiesOf, tellStories } from "../../support/powershell/transcripts.ts";
import { makeTicket } from "../../support/printers/tickets.ts";
import { makeDriver } from "../../support/records.ts";

const trusting = deployable({}, { trust_publisher: true });
const slash = "CD 1015 / DC 2015 KX";
const pnpCodes = [0, 259, 3010, 1641, 1618, 5, 2, -536870353, -2146762487, -536870334, -536870328, 87];
const machines: Record<string, Machine> = {
  ...Object.fromEntries(pnpCodes.map((PnpCode) => [`pnputil's code ${PnpCode}`, { PnpCode }])),
  "a driver that Windows never adds": { DriverNever: true },
};
const current = {
  "the same version": papyrusDriver(),
  "a newer version": papyrusDriver("1.2.3.10"),
  "a newer date": papyrusDriver("1.0.0.0", "07/01/2026"),
};

describe("drivers on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("drivers", {
    ...storiesOf(
      current,
      (what) => `a driver of ${what} is not installed again`,
      (driver) => [{ Drivers: [driver] }, "install"],
    ),
    ...storiesOf(
      machines,
      (what) => `${what} becomes an exit code, and only a success leaves a marker`,
      (machine) => [machine, "install"],
    ),
    "an older driver is updated, and its queues keep it": [
      { Drivers: [papyrusDriver("1.2.3.3")], Queues: [queue("Theirs", "LPT1:")] },
      "detect, install",
    ],
    "a driver that Windows adds only by its INF is installed": [{ DriverNeedsInf: true }, "install"],
    "a driver that Windows adds only after a spooler restart is installed": [
      { DriverNeedsRestart: true },
      "install",
    ],
    "an INF in a sub-folder, in UTF-16, is found and installed": [
      [
        "install",
        deployable({}, { inf: { path: "x64/Deutsch ä/papyrus.inf" } }),
        { inf: Buffer.from(`\ufeff${printerInf()}`, "utf16le") },
      ],
    ],
    "a trusted publisher is added if the driver allows it, and removed on uninstall": [
      trusting,
      "install, uninstall",
    ],
    "a publisher that was trusted before stays": [{ Publishers: ["AABBCC"] }, trusting, "install, uninstall"],
    "a driver with a slash in its name is found again": [
      deployable({}, { driver_desc: slash, inf: { descriptions: [slash] } }),
      "install, install",
    ],
    "a driver with brackets in its name is removed, and a driver that the pattern would match stays": [
      { Drivers: [{ ...papyrusDriver(), Name: "Papyrus X PCL6" }] },
      deployable({}, { inf: { descriptions: ["Papyrus [X] PCL6"] } }),
      "install, uninstall",
    ],
    "a package's script names the missing files": [["install", deployable(), { withoutFiles: true }]],
  });
});

// Windows cannot unpack names that differ only by case or use another code page.
const extra = [
  { name: "Readme.txt", bytes: "the earlier one" },
  { name: "README.TXT", bytes: "the later one" },
  { name: "", rawName: Buffer.from("B\x81ro\\Gr\x94\xe1e.txt", "latin1"), bytes: "CP437" },
];
const Download = driverZip();
const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const url = "http://platen.lan:8080/drivers/1/files";
const alone = (sha256 = digestOf(Download)) => deploymentOf(deployable(), new Map([[1, { url, sha256 }]]));
const fetched: Record<string, Machine> = {
  "a machine with the driver downloads nothing": { Drivers: [papyrusDriver()] },
  "a missing network is busy after five minutes": {},
  "a busy service is asked again as Retry-After says, and a lost connection is tried again": {
    Download,
    Refusals: [{ Status: 503, RetryAfter: 40 }, { Status: 429 }, {}],
  },
  "a service that is busy for an hour is not waited for": {
    Download,
    Refusals: [{ Status: 503, RetryAfter: 3600 }],
  },
  "a refusal is final": { Download, Refusals: [{ Status: 403, RetryAfter: 5 }] },
};

describe("a script without its package", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  tellStories("downloads", {
    ...storiesOf(
      fetched,
      (what) => what,
      (machine) => [machine, ["install", alone(), { withoutFiles: true }]],
    ),
    "a wrong digest fails": [{ Download }, ["install", alone("c".repeat(64)), { withoutFiles: true }]],
    "files in the script's folder are never used as the driver": [
      alone(),
      "install",
      { Download },
      "install",
    ],
  });

  test("the files that the service serves are installed, though Windows cannot unpack some names", async () => {
    const zip = await filesZip(driverZip({ extra }));
    await windows.setMachine({ Download: zip });

    const options = { withoutFiles: true };
    const { machine, left } = await windows.runSuccessfully("install", alone(digestOf(zip)), options);

    assert.deepEqual([machine.Downloads, machine.Drivers.length, left], [1, 1, 0]);
  });
});

const text = "Generic / Text Only";
const label = windowsDeployable({}, text);
const own: Record<string, readonly [name: string, machine: Machine]> = {
  "Microsoft PCL6 Class Driver is added by name on x64": ["Microsoft PCL6 Class Driver", {}],
  "Microsoft PS Class Driver is added by name on ARM64": ["Microsoft PS Class Driver", arm64Machine],
  [`${text} is added by name on 32-bit`]: [text, { Architecture: "x86", ProcessArchitecture: "x86" }],
};
const lacking: Record<string, Machine> = {
  "lacks the driver and cannot get it": { WindowsDrivers: [] },
  "is in protected print mode": {
    Registry: {
      "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP": { WindowsProtectedPrintMode: 1 },
    },
  },
};

describe("drivers that Windows includes, on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("windows-drivers", {
    ...storiesOf(
      own,
      (what) => `${what}, once, and removed without its files`,
      ([name, machine]) => [
        machine,
        windowsDeployable({ protocol: "lpr", lpr_queue: "lp1" }, name),
        "install, install, uninstall",
      ],
    ),
    ...storiesOf(
      lacking,
      (what) => `a machine that ${what} fails without changes`,
      (machine) => [machine, label, "install"],
    ),
    "detect reports a removed driver, and install adds it again": [
      windowsDeployable({ address: "" }, text),
      "install",
      { Drivers: [] },
      "detect, install",
    ],
    "a driver that another queue uses stays": [
      {
        Queues: [queue("Theirs", "LPT1:", text)],
        Drivers: [{ Name: text, Version: "10.0.1.0", Date: "06/21/2006" }],
      },
      label,
      "install, uninstall",
    ],
    "keep_driver keeps it": [windowsDeployable({ keep_driver: "on" }, text), "install, uninstall"],
    "-WhatIf prints that it would add the driver, and changes nothing": [label, "install -WhatIf"],
  });
});

const newer = { ...papyrusDriver("2.0.0.0", "01/01/2026"), IsStored: true };
const exact = deployable({}, { exact_version: true });
const exchanging = {
  "a printer": exact,
  "a driver’s own package": { ...driverOnly(pcl), driver: makeDriver({ exact_version: true }) },
};
/** A machine with a newer driver, two other queues with it, and a queue with another. */
const withNewer: Machine = {
  Queues: [queue("Front", "LPT1:"), queue("Back", "LPT1:"), queue("Label", "LPT1:", "Another")],
  Drivers: [newer],
};
const failing: Record<string, Machine> = {
  "that Windows refuses is not exchanged": { PnpCode: -536870325 },
  "that Windows does not add is exchanged back": { RefusesVersion: "1.2.3.4" },
  "is refused when another driver shares the newer one": {
    Drivers: [newer, { ...newer, Name: "Papyrus Fax" }],
  },
};

describe("a newer driver than the deployed one, on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("exact-version", {
    ...storiesOf(
      failing,
      (what) => `an older package ${what}, and the newer driver and its queues are as they were`,
      (machine) => [{ ...withNewer, ...machine }, exact, "install"],
    ),
    ...storiesOf(
      exchanging,
      (what) => `${what} replaces it, and the other queues have the driver again`,
      (what) => [withNewer, ["install, detect, install", what]],
    ),
    ...storiesOf(
      exchanging,
      (what) =>
        `${what} that is uninstalled after an interrupted exchange gives the other queues their driver back`,
      (what) => [
        withNewer,
        ["install", what, { failAt: "after Remove-PrinterDriver", failWith: "cut" }],
        ["uninstall", what],
      ],
    ),
    "without exact_version it is kept, and install and detect say so": [withNewer, "install, detect"],
    "detect with exact_version names the difference of a newer driver": [
      { ...withNewer, Queues: [queue("Office", "IP_10.0.0.9")], Ports: [tcpPort("IP_10.0.0.9")] },
      exact,
      "detect",
    ],
    "an older driver is updated in place, without an exchange": [
      { ...withNewer, Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")] },
      exact,
      "install",
    ],
    "a printer’s ticket is set again, since the driver that is there now has not seen it": [
      withNewer,
      ["install", deployable({ print_ticket: makeTicket() })],
      ["install", deployable({ print_ticket: makeTicket() }, { exact_version: true })],
    ],
    "-WhatIf exchanges nothing": [withNewer, exact, "install -WhatIf"],
  });
});
