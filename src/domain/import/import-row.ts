import { UserError } from "../errors.ts";
import type { FormInput } from "../fields.ts";

/** How a row names its driver. Each text may be empty. */
export interface DriverHint {
  /** Digest of the archive. */
  readonly sha256: string;
  /** A description, as Windows lists the driver. */
  readonly model: string;
  /** The driver's title on pages, or a description. */
  readonly title: string;
  readonly version: string;
}

/** One printer of an imported list: texts from outside, not yet checked. */
export interface ImportRow {
  /** The row number as a spreadsheet counts, or the position in the list. */
  readonly number: number;
  /** By form field, without client and driver. An absent field leaves the printer's value unchanged. */
  readonly values: FormInput;
  /** The PrintTicket's digest or its XML; empty for none, undefined to leave it unchanged. */
  readonly ticket: string | undefined;
  /** The client's name; empty for none, undefined if the list does not say. */
  readonly client: string | undefined;
  /** Undefined if the list does not say. */
  readonly driver: DriverHint | undefined;
  /** The driver for ARM64 machines; undefined if the list does not say. */
  readonly arm64Driver: DriverHint | undefined;
  /** The printer that the row was exported from. */
  readonly origin: { readonly id: number; readonly created_at: number } | undefined;
  /** What the operator should know. */
  readonly remarks: readonly string[];
  /** Why the row cannot be imported. */
  readonly problems: readonly string[];
  /** Why the row cannot become a new printer; undefined if it can. */
  readonly problemIfNew: string | undefined;
  /** Why the row is left out by default; undefined if it is imported. */
  readonly leftOut: string | undefined;
}

/** The contents of one imported text. */
export interface ImportedList {
  readonly rows: readonly ImportRow[];
  /** Whether no row can name an address or a port. */
  readonly isWithoutAddresses: boolean;
  /** Notices about the whole list, a sentence each. */
  readonly notices: readonly string[];
  /** Known driver manufacturers, by the driver's description in lower case. */
  readonly makers: ReadonlyMap<string, string>;
}

/** The maximum number of printers in one list. */
export const maxRows = 5000;

export function tooManyRows(): UserError {
  return new UserError("invalid", `This list has more than ${maxRows} printers. Split it.`);
}
