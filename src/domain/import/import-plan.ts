import type { KeptChange } from "../deletion.ts";
import type { DriverSummary } from "../drivers/driver.ts";
import type { ClientSettings } from "../printers/client.ts";
import type { Finding } from "../printers/findings.ts";
import type { ClientName } from "../printers/listings.ts";
import type { Printer, PrinterSettings } from "../printers/printer.ts";
import type { KnownDrivers } from "./import-drivers.ts";

/** What an import would do with a row. */
export type RowStatus = "wrong" | "changes" | "new" | "same" | "left out";

/** A field whose value would change. */
export interface Change {
  readonly field: string;
  readonly from: string;
  readonly to: string;
}

/** A PrintTicket to write: copied from the printer `of`, else `text`. Tickets may be large, so plans do not repeat them. */
export interface TicketWrite {
  readonly of: number | undefined;
  readonly text: string;
}

/** What an import writes for a row. The preview's digest covers it, so its field names must not change. */
export interface ImportWrite {
  /** Undefined for a new printer. */
  readonly printerId: number | undefined;
  /** The client to create. */
  readonly newClient: ClientSettings | undefined;
  /** Undefined to keep the printer's ticket. */
  readonly ticket: TicketWrite | undefined;
  /** Without the ticket and the new client. */
  readonly settings: PrinterSettings;
}

/** A row with what an import would do with it. */
export interface PlannedRow {
  readonly number: number;
  readonly status: RowStatus;
  readonly name: string;
  /** Empty for none. */
  readonly client: string;
  readonly address: string;
  readonly driver: DriverSummary | undefined;
  /** The model that the driver deploys; empty without a driver. */
  readonly model: string;
  readonly printerId: number | undefined;
  readonly changes: readonly Change[];
  /** Why the row is wrong or left out. */
  readonly reasons: readonly string[];
  readonly remarks: readonly string[];
  /** Printers of the same client that have the same name or address afterwards; see `idAfter`. */
  readonly collisions: readonly Finding[];
  readonly write: ImportWrite | undefined;
}

/** A driver that rows name and Platen does not have. */
interface MissingDriver {
  readonly name: string;
  /** Empty if unknown. */
  readonly maker: string;
  readonly printers: number;
}

/** What an import would do, for all rows. */
export interface ImportPlan {
  readonly rows: readonly PlannedRow[];
  readonly counts: Readonly<Record<RowStatus, number>>;
  /** The names of the clients that the import creates. */
  readonly newClients: readonly string[];
  readonly missing: readonly MissingDriver[];
  readonly notices: readonly string[];
}

/** A finished import. */
export interface ImportDone extends Pick<ImportPlan, "counts" | "newClients"> {
  /** Restores the printers that the import changed. */
  readonly undo: KeptChange;
}

/** Platen's records. */
export interface KnownRecords {
  readonly printers: readonly Printer[];
  readonly clients: readonly ClientName[];
  readonly drivers: KnownDrivers;
}

/** The choices on the import form, besides the list itself. */
export interface ImportOptions {
  /** The client of rows that name none, unless the printer is known otherwise; empty for no client. */
  readonly client: string;
  /** Whether rows that are left out by default are imported too. */
  readonly takesAll: boolean;
}
