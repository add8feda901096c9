import type { DriverSummary } from "../domain/driver.ts";
import { UserError } from "../domain/errors.ts";
import type { ClientName } from "../domain/listings.ts";
import type { Printer } from "../domain/printer.ts";
import type { Store } from "../store/store.ts";

/** All records with all of their settings, as they were at one moment. */
export interface Records {
  /** The store's, at that moment. */
  readonly version: number;
  /** By id. */
  readonly printers: readonly Printer[];
  readonly clients: readonly ClientName[];
  /** The newest first. */
  readonly drivers: readonly DriverSummary[];
}

const printersAtOnce = 250;
/** So often it is begun anew, because something was changed meanwhile. */
const attempts = 10;

/** Reads all of it a part at a time, so that long lists hold nobody up. @throws UserError "busy" */
export async function readRecords(store: Store): Promise<Records> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const version = store.version();
    const printers = await readPrinters(store, version);
    if (printers === undefined) continue;
    return { version, printers, clients: store.clients.names(), drivers: store.drivers.summaries() };
  }
  throw busy();
}

export function busy(): UserError {
  return new UserError(
    "busy",
    "Others change records all the time at the moment. Try again in a few seconds.",
  );
}

/** Undefined where something was changed before all of them were read. */
async function readPrinters(store: Store, version: number): Promise<Printer[] | undefined> {
  const printers: Printer[] = [];
  for (;;) {
    const more = store.printers.after(printers.at(-1)?.id ?? 0, printersAtOnce);
    printers.push(...more);
    if (more.length < printersAtOnce) return printers;
    await new Promise(setImmediate);
    if (store.version() !== version) return undefined;
  }
}
