import {
  canonicalAddress,
  cleanAddress,
  derivePortName,
  isAddress,
  leadingZerosProblem,
} from "../address.ts";
import { ippDriverId } from "../drivers/windows-drivers.ts";
import type { FieldMessages } from "../errors.ts";
import { cleanText, FieldReader, type FormInput, type TextRule } from "../fields.ts";
import { JsonFields } from "../json-fields.ts";
import { readSubnets } from "../subnet.ts";
import { parseTicket } from "./print-ticket.ts";
import { isQueueName, type Printer, type PrinterSettings, queueNameRule, shareNameRule } from "./printer.ts";
import { readSddl, sddlRule } from "./sddl.ts";
import {
  type Choices,
  collateModes,
  colorModes,
  duplexModes,
  paperSizes,
  protocols,
  valuesOf,
} from "./setting-values.ts";

/** All settings except the name, the client and the driver. */
type Settings = Omit<PrinterSettings, "name" | "client_id" | "driver_id">;

/** Reads a setting from a form or from saved JSON, with the same default. */
interface Field<T> {
  readonly parse: (form: FieldReader, name: string) => T;
  readonly read: (saved: JsonFields, name: string) => T;
}

const portNumbers = { min: 1, max: 65535, fallback: 9100 };
export const ippPort = 631;
const usualIppPath = "/ipp/print";
const addressRule = { label: "The address", maxLength: 253 };

/** In the order of the form. */
const settingFields: { readonly [Name in keyof Settings]: Field<Settings[Name]> } = {
  driver_desc: text({ label: "The model", maxLength: 500 }),
  address: { ...text(addressRule), parse: parseAddress },
  port_name: text({ label: "The port’s name", maxLength: 255, forbidden: "\\," }),
  protocol: choice("The protocol", protocols),
  port_number: { ...integer("The port number", portNumbers), parse: parsePortNumber },
  ipp_path: { ...text({ label: "The path", maxLength: 255 }, usualIppPath), parse: parseIppPath },
  ipp_tls: checkbox(),
  lpr_queue: text({ label: "The LPR queue", maxLength: 255, forbidden: "\\" }),
  snmp: checkbox(),
  snmp_community: text({ label: "The SNMP community", maxLength: 255 }, "public"),
  snmp_index: integer("The SNMP index", { min: 1, max: 999, fallback: 1 }),
  location: text({ label: "The location", maxLength: 255 }),
  comment: text({ label: "The comment", maxLength: 255 }),
  set_default: checkbox(),
  shared: checkbox(),
  share_name: text({ label: "The share name", ...shareNameRule }),
  permission_sddl: { ...text(sddlRule), parse: readSddl },
  keep_printed: checkbox(),
  hold_mismatched: checkbox(),
  duplex: choice("Two-sided printing", duplexModes),
  color: choice("Colour", colorModes),
  collate: { ...choice("Collate", collateModes), parse: parseCollate },
  paper_size: choice("The paper size", paperSizes),
  print_ticket: { parse: parseTicket, read: () => "" },
  reset_user_preferences: checkbox(),
  arm64_driver_id: { parse: (form, name) => form.reference(name, "Driver for ARM64"), read: () => null },
  arm64_driver_desc: text({ label: "The model for ARM64", maxLength: 500 }),
  subnets: { parse: readSubnets, read: (saved, name) => saved.texts(name) },
  requires_reachable: checkbox(),
  replaces: { parse: parseReplaces, read: (saved, name) => saved.texts(name) },
  keep_driver: checkbox(),
};

/** The fields that belong to one device: a copy of a printer starts without them. */
const deviceFields = ["name", "address", "port_name"] as const;

const fields: readonly (readonly [name: string, field: Field<unknown>])[] = Object.entries(settingFields);

/** The settings of a printer that refer to other records. */
export type PrinterReferences = Pick<PrinterSettings, "client_id" | "driver_id" | "driver_desc"> &
  Partial<Pick<PrinterSettings, "protocol" | "arm64_driver_id" | "arm64_driver_desc">>;

/**
 * @param findProblems checks the records that the printer refers to, so that one error contains all problems
 * @throws UserError "invalid" with a message for each field, in the form's order.
 */
export function parsePrinter(
  input: FormInput,
  findProblems: (references: PrinterReferences) => FieldMessages = () => ({}),
): PrinterSettings {
  const form = new FieldReader(withImpliedProtocol(input));
  const references = {
    name: form.text("name", { label: "The printer’s name", required: true, ...queueNameRule }),
    client_id: form.reference("client_id", "Client"),
    driver_id: form.reference("driver_id", "Driver"),
  };
  const settings = readSettings((field, name) => field.parse(form, name));
  // Windows names the port of an IPP queue itself, and has one driver for all IPP queues.
  const isIpp = settings.protocol === "ipp";
  if (isIpp) references.driver_id ??= ippDriverId;
  const port_name = isIpp ? "" : settings.port_name || derivePortName(settings.address);
  // SNMP status is a setting of TCP/IP ports.
  const snmp = settings.snmp && !isIpp;
  // `Object.assign`, because V8 takes four times as long as for all the rest to spread so many fields.
  const printer: PrinterSettings = Object.assign(references, settings, { port_name, snmp });
  checkCombinations(form, printer);
  for (const [field, message] of Object.entries(findProblems(printer))) form.refuse(field, message);
  form.check();
  return printer;
}

/**
 * Reads saved settings. Settings that have their own column, and those that an older Platen did not save, get their
 * defaults.
 * @throws Error if the text is not a JSON object
 */
export function printerSettingsFrom(json: string): Settings {
  const saved = JsonFields.parse(json);
  return readSettings((field, name) => field.read(saved, name));
}

const listedNames = [
  "driver_desc",
  "arm64_driver_desc",
  "address",
  "port_name",
  "protocol",
  "location",
  "replaces",
] as const satisfies (keyof Settings)[];

/** The settings of a printer that lists show. */
export type ListedSettings = Pick<Settings, (typeof listedNames)[number]>;

/** @throws Error if the text is not a JSON object */
export function listedSettingsFrom(json: string): ListedSettings {
  const saved = JsonFields.parse(json);
  const values = listedNames.map((name) => [name, settingFields[name].read(saved, name)] as const);
  return Object.fromEntries(values) as ListedSettings;
}

/** The settings of an empty form. */
export const printerDefaults: Settings = printerSettingsFrom("{}");

const formNames = [
  "name",
  "client_id",
  "driver_id",
  ...Object.keys(settingFields),
] as (keyof PrinterSettings)[];

/** The form values of the given settings; by default those of an empty form. */
export function printerFormValues(settings: Partial<PrinterSettings> = printerDefaults): FormInput {
  const values: Record<string, string> = {};
  for (const name of formNames) {
    const value = settings[name];
    if (value !== undefined) values[name] = formValue(value);
  }
  return values;
}

/** The fields that belong together when two users change a printer at the same time. */
export function printerFieldGroups({ address = "", port_name }: FormInput): string[][] {
  const isDerived = port_name === derivePortName(address);
  const port = isDerived ? [["address", "port_name"]] : [];
  return [
    ["driver_id", "driver_desc"],
    ["arm64_driver_id", "arm64_driver_desc"],
    ["protocol", "port_number"],
    ...port,
  ];
}

function formValue(value: PrinterSettings[keyof PrinterSettings]): string {
  if (typeof value === "boolean") return value ? "on" : "";
  return typeof value === "object" ? (value ?? []).join("\n") : String(value);
}

function readSettings(read: (field: Field<unknown>, name: string) => unknown): Settings {
  const values: Record<string, unknown> = {};
  for (const [name, field] of fields) values[name] = read(field, name);
  return values as unknown as Settings;
}

function text(rule: TextRule, fallback = ""): Field<string> {
  return {
    parse: (form, name) => form.text(name, rule) || fallback,
    read: (saved, name) => saved.text(name, fallback),
  };
}

function integer(label: string, range: { min: number; max: number; fallback: number }): Field<number> {
  return {
    parse: (form, name) => form.integer(name, label, range),
    read: (saved, name) => saved.integer(name, range.fallback, range.min, range.max),
  };
}

function checkbox(): Field<boolean> {
  return { parse: (form, name) => form.checkbox(name), read: (saved, name) => saved.flag(name) };
}

function choice<T extends string>(label: string, choices: Choices<T>): Field<T> {
  const values = valuesOf(choices);
  return {
    parse: (form, name) => form.choice(name, label, values),
    read: (saved, name) => saved.choice(name, values),
  };
}

function parseAddress(form: FieldReader, name: string): string {
  const typed = form.text(name, addressRule);
  const address = cleanAddress(typed);
  if (address === "" || isAddress(address)) return address;
  if (address.includes("%")) {
    const message = "An address with a zone (%) works on one PC only. Remove the zone, or enter a host name.";
    form.refuse(name, message);
    return "";
  }
  const problem = leadingZerosProblem(address) ?? "is neither an IP address nor a host name";
  form.refuse(name, `“${typed}” ${problem}.`);
  return "";
}

/** Adds the protocol IPP to a form that has the IPP class driver and no protocol. */
function withImpliedProtocol(input: FormInput): FormInput {
  const isNamed = (input.protocol ?? "").trim() !== "";
  return isNamed || input.driver_id?.trim() !== String(ippDriverId) ? input : { ...input, protocol: "ipp" };
}

/** Forms send RAW's default port for every protocol. With IPP it becomes IPP's default. */
function parsePortNumber(form: FieldReader, name: string): number {
  const number = form.integer(name, "The port number", portNumbers);
  const isIpp = form.text("protocol", { label: "The protocol" }) === "ipp";
  return isIpp && number === portNumbers.fallback ? ippPort : number;
}

/**
 * Accepts only characters that a URL path may contain unescaped (RFC 3986), without a query, and only paths that URL
 * parsers leave unchanged: parsers resolve “..”, so Windows would ask for another path.
 */
function parseIppPath(form: FieldReader, name: string): string {
  const typed = form.text(name, { label: "The path", maxLength: 255 });
  if (typed === "") return usualIppPath;
  const path = typed.startsWith("/") ? typed : `/${typed}`;
  if (isPlainPath(path)) return path;
  form.refuse(name, `“${typed}” is not a valid IPP path. Example: ${usualIppPath}.`);
  return usualIppPath;
}

function isPlainPath(path: string): boolean {
  if (!/^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[2-9A-Fa-f][0-9A-Fa-f])+$/.test(path) || /%7f/i.test(path))
    return false;
  return !path.includes("//") && new URL(path, "http://printer").pathname === path;
}

/** Also accepts the values of a checkbox and of an imported list. */
function parseCollate(form: FieldReader, name: string): PrinterSettings["collate"] {
  const typed = form.text(name, { label: "Collate" }).toLowerCase();
  if (["1", "true", "yes"].includes(typed)) return "on";
  if (["0", "false", "no"].includes(typed)) return "off";
  return form.choice(name, "Collate", valuesOf(collateModes));
}

function checkCombinations(form: FieldReader, printer: PrinterSettings): void {
  if (printer.protocol === "ipp" && printer.address === "") {
    form.refuse("address", "IPP needs the printer’s address: an IP address or a host name.");
  }
  if (printer.protocol === "lpr" && printer.lpr_queue === "" && printer.address !== "") {
    form.refuse("lpr_queue", "LPR needs the queue’s name on the printer: often lp or auto.");
  }
  if (printer.requires_reachable && printer.address === "") {
    form.refuse("requires_reachable", "Only a printer with an address can be reachable. Enter its address.");
  }
  const own = printer.name.toLowerCase();
  if (printer.replaces.some((name) => name.toLowerCase() === own)) {
    form.refuse("replaces", "Remove this printer’s own name from the list.");
  }
}

/** A line of “replaces” in canonical spelling, or the problem with it. */
type ReadReplaced = { readonly replaced: string } | { readonly problem: string };

const addressPrefix = "address:";
const maxServerLength = 253;

/** Reads lines without duplicates: a queue's name, `\\server\queue`, or `address:` with an IP address. */
function parseReplaces(form: FieldReader, name: string): string[] {
  const typed = form.text(name, { label: "The list of old queues", maxLength: 20_000, multiline: true });
  const problems: string[] = [];
  const replaced = typed.split("\n").flatMap((text, i) => {
    const line = cleanText(text);
    const read = line === "" ? { replaced: "" } : readReplaced(line);
    if ("replaced" in read) return read.replaced;
    problems.push(`Line ${i + 1} (“${line.slice(0, 60)}”) ${read.problem}.`);
    return [];
  });
  form.refuseLines(name, problems);
  return [...new Set(replaced)].filter((line) => line !== "");
}

function readReplaced(line: string): ReadReplaced {
  if (line.startsWith("\\\\")) return readConnection(line);
  if (line.toLowerCase().startsWith(addressPrefix)) return readAddress(line.slice(addressPrefix.length));
  return isQueueName(line) ? { replaced: line } : { problem: "cannot be the name of a local queue" };
}

/** @param line `\\server\queue` */
function readConnection(line: string): ReadReplaced {
  const [server = "", share = "", ...more] = line
    .slice(2)
    .split("\\", 3)
    .map((part) => part.trim());
  if (server === "" || share === "" || more.length > 0)
    return { problem: "is not a shared printer. Write \\\\server\\queue" };
  if (!isAddress(server) || server.length > maxServerLength)
    return { problem: leadingZerosProblem(server) ?? "has no valid server name" };
  const { forbidden, maxLength } = shareNameRule;
  if (share.length > maxLength)
    return { problem: `has a share name of ${share.length} characters. The limit is ${maxLength}` };
  const bad = [...forbidden].find((character) => share.includes(character));
  if (bad !== undefined) return { problem: `has a share name with “${bad}”, which Windows does not allow` };
  return { replaced: `\\\\${server}\\${share}` };
}

function readAddress(typed: string): ReadReplaced {
  const address = canonicalAddress(cleanAddress(typed.trim()));
  if (address !== undefined) return { replaced: addressPrefix + address };
  const zeros = leadingZerosProblem(typed.trim());
  return { problem: zeros ?? `is not a valid IP address. Example: ${addressPrefix}10.1.2.3` };
}

/** The form for a new printer with the settings of another one, which `like` names. */
export function copyOf(printer: Printer): FormInput {
  const empty = Object.fromEntries(deviceFields.map((name) => [name, ""]));
  return { ...printerFormValues(printer), ...empty, like: printer.name };
}
