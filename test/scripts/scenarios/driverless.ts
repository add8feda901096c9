import {
  device,
  ippDriver,
  ippPortKeys,
  ippQueue,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import { deployable } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { tcpPort } from "../../support/powershell/simulated-machine.ts";
import { protectedPrint } from "./machines.ts";

const awake = { Devices: [device()] };
const asleep = { Devices: [device({ Awake: false })] };
const otherPath = { Devices: [device({ Path: "/ipp" })] };
const onTcp = {
  Queues: [ippQueue("Office", "IP_10.0.0.9")],
  Ports: [tcpPort("IP_10.0.0.9")],
  Drivers: [{ Name: ippDriver, Version: "10.0.26100.1", Date: "06/21/2006" }],
};
const replacing = windowsDeployable({ replaces: "Double" });
const twin = windowsDeployable({ id: "8", name: "Office (IPP)", replaces: "Office" });

/** Queues that Windows adds for a URL. */
export const driverless: ScenarioGroup = {
  title: "A driverless printer (IPP)",
  about:
    "_Office_ at `http://10.0.0.9:631/ipp/print` with _Microsoft IPP Class Driver_. The printer is awake and not installed unless the row says so. Scripts contact it only where the last column says so.",
  what: windowsDeployable(),
  scenarios: [
    { before: "not installed", run: "install", machine: awake },
    {
      before: "installed; the printer is asleep",
      run: "detect",
      machine: awake,
      ranBefore: ["install"],
      changesSince: asleep,
    },
    {
      before: "installed; the printer is asleep",
      run: "install",
      machine: awake,
      ranBefore: ["install"],
      changesSince: asleep,
    },
    { before: "the printer is asleep", run: "install", code: 1618, machine: asleep },
    {
      before: "this Windows has no `Add-Printer -IppURL`",
      run: "install",
      code: 1603,
      machine: { ...awake, WithoutIppUrl: true },
    },
    { before: "protected print mode is on", run: "install", machine: { ...awake, ...protectedPrint } },
    {
      before: "the path is wrong; Windows reports success and adds no queue",
      run: "install",
      code: 1603,
      machine: { ...otherPath, WrongUrl: "nothing" },
    },
    {
      before: "the path is wrong; Windows reports success and adds a queue on a TCP/IP port",
      run: "install",
      code: 1603,
      machine: { ...otherPath, WrongUrl: "tcp" },
    },
    {
      before: "a queue with its name and driver uses a WSD port, which does not speak IPP",
      run: "install",
      machine: { ...withIppQueue("Office"), Registry: ippPortKeys("WSD-1", 0) },
    },
    {
      before: "a queue with its name and driver uses a TCP/IP port",
      run: "install",
      machine: { ...onTcp, ...awake },
    },
    {
      before: "the same; the printer is asleep",
      run: "install",
      code: 1618,
      machine: { ...onTcp, ...asleep },
    },
    {
      before: "Windows has added the queue _Double_ for the same device",
      run: "install",
      machine: withIppQueue("Double"),
    },
    {
      before: "the same, and _Old queues to remove_ names _Double_",
      run: "install",
      machine: withIppQueue("Double"),
      what: replacing,
    },
    {
      before: "_Office_ is a TCP/IP queue with a vendor’s driver; run by its IPP twin",
      run: "install",
      machine: awake,
      ranBefore: [["install", deployable()]],
      what: twin,
    },
    {
      before: "the same, but the printer is asleep",
      run: "install",
      code: 1618,
      machine: asleep,
      ranBefore: [["install", deployable()]],
      what: twin,
    },
    { before: "installed", run: "uninstall", machine: awake, ranBefore: ["install"] },
  ],
};
