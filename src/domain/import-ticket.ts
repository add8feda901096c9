import type { Change, TicketWrite } from "./import-plan.ts";
import type { ImportRow } from "./import-row.ts";
import { isTicketName, readTicket, ticketName } from "./print-ticket.ts";
import type { Printer } from "./printer.ts";

/** What a row makes of its printer's PrintTicket; without a write it stays as it is. */
export interface RowTicket {
  readonly write?: TicketWrite;
  readonly change?: Change;
  readonly note?: string;
}

/** Printers by the names of their tickets, as far as rows name them. */
export function ticketsAmong(
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
export function rowTicket(
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
