import type { ArchiveState, Driver, DriverSummary } from "../drivers/driver.ts";
import type { Client } from "./client.ts";
import type { Finding, State } from "./findings.ts";
import type { Printer } from "./printer.ts";
import type { ListedSettings } from "./printer-fields.ts";

// What is read together and shown together: the store makes these, services and pages take them.

/** A client as others refer to it. */
export type ClientName = Pick<Client, "id" | "name">;

/** A client with what its printers have of it. */
export type PrinterOwner = ClientName & Pick<Client, "subnets">;

/** A printer with all of its settings, and whose it is. */
export interface PrinterDetails {
  readonly printer: Printer;
  readonly client: PrinterOwner | undefined;
}

/** A printer as lists show it: with no more of its settings than they need, and what it refers to. */
export interface ListedPrinter {
  readonly printer: Pick<Printer, "id" | "created_at" | "name"> & ListedSettings;
  readonly client: ClientName | undefined;
  readonly driver: DriverSummary | undefined;
  /** Of ARM64 machines, where they take another one. */
  readonly arm64Driver: DriverSummary | undefined;
}

/** What a printer deploys: models of its own, or its drivers'. */
export type PrinterModel = Pick<
  Printer,
  | "id"
  | "name"
  | "client_id"
  | "driver_id"
  | "driver_desc"
  | "arm64_driver_id"
  | "arm64_driver_desc"
  | "protocol"
>;

/** What can be said of a record's fitness for deployment. */
export interface Stated {
  readonly state: State;
  /** The worst first; of a record that is ready, none. */
  readonly findings: readonly Finding[];
}

export interface StatedPrinter extends ListedPrinter, Stated {
  /** Whether what was deployed of it last is another revision. */
  readonly changed: boolean;
}

export interface StatedDriver extends ListedDriver, Stated {
  /** The ids of the clients whose printers use it; `none` where printers without one do. */
  readonly clients: ReadonlySet<number | "none">;
  /** Of a driver that printers use: the newest version that has a model of theirs, where there is one. */
  readonly newer: DriverSummary | undefined;
}

/** A driver as lists show it. */
export interface ListedDriver extends DriverSummary {
  readonly printer_count: number;
}

export interface ListedClient extends Client {
  readonly printer_count: number;
}

/** What a printer's form offers. */
export interface PrinterChoices {
  readonly clients: readonly ClientName[];
  readonly drivers: readonly DriverSummary[];
  /** The driver that is chosen in the form: its models are suggested. */
  readonly chosen?: Driver | undefined;
  /** Likewise the one for ARM64 machines. */
  readonly arm64Chosen?: Driver | undefined;
  /** Of a driver's ZIP. */
  readonly uploadLimitBytes: number;
}

/** What an upload led to. */
export interface AddedDriver {
  readonly driver: Driver;
  /** False where the same content was there already. */
  readonly isNew: boolean;
  /** What was wrong with the archive that this put back. */
  readonly mended?: Exclude<ArchiveState, "sound"> | undefined;
}
