import { createHash } from "node:crypto";
import { describe } from "node:test";
import { deploymentOf, deploymentOfMany, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import {
  driverOnly,
  driverWithModels,
  fax,
  pcl,
  printerWith,
  ps,
  title,
} from "../../support/drivers/driver-only.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { papyrusDriver, queue } from "../../support/powershell/simulated-machine.ts";
import { storiesOf, tellStories } from "../../support/powershell/transcripts.ts";

const both = driverOnly(pcl, ps);
const one = driverOnly(pcl);
const desk = printerWith(ps, { address: "", id: "9" });
const newer = { driver: driverWithModels({ id: 2, sha256: "b".repeat(64) }), models: [pcl] } as const;

const driver = driverWithModels({ trust_publisher: true });
const trusted = { driver, models: [pcl] } as const;
const trustedPrinter = { ...printerWith(pcl, { address: "" }), driver };

const Download = driverZip({ models: [pcl, ps, fax] });
const sha256 = createHash("sha256").update(Download).digest("hex");
const fetched = { ...both, download: { url: "http://platen.lan:8080/drivers/1/files", sha256 } };

const failures: Record<string, Machine> = {
  "that never adds the driver": { DriverNever: true },
  "of ARM64": { Architecture: "arm64" },
  "that refuses the package": { PnpCode: 5 },
  "without rights": { Admin: false },
};

const office = deployable();
const apart = withoutDrivers(deploymentOf(office));
const own = { driver: office.driver, models: [pcl] } as const;
const text = windowsDeployable({ id: "8", name: "Label" }, "Generic / Text Only");
const client = withoutDrivers(deploymentOfMany("Client", [office, text]));

describe("a driver's own package on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("driver-packages", {
    ...storiesOf(
      failures,
      (what) => `on a machine ${what} install fails with its reason and leaves no marker`,
      (machine) => [machine, both, "install"],
    ),
    "install stages the package once and adds every driver name; uninstall leaves nothing": [
      both,
      "detect, install, install, detect, uninstall, uninstall, detect",
    ],
    "install updates an older driver": [
      { Drivers: [papyrusDriver("1.0.0.0", "01/01/2020")], Queues: [queue("Theirs", "LPT1:")] },
      one,
      "detect, install",
    ],
    "a newer driver is left alone": [{ Drivers: [papyrusDriver("2.0.0.0", "01/01/2026")] }, one, "install"],
    "a new name is added, and uninstall also removes names that were deployed before": [
      ["install", both],
      ["detect", one],
      ["detect, install, detect", driverOnly(fax, pcl)],
      ["uninstall", one],
    ],
    "a driver name in use stays with its files, and the last line names the queue": [
      { Queues: [queue("Front Desk", "LPT1:", ps)] },
      both,
      "install, uninstall, uninstall",
      { Queues: [] },
      "uninstall",
    ],
    "a queue with the driver's title as its name still counts as a user of the driver": [
      { Queues: [queue(title, "LPT1:")] },
      one,
      "install, uninstall",
    ],
    "-WhatIf prints the changes and makes none": [both, "install -WhatIf"],
    "a script without the package downloads the files once, checks them and leaves no files": [
      { Download },
      ["install, install", fetched, { withoutFiles: true }],
    ],
    "a driver name that a printer's package added counts as missing until the driver's package adds it": [
      ["install", one],
      ["install", printerWith(ps)],
      ["detect, install", both],
      ["uninstall", printerWith(ps)],
    ],
    "a printer's marker keeps a driver from the driver's uninstall, and the driver's marker from the printer's":
      [
        ["install", both],
        ["install", desk],
        ["uninstall, install", both],
        ["uninstall", desk],
      ],
    "uninstalling an older driver version keeps the names that a newer version deployed": [
      ["install", both],
      ["install", newer],
      ["uninstall", both],
      ["detect", newer],
    ],
    "a trusted publisher is removed with the last printer or driver that needs it": [
      ["install", trusted],
      ["install", trustedPrinter],
      ["uninstall", trusted],
      ["uninstall", trustedPrinter],
    ],
  });
});

describe("a printer without its driver in the package, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const lacking: Record<string, Machine["Drivers"]> = {
    no: [],
    "an older": [papyrusDriver("1.2.3.3")],
    another: [{ ...papyrusDriver(), Name: ps }],
  };
  const present = { "the same": papyrusDriver(), "a newer": papyrusDriver("2.0.0.0", "01/01/2026") };

  tellStories("apart", {
    ...storiesOf(
      lacking,
      (what) =>
        `install on a machine with ${what} driver fails, names the package to install first, and changes nothing`,
      (Drivers) => [{ Drivers }, ["install -WhatIf, install", apart]],
    ),
    ...storiesOf(
      present,
      (what) => `install works with ${what} driver version, and detect finds the printer`,
      (there) => [{ Drivers: [there] }, ["install, install, detect", apart]],
    ),
    "detect fails when the driver was removed": [
      { Drivers: [papyrusDriver()] },
      apart,
      "install",
      { Drivers: [] },
      "detect",
    ],
    "uninstalling either package keeps a driver that the other one still needs; after both nothing is left": [
      ["install", own],
      ["install", apart],
      ["uninstall", own],
      ["uninstall", apart],
      ["uninstall", own],
    ],
    "a printer can change between packages with and without the driver, and both detect it": [
      ["install", office],
      ["install, detect", apart],
      ["detect, install, uninstall", office],
    ],
    "each printer of a client depends on its own driver, and drivers of Windows are added as usual": [
      ["install", client],
      (last) => ({ Drivers: [...last.machine.Drivers, papyrusDriver()] }),
      ["install, uninstall", client],
    ],
  });
});
