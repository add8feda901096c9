import { isIPv4 } from "node:net";
import { isAddress } from "./address.ts";
import type { FormInput } from "./fields.ts";
import type { JsonObject } from "./json.ts";
import { key, objectsIn, textOf } from "./print-server-json.ts";
import { ippPort } from "./printer-fields.ts";
import { ippModel } from "./windows-drivers.ts";

// Where the queues of a print server print to.

/** Ports that mean something only on the computer that has them, by their whole names in lower case. */
const localPorts = [
  [/^portprompt:$/, "Asks for a file name, and prints to no device."],
  [/^file:$/, "Prints to files."],
  [/^nul:?$/, "Prints to nowhere: its port is “nul”."],
  [/^xpsport:$/, "Prints to XPS files."],
  [/^shrfax:$/, "Sends faxes, and is no printer."],
  [/^usb\d+:?$/, "Is connected by USB to that computer alone."],
  [/^dot4_\d+:?$/, "Is connected by USB to that computer alone."],
  [/^lpt\d+:?$/, "Is connected by a cable to that computer alone."],
  [/^com\d+:?$/, "Is connected by a cable to that computer alone."],
  [/^ts\d+:?$/, "Is the printer of somebody who was logged on from afar."],
  [/^microsoft\./, "Prints into an app, not to a device."],
  [/^\\\\/, "Prints to a share of another computer."],
] as const;

/** Undefined also for a port with an address, whatever it is called. */
export function localReason(portName: string, port: JsonObject | undefined): string | undefined {
  if (hostOf(port) !== "") return undefined;
  const lower = key(portName.slice(0, 100));
  return localPorts.find(([pattern]) => pattern.test(lower))?.[1];
}

/** Where a queue prints to, or why that is not known. */
interface Place {
  readonly values: FormInput;
  readonly note?: string;
  readonly problem?: string;
  readonly leftOut?: string;
}

export function placeOf(
  portName: string,
  port: JsonObject | undefined,
  devices: Devices,
  model: string,
): Place {
  const host = hostOf(port);
  const monitor = key(textOf(port, "PortMonitor"));
  const isIpp =
    /^(?:https?|ipps?):/i.test(portName) || monitor.includes("ipp") || monitor.includes("internet");
  if (isIpp) return ippPlace(portName);
  if (host !== "") return { values: tcpValues(portName, host, port) };
  if (portName.toLowerCase().startsWith("wsd-") || monitor.startsWith("wsd"))
    return wsdPlace(portName, port, devices, model);
  const named = addressIn(portName);
  if (named === undefined) {
    const leftOut = `Prints to “${portName.slice(0, 100)}”, a port that only that computer knows.`;
    return { values: { port_name: portName }, leftOut };
  }
  return {
    values: { address: named, port_name: "" },
    note: `The address ${named} is taken from the port’s name: check it.`,
  };
}

/** Some Windows builds name the port of an IPP queue after its URL; what names another port is no help elsewhere. */
function ippPlace(portName: string): Place {
  const url = URL.canParse(portName) ? new URL(portName.replace(/^ipp/i, "http")) : undefined;
  const address = url === undefined ? "" : hostIn(url.href);
  if (url === undefined || address === "" || url.search !== "") {
    const leftOut =
      "Prints by the Internet Printing Protocol, and Windows does not say where: describe it by hand.";
    return { values: { port_name: portName }, leftOut };
  }
  const isTls = url.protocol === "https:";
  const usualPort = /^ipp/i.test(portName) ? ippPort : isTls ? 443 : 80;
  const values = {
    address,
    port_name: "",
    protocol: "ipp",
    port_number: url.port || String(usualPort),
    ipp_path: url.pathname,
    ipp_tls: isTls ? "on" : "",
  };
  return { values, note: "Prints by IPP: it gets the Microsoft IPP Class Driver, whatever it has there." };
}

function wsdPlace(portName: string, port: JsonObject | undefined, devices: Devices, model: string): Place {
  const address = devices.hostOf(portName, port);
  if (address === "") {
    return {
      values: {},
      problem:
        "It prints to a WSD port, and Windows does not say which address that has: describe it by hand.",
    };
  }
  if (key(model) === key(ippModel)) {
    return {
      values: { address, port_name: "", protocol: "ipp" },
      note: `Windows found the device at ${address}, and does not say its path: check both, and give it a fixed address.`,
    };
  }
  return {
    values: { address, port_name: "" },
    note: `Was a WSD port: ${address} is where Windows found the device. Give it a fixed address, and check that it takes RAW on port 9100.`,
  };
}

function tcpValues(port_name: string, address: string, port: JsonObject | undefined): FormInput {
  const isLpr = ["2", "lpr"].includes(key(textOf(port, "Protocol")));
  const isAsked = key(textOf(port, "SNMPEnabled")) === "true";
  const number = (name: string) => textOf(port, name).replace(/^0$/, "");
  return {
    address,
    port_name,
    protocol: isLpr ? "lpr" : "raw",
    ...(isLpr ? { lpr_queue: textOf(port, "LprQueueName") } : { port_number: number("PortNumber") }),
    snmp: isAsked ? "on" : "",
    ...(isAsked ? { snmp_community: textOf(port, "SNMPCommunity"), snmp_index: number("SNMPIndex") } : {}),
  };
}

function hostOf(port: JsonObject | undefined): string {
  return textOf(port, "PrinterHostAddress").trim();
}

/** The one IPv4 address that a name such as `IP_10.0.0.9_1` holds. */
function addressIn(portName: string): string | undefined {
  const found = portName
    .slice(0, 300)
    .split(/[^0-9.]+/)
    .filter(isIPv4);
  return found.length === 1 ? found[0] : undefined;
}

/** What Windows knows of devices that were found by Web Services (WSD). */
export class Devices {
  /** Identities, by the name of the port. */
  readonly #ports: ReadonlyMap<string, string>;
  /** Addresses of their services (URLs), by their identity. */
  readonly #urls: ReadonlyMap<string, string>;

  constructor(whole: JsonObject) {
    const ports = objectsIn(whole.get("WsdPorts"));
    this.#ports = new Map(ports.map((port) => [key(textOf(port, "Name")), identity(textOf(port, "Uuid"))]));
    const devices = objectsIn(whole.get("WsdDevices"));
    this.#urls = new Map(devices.map((device) => [identity(textOf(device, "Uuid")), textOf(device, "Url")]));
  }

  /** The host that a WSD port prints to; empty where Windows does not know it. */
  hostOf(portName: string, port: JsonObject | undefined): string {
    const uuid = identity(textOf(port, "DeviceUUID")) || (this.#ports.get(key(portName)) ?? "");
    return hostIn(textOf(port, "DeviceURL")) || hostIn(this.#urls.get(uuid) ?? "");
  }
}

/** `urn:uuid:…` and `uuid:…` are written as it comes; a service of the device adds its own path. */
function identity(uuid: string): string {
  return (
    uuid
      .toLowerCase()
      .replace(/^(?:urn:)?uuid:/, "")
      .split("/")[0] ?? ""
  );
}

function hostIn(url: string): string {
  if (!URL.canParse(url)) return "";
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  // An address that holds on one piece of cable alone is of no use elsewhere.
  return isAddress(host) && !/^fe[89ab]/i.test(host) ? host : "";
}
