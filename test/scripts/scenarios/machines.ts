import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { arm64Machine, arm64Model, driverPair, x64Model } from "../../support/powershell/simulated-arm64.ts";
import { papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";

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
    { before: "the spooler is stopped", run: "install", machine: { Spooler: stopped } },
    { before: "the spooler is disabled", run: "install", code: 1603, machine: { Spooler: disabled } },
    {
      before: "installed; then the spooler was disabled",
      run: "detect",
      code: 1,
      ranBefore: ["install"],
      changesSince: { Spooler: disabled },
    },
    {
      before: "the spooler stops once, at the first call",
      run: "install",
      machine: { SpoolerDiesAt: 2 },
    },
    {
      before: "the spooler stops at every call",
      run: "install",
      code: 1618,
      machine: { SpoolerDiesAt: 2, SpoolerKeepsDying: true },
    },
    { before: "protected print mode is on", run: "install", code: 1603, machine: protectedPrint },
    {
      before: "the script runs without administrator rights",
      run: "install",
      code: 1603,
      machine: { Admin: false },
    },
    { before: "a 32-bit program starts the script on x64", run: "install", machine: in32Bits },
  ],
};

const text = "Generic / Text Only";
const inBox = {
  Inf: "ntprint.inf",
  Names: [text],
  Version: "10.0.26100.1",
  Date: "06/21/2006",
  StorePath: "C:\\x",
};

export const ownDrivers: ScenarioGroup = {
  title: "A driver that Windows includes",
  about:
    "_Office_ at 10.0.0.9 with _Generic / Text Only_. Its package contains only scripts. Files in the driver store stay.",
  what: windowsDeployable({}, text),
  scenarios: [
    { before: "Windows has the driver in its store", run: "install", machine: { Store: [inBox] } },
    {
      before: "Windows lacks the driver and cannot get it",
      run: "install",
      code: 1603,
      machine: { WindowsDrivers: [] },
    },
    {
      before: "installed; Windows has the driver in its store",
      run: "uninstall",
      machine: { Store: [inBox] },
      ranBefore: ["install"],
    },
  ],
};

export const onArm64: ScenarioGroup = {
  title: "x64 and ARM64",
  about: `_Office_ at 10.0.0.9 with _${x64Model}_ 1.2.3.4 for x64 and _${arm64Model}_ 3.0.0.0 for ARM64, both in one package.`,
  what: driverPair(),
  scenarios: [
    { before: "an x64 machine", run: "install" },
    { before: "an x64 machine; installed", run: "detect", ranBefore: ["install"] },
    { before: "an ARM64 machine", run: "install", machine: arm64Machine },
    { before: "an ARM64 machine; installed", run: "detect", machine: arm64Machine, ranBefore: ["install"] },
    {
      before: "an ARM64 machine; the queue has the driver for x64",
      run: "detect",
      code: 1,
      machine: {
        ...arm64Machine,
        Queues: [queue("Office", "IP_10.0.0.9")],
        Ports: [tcpPort("IP_10.0.0.9")],
        Drivers: [papyrusDriver()],
      },
    },
    {
      before: "an ARM64 machine; the printer has only a driver for x64",
      run: "install",
      code: 1603,
      machine: arm64Machine,
      what: deployable(),
    },
  ],
};
