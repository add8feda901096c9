import type { Client } from "./client.ts";
import type { Driver } from "./driver.ts";
import type { Printer } from "./printer.ts";
import type { ListedInf } from "./report.ts";

// What is read together and shown together: the store makes these, services and pages take them.

/** A client as others refer to it. */
export type ClientName = Pick<Client, "id" | "name">;

/** A driver as others refer to it: what it is called, and whether it can be deployed. */
export type DriverName = Pick<Driver, "id" | "name" | "driver_desc" | "file_name" | "inf_path">;

/** A printer with all of its settings, and whose it is. */
export interface PrinterDetails {
  readonly printer: Printer;
  readonly client: ClientName | undefined;
}

/** A printer as lists show it: with no more of its settings than they need, and what it refers to. */
export interface ListedPrinter {
  readonly printer: Pick<Printer, "id" | "created_at" | "name" | "driver_desc" | "address" | "port_name">;
  readonly client: ClientName | undefined;
  readonly driver: DriverName | undefined;
}

/** A driver as lists show it: without its report, which may be large. */
export interface ListedDriver extends Omit<Driver, "report"> {
  /** What is known of the chosen INF; undefined where none is chosen. */
  readonly listed: ListedInf | undefined;
  readonly printer_count: number;
}

export interface ListedClient extends Client {
  readonly printer_count: number;
}

/** What a printer's form offers. */
export interface PrinterChoices {
  readonly clients: readonly ClientName[];
  readonly drivers: readonly DriverName[];
}

/** What an upload led to. */
export interface AddedDriver {
  readonly driver: Driver;
  /** False where the same content was there already. */
  readonly isNew: boolean;
}
