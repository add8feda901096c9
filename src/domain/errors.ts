/** The kind of mistake; `http/answers/errors.ts` maps it to a status. */
export type ErrorCode =
  | "malformed" // the request breaks HTTP or the form's encoding
  | "unauthorized" // the credentials are wrong
  | "invalid" // the values are not acceptable
  | "not-found"
  | "conflict" // it conflicts with an existing record
  | "stale" // the record was saved by someone else after the form was opened
  | "too-large"
  | "full" // records reached their maximum number or size
  | "forbidden"
  | "misdirected" // the Host header names another service
  | "too-often" // one client sends too many requests
  | "busy"; // try again later

/** Messages by field name; a form shows each beside its field. */
export type FieldMessages = Readonly<Record<string, string>>;

/** The records that prevent a change; pages link to them. */
export interface Obstacles {
  /** Replaces the message: the start of a sentence that the page ends with the names of the records. */
  readonly sentence: string;
  /** The first of them. */
  readonly records: readonly {
    readonly kind: "printer" | "client" | "driver";
    readonly id: number;
    readonly name: string;
  }[];
  /** The number of records that `records` leaves out. */
  readonly more: number;
}

/** What a link to the field that fixes a printer's finding needs to know of the printer and its drivers. */
export interface PrinterToFix {
  readonly printer: {
    readonly id: number;
    readonly name: string;
    readonly driver_desc: string;
    readonly arm64_driver_desc: string;
  };
  readonly driver: DriverToFix | undefined;
  readonly arm64Driver: DriverToFix | undefined;
}

export interface DriverToFix {
  readonly id: number;
}

/** A remedy for a refusal; pages show it as a link. */
export type Remedy =
  /** Opens the field that fixes a printer's finding. */
  | {
      readonly kind: "printer";
      readonly finding: { readonly kind: string; readonly isArm64?: boolean | undefined };
      readonly row: PrinterToFix;
      /** Whether the link names the printer, because it is one of several. */
      readonly isNamed: boolean;
    }
  /** Opens the upload form for a driver's ZIP. */
  | { readonly kind: "upload" }
  /** Downloads a package of these printers only. */
  | {
      readonly kind: "package";
      /** The client of these printers, for people; undefined for what remains of the requested ones. */
      readonly of?: string | undefined;
      readonly format: string;
      readonly ids: readonly number[];
      /** Whether printers that are known to fail are included. */
      readonly withFailing: boolean;
      /** Whether the package leaves out the drivers, which other apps install. */
      readonly omitsDriver: boolean;
    }
  /** Opens the list of printers left out of a client's package. */
  | { readonly kind: "left-out"; readonly client: number }
  /** Opens the list of a client's printers. */
  | { readonly kind: "client-printers"; readonly client: number; readonly count: number }
  /** Opens the sign-in page in another window, so that the current page keeps what was typed. */
  | { readonly kind: "sign-in" }
  /** Opens the form that moves a driver's printers to another driver. */
  | { readonly kind: "move"; readonly driver: number; readonly count: number };

/** What pages show for a refusal besides its message. */
export interface Help {
  readonly obstacles?: Obstacles | undefined;
  /** The most likely first. */
  readonly remedies?: readonly Remedy[] | undefined;
}

/**
 * An error that a person caused and can fix. That person sees the message: it says what happened, why, and what to do.
 * Every other error is a defect in Platen.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly code: ErrorCode;
  readonly fields: FieldMessages;
  readonly help: Help;

  constructor(code: ErrorCode, message: string, fields: FieldMessages = {}, help: Help = {}) {
    super(message);
    this.code = code;
    this.fields = fields;
    this.help = help;
  }
}

/** The error for an address where there is nothing. */
export function missingPage(): UserError {
  return new UserError("not-found", "This page does not exist. Check the address.");
}

/** The error for a record that does not exist. */
export function missingRecord(kind: string, id: number): UserError {
  return new UserError("not-found", `${kind} ${id} does not exist. It may have been deleted.`);
}

/** A stored file is not on disk. */
export class MissingFile extends UserError {}

/** The error for work that is refused because the service is stopping. */
export function stoppingError(): UserError {
  return new UserError("busy", "Platen is stopping. Try again in a minute.");
}

/** @param error anything that was thrown */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
