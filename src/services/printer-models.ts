import type { PrinterModel } from "../domain/listings.ts";
import type { Store } from "../store/store.ts";

const atOnce = 250;

/** Reads printers with their models in steps, in this order; those that there are not are left out. */
export function* readModels(store: Store, ids: readonly number[]): Generator<undefined, PrinterModel[]> {
  const found: PrinterModel[] = [];
  for (let from = 0; from < ids.length; from += atOnce) {
    found.push(...store.printers.models(ids.slice(from, from + atOnce)));
    yield;
  }
  return found;
}
