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
const otherPath = (WrongUrl: string) => ({ Devices: [device({ Path: "/ipp" })], WrongUrl });
const onWsd = { ...withIppQueue("Office"), Registry: ippPortKeys("WSD-1", 0) };
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
    ["not installed", 0, awake, "install"],
    ["installed; the printer is asleep", 0, awake, "install", asleep, "detect"],
    ["installed; the printer is asleep", 0, awake, "install", asleep, "install"],
    ["the printer is asleep", 1618, asleep, "install"],
    ["this Windows has no `Add-Printer -IppURL`", 1603, { ...awake, WithoutIppUrl: true }, "install"],
    ["protected print mode is on", 0, { ...awake, ...protectedPrint }, "install"],
    ["the path is wrong; Windows reports success and adds no queue", 1603, otherPath("nothing"), "install"],
    [
      "the path is wrong; Windows reports success and adds a queue on a TCP/IP port",
      1603,
      otherPath("tcp"),
      "install",
    ],
    ["a queue with its name and driver uses a WSD port, which does not speak IPP", 0, onWsd, "install"],
    ["a queue with its name and driver uses a TCP/IP port", 0, { ...onTcp, ...awake }, "install"],
    ["the same; the printer is asleep", 1618, { ...onTcp, ...asleep }, "install"],
    ["Windows has added the queue _Double_ for the same device", 0, withIppQueue("Double"), "install"],
    [
      "the same, and _Old queues to remove_ names _Double_",
      0,
      withIppQueue("Double"),
      ["install", replacing],
    ],
    [
      "_Office_ is a TCP/IP queue with a vendor’s driver; run by its IPP twin",
      0,
      awake,
      ["install", deployable()],
      ["install", twin],
    ],
    ["the same, but the printer is asleep", 1618, asleep, ["install", deployable()], ["install", twin]],
    ["installed", 0, awake, "install, uninstall"],
  ],
};
