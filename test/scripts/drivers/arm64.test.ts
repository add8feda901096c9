import { createHash } from "node:crypto";
import { describe } from "node:test";
import { deploymentOf, deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import type { Deployed } from "../../support/audit/deployed.ts";
import { armZip } from "../../support/drivers/arm64-pair.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { arm64Machine, arm64Model, driverPair, x64Model } from "../../support/powershell/simulated-arm64.ts";
import { papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";
import { storiesOf, tellStories } from "../../support/powershell/transcripts.ts";

const pair = driverPair();
const x64Process = { ...arm64Machine, ProcessArchitecture: "AMD64" };
const processes: Record<string, Machine> = {
  "a 32-bit process on x64": { ProcessArchitecture: "x86", Wow64: "AMD64" },
  "a 32-bit process on ARM64": { ...arm64Machine, ProcessArchitecture: "x86", Wow64: "ARM64" },
  "an x64 process on ARM64": x64Process,
  "an x64 process with ARM64 in its environment": { ...x64Process, Wow64: "ARM64" },
};

const architectures = ["amd64", "arm64"] as const;
const inBoth = { inf: { architectures } };
const twoModels = { inf: { architectures, descriptions: [x64Model, arm64Model] } };
const hallDriver = { id: 3, sha256: "c".repeat(64), inf: { architectures, descriptions: ["Papyrus Both"] } };
const hall = deployable({ id: "8", name: "Hall", address: "10.0.0.8" }, hallDriver);
const windowsOwn = windowsDeployable({}, "Microsoft PCL6 Class Driver").driver;
const deployments: Record<string, Deployed> = {
  "one driver with another model for ARM64 is staged once": deployable(
    { arm64_driver_desc: arm64Model },
    twoModels,
    {
      ...twoModels,
      id: 1,
      sha256: "a".repeat(64),
    },
  ),
  "the publisher of the other architecture's driver is not trusted": driverPair(
    {},
    { trust_publisher: false },
    { trust_publisher: true },
  ),
  "each printer of a client gets its own driver, and one driver for both architectures is used on both":
    deploymentOfMany("Client", [pair, hall]),
  "a pair of an uploaded driver for x64 and Windows' own for ARM64": { ...pair, arm64Driver: windowsOwn },
  "a pair of Windows' own driver for x64 and an uploaded one for ARM64": { ...pair, driver: windowsOwn },
};

const Download = armZip({ models: [arm64Model] });
const downloads = new Map([
  [1, { url: "http://platen.lan:8080/drivers/1/files", sha256: "d".repeat(64) }],
  [
    2,
    {
      url: "http://platen.lan:8080/drivers/2/files",
      sha256: createHash("sha256").update(Download).digest("hex"),
    },
  ],
]);
const driverVer = { date: "06/21/2025", version: "3.0.0.0" };
const served = { inf: { architectures: ["arm64"], descriptions: [arm64Model], driverVer } } as const;
const alone = deploymentOf(deployable({}, {}, served), downloads);

describe("a driver for ARM64 on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("arm64", {
    ...storiesOf(
      { "an x64 machine": {}, "an ARM64 machine": arm64Machine },
      (what) => `${what} gets only its own driver, detect finds it, and uninstall removes it`,
      (machine) => [machine, pair, "detect, install, detect, install, uninstall, uninstall"],
    ),
    ...storiesOf(
      processes,
      (what) => `${what} gets the driver of its machine`,
      (machine) => [machine, pair, "install"],
    ),
    ...storiesOf(
      deployments,
      (what) => `${what}: on x64, and nothing is left after uninstall`,
      (what) => [what, "install, uninstall"],
    ),
    ...storiesOf(
      deployments,
      (what) => `${what}: on ARM64, and nothing is left after uninstall`,
      (what) => [arm64Machine, what, "install, install, uninstall"],
    ),
    "detect on ARM64 reports another, an older or a missing driver for ARM64": [
      {
        ...arm64Machine,
        Queues: [queue("Office", "IP_10.0.0.9", x64Model)],
        Drivers: [papyrusDriver()],
        Ports: [tcpPort("IP_10.0.0.9")],
      },
      pair,
      "detect",
      {
        Queues: [queue("Office", "IP_10.0.0.9", arm64Model)],
        Drivers: [{ ...papyrusDriver("2.0.0.0"), Name: arm64Model }],
      },
      "detect",
      { Drivers: [] },
      "detect",
    ],
    "a queue with the x64 driver on ARM64 gets the driver for ARM64": [
      arm64Machine,
      ["install", deployable({}, inBoth)],
      ["detect, install, detect", driverPair({}, inBoth)],
    ],
    "a message on x86 names only the architectures": [
      { Architecture: "x86", ProcessArchitecture: "x86" },
      pair,
      "install",
    ],
    "a script without a package downloads only its machine's driver on ARM64": [
      { ...arm64Machine, Download },
      ["install, detect", alone, { withoutFiles: true }],
    ],
    "a script without a package downloads only its machine's driver on x64, and checks it by its own digest":
      [{ Download }, ["install", alone, { withoutFiles: true }]],
  });
});
