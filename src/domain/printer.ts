import { isIP } from "node:net";
import { FieldReader, type FormInput } from "./fields.ts";
import { StoredObject } from "./stored.ts";

export const protocols = ["raw", "lpr"] as const;
export const duplexModes = ["", "one_sided", "long_edge", "short_edge"] as const;
export const colorModes = ["", "color", "mono"] as const;
/** `""` leaves the driver's own default alone, as for the two above. */
export const collateModes = ["", "on", "off"] as const;
export const paperSizes = [
  "",
  "A4",
  "A3",
  "A5",
  "Letter",
  "Legal",
  "Tabloid",
  "Executive",
  "Statement",
  "B4",
  "B5",
] as const;

/** What an operator says of a printer: the form's fields, by the form's names. */
export interface PrinterSettings {
  /** The queue's name on Windows. */
  readonly name: string;
  readonly client_id: number | null;
  readonly driver_id: number | null;
  /** One of the driver's models; empty is the driver's own. */
  readonly driver_desc: string;
  /** IPv4, IPv6 or host name; empty together with `port_name` makes a driver-only deployment. */
  readonly address: string;
  readonly port_name: string;
  readonly protocol: (typeof protocols)[number];
  readonly port_number: number;
  readonly lpr_queue: string;
  readonly snmp: boolean;
  readonly snmp_community: string;
  readonly snmp_index: number;
  readonly location: string;
  readonly comment: string;
  readonly set_default: boolean;
  readonly shared: boolean;
  readonly share_name: string;
  readonly duplex: (typeof duplexModes)[number];
  readonly color: (typeof colorModes)[number];
  readonly collate: (typeof collateModes)[number];
  readonly paper_size: (typeof paperSizes)[number];
  /** Leave the driver on the machine at uninstall. */
  readonly keep_driver: boolean;
  /** Old queue names that go after success. */
  readonly replaces: readonly string[];
}

export interface Printer extends PrinterSettings {
  readonly id: number;
  /** UTC, milliseconds since 1970. */
  readonly created_at: number;
  /** UTC, milliseconds since 1970. */
  readonly updated_at: number;
}

/** The longest name that Windows takes for a queue, in UTF-16 code units. */
export const maxQueueName = 220;
const queueName = { maxLength: maxQueueName, forbidden: "\\,!" };

/** @throws UserError "invalid" with a message for each field. */
export function parsePrinter(input: FormInput): PrinterSettings {
  const fields = new FieldReader(input);
  const address = parseAddress(fields);
  const printer: PrinterSettings = {
    name: fields.text("name", { label: "The printer’s name", required: true, ...queueName }),
    client_id: fields.reference("client_id", "Client"),
    driver_id: fields.reference("driver_id", "Driver"),
    driver_desc: fields.text("driver_desc", { label: "The model", maxLength: 500 }),
    address,
    port_name: parsePortName(fields, address),
    protocol: fields.choice("protocol", "The protocol", protocols),
    port_number: fields.integer("port_number", "The port number", { min: 1, max: 65535, fallback: 9100 }),
    lpr_queue: fields.text("lpr_queue", { label: "The LPR queue", maxLength: 255, forbidden: "\\" }),
    snmp: fields.checkbox("snmp"),
    snmp_community:
      fields.text("snmp_community", { label: "The SNMP community", maxLength: 255 }) || "public",
    snmp_index: fields.integer("snmp_index", "The SNMP index", { min: 1, max: 999, fallback: 1 }),
    location: fields.text("location", { label: "The location", maxLength: 255 }),
    comment: fields.text("comment", { label: "The comment", maxLength: 255 }),
    set_default: fields.checkbox("set_default"),
    shared: fields.checkbox("shared"),
    share_name: fields.text("share_name", {
      label: "The share name",
      maxLength: 80,
      forbidden: '\\/:,"<>|*?',
    }),
    duplex: fields.choice("duplex", "Duplex", duplexModes),
    color: fields.choice("color", "Colour", colorModes),
    collate: parseCollate(fields, input),
    paper_size: fields.choice("paper_size", "The paper size", paperSizes),
    keep_driver: fields.checkbox("keep_driver"),
    replaces: parseReplaces(fields),
  };
  checkTogether(fields, printer);
  fields.check();
  return printer;
}

/** What of a printer's settings is kept as JSON; the others are columns, because queries need them. */
export type StoredPrinterSettings = Omit<PrinterSettings, "name" | "client_id" | "driver_id">;

/**
 * Reads what was kept. A field that an older Platen did not know yet is what an empty form would make it.
 * @throws Error when the text is no object in JSON
 */
export function printerSettingsFrom(json: string): StoredPrinterSettings {
  const stored = StoredObject.parse(json);
  return {
    driver_desc: stored.text("driver_desc"),
    address: stored.text("address"),
    port_name: stored.text("port_name"),
    protocol: stored.choice("protocol", protocols),
    port_number: stored.integer("port_number", 9100, 1, 65535),
    lpr_queue: stored.text("lpr_queue"),
    snmp: stored.flag("snmp"),
    snmp_community: stored.text("snmp_community", "public"),
    snmp_index: stored.integer("snmp_index", 1, 1, 999),
    location: stored.text("location"),
    comment: stored.text("comment"),
    set_default: stored.flag("set_default"),
    shared: stored.flag("shared"),
    share_name: stored.text("share_name"),
    duplex: stored.choice("duplex", duplexModes),
    color: stored.choice("color", colorModes),
    collate: stored.choice("collate", collateModes),
    paper_size: stored.choice("paper_size", paperSizes),
    keep_driver: stored.flag("keep_driver"),
    replaces: stored.texts("replaces"),
  };
}

/** Whether the printer stands for its driver alone, without a queue. */
export function isDriverOnly(printer: Pick<PrinterSettings, "address" | "port_name">): boolean {
  return printer.address === "" && printer.port_name === "";
}

/** The name under which a shared queue is offered. */
export function shareNameOf(printer: PrinterSettings): string {
  return printer.share_name || printer.name.replace(/[\\/:,"<>|*?]/g, "-").slice(0, 80);
}

/** The port's name that goes with an address where none was typed. The page's script does the same. */
export function derivePortName(address: string): string {
  return address === "" ? "" : `IP_${address}`;
}

function parseAddress(fields: FieldReader): string {
  const typed = fields.text("address", { label: "The address", maxLength: 253 });
  const address = typed.replace(/^\[(.*)\]$/, "$1");
  if (address === "" || isIP(address) !== 0 || isHostName(address)) return address;
  fields.refuse("address", `“${typed}” is neither an IP address nor a host name.`);
  return "";
}

function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, "").split(".");
  if (/^\d+$/.test(labels.at(-1) ?? "")) return false;
  return labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label));
}

function parsePortName(fields: FieldReader, address: string): string {
  const typed = fields.text("port_name", { label: "The port’s name", maxLength: 255, forbidden: "\\," });
  return typed || derivePortName(address);
}

/** A checkbox that is ticked, or one of the three words: both mean the same. */
function parseCollate(fields: FieldReader, input: FormInput): PrinterSettings["collate"] {
  const typed = (input.collate ?? "").trim().toLowerCase();
  if (["1", "true", "yes"].includes(typed)) return "on";
  if (["0", "false", "no"].includes(typed)) return "off";
  return fields.choice("collate", "Collate", collateModes);
}

function parseReplaces(fields: FieldReader): string[] {
  const text = fields.text("replaces", { label: "Replaces", maxLength: 20_000, multiline: true });
  const names = [...new Set(text.split("\n").map((line) => line.trim()))].filter((line) => line !== "");
  for (const name of names) {
    if (name.length <= maxQueueName && !/[\\,!]/.test(name)) continue;
    fields.refuse("replaces", `“${name.slice(0, 60)}” cannot be the name of a local queue.`);
  }
  return names;
}

function checkTogether(fields: FieldReader, printer: PrinterSettings): void {
  if (printer.protocol === "lpr" && printer.lpr_queue === "" && printer.address !== "") {
    fields.refuse("lpr_queue", "LPR needs the queue’s name on the printer: often lp or auto.");
  }
  const own = printer.name.toLowerCase();
  if (printer.replaces.some((name) => name.toLowerCase() === own)) {
    fields.refuse("replaces", "A printer cannot replace itself: remove its own name here.");
  }
}
