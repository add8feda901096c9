import { isIPv4 } from "node:net";
import { isAddress } from "./address.ts";
import { UserError } from "./errors.ts";
import type { FormInput } from "./fields.ts";
import { type ImportedList, type ImportRow, mostRows } from "./import-row.ts";
import { type Json, type JsonObject, readJson } from "./json.ts";
import { tooMany } from "./printer-csv.ts";

/**
 * Reads what the command for print servers prints (`pkg/scripts/print-server.ps1`), in steps.
 * @param client of all of its printers; empty is none
 * @throws UserError "invalid" where it is something else
 */
export function* readPrintServer(text: string, client = ""): Generator<undefined, ImportedList> {
  const whole = yield* readJson(text);
  const printers = whole instanceof Map ? whole.get("Printers") : undefined;
  if (!(whole instanceof Map) || printers === undefined) {
    throw new UserError(
      "invalid",
      "This JSON is not what the command on this page prints: it names no “Printers”.",
    );
  }
  const queues = objectsIn(printers);
  if (queues.length > mostRows) throw tooMany();
  const ports = new Map(objectsIn(whole.get("Ports")).map((port) => [key(textOf(port, "Name")), port]));
  const devices = new Devices(whole);
  const rows: ImportRow[] = [];
  for (const queue of queues) {
    if (rows.length % 100 === 0) yield;
    const port = ports.get(key(textOf(queue, "PortName")));
    rows.push({ ...rowOf(queue, port, devices, rows.length + 1), client });
  }
  const makers = objectsIn(whole.get("Drivers")).map(
    (driver) => [key(textOf(driver, "Name")), textOf(driver, "Manufacturer")] as const,
  );
  return { rows, notices: [], makers: new Map(makers) };
}

/** What Windows knows of devices that were found by Web Services (WSD). */
class Devices {
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

function rowOf(
  queue: JsonObject,
  port: JsonObject | undefined,
  devices: Devices,
  number: number,
): Omit<ImportRow, "client"> {
  const line = (name: string) => textOf(queue, name).replace(/[\r\n]+/g, " ");
  const portName = line("PortName");
  const model = line("DriverName");
  const reason = virtualReason(queue, model) ?? localReason(portName, port);
  const place = reason === undefined ? placeOf(portName, port, devices) : { values: { port_name: portName } };
  return {
    number,
    values: { name: line("Name"), location: line("Location"), comment: line("Comment"), ...place.values },
    driver: { sha256: "", model, title: "", version: "" },
    origin: undefined,
    notes: place.note === undefined ? [] : [place.note],
    problems: place.problem === undefined ? [] : [place.problem],
    leftOut: reason ?? place.leftOut,
  };
}

const virtualDrivers = [
  ["microsoft print to pdf", "Prints to PDF files: every Windows has it."],
  ["microsoft xps document writer", "Prints to XPS files: every Windows has it."],
  ["onenote", "Prints to OneNote, not to a device."],
  ["microsoft shared fax driver", "Sends faxes, and is no printer."],
  ["remote desktop easy print", "Is the printer of somebody who was logged on from afar."],
] as const;

function virtualReason(queue: JsonObject, model: string): string | undefined {
  const isConnection =
    key(textOf(queue, "Type")) === "connection" || textOf(queue, "Name").startsWith("\\\\");
  if (isConnection) return "Is a connection to a queue of another computer: run the command there.";
  const lower = model.toLowerCase();
  return virtualDrivers.find(([part]) => lower.includes(part))?.[1];
}

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
function localReason(portName: string, port: JsonObject | undefined): string | undefined {
  if (hostOf(port) !== "") return undefined;
  const lower = key(portName.slice(0, 100));
  return localPorts.find(([pattern]) => pattern.test(lower))?.[1];
}

function hostOf(port: JsonObject | undefined): string {
  return textOf(port, "PrinterHostAddress").trim();
}

/** Where a queue prints to, or why that is not known. */
interface Place {
  readonly values: FormInput;
  readonly note?: string;
  readonly problem?: string;
  readonly leftOut?: string;
}

function placeOf(portName: string, port: JsonObject | undefined, devices: Devices): Place {
  const host = hostOf(port);
  const monitor = key(textOf(port, "PortMonitor"));
  const isIpp =
    /^(?:https?|ipps?):/i.test(portName) || monitor.includes("ipp") || monitor.includes("internet");
  if (isIpp) {
    return {
      values: { port_name: portName },
      leftOut: "Prints by the Internet Printing Protocol: describe it by hand.",
    };
  }
  if (host !== "") return { values: tcpValues(portName, host, port) };
  if (portName.toLowerCase().startsWith("wsd-") || monitor.startsWith("wsd"))
    return wsdPlace(portName, port, devices);
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

function wsdPlace(portName: string, port: JsonObject | undefined, devices: Devices): Place {
  const address = devices.hostOf(portName, port);
  if (address === "") {
    return {
      values: {},
      problem:
        "It prints to a WSD port, and Windows does not say which address that has: describe it by hand.",
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

/** The one IPv4 address that a name such as `IP_10.0.0.9_1` holds. */
function addressIn(portName: string): string | undefined {
  const found = portName
    .slice(0, 300)
    .split(/[^0-9.]+/)
    .filter(isIPv4);
  return found.length === 1 ? found[0] : undefined;
}

/** A list of objects, also as Windows PowerShell writes it at times: one alone, or with its count. */
function objectsIn(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.filter((item): item is Map<string, Json> => item instanceof Map);
  if (!(value instanceof Map)) return [];
  const inner = value.get("value");
  if (Array.isArray(inner)) return objectsIn(inner);
  return value.size > 0 ? [value] : [];
}

function textOf(object: JsonObject | undefined, name: string): string {
  const value = object?.get(name);
  if (value instanceof Map) return textOf(value, "value");
  return value === null || value === undefined || Array.isArray(value) ? "" : String(value);
}

function key(text: string): string {
  return text.trim().toLowerCase();
}
