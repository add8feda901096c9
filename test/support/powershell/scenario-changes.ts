import type { RunResult } from "./powershell.ts";
import { registryChanges } from "./scenario-registry.ts";

type State = RunResult["machine"];
type Table = Readonly<Record<string, unknown>>;

/** A change of one object on the machine, as Markdown. */
export interface Change {
  readonly verb: "added" | "changed" | "removed";
  readonly what: string;
}

/** Describes what a run changed on a machine. Windows' own registry entries for ports and drivers are left out. */
export function describeChanges(before: State, { machine: after, calls }: RunResult): string {
  const isRecreated = calls.includes("Remove-Printer") && calls.includes("Add-Printer");
  const changes = [
    ...listChanges("driver package", before.Store, after.Store),
    ...listChanges("trusted publisher", before.Publishers, after.Publishers),
    ...tableChanges("driver", before.Drivers, after.Drivers, versionOf),
    ...tableChanges("port", before.Ports, after.Ports, describePort),
    ...tableChanges("queue", before.Queues, after.Queues, describeQueue, isRecreated),
    ...registryChanges(before.Registry, after.Registry),
  ];
  const grouped = (["added", "changed", "removed"] as const).flatMap((verb) => {
    const ofVerb = changes.filter((change) => change.verb === verb).map(({ what }) => what);
    return ofVerb.length === 0 ? [] : [`${verb}: ${shorten(ofVerb.join(", "))}`];
  });
  const contacts = calls.includes("connection") ? ["printer contacted"] : [];
  const parts = [...contacts, ...serviceChanges(before, after, calls), ...grouped];
  return parts.join("; ") || "nothing";
}

/** What most installations add, without and with the driver. The document explains the short forms. */
const portAndQueue =
  /port `IP_10\.0\.0\.9` to 10\.0\.0\.9:9100, queue `Office` \((`[^`]+`) on `IP_10\.0\.0\.9`\)/;
const driverAndPrinter = /driver package `\w+\.inf`, driver (`[^`]+`) ([\d.]+), printer with \1/;

function shorten(changes: string): string {
  return changes
    .replace(portAndQueue, "printer with $1")
    .replace(driverAndPrinter, "printer and driver $1 $2");
}

function serviceChanges(before: State, after: State, calls: readonly string[]): string[] {
  const restarts = after.Restarts - before.Restarts;
  const starts = calls.filter((call) => call === "Start-Service").length - restarts;
  const { Status } = after.Spooler;
  return [
    ...(starts <= 0 ? [] : [`spooler started${starts > 1 ? ` ${starts} times` : ""}`]),
    ...(restarts > 0 ? ["spooler restarted"] : []),
    ...(Status !== "Running" && Status !== before.Spooler.Status ? [`spooler ends ${Status}`] : []),
  ];
}

function listChanges(what: string, before: readonly string[], after: readonly string[]): Change[] {
  const added = after.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !after.includes(name));
  return [
    ...added.map((name) => ({ verb: "added" as const, what: `${what} \`${name}\`` })),
    ...removed.map((name) => ({ verb: "removed" as const, what: `${what} \`${name}\`` })),
  ];
}

function tableChanges(
  what: string,
  before: readonly Table[],
  after: readonly Table[],
  detailOf: (row: Table) => string,
  isRecreated = false,
): Change[] {
  const find = (rows: readonly Table[], { Name }: Table) => rows.find((row) => row.Name === Name);
  const named = ({ Name }: Table) => `${what} ${formatValue(Name)}`;
  const added = after.filter((row) => find(before, row) === undefined);
  const removed = before.filter((row) => find(after, row) === undefined);
  const kept = after.flatMap((row) => {
    const fields = fieldChanges(find(before, row) ?? row, row);
    const prefix = isRecreated ? "recreated, " : "";
    return fields.length === 0 ? [] : [`${named(row)} (${prefix}${fields.join(", ")})`];
  });
  return [
    ...added.map((row) => ({ verb: "added" as const, what: `${named(row)} ${detailOf(row)}`.trim() })),
    ...kept.map((text) => ({ verb: "changed" as const, what: text })),
    ...removed.map((row) => ({ verb: "removed" as const, what: named(row) })),
  ];
}

const versionOf = ({ Version }: Table) => String(Version);

function describePort(port: Table): string {
  const { PrinterHostAddress, PortNumber, Monitor, Protocol, LprQueueName, SNMPEnabled } = port;
  if (Monitor !== undefined) return `(${Monitor})`;
  if (PrinterHostAddress === undefined) return "";
  const lpr = Protocol === 2 ? ` with LPR queue \`${LprQueueName}\`` : "";
  const snmp = SNMPEnabled ? ` with SNMP index ${port.SNMPIndex} and \`${port.SNMPCommunity}\`` : "";
  return `to ${PrinterHostAddress}:${PortNumber}${lpr}${snmp}`;
}

function describeQueue({ DriverName, PortName, Ticket }: Table): string {
  const ticket = Ticket === undefined ? "" : `, PrintTicket: ${formatValue(Ticket)}`;
  return `(${formatValue(DriverName)} on ${formatValue(PortName)}${ticket})`;
}

/** Fields that only the simulation uses. */
const internalFields = ["Name", "Leaving", "GoneAt", "IsWindows", "InfPath", "IsStored"];

function fieldChanges(before: Table, after: Table): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [old, now] = [formatValue(before[name]), formatValue(after[name])];
    return internalFields.includes(name) || old === now ? [] : [`${name} ${old} → ${now}`];
  });
}

/** A value as Markdown; a PrintTicket as its features without namespaces. */
function formatValue(value: unknown): string {
  if (value === undefined || value === null || value === "") return "none";
  if (Array.isArray(value)) return String(value.length);
  if (typeof value !== "object") return `\`${String(value).replace(/^WSD-0[-\w]+$/, "WSD-…")}\``;
  const { Features = value } = value as { Features?: object };
  const local = (text: unknown) => (typeof text === "string" ? text.split(" ").at(-1) : text);
  return Object.entries(Features)
    .map(([name, each]) => `${local(name)} ${formatValue(local(each))}`)
    .sort()
    .join(" and ");
}
