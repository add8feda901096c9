import { UserError } from "../errors.ts";
import type { FormInput } from "../fields.ts";

/** What a row says of its driver; each may be empty. */
export interface DriverHint {
  /** Of the archive. */
  readonly sha256: string;
  /** A description, as Windows lists the driver. */
  readonly model: string;
  /** What a page calls it, or a description. */
  readonly title: string;
  readonly version: string;
}

/** One printer as it is brought: texts from outside, nothing of them checked yet. */
export interface ImportRow {
  /** As a spreadsheet counts, or the place in the list. */
  readonly number: number;
  /** By form field, without client and driver. A field that is absent leaves a printer as it is. */
  readonly values: FormInput;
  /** What names its PrintTicket, or XML; empty is none, and undefined says nothing of it. */
  readonly ticket: string | undefined;
  /** Its name; empty is none, and undefined says nothing of it. */
  readonly client: string | undefined;
  /** Undefined says nothing of it. */
  readonly driver: DriverHint | undefined;
  /** Likewise the one for ARM64 machines. */
  readonly arm64Driver: DriverHint | undefined;
  /** Whose row it was when it was exported. */
  readonly origin: { readonly id: number; readonly created_at: number } | undefined;
  /** What an operator should know of it. */
  readonly notes: readonly string[];
  /** Why it cannot be taken. */
  readonly problems: readonly string[];
  /** Why it is not taken unless that is asked for; undefined where it is taken. */
  readonly leftOut: string | undefined;
}

/** All that one text brings. */
export interface ImportedList {
  readonly rows: readonly ImportRow[];
  /** What must be said of the whole, a sentence each. */
  readonly notices: readonly string[];
  /** Who made a driver, by its description in lower case, where that is known. */
  readonly makers: ReadonlyMap<string, string>;
}

/** So many printers can be brought at once. */
export const maxRows = 5000;

export function tooMany(): UserError {
  return new UserError("invalid", `More than ${maxRows} printers at once are not taken: split the list.`);
}
