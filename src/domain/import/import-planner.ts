import { cleanAddress, derivePortName } from "../address.ts";
import { type DriverSummary, driverTitle } from "../drivers/driver.ts";
import { ippProblem } from "../drivers/windows-drivers.ts";
import { UserError } from "../errors.ts";
import { cleanText, type FormInput } from "../fields.ts";
import { arm64Problem } from "../printers/arm64-driver.ts";
import { type ClientSettings, clientNameKey, parseClient } from "../printers/client.ts";
import type { ClientName } from "../printers/listings.ts";
import { isTicketName, readTicket, ticketName } from "../printers/print-ticket.ts";
import type { Printer, PrinterSettings } from "../printers/printer.ts";
import { parsePrinter, printerFormValues } from "../printers/printer-fields.ts";
import { chooseDriver, type DriverChoice } from "./import-drivers.ts";
import { matchRows, type RowMatch } from "./import-match.ts";
import type { Change, ImportOptions, ImportPlan, Known, PlannedRow, TicketWrite } from "./import-plan.ts";
import type { ImportedList, ImportRow } from "./import-row.ts";

/** Says what an import would do; nothing is changed. */
export function planImport(
  list: ImportedList,
  known: Known,
  { client, takesAll }: ImportOptions,
): ImportPlan {
  const isTaken = (row: ImportRow) => takesAll || row.leftOut === undefined;
  const planner = new RowPlanner(known, list.rows.filter(isTaken), client);
  const rows = list.rows.map((row) => (isTaken(row) ? planner.plan(row) : leftOut(row)));
  const counts = { wrong: 0, changes: 0, new: 0, same: 0, "left out": 0 };
  const made = new Map<string, string>();
  for (const { mark, write } of rows) {
    counts[mark]++;
    if (write?.newClient) made.set(clientNameKey(write.newClient.name), write.newClient.name);
  }
  const missing = [...planner.missing.values()].map(({ name, printers }) => {
    return { name, printers, maker: list.makers.get(name.toLowerCase()) ?? "" };
  });
  return { rows, counts, newClients: [...made.values()], missing, notices: list.notices };
}

/** A row that is not taken. */
function leftOut(row: ImportRow): PlannedRow {
  const nothing = { driver: undefined, printerId: undefined, changes: [], notes: [], write: undefined };
  return { ...shownOf(row), ...nothing, mark: "left out", reasons: [row.leftOut ?? ""] };
}

/** What a page shows of a row, however it was meant. */
function shownOf({ number, values, client }: ImportRow) {
  const address = shownText(values.address || values.port_name || "");
  return { number, name: shownText(values.name ?? ""), client: shownText(client ?? ""), address };
}

/** A text from outside, as far as a page shows it. */
function shownText(text: string): string {
  return cleanText(text.slice(0, 300));
}

/** A printer that is here, and its form. */
interface Current {
  readonly printer: Printer;
  readonly form: FormInput;
}

/** What a row's drivers come to. */
interface DriverChoices {
  readonly driver: DriverChoice;
  readonly arm64Driver: DriverChoice;
}

/** A row's client. */
interface RowClient {
  /** As a form sends it; empty is none, or one that is yet to be made. */
  readonly id: string;
  readonly name: string;
  /** What it is made of. */
  readonly made: ClientSettings | undefined;
}

/** Plans a row after the other. */
class RowPlanner {
  /** Drivers that are not here, by their names in lower case. */
  readonly missing = new Map<string, { readonly name: string; printers: number }>();
  readonly #known: Known;
  readonly #clients: ReadonlyMap<string, ClientName>;
  readonly #clientNames: ReadonlyMap<number, string>;
  readonly #client: string;
  readonly #matches: ReadonlyMap<ImportRow, RowMatch>;
  readonly #tickets: ReadonlyMap<string, Printer>;

  /** @param client of new printers whose rows say nothing of one */
  constructor(known: Known, rows: readonly ImportRow[], client: string) {
    const { printers, clients } = known;
    this.#known = known;
    this.#client = client;
    this.#clients = new Map(clients.map((each) => [clientNameKey(each.name), each]));
    this.#clientNames = new Map(clients.map(({ id, name }) => [id, name]));
    this.#matches = matchRows(rows, { printers, clients: this.#clients, client });
    this.#tickets = ticketsAmong(printers, rows);
  }

  plan(row: ImportRow): PlannedRow {
    const { printer, problem, note } = this.#matches.get(row) ?? {};
    const reasons = [...row.problems, ...(problem === undefined ? [] : [problem])];
    const client = this.#clientOf(row, printer, reasons);
    const choices = this.#choose(row, printer, reasons);
    const ticket = rowTicket(row.ticket, printer, this.#tickets, reasons);
    const notes = [note, choices.driver.note, choices.arm64Driver.note, ticket.note];
    const visible = {
      ...shownOf(row),
      driver: choices.driver.driver,
      printerId: printer?.id,
      client: client.id === "" ? shownText(client.name) : (this.#clientNames.get(Number(client.id)) ?? ""),
      notes: [...row.notes, ...notes.flatMap((text) => text ?? [])],
    };
    // A ticket is looked at by itself: it may be large, and a row does not hold it.
    const current = printer && {
      printer,
      form: Object.assign(printerFormValues(printer), { print_ticket: "" }),
    };
    const form = formOf(row, current, client.id, choices);
    // What was kept once is not judged anew.
    const isChanged = client.made !== undefined || ticket.change !== undefined;
    const isKept = current !== undefined && !isChanged && isSameForm(form, current.form);
    const settings = isKept ? undefined : this.#settingsOf(form, choices, printer, reasons);
    if (reasons.length > 0) return { ...visible, mark: "wrong", reasons, changes: [], write: undefined };
    // IPP brings its driver along.
    const driver = visible.driver ?? this.#known.drivers.get(settings?.driver_id);
    return { ...visible, driver, reasons, ...this.#changed(current, settings, client.made, ticket) };
  }

  #changed(
    current: Current | undefined,
    settings: PrinterSettings | undefined,
    newClient: ClientSettings | undefined,
    ticket: RowTicket,
  ): Pick<PlannedRow, "mark" | "changes" | "write"> {
    const changes = settings && current ? this.#changes(current.form, settings, newClient) : [];
    if (current !== undefined && ticket.change !== undefined) changes.push(ticket.change);
    const isSame = current !== undefined && changes.length === 0;
    if (settings === undefined || isSame) return { mark: "same", changes, write: undefined };
    const write = { printerId: current?.printer.id, newClient, ticket: ticket.write, settings };
    return { mark: current === undefined ? "new" : "changes", changes, write };
  }

  #choose(row: ImportRow, printer: Printer | undefined, reasons: string[]): DriverChoices {
    const { drivers } = this.#known;
    const driver = chooseDriver("driver", row, printer, drivers);
    const arm64Driver = chooseDriver("arm64Driver", row, printer, drivers);
    for (const { missing, problem } of [driver, arm64Driver]) {
      if (problem !== undefined) reasons.push(problem);
      if (missing === undefined) continue;
      const counted = this.missing.get(missing.toLowerCase()) ?? { name: missing, printers: 0 };
      counted.printers++;
      this.missing.set(missing.toLowerCase(), counted);
    }
    return { driver, arm64Driver };
  }

  #clientOf(row: ImportRow, printer: Printer | undefined, reasons: string[]): RowClient {
    if (row.client === undefined && printer !== undefined)
      return { id: String(printer.client_id ?? ""), name: "", made: undefined };
    const name = cleanText(row.client ?? this.#client);
    const known = this.#clients.get(clientNameKey(name));
    if (name === "" || known !== undefined) return { id: String(known?.id ?? ""), name, made: undefined };
    return { id: "", name, made: accepted(() => parseClient({ name }), reasons) };
  }

  /** Undefined where it is refused. */
  #settingsOf(
    form: FormInput,
    { driver: { driver }, arm64Driver: { driver: arm64Driver } }: DriverChoices,
    printer: Printer | undefined,
    reasons: string[],
  ): PrinterSettings | undefined {
    const settings = accepted(() => parsePrinter(form), reasons);
    if (settings === undefined) return undefined;
    const { driver_id, driver_desc, arm64_driver_id, arm64_driver_desc, protocol } = settings;
    if (driver) reasons.push(...Object.values(ippProblem(protocol, driver)));
    const isOwn = printer?.driver_id === driver_id && printer?.driver_desc === driver_desc;
    if (!isOwn) this.#checkModel(driver, driver_desc, reasons);
    const isOwnArm64 =
      printer?.arm64_driver_id === arm64_driver_id && printer?.arm64_driver_desc === arm64_driver_desc;
    if (!isOwnArm64) this.#checkModel(arm64Driver, arm64_driver_desc, reasons);
    const isJudged = arm64Driver && (!isOwnArm64 || printer?.protocol !== protocol);
    const problem = isJudged && arm64Problem(arm64Driver, protocol);
    if (problem) reasons.push(problem);
    return settings;
  }

  #checkModel(driver: DriverSummary | undefined, model: string, reasons: string[]): void {
    if (driver === undefined || model === "" || this.#known.drivers.hasModel(driver, model)) return;
    reasons.push(`The driver ${driverTitle(driver)} has no model “${model}”.`);
  }

  /** @param made the client that is made with it */
  #changes(form: FormInput, settings: PrinterSettings, made: ClientSettings | undefined): Change[] {
    const after = printerFormValues(settings);
    return Object.keys(after).flatMap((field) => {
      const [from, to] = [form[field] ?? "", after[field] ?? ""];
      const isMade = field === "client_id" && made !== undefined;
      return from === to && !isMade ? [] : [this.#named(field, from, to, made)];
    });
  }

  /** Clients and drivers by what people call them. */
  #named(field: string, from: string, to: string, made: ClientSettings | undefined): Change {
    if (field === "client_id") {
      const name = (id: string) => this.#clientNames.get(Number(id)) ?? "";
      return { field: "client", from: name(from), to: made?.name ?? name(to) };
    }
    if (field !== "driver_id" && field !== "arm64_driver_id") return { field, from, to };
    const title = (id: string) => {
      const driver = this.#known.drivers.get(Number(id));
      return driver ? driverTitle(driver) : "";
    };
    const isClear = title(from) !== title(to);
    const visible = (id: string) => (isClear ? title(id) : `${title(id)} (driver ${id})`);
    return { field: field.slice(0, -"_id".length), from: visible(from), to: visible(to) };
  }
}

/** The whole form that a row stands for. */
function formOf(
  { values }: ImportRow,
  current: Current | undefined,
  client_id: string,
  { driver, arm64Driver }: DriverChoices,
): FormInput {
  // V8 takes four times as long to spread so many fields.
  return Object.assign({}, current?.form, current && followingPort(values, current.printer), values, {
    client_id,
    driver_id: String(driver.driver?.id ?? ""),
    driver_desc: driver.driver_desc,
    arm64_driver_id: String(arm64Driver.driver?.id ?? ""),
    // Without its driver the model means nothing.
    arm64_driver_desc: arm64Driver.driver === undefined ? "" : arm64Driver.driver_desc,
  });
}

function isSameForm(form: FormInput, before: FormInput): boolean {
  return Object.keys(form).every((name) => form[name] === before[name]);
}

/** A port that is named after the printer's address is named after the new one. */
function followingPort({ address, port_name }: FormInput, printer: Printer): FormInput {
  if (address === undefined || port_name !== undefined) return {};
  const isNew = cleanAddress(cleanText(address)) !== printer.address;
  return isNew && printer.port_name === derivePortName(printer.address) ? { port_name: "" } : {};
}

/** What a constructor makes; undefined where it refuses, with the reasons. */
function accepted<T>(make: () => T, reasons: string[]): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    reasons.push(error.message);
    return undefined;
  }
}

/** What a row makes of its printer's PrintTicket; without a write it stays as it is. */
interface RowTicket {
  readonly write?: TicketWrite;
  readonly change?: Change;
  readonly note?: string;
}

/** Printers by the names of their tickets, as far as rows name them. */
function ticketsAmong(
  printers: readonly Printer[],
  rows: readonly ImportRow[],
): ReadonlyMap<string, Printer> {
  const wanted = new Set(rows.map(({ ticket = "" }) => ticket.trim()).filter(isTicketName));
  const found = new Map<string, Printer>();
  for (const printer of printers) {
    if (found.size === wanted.size) break;
    const name = ticketName(printer.print_ticket);
    if (wanted.has(name) && !found.has(name)) found.set(name, printer);
  }
  return found;
}

/**
 * A list names tickets, which are too large for its cells; it may bring one as XML.
 * @param cell undefined leaves the printer as it is
 * @param known printers that are here, by the names of their tickets
 * @param reasons is given why the cell cannot be taken
 */
function rowTicket(
  cell: string | undefined,
  printer: Printer | undefined,
  known: ReadonlyMap<string, Printer>,
  reasons: string[],
): RowTicket {
  const typed = cell?.trim();
  if (typed === undefined) return {};
  const own = printer?.print_ticket ?? "";
  if (isTicketName(typed)) {
    if (typed === ticketName(own)) return {};
    const other = known.get(typed);
    if (other !== undefined) return changed({ of: other.id, text: "" }, own, other.print_ticket);
    return { note: own === "" ? notHere : notThisOne };
  }
  const read = readTicket(typed);
  if ("problem" in read) reasons.push(read.problem);
  if ("problem" in read || read.ticket === own) return {};
  return changed({ of: undefined, text: read.ticket }, own, read.ticket);
}

const notHere = "Its PrintTicket is not here, and a list does not carry it: set it on the printer’s page.";
const notThisOne = "The PrintTicket that the list names is not here: the printer keeps its own.";

function changed(write: TicketWrite, from: string, to: string): RowTicket {
  return { write, change: { field: "print_ticket", from: sizeOf(from), to: sizeOf(to) } };
}

function sizeOf(ticket: string): string {
  return ticket === ""
    ? ""
    : `${Math.ceil(Buffer.byteLength(ticket) / 1024)} KB (${ticketName(ticket).slice(0, 15)}…)`;
}
