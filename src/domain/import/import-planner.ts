import { cleanAddress, derivePortName } from "../address.ts";
import { getOrAdd } from "../collections.ts";
import { type DriverSummary, driverTitle } from "../drivers/driver.ts";
import { ippProblem } from "../drivers/windows-drivers.ts";
import { UserError } from "../errors.ts";
import { cleanText, type FormInput } from "../fields.ts";
import { type ClientSettings, parseClient } from "../printers/client.ts";
import type { ClientName } from "../printers/listings.ts";
import { isTicketDigest, readTicket, ticketDigest } from "../printers/print-ticket.ts";
import { effectiveDescription, type Printer, type PrinterSettings } from "../printers/printer.ts";
import { arm64Problem } from "../printers/printer-drivers.ts";
import { parsePrinter, printerFormValues } from "../printers/printer-fields.ts";
import { nameKey } from "../text.ts";
import { findingsAfter, idAfter } from "./import-collisions.ts";
import { chooseDriver, type DriverChoice } from "./import-drivers.ts";
import { matchRows, type RowMatch } from "./import-match.ts";
import type {
  Change,
  ImportOptions,
  ImportPlan,
  KnownRecords,
  PlannedRow,
  TicketWrite,
} from "./import-plan.ts";
import type { ImportedList, ImportRow } from "./import-row.ts";

/** Plans an import; changes nothing. */
export function planImport(
  list: ImportedList,
  known: KnownRecords,
  { client, takesAll }: ImportOptions,
): ImportPlan {
  const isImported = (row: ImportRow) => takesAll || row.leftOut === undefined;
  const planner = new RowPlanner(known, list.rows.filter(isImported), client);
  const planned = list.rows.map((row) => (isImported(row) ? planner.plan(row) : leftOutRow(row)));
  const findings = findingsAfter(planned, known.printers);
  const rows = planned.map((row) => {
    return row.write ? { ...row, collisions: findings.get(idAfter(row)) ?? [] } : row;
  });
  const counts = { wrong: 0, changes: 0, new: 0, same: 0, "left out": 0 };
  const newClients = new Map<string, string>();
  for (const { status, write } of rows) {
    counts[status]++;
    if (write?.newClient) newClients.set(nameKey(write.newClient.name), write.newClient.name);
  }
  const missing = [...planner.missing.values()].map(({ name, printers }) => {
    return { name, printers, maker: list.makers.get(name.toLowerCase()) ?? "" };
  });
  const notices = [...addressNotice(list, rows), ...list.notices];
  return { rows, counts, newClients: [...newClients.values()], missing, notices };
}

/** Says that new printers of a list without addresses have none, or cannot be added. */
function addressNotice({ isWithoutAddresses }: ImportedList, rows: readonly PlannedRow[]): string[] {
  const added = rows.filter(({ printerId }) => printerId === undefined);
  if (!isWithoutAddresses || added.length === 0) return [];
  const consequence = added.some(({ status }) => status === "new")
    ? "New printers get none, and deploy only their driver."
    : "It changes printers that Platen has, and adds none.";
  return [
    `This list has no addresses. ${consequence} The command on the import page copies a list with addresses. Or add the column “address”.`,
  ];
}

function leftOutRow(row: ImportRow): PlannedRow {
  return { ...unplanned(row), status: "left out", reasons: [row.leftOut ?? ""] };
}

/** A row's own texts, as a page shows them, without a driver and a change. */
function unplanned({ number, values, client = "", remarks }: ImportRow) {
  const name = visibleText(values.name ?? "");
  const address = visibleText(values.address || values.port_name || "");
  const nothing = { driver: undefined, model: "", printerId: undefined, write: undefined };
  return {
    number,
    name,
    client: visibleText(client),
    address,
    remarks,
    ...nothing,
    changes: [],
    collisions: [],
  };
}

/** A text from outside, cut and cleaned for a page. */
function visibleText(text: string): string {
  return cleanText(text.slice(0, 300));
}

/** An existing printer and its form values. */
interface Current {
  readonly printer: Printer;
  readonly form: FormInput;
}

type DriverChoices = Readonly<Record<"driver" | "arm64Driver", DriverChoice>>;

/** A row's client. */
interface RowClient {
  /** As a form sends it; empty for none, or for a client that the import creates. */
  readonly id: string;
  readonly name: string;
  /** The client to create. */
  readonly newClient: ClientSettings | undefined;
}

/** Plans rows one by one. */
class RowPlanner {
  /** Drivers that rows name and Platen does not have, by name in lower case. */
  readonly missing = new Map<string, { readonly name: string; printers: number }>();
  readonly #known: KnownRecords;
  readonly #clients: ReadonlyMap<string, ClientName>;
  readonly #clientNames: ReadonlyMap<number, string>;
  readonly #client: string;
  readonly #matches: ReadonlyMap<ImportRow, RowMatch>;
  readonly #printersByTicket: ReadonlyMap<string, Printer>;

  /** @param client the client of new printers whose rows name none */
  constructor(known: KnownRecords, rows: readonly ImportRow[], client: string) {
    const { printers, clients } = known;
    this.#known = known;
    this.#client = client;
    this.#clients = new Map(clients.map((each) => [nameKey(each.name), each]));
    this.#clientNames = new Map(clients.map(({ id, name }) => [id, name]));
    this.#matches = matchRows(rows, { printers, clients: this.#clients, client });
    this.#printersByTicket = printersByTicket(printers, rows);
  }

  plan(row: ImportRow): PlannedRow {
    const { printer, problem, remark } = this.#matches.get(row) ?? {};
    const problemIfNew = printer === undefined ? row.problemIfNew : undefined;
    const reasons = [...row.problems, problem, problemIfNew].filter((text) => text !== undefined);
    const client = this.#clientOf(row, printer, reasons);
    const choices = this.#choose(row, printer, reasons);
    const ticket = rowTicket(row.ticket, printer, this.#printersByTicket, reasons);
    const remarks = [remark, choices.driver.remark, choices.arm64Driver.remark, ticket.remark];
    const visible = {
      ...unplanned(row),
      driver: choices.driver.driver,
      printerId: printer?.id,
      client: client.id === "" ? visibleText(client.name) : (this.#clientNames.get(Number(client.id)) ?? ""),
      remarks: [...row.remarks, ...remarks.flatMap((text) => text ?? [])],
    };
    // The ticket is compared separately: it may be large, and most rows contain only its digest.
    const current = printer && {
      printer,
      form: Object.assign(printerFormValues(printer), { print_ticket: "" }),
    };
    const form = formOf(row, current, client.id, choices);
    // Values that do not change are not validated again.
    const isChanged = client.newClient !== undefined || ticket.change !== undefined;
    const isKept = current !== undefined && !isChanged && isSameForm(form, current.form);
    const settings = isKept ? undefined : this.#settingsOf(form, choices, printer, reasons);
    if (reasons.length > 0) return { ...visible, status: "wrong", reasons };
    // For IPP, `parsePrinter` sets the driver.
    const driver = visible.driver ?? this.#known.drivers.get(settings?.driver_id);
    const model = driver ? effectiveDescription(choices.driver, driver) : "";
    return {
      ...visible,
      driver,
      model,
      reasons,
      ...this.#resultOf(current, settings, client.newClient, ticket),
    };
  }

  #resultOf(
    current: Current | undefined,
    settings: PrinterSettings | undefined,
    newClient: ClientSettings | undefined,
    ticket: RowTicket,
  ): Pick<PlannedRow, "status" | "changes" | "write"> {
    const changes = settings && current ? this.#changes(current.form, settings, newClient) : [];
    if (current !== undefined && ticket.change !== undefined) changes.push(ticket.change);
    const isSame = current !== undefined && changes.length === 0;
    if (settings === undefined || isSame) return { status: "same", changes, write: undefined };
    const write = { printerId: current?.printer.id, newClient, ticket: ticket.write, settings };
    return { status: current === undefined ? "new" : "changes", changes, write };
  }

  #choose(row: ImportRow, printer: Printer | undefined, reasons: string[]): DriverChoices {
    const { drivers } = this.#known;
    const driver = chooseDriver("driver", row, printer, drivers);
    const arm64Driver = chooseDriver("arm64Driver", row, printer, drivers);
    for (const { missing, problem } of [driver, arm64Driver]) {
      if (problem !== undefined) reasons.push(problem);
      if (missing === undefined) continue;
      getOrAdd(this.missing, missing.toLowerCase(), () => ({ name: missing, printers: 0 })).printers++;
    }
    return { driver, arm64Driver };
  }

  #clientOf(row: ImportRow, printer: Printer | undefined, reasons: string[]): RowClient {
    if (row.client === undefined && printer !== undefined)
      return { id: String(printer.client_id ?? ""), name: "", newClient: undefined };
    const name = cleanText(row.client ?? this.#client);
    const known = this.#clients.get(nameKey(name));
    if (name === "" || known !== undefined)
      return { id: String(known?.id ?? ""), name, newClient: undefined };
    return { id: "", name, newClient: tryParse(() => parseClient({ name }), reasons) };
  }

  /** @returns undefined if the form is invalid; the reasons are added to `reasons` */
  #settingsOf(
    form: FormInput,
    { driver: { driver }, arm64Driver: { driver: arm64Driver } }: DriverChoices,
    printer: Printer | undefined,
    reasons: string[],
  ): PrinterSettings | undefined {
    const settings = tryParse(() => parsePrinter(form), reasons);
    if (settings === undefined) return undefined;
    const { driver_id, driver_desc, arm64_driver_id, arm64_driver_desc, protocol } = settings;
    if (driver) reasons.push(...Object.values(ippProblem(protocol, driver)));
    const isSame = printer?.driver_id === driver_id && printer?.driver_desc === driver_desc;
    if (!isSame) this.#checkModel(driver, driver_desc, reasons);
    const isSameArm64 =
      printer?.arm64_driver_id === arm64_driver_id && printer?.arm64_driver_desc === arm64_driver_desc;
    if (!isSameArm64) this.#checkModel(arm64Driver, arm64_driver_desc, reasons);
    const isChecked = arm64Driver && (!isSameArm64 || printer?.protocol !== protocol);
    const problem = isChecked && arm64Problem(arm64Driver, protocol);
    if (problem) reasons.push(problem);
    return settings;
  }

  #checkModel(driver: DriverSummary | undefined, model: string, reasons: string[]): void {
    if (driver === undefined || model === "" || this.#known.drivers.hasModel(driver, model)) return;
    const nearest = this.#known.drivers.nearestInWords(driver, model);
    reasons.push(`The driver ${driverTitle(driver)} does not contain the model “${model}”.${nearest}`);
  }

  /** @param newClient the client that the import creates for this printer */
  #changes(form: FormInput, settings: PrinterSettings, newClient: ClientSettings | undefined): Change[] {
    const after = printerFormValues(settings);
    return Object.keys(after).flatMap((field) => {
      const [from, to] = [form[field] ?? "", after[field] ?? ""];
      const isNewClient = field === "client_id" && newClient !== undefined;
      return from === to && !isNewClient ? [] : [this.#namedChange(field, from, to, newClient)];
    });
  }

  /** A change with names in place of the ids of clients and drivers. */
  #namedChange(field: string, from: string, to: string, newClient: ClientSettings | undefined): Change {
    if (field === "client_id") {
      const name = (id: string) => this.#clientNames.get(Number(id)) ?? "";
      return { field: "client", from: name(from), to: newClient?.name ?? name(to) };
    }
    if (field !== "driver_id" && field !== "arm64_driver_id") return { field, from, to };
    const title = (id: string) => {
      const driver = this.#known.drivers.get(Number(id));
      return driver ? driverTitle(driver) : "";
    };
    const differByTitle = title(from) !== title(to);
    const titleOf = (id: string) => (differByTitle ? title(id) : `${title(id)} (driver ${id})`);
    return { field: field.slice(0, -"_id".length), from: titleOf(from), to: titleOf(to) };
  }
}

/** The complete printer form for a row. */
function formOf(
  { values }: ImportRow,
  current: Current | undefined,
  client_id: string,
  { driver, arm64Driver }: DriverChoices,
): FormInput {
  // `Object.assign`, because V8 takes four times as long to spread this many fields.
  return Object.assign({}, current?.form, current && portForNewAddress(values, current.printer), values, {
    client_id,
    driver_id: String(driver.driver?.id ?? ""),
    driver_desc: driver.driver_desc,
    arm64_driver_id: String(arm64Driver.driver?.id ?? ""),
    // A model means nothing without a driver.
    arm64_driver_desc: arm64Driver.driver === undefined ? "" : arm64Driver.driver_desc,
  });
}

function isSameForm(form: FormInput, before: FormInput): boolean {
  return Object.keys(form).every((name) => form[name] === before[name]);
}

/** Clears a port name that was derived from the old address, so that it is derived from the new one. */
function portForNewAddress({ address, port_name }: FormInput, printer: Printer): FormInput {
  if (address === undefined || port_name !== undefined) return {};
  const isNew = cleanAddress(cleanText(address)) !== printer.address;
  return isNew && printer.port_name === derivePortName(printer.address) ? { port_name: "" } : {};
}

/** The parsed value, or undefined after adding a UserError's message to `reasons`. */
function tryParse<T>(parse: () => T, reasons: string[]): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    reasons.push(error.message);
    return undefined;
  }
}

/** How a row changes its printer's PrintTicket. Without `write` the ticket stays the same. */
interface RowTicket {
  readonly write?: TicketWrite;
  readonly change?: Change;
  readonly remark?: string;
}

/** Printers by the digest of their ticket, for the digests that occur in rows. */
function printersByTicket(
  printers: readonly Printer[],
  rows: readonly ImportRow[],
): ReadonlyMap<string, Printer> {
  const wanted = new Set(rows.map(({ ticket = "" }) => ticket.trim()).filter(isTicketDigest));
  const found = new Map<string, Printer>();
  for (const printer of printers) {
    if (found.size === wanted.size) break;
    const digest = ticketDigest(printer.print_ticket);
    if (wanted.has(digest) && !found.has(digest)) found.set(digest, printer);
  }
  return found;
}

/**
 * Reads a ticket cell. It contains a ticket's digest, because most tickets are too large for a cell, or the XML itself.
 * @param cell undefined to leave the printer unchanged
 * @param printersByDigest existing printers by the digest of their ticket
 * @param reasons receives the reason if the cell is invalid
 */
function rowTicket(
  cell: string | undefined,
  printer: Printer | undefined,
  printersByDigest: ReadonlyMap<string, Printer>,
  reasons: string[],
): RowTicket {
  const typed = cell?.trim();
  if (typed === undefined) return {};
  const own = printer?.print_ticket ?? "";
  if (isTicketDigest(typed)) {
    if (typed === ticketDigest(own)) return {};
    const other = printersByDigest.get(typed);
    if (other !== undefined) return ticketChange({ of: other.id, text: "" }, own, other.print_ticket);
    return { remark: own === "" ? ticketMissing : ticketKept };
  }
  const read = readTicket(typed);
  if ("problem" in read) reasons.push(read.problem);
  if ("problem" in read || read.ticket === own) return {};
  return ticketChange({ of: undefined, text: read.ticket }, own, read.ticket);
}

const ticketMissing = "Platen does not have this PrintTicket. Set it on the printer’s page.";
const ticketKept = "Platen does not have this PrintTicket. The printer keeps its own.";

function ticketChange(write: TicketWrite, from: string, to: string): RowTicket {
  return { write, change: { field: "print_ticket", from: sizeOf(from), to: sizeOf(to) } };
}

function sizeOf(ticket: string): string {
  return ticket === ""
    ? ""
    : `${Math.ceil(Buffer.byteLength(ticket) / 1024)} KB (${ticketDigest(ticket).slice(0, 15)}…)`;
}
