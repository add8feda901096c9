import type { DriverSummary } from "../drivers/driver.ts";
import type { ClientSettings } from "../printers/client.ts";
import type { ClientName } from "../printers/listings.ts";
import type { Printer, PrinterSettings } from "../printers/printer.ts";
import type { KnownDrivers } from "./import-drivers.ts";

/** What would become of a row. */
export type Mark = "wrong" | "changes" | "new" | "same" | "left out";

/** A field whose value would be another. */
export interface Change {
  readonly field: string;
  readonly from: string;
  readonly to: string;
}

/** A PrintTicket, which may be large: that of a printer which is here, else a text. */
export interface TicketWrite {
  readonly of: number | undefined;
  readonly text: string;
}

/** What is written of a row. */
export interface ImportWrite {
  /** Undefined makes a printer. */
  readonly printerId: number | undefined;
  /** The client that is made with it. */
  readonly newClient: ClientSettings | undefined;
  /** Undefined leaves the printer with its own. */
  readonly ticket: TicketWrite | undefined;
  /** Without the ticket, and without a client that is made with it. */
  readonly settings: PrinterSettings;
}

/** A row with what would become of it. */
export interface PlannedRow {
  readonly number: number;
  readonly mark: Mark;
  readonly name: string;
  /** Empty where it has none. */
  readonly client: string;
  readonly address: string;
  readonly driver: DriverSummary | undefined;
  readonly printerId: number | undefined;
  readonly changes: readonly Change[];
  /** Why it is wrong or left out. */
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
  readonly write: ImportWrite | undefined;
}

/** A driver that rows name and that is not here. */
interface MissingDriver {
  readonly name: string;
  /** Empty where it is not known. */
  readonly maker: string;
  readonly printers: number;
}

/** What an import would do. */
export interface ImportPlan {
  readonly rows: readonly PlannedRow[];
  readonly counts: Readonly<Record<Mark, number>>;
  /** The names of the clients that are made with it. */
  readonly newClients: readonly string[];
  readonly missing: readonly MissingDriver[];
  readonly notices: readonly string[];
}

/** All that is here already. */
export interface Known {
  readonly printers: readonly Printer[];
  readonly clients: readonly ClientName[];
  readonly drivers: KnownDrivers;
}

/** What was asked for besides the list itself. */
export interface ImportOptions {
  /** The client of rows that say nothing of one and are no printer of another; empty is none. */
  readonly client: string;
  /** Takes also what is left out otherwise. */
  readonly takesAll: boolean;
}
