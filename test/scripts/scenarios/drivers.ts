import { deploymentApart, deploymentOf } from "../../../src/pkg/scripts/deployment.ts";
import { alone, pcl, ps } from "../../support/drivers/driver-alone.ts";
import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { queue } from "../../support/powershell/simulated-machine.ts";

const byItself: ScenarioGroup = {
  title: "A driver by itself",
  about: `The driver’s own package, with two of its models, _${pcl}_ and _${ps}_, because printers use these.`,
  what: alone(pcl, ps),
  scenarios: [
    { before: "nothing of it is there", run: "install" },
    { before: "installed", run: "detect", after: ["install"] },
    { before: "installed", run: "uninstall", after: ["install"] },
    {
      before: `installed; the queue _Front Desk_ has _${ps}_`,
      run: "uninstall",
      after: ["install"],
      since: { Queues: [queue("Front Desk", "LPT1:", ps)] },
    },
  ],
};

const printer = deploymentOf(deployable());
const own = alone(pcl);

const withoutDriver: ScenarioGroup = {
  title: "A printer whose driver is apart",
  about:
    "_Office_ at 10.0.0.9; its package has scripts alone, and the driver comes by the driver’s own package.",
  what: deploymentApart(printer),
  scenarios: [
    { before: "the driver is not there", run: "install", code: 1603 },
    { before: "the driver’s own package is installed", run: "install", after: [["install", own]] },
    { before: "both are installed", run: "uninstall", after: [["install", own], "install"] },
  ],
};

/** Drivers that are deployed apart from their printers. */
export const drivers: readonly ScenarioGroup[] = [byItself, withoutDriver];
