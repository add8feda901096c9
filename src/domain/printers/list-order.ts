import { memoize } from "../collections.ts";
import { naturalKey } from "../folding.ts";
import { byCodeUnit } from "../text.ts";
import { states } from "./findings.ts";
import type { PrinterWithState } from "./listings.ts";

/** The columns by which a list of printers can be sorted. */
const sortKeys = ["name", "address", "state", "changed"] as const;

export type SortKey = (typeof sortKeys)[number];

/** `name`: the column's usual order; `-name`: the reverse. */
export type PrinterSort = SortKey | `-${SortKey}`;

/** Reads a sort from a query. Other values are ignored. */
export function parseSort(text: string): PrinterSort | undefined {
  return sortKeys.flatMap((key): PrinterSort[] => [key, `-${key}`]).find((known) => known === text);
}

export function sortKeyOf(sort: PrinterSort = "name"): SortKey {
  return sort.replace("-", "") as SortKey;
}

/** Whether the printers of a client stay together. The worst and the newest ones come first across all clients. */
export function keepsClients(sort: PrinterSort | undefined): boolean {
  return ["name", "address"].includes(sortKeyOf(sort));
}

/** By client (printers without one last) and name; or the worst or newest first. Numbers in names sort by value. */
export function sortPrinters(
  rows: readonly PrinterWithState[],
  sort: PrinterSort | undefined,
): PrinterWithState[] {
  const sign = sort?.startsWith("-") ? -1 : 1;
  const key = sortKeyOf(sort);
  const compare = (a: Sortable, b: Sortable) => {
    if (key === "state") return states.indexOf(b.row.state) - states.indexOf(a.row.state);
    if (key === "changed") return b.row.printer.updated_at - a.row.printer.updated_at;
    return byCodeUnit(a[key], b[key]);
  };
  const byClient = keepsClients(sort)
    ? (a: Sortable, b: Sortable) => byCodeUnit(a.client, b.client)
    : () => 0;
  return rows
    .map(sortable)
    .sort(
      (a, b) =>
        byClient(a, b) ||
        sign * compare(a, b) ||
        byCodeUnit(a.client, b.client) ||
        byCodeUnit(a.name, b.name),
    )
    .map(({ row }) => row);
}

interface Sortable {
  readonly row: PrinterWithState;
  readonly client: string;
  readonly name: string;
  readonly address: string;
}

const last = "\uffff";

/** Rows stay the same objects until a record changes, so these keys are made once. */
const sortable = memoize((row: PrinterWithState): Sortable => {
  const { printer, client } = row;
  const address = printer.address || printer.port_name;
  return {
    row,
    client: client ? `${naturalKey(client.name)} ${client.id}` : last,
    name: naturalKey(printer.name),
    address: address === "" ? last : naturalKey(address),
  };
});
