import type { Finding } from "./findings.ts";
import type { StatedDriver, StatedPrinter } from "./listings.ts";

/** How much needs somebody's attention, by kind. */
export interface Attention {
  readonly blockedPrinters: number;
  readonly blockedDrivers: number;
  /** Drivers that can be deployed and give reason to look. */
  readonly oddDrivers: number;
  readonly sameName: number;
  readonly sameAddress: number;
  readonly changed: number;
  /** Drivers in use of which a newer version is there. */
  readonly outdated: number;
  readonly unused: { readonly count: number; readonly bytes: number };
}

export function attentionOf(printers: readonly StatedPrinter[], drivers: readonly StatedDriver[]): Attention {
  const having = (wanted: Finding["kind"]) =>
    printers.filter(({ findings }) => findings.some(({ kind }) => kind === wanted)).length;
  const unused = drivers.filter(({ printer_count }) => printer_count === 0);
  return {
    blockedPrinters: printers.filter(({ state }) => state === "blocked").length,
    blockedDrivers: drivers.filter(({ state }) => state === "blocked").length,
    oddDrivers: drivers.filter(({ state }) => state === "attention").length,
    sameName: having("same-name"),
    sameAddress: having("same-address"),
    changed: printers.filter(({ changed }) => changed).length,
    outdated: drivers.filter(({ newer }) => newer !== undefined).length,
    unused: { count: unused.length, bytes: unused.reduce((sum, { size }) => sum + size, 0) },
  };
}
