import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { arm64Machine, arm64Model, driverPair, x64Model } from "../../support/powershell/simulated-arm64.ts";
import { readyMachine } from "../../support/powershell/simulated-machine.ts";

/** Protected print mode, on by group policy. */
export const protectedPrint: Machine = {
  Registry: {
    "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP": {
      WindowsProtectedPrintGroupPolicyState: 1,
    },
  },
};
const stopped = { Status: "Stopped", StartType: "Automatic" };
const disabled = { Status: "Stopped", StartType: "Disabled" };
const in32Bits = { ProcessArchitecture: "x86", Wow64: "AMD64" };

/** Problems that affect every script. */
export const troubles: ScenarioGroup = {
  title: "Spooler, rights and machine",
  about: "The same printer without a location, not installed unless the row says so.",
  what: deployable(),
  scenarios: [
    ["the spooler is stopped", 0, { Spooler: stopped }, "install"],
    ["the spooler is disabled", 1603, { Spooler: disabled }, "install"],
    ["installed; then the spooler was disabled", 1, "install", { Spooler: disabled }, "detect"],
    ["the spooler stops once, at the first call", 0, { SpoolerDiesAt: 2 }, "install"],
    ["the spooler stops at every call", 1618, { SpoolerDiesAt: 2, SpoolerKeepsDying: true }, "install"],
    ["protected print mode is on", 1603, protectedPrint, "install"],
    ["the script runs without administrator rights", 1603, { Admin: false }, "install"],
    ["a 32-bit program starts the script on x64", 0, in32Bits, "install"],
  ],
};

const text = "Generic / Text Only";
const version = { Version: "10.0.26100.1", Date: "06/21/2006" };
const inBox = { Inf: "ntprint.inf", Names: [text], ...version, StorePath: "C:\\x" };

export const ownDrivers: ScenarioGroup = {
  title: "A driver that Windows includes",
  about:
    "_Office_ at 10.0.0.9 with _Generic / Text Only_. Its package contains only scripts. Files in the driver store stay.",
  what: windowsDeployable({}, text),
  scenarios: [
    ["Windows has the driver in its store", 0, { Store: [inBox] }, "install"],
    ["Windows lacks the driver and cannot get it", 1603, { WindowsDrivers: [] }, "install"],
    ["installed; Windows has the driver in its store", 0, { Store: [inBox] }, "install, uninstall"],
  ],
};

export const onArm64: ScenarioGroup = {
  title: "x64 and ARM64",
  about: `_Office_ at 10.0.0.9 with _${x64Model}_ 1.2.3.4 for x64 and _${arm64Model}_ 3.0.0.0 for ARM64, both in one package.`,
  what: driverPair(),
  scenarios: [
    ["an x64 machine", 0, "install"],
    ["an x64 machine; installed", 0, "install, detect"],
    ["an ARM64 machine", 0, arm64Machine, "install"],
    ["an ARM64 machine; installed", 0, arm64Machine, "install, detect"],
    ["an ARM64 machine; the queue has the driver for x64", 1, readyMachine({}, {}, arm64Machine), "detect"],
    [
      "an ARM64 machine; the printer has only a driver for x64",
      1603,
      arm64Machine,
      ["install", deployable()],
    ],
  ],
};
