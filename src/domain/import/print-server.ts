import { isIPv4 } from "node:net";
import { isAddress } from "../address.ts";
import { ippModel } from "../drivers/windows-drivers.ts";
import { UserError } from "../errors.ts";
import type { FormInput } from "../fields.ts";
import { ippPort } from "../printers/printer-fields.ts";
import { firstOf } from "../text.ts";
import { type ImportedList, type ImportRow, maxRows, tooManyRows } from "./import-row.ts";

/** An object as Windows PowerShell writes it. */
type JsonObject = { readonly [name: string]: unknown };

/** The row of a queue, which does not say the client. */
type QueueRow = Omit<ImportRow, "client">;

/** The properties of ports, by the port's name in lower case. */
type Ports = ReadonlyMap<string, JsonObject>;

/** The maximum number of JSON values. 5000 printers with their ports have a quarter of it. */
const maxValues = 500_000;
/** In UTF-16 code units. The rest of a text is ignored, because no field can be longer. */
const maxCharacters = 32_767;

/**
 * Reads the output of the print server command (`pkg/scripts/print-server.ps1`).
 * @param client the client of all its printers; empty for none
 * @throws UserError "invalid" for any other text
 */
export function readPrintServer(text: string, client = ""): ImportedList {
  const list = readJson(text);
  if (!isObject(list) || list.Printers === undefined) {
    throw new UserError("invalid", "This JSON contains no “Printers”. Copy the output of the command again.");
  }
  const queues = objectsIn(list.Printers);
  if (queues.length > maxRows) throw tooManyRows();
  const ports = new Map(objectsIn(list.Ports).map((port) => [normalized(textOf(port, "Name")), port]));
  const devices = new Devices(list);
  const rows = queues.map((queue, i) => {
    const { problemIfNew, ...row } = rowOf(queue, ports, devices, i + 1);
    return { ...row, client, problemIfNew: undefined, leftOut: row.leftOut ?? problemIfNew };
  });
  const makers = objectsIn(list.Drivers).map(
    (driver) => [normalized(textOf(driver, "Name")), textOf(driver, "Manufacturer")] as const,
  );
  return { rows, isWithoutAddresses: false, notices: [], makers: new Map(makers) };
}

/**
 * The row of a queue in a list without ports. An absent property leaves the printer's value unchanged.
 * @param queue may have properties of its port, too
 */
export function rowOfQueue(queue: JsonObject, number: number): QueueRow {
  const [portName = ""] = textOf(queue, "PortName").split(",");
  const ports = new Map(hostOf(queue) === "" ? [] : [[normalized(portName), queue]]);
  return rowOf(queue, ports, new Devices({}), number);
}

/** Counts the values before it parses them, because a few characters can become an object of fifty bytes. */
function readJson(text: string): unknown {
  let values = 0;
  for (let i = 0; i < text.length; i++) if ("[{,".includes(text.charAt(i))) values++;
  if (values > maxValues) throw new UserError("invalid", `This JSON has more than ${maxValues} values.`);
  try {
    return JSON.parse(text);
  } catch {
    const message = "This JSON is incomplete or damaged. Copy the whole output again.";
    throw new UserError("invalid", message);
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A list of objects. Windows PowerShell may write it as a single object, or as `{ value, Count }`. */
function objectsIn(value: unknown): JsonObject[] {
  const list = isObject(value) && Array.isArray(value.value) ? value.value : value;
  if (Array.isArray(list)) return list.filter(isObject);
  return isObject(list) && Object.keys(list).length > 0 ? [list] : [];
}

function textOf(object: JsonObject | undefined, name: string): string {
  let value = object?.[name];
  // A loop, because objects may be nested deeper than recursion can go.
  while (isObject(value)) value = value.value;
  return value === null || value === undefined || Array.isArray(value)
    ? ""
    : String(value).slice(0, maxCharacters);
}

function normalized(text: string): string {
  return text.trim().toLowerCase();
}

function rowOf(queue: JsonObject, ports: Ports, devices: Devices, number: number): QueueRow {
  const line = (name: string) => textOf(queue, name).replace(/[\r\n]+/g, " ");
  const given = (field: string, name: string) => (queue[name] === undefined ? {} : { [field]: line(name) });
  const { portName, poolRemark } = chosenPort(line("PortName"), ports);
  const port = ports.get(normalized(portName));
  const model = line("DriverName");
  const reason = virtualReason(queue, model) ?? localReason(portName, port);
  const target: QueueTarget =
    reason === undefined ? targetOf(portName, port, devices, model) : { values: { port_name: portName } };
  const driverModel = target.values.protocol === "ipp" ? ippModel : model;
  const isDriverNamed = queue.DriverName !== undefined || driverModel !== "";
  return {
    number,
    values: {
      name: line("Name"),
      ...given("location", "Location"),
      ...given("comment", "Comment"),
      ...target.values,
    },
    driver: isDriverNamed ? { sha256: "", model: driverModel, title: "", version: "" } : undefined,
    arm64Driver: undefined,
    ticket: undefined,
    origin: undefined,
    remarks: [poolRemark, target.remark].filter((text) => text !== undefined),
    problems: target.problem === undefined ? [] : [target.problem],
    problemIfNew: target.problemIfNew,
    leftOut: reason ?? target.leftOut,
  };
}

const maxNamedPorts = 5;

/** The port of a queue. Of a pool, such as `IP_1,IP_2`, it is the first TCP/IP port. */
function chosenPort(typed: string, ports: Ports) {
  const isUrl = /^[a-z]+:\/\//i.test(typed);
  const names = (isUrl ? [typed] : typed.split(",")).map((name) => name.trim()).filter((name) => name !== "");
  if (names.length < 2) return { portName: names[0] ?? "" };
  const visible = names.map((name) => `“${name.slice(0, 60)}”`);
  const pool = `Prints to a pool of ${names.length} ports: ${firstOf(visible, maxNamedPorts)}.`;
  const chosen = names.findIndex(
    (name) => hostOf(ports.get(normalized(name))) !== "" || addressIn(name) !== undefined,
  );
  const poolRemark = chosen < 0 ? pool : `${pool} Platen takes the first TCP/IP port, ${visible[chosen]}.`;
  return { portName: names[Math.max(chosen, 0)] ?? "", poolRemark };
}

const virtualDrivers = [
  ["microsoft print to pdf", "Prints to PDF files: every Windows has it."],
  ["microsoft xps document writer", "Prints to XPS files: every Windows has it."],
  ["onenote", "Prints to OneNote, not to a device."],
  ["microsoft shared fax driver", "Is a fax, not a printer."],
  ["remote desktop easy print", "Comes from a Remote Desktop session."],
] as const;

function virtualReason(queue: JsonObject, model: string): string | undefined {
  const isConnection =
    normalized(textOf(queue, "Type")) === "connection" || textOf(queue, "Name").startsWith("\\\\");
  if (isConnection) return "Is a connection to a shared printer. Run the command on its server.";
  const lower = model.toLowerCase();
  return virtualDrivers.find(([part]) => lower.includes(part))?.[1];
}

/** Patterns for names of local ports in lower case, with the reason to leave out their printers. */
const localPorts = [
  [/^portprompt:$/, "Asks for a file name, and prints to no device."],
  [/^file:$/, "Prints to files."],
  [/^nul:?$/, "Discards all jobs: its port is “nul”."],
  [/^xpsport:$/, "Prints to XPS files."],
  [/^shrfax:$/, "Is a fax, not a printer."],
  [/^(?:usb|dot4_)\d+:?$/, "Is connected by USB to that PC only."],
  [/^(?:lpt|com)\d+:?$/, "Is connected by a cable to that PC only."],
  [/^ts\d+:?$/, "Comes from a Remote Desktop session."],
  [/^microsoft\./, "Prints into an app, not to a device."],
  [/^\\\\/, "Prints to a share of another PC."],
] as const;

/** Why the printers of a local port are left out; undefined for a port with an address, whatever its name. */
function localReason(portName: string, port: JsonObject | undefined): string | undefined {
  if (hostOf(port) !== "") return undefined;
  const lower = normalized(portName.slice(0, 100));
  return localPorts.find(([pattern]) => pattern.test(lower))?.[1];
}

/** The address and port of a queue, or why they are unknown. */
interface QueueTarget {
  readonly values: FormInput;
  readonly remark?: string;
  readonly problem?: string;
  readonly problemIfNew?: string;
  readonly leftOut?: string;
}

function targetOf(
  portName: string,
  port: JsonObject | undefined,
  devices: Devices,
  model: string,
): QueueTarget {
  const host = hostOf(port);
  const monitor = normalized(textOf(port, "PortMonitor"));
  const isIpp =
    /^(?:https?|ipps?):/i.test(portName) || monitor.includes("ipp") || monitor.includes("internet");
  if (isIpp) return ippTarget(portName);
  if (host !== "") return { values: tcpValues(portName, host, port) };
  if (portName.toLowerCase().startsWith("wsd-") || monitor.startsWith("wsd"))
    return wsdTarget(portName, port, devices, model);
  if (portName === "") return { values: {}, problemIfNew: "The list has no address for this printer." };
  const named = addressIn(portName);
  if (named === undefined) {
    const what =
      port === undefined ? ". The list has no address for this port." : ", a local port of that PC.";
    return { values: { port_name: portName }, leftOut: `Prints to “${portName.slice(0, 100)}”${what}` };
  }
  return {
    values: { address: named, port_name: "" },
    remark: `The address ${named} comes from the port’s name. Check it.`,
  };
}

/** Some Windows builds name the port of an IPP queue after its URL. Any other port name gives no address. */
function ippTarget(portName: string): QueueTarget {
  const url = URL.canParse(portName) ? new URL(portName.replace(/^ipp/i, "http")) : undefined;
  const address = url === undefined ? "" : hostIn(url.href);
  if (url === undefined || address === "" || url.search !== "") {
    const leftOut = "Prints over IPP, but Windows does not report the address. Add the printer by hand.";
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
  return { values, remark: "Prints over IPP, so it gets the Microsoft IPP Class Driver." };
}

function wsdTarget(
  portName: string,
  port: JsonObject | undefined,
  devices: Devices,
  model: string,
): QueueTarget {
  const address = devices.hostOf(portName, port);
  if (address === "") {
    const problem = "Prints to a WSD port, but Windows does not report the address. Add the printer by hand.";
    return { values: {}, problem };
  }
  const isIpp = normalized(model) === normalized(ippModel);
  const check = isIpp ? "its IPP path" : "RAW on port 9100";
  return {
    values: { address, port_name: "", ...(isIpp && { protocol: "ipp" }) },
    remark: `WSD port: Windows found the printer at ${address}. Give it a fixed address, and check ${check}.`,
  };
}

/** Only what the list says of the port. */
function tcpValues(port_name: string, address: string, port: JsonObject | undefined): FormInput {
  const has = (name: string) => port?.[name] !== undefined;
  const isLpr = ["2", "lpr"].includes(normalized(textOf(port, "Protocol")));
  const isSnmpEnabled = normalized(textOf(port, "SNMPEnabled")) === "true";
  const number = (name: string) => textOf(port, name).replace(/^0$/, "");
  return {
    address,
    ...(port_name === "" ? {} : { port_name }),
    ...(has("Protocol") ? { protocol: isLpr ? "lpr" : "raw" } : {}),
    ...(isLpr ? { lpr_queue: textOf(port, "LprQueueName") } : {}),
    ...(has("PortNumber") && !isLpr ? { port_number: number("PortNumber") } : {}),
    ...(has("SNMPEnabled") ? { snmp: isSnmpEnabled ? "on" : "" } : {}),
    ...(isSnmpEnabled
      ? { snmp_community: textOf(port, "SNMPCommunity"), snmp_index: number("SNMPIndex") }
      : {}),
  };
}

function hostOf(port: JsonObject | undefined): string {
  return textOf(port, "PrinterHostAddress").trim();
}

/** The IPv4 address in a name such as `IP_10.0.0.9_1`; undefined if there is none or more than one. */
function addressIn(portName: string): string | undefined {
  const found = (portName.slice(0, 300).match(/[0-9.]+/g) ?? []).filter(isIPv4);
  return found.length === 1 ? found[0] : undefined;
}

/** The devices that Windows found by Web Services (WSD). */
class Devices {
  /** Device UUIDs by port name. */
  readonly #ports: ReadonlyMap<string, string>;
  /** Service URLs by device UUID. */
  readonly #urls: ReadonlyMap<string, string>;

  constructor(list: JsonObject) {
    const ports = objectsIn(list.WsdPorts);
    this.#ports = new Map(
      ports.map((port) => [normalized(textOf(port, "Name")), bareUuid(textOf(port, "Uuid"))]),
    );
    const devices = objectsIn(list.WsdDevices);
    this.#urls = new Map(devices.map((device) => [bareUuid(textOf(device, "Uuid")), textOf(device, "Url")]));
  }

  /** The host of a WSD port; empty if Windows does not know it. */
  hostOf(portName: string, port: JsonObject | undefined): string {
    const uuid = bareUuid(textOf(port, "DeviceUUID")) || (this.#ports.get(normalized(portName)) ?? "");
    return hostIn(textOf(port, "DeviceURL")) || hostIn(this.#urls.get(uuid) ?? "");
  }
}

/** The UUID alone. Windows writes `urn:uuid:…` or `uuid:…`, and services of the device add a path. */
function bareUuid(text: string): string {
  return text.toLowerCase().replace(/^(?:urn:)?uuid:|\/.*/gs, "");
}

function hostIn(url: string): string {
  if (!URL.canParse(url)) return "";
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  // A link-local address is useless on other networks.
  return isAddress(host) && !/^fe[89ab]/i.test(host) ? host : "";
}
