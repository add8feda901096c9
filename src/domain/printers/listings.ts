import type { Driver, DriverSummary } from "../drivers/driver.ts";
import type { Client } from "./client.ts";
import type { Finding, State } from "./findings.ts";
import type { Preferences } from "./preferences.ts";
import type { Printer } from "./printer.ts";
import type { ChosenModels, PrinterDrivers } from "./printer-drivers.ts";
import type { ListedSettings } from "./printer-fields.ts";

// Records together with the records that they refer to. The store reads them; services and pages use them.

export type ClientName = Pick<Client, "id" | "name">;

/** A printer with all of its settings, and its client. */
export interface PrinterDetails {
  readonly printer: Printer;
  readonly client: Client | undefined;
}

/** A printer in a list: the settings that lists need, with the client and drivers. */
export interface ListedPrinter extends PrinterDrivers<DriverSummary | undefined> {
  readonly printer: Pick<Printer, "id" | "created_at" | "updated_at" | "name"> & ListedSettings;
  readonly client: ClientName | undefined;
  /** Its vendor preferences, with the driver with which they were saved. */
  readonly preferences?: Pick<Preferences, "sha256" | "driver_sha256" | "driver_desc"> | undefined;
}

/** A printer with its drivers and chosen models. */
export type PrinterWithModels = ChosenModels & Pick<Printer, "id" | "name" | "client_id" | "protocol">;

/** Whether a record can be deployed. */
export interface WithState {
  readonly state: State;
  /** The worst first. Empty if the state is `ready`. */
  readonly findings: readonly Finding[];
}

export interface PrinterWithState extends ListedPrinter, WithState {
  /** Whether the last deployed revision differs from the current one. */
  readonly changed: boolean;
}

export interface DriverWithState extends ListedDriver, WithState {
  /** The ids of the clients whose printers use the driver; `none` means printers without a client. */
  readonly clients: ReadonlySet<number | "none">;
  /** The newest version of the driver, of those later ones that have at least one model of its printers. */
  readonly newer: DriverSummary | undefined;
}

export interface ListedDriver extends DriverSummary {
  readonly printer_count: number;
}

export interface ListedClient extends Client {
  readonly printer_count: number;
}

/** A driver to choose from, with its state: blocked ones are marked. */
export type OfferedDriver = DriverSummary & Pick<WithState, "state">;

/** The options that the printer form offers. */
export interface PrinterChoices {
  readonly clients: readonly ClientName[];
  readonly drivers: readonly OfferedDriver[];
  /** The printer's driver, whose models the form suggests. */
  readonly chosenDriver?: Driver | undefined;
  /** The same for the driver for ARM64. */
  readonly chosenArm64Driver?: Driver | undefined;
  /** The printer whose IPP twin the form makes. */
  readonly twinOf?: Printer | undefined;
}
