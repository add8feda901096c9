import { deploymentOf, withoutDrivers } from "../../../src/pkg/scripts/deployment.ts";
import { driverOnly, pcl, ps } from "../../support/drivers/driver-only.ts";
import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { queue } from "../../support/powershell/simulated-machine.ts";

const byItself: ScenarioGroup = {
  title: "A driver by itself",
  about: `The driver’s own package with the two models that printers use, _${pcl}_ and _${ps}_.`,
  what: driverOnly(pcl, ps),
  scenarios: [
    { before: "not installed", run: "install" },
    { before: "installed", run: "detect", ranBefore: ["install"] },
    { before: "installed", run: "uninstall", ranBefore: ["install"] },
    {
      before: `installed; the queue _Front Desk_ uses _${ps}_`,
      run: "uninstall",
      ranBefore: ["install"],
      changesSince: { Queues: [queue("Front Desk", "LPT1:", ps)] },
    },
  ],
};

const printer = deploymentOf(deployable());
const own = driverOnly(pcl);

const withoutDriver: ScenarioGroup = {
  title: "A printer package without the driver",
  about:
    "_Office_ at 10.0.0.9. Its package contains only scripts; the driver’s own package installs the driver.",
  what: withoutDrivers(printer),
  scenarios: [
    { before: "the driver is not installed", run: "install", code: 1603 },
    { before: "the driver’s own package is installed", run: "install", ranBefore: [["install", own]] },
    { before: "both are installed", run: "uninstall", ranBefore: [["install", own], "install"] },
  ],
};

/** Drivers in a package of their own. */
export const drivers: readonly ScenarioGroup[] = [byItself, withoutDriver];
