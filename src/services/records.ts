import type { DriverSummary } from "../domain/driver.ts";
import type { ClientName } from "../domain/listings.ts";
import type { Printer } from "../domain/printer.ts";
import type { Store } from "../store/store.ts";

/** All records with all of their settings. */
export interface Records {
  /** By id. */
  readonly printers: readonly Printer[];
  readonly clients: readonly ClientName[];
  /** The newest first. */
  readonly drivers: readonly DriverSummary[];
}

const printersAtOnce = 250;

/** Reads all of it a part at a time, so that long lists hold nobody up. */
export function* readRecords(store: Store): Generator<undefined, Records> {
  const printers: Printer[] = [];
  for (;;) {
    const more = store.printers.after(printers.at(-1)?.id ?? 0, printersAtOnce);
    printers.push(...more);
    if (more.length < printersAtOnce) break;
    yield;
  }
  return { printers, clients: store.clients.names(), drivers: store.drivers.summaries() };
}
