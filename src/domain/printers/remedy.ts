import type { DriverSummary } from "../drivers/driver.ts";
import type { Finding } from "./findings.ts";
import type { ListedPrinter } from "./listings.ts";

/** A way out of a refusal, which pages make a link of. */
export type Remedy =
  /** To where a finding of a printer is mended. */
  | {
      readonly kind: "printer";
      readonly finding: Pick<Finding, "kind" | "isArm64">;
      readonly row: Pick<ListedPrinter, "printer" | "driver" | "arm64Driver">;
      /** Whether it is one of several, so that its name must be said. */
      readonly isNamed: boolean;
    }
  /** To where a driver's ZIP can be put back. */
  | { readonly kind: "upload"; readonly driver: Pick<DriverSummary, "file_name"> }
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
