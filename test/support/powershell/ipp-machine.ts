import { windowsDriverRecords } from "../../../src/domain/drivers/windows-drivers.ts";
import { deployable, type Machine } from "./powershell.ts";
import { queue } from "./simulated-machine.ts";

export const ippDriver = "Microsoft IPP Class Driver";
export const ippUrl = "http://10.0.0.9:631/ipp/print";

/** A simulated IPP printer at `ippUrl`. */
export const device = (more: Record<string, unknown> = {}) => ({
  Address: "10.0.0.9",
  Port: 631,
  Path: "/ipp/print",
  Tls: false,
  Name: "Papyrus 100",
  Awake: true,
  ...more,
});

/** A printer with a driver that Windows includes. @param name the driver's name */
export function windowsDeployable(fields: Record<string, string> = {}, name = ippDriver) {
  const driver = windowsDriverRecords().find(({ report }) => report.infs[0]?.descriptions.includes(name));
  if (driver === undefined) throw new Error(`Windows includes no ${name}`);
  const protocol = driver.origin === "ipp" ? { protocol: "ipp" } : {};
  return deployable({ ...protocol, driver_desc: name, ...fields }, driver);
}

/** A queue with the IPP class driver. */
export const ippQueue = (name: string, port = "WSD-1") => queue(name, port, ippDriver);

/** A port that Windows created for an IPP queue. */
export const ippPort = (Name = "WSD-1") => ({ Name, Monitor: "WSD Port Monitor" });

/** The registry key of such a port. Protocol 1 is IPP, 0 is WSD. */
export const ippPortKeys = (port = "WSD-1", protocol = 1, id = "IPP-1") => ({
  [`HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Print\\Monitors\\WSD Port\\Ports\\${port}`]: {
    "Install Protocol": protocol,
    "IPP PortId": id,
  },
});

/** A machine with a correct IPP queue that the scripts did not add: Windows or a user did. */
export const withIppQueue = (name: string): Machine => ({
  Devices: [device({ PortName: "WSD-1" })],
  Queues: [ippQueue(name)],
  Ports: [{ Name: "LPT1:" }, ippPort()],
  Drivers: [{ Name: ippDriver, Version: "10.0.26100.1", Date: "06/21/2006" }],
  Registry: ippPortKeys(),
});
