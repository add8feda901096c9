import type { ArchiveState, Driver, DriverSummary } from "../drivers/driver.ts";
import type { Client } from "./client.ts";
import type { Finding, State } from "./findings.ts";
import type { Printer } from "./printer.ts";
import type { ListedSettings } from "./printer-fields.ts";

// Records together with the records that they refer to: the store reads them, services and pages use them.

export type ClientName = Pick<Client, "id" | "name">;

/** A client with the settings that apply to its printers. */
export type PrinterOwner = ClientName & Pick<Client, "subnets">;

/** A printer with all of its settings, and its client. */
export interface PrinterDetails {
  readonly printer: Printer;
  readonly client: PrinterOwner | undefined;
}

/** A printer in a list: the settings that lists need, with the client and drivers. */
export interface ListedPrinter {
  readonly printer: Pick<Printer, "id" | "created_at" | "name"> & ListedSettings;
  readonly client: ClientName | undefined;
  readonly driver: DriverSummary | undefined;
  /** The driver for ARM64 machines, where they install another one. */
  readonly arm64Driver: DriverSummary | undefined;
}

/** A printer with its drivers and chosen models. */
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

/** Whether a record can be deployed. */
export interface WithState {
  readonly state: State;
  /** The worst first. Empty where the state is `ready`. */
  readonly findings: readonly Finding[];
}

export interface PrinterWithState extends ListedPrinter, WithState {
  /** Whether the last deployed revision differs from the current one. */
  readonly changed: boolean;
}

export interface DriverWithState extends ListedDriver, WithState {
  /** The ids of the clients whose printers use the driver; `none` stands for printers without a client. */
  readonly clients: ReadonlySet<number | "none">;
  /** The newest version that has a model of the printers that use this driver. */
  readonly newer: DriverSummary | undefined;
}

export interface ListedDriver extends DriverSummary {
  readonly printer_count: number;
}

export interface ListedClient extends Client {
  readonly printer_count: number;
}

/** The choices of a printer's form. */
export interface PrinterChoices {
  readonly clients: readonly ClientName[];
  readonly drivers: readonly DriverSummary[];
  /** The driver that is chosen in the form, which suggests its models. */
  readonly chosen?: Driver | undefined;
  /** The chosen driver for ARM64 machines. */
  readonly arm64Chosen?: Driver | undefined;
  /** Limit of a driver's ZIP. */
  readonly uploadLimitBytes: number;
}

/** The result of a driver upload. */
export interface AddedDriver {
  readonly driver: Driver;
  /** False where a driver with the same content existed. */
  readonly isNew: boolean;
  /** The problem of the missing or damaged archive that the upload replaced. */
  readonly mended?: Exclude<ArchiveState, "sound"> | undefined;
}
