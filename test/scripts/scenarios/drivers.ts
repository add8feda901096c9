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
    ["not installed", 0, "install"],
    ["installed", 0, "install, detect"],
    ["installed", 0, "install, uninstall"],
    [
      `installed; the queue _Front Desk_ uses _${ps}_`,
      0,
      "install",
      { Queues: [queue("Front Desk", "LPT1:", ps)] },
      "uninstall",
    ],
  ],
};

const own = driverOnly(pcl);

const withoutDriver: ScenarioGroup = {
  title: "A printer package without the driver",
  about:
    "_Office_ at 10.0.0.9. Its package contains only scripts; the driver’s own package installs the driver.",
  what: withoutDrivers(deploymentOf(deployable())),
  scenarios: [
    ["the driver is not installed", 1603, "install"],
    ["the driver’s own package is installed", 0, ["install", own], "install"],
    ["both are installed", 0, ["install", own], "install, uninstall"],
  ],
};

/** Drivers in a package of their own. */
export const drivers: readonly ScenarioGroup[] = [byItself, withoutDriver];
