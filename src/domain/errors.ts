/** What kind of mistake it was, as its code; `http/answers/errors.ts` turns it into a status. */
export type ErrorCode =
  | "malformed" // no client of ours sends it so
  | "unauthorized" // what says who asks is wrong
  | "invalid" // what was sent cannot be accepted
  | "not-found"
  | "conflict" // it collides with what is there
  | "stale" // somebody else has saved the same record since the form was opened
  | "too-large"
  | "full" // there is no room for more of it
  | "forbidden"
  | "misdirected" // it was sent to a name that is not this service's
  | "too-often" // of one client
  | "busy"; // try again later

/** Messages beside form fields, by field name. */
export type FieldMessages = Readonly<Record<string, string>>;

/** The records that stand in the way of a change: pages link to them. */
export interface Obstacles {
  /** What a page says before their names, in place of the message; without its end. */
  readonly sentence: string;
  /** The first of them. */
  readonly records: readonly {
    readonly kind: "printer" | "client" | "driver";
    readonly id: number;
    readonly name: string;
  }[];
  /** How many there are besides. */
  readonly more: number;
}

/** A printer with its drivers: as much of them as a link to the field that fixes a finding needs. */
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
  readonly file_name: string;
}

/** A way out of a refusal, which pages make a link of. */
export type Remedy =
  /** To where a finding of a printer is mended. */
  | {
      readonly kind: "printer";
      readonly finding: { readonly kind: string; readonly isArm64?: boolean | undefined };
      readonly row: PrinterToFix;
      /** Whether it is one of several, so that its name must be said. */
      readonly isNamed: boolean;
    }
  /** To where a driver's ZIP can be put back. */
  | { readonly kind: "upload"; readonly driver: { readonly file_name: string } }
  /** To where a driver's ZIP belongs that came elsewhere. */
  | { readonly kind: "drivers" }
  /** A package of these printers alone. */
  | {
      readonly kind: "package";
      readonly format: string;
      readonly ids: readonly number[];
      /** Whether what is known to fail goes in all the same. */
      readonly withFailing: boolean;
      /** Whether their drivers stay out of it. */
      readonly isApart: boolean;
    }
  /** To what stays out of a client's package. */
  | { readonly kind: "left-out"; readonly client: number }
  /** To the list of a client's printers. */
  | { readonly kind: "client-printers"; readonly client: number; readonly count: number }
  /** To where people sign in, beside the page that they are on: it keeps what they typed. */
  | { readonly kind: "sign-in" }
  /** To where a driver's printers get another one. */
  | { readonly kind: "move"; readonly driver: number; readonly count: number };

/** What pages say of a refusal besides its message. */
export interface Help {
  readonly obstacles?: Obstacles | undefined;
  /** The likeliest first. */
  readonly remedies?: readonly Remedy[] | undefined;
}

/**
 * Something that a person caused and can fix. The message is shown to that person as it stands:
 * it says what happened, why, and what to do. Every other error is a defect of ours.
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

/** What is refused when the service ends. */
export function stopping(): UserError {
  return new UserError("busy", "The service is being stopped. Try again in a minute.");
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
