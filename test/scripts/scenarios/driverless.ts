import {
  device,
  ippDriver,
  ippPortNotes,
  ippQueue,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { tcp } from "../../support/powershell/simulated-machine.ts";
import { protectedPrint } from "./machines.ts";

const awake = { Devices: [device()] };
const asleep = { Devices: [device({ Awake: false })] };
const otherPath = { Devices: [device({ Path: "/ipp" })] };
const onTcp = {
  Queues: [ippQueue("Office", "IP_10.0.0.9")],
  Ports: [tcp("IP_10.0.0.9")],
  Drivers: [{ Name: ippDriver, Version: "10.0.26100.1", Date: "06/21/2006" }],
};
const replacing = windowsDeployable({ replaces: "Double" });

/** Queues that Windows makes of a URL. */
export const driverless: ScenarioGroup = {
  title: "A driverless printer (IPP)",
  about:
    "_Office_ at `http://10.0.0.9:631/ipp/print` with _Microsoft IPP Class Driver_. The printer is awake and nothing of it is there, unless it says so. Where the last column does not say that the printer was asked, it was not.",
  what: windowsDeployable(),
  scenarios: [
    { before: "nothing of it is there", run: "install", machine: awake },
    {
      before: "installed; the printer is asleep",
      run: "detect",
      machine: awake,
      after: ["install"],
      since: asleep,
    },
    {
      before: "installed; the printer is asleep",
      run: "install",
      machine: awake,
      after: ["install"],
      since: asleep,
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
      before: "the path is wrong; Windows reports success and makes no queue",
      run: "install",
      code: 1603,
      machine: { ...otherPath, WrongUrl: "nothing" },
    },
    {
      before: "the path is wrong; Windows reports success and makes a queue on a TCP/IP port",
      run: "install",
      code: 1603,
      machine: { ...otherPath, WrongUrl: "tcp" },
    },
    {
      before: "a queue of its name with the right driver is on a WSD port, which does not speak IPP",
      run: "install",
      machine: { ...withIppQueue("Office"), Registry: ippPortNotes("WSD-1", 0) },
    },
    {
      before: "a queue of its name with the right driver is on a TCP/IP port",
      run: "install",
      machine: { ...onTcp, ...awake },
    },
    {
      before: "the same queue on a TCP/IP port; the printer is asleep",
      run: "install",
      code: 1618,
      machine: { ...onTcp, ...asleep },
    },
    {
      before: "Windows has made the queue _Double_ of the same device by itself",
      run: "install",
      machine: withIppQueue("Double"),
    },
    {
      before: "the same, and _Replaces_ names _Double_",
      run: "install",
      machine: withIppQueue("Double"),
      what: replacing,
    },
    { before: "installed", run: "uninstall", machine: awake, after: ["install"] },
  ],
};
