import { type Finding, neighbourFindings } from "../printers/findings.ts";
import type { Printer } from "../printers/printer.ts";
import { nameKey } from "../text.ts";
import type { ImportWrite, PlannedRow } from "./import-plan.ts";

type WithWrite = Pick<PlannedRow, "number" | "write">;

/**
 * The findings about printers that have the same name or address as another one of their client after the import.
 * @returns by `idAfter`
 */
export function findingsAfter(
  rows: readonly WithWrite[],
  printers: readonly Printer[],
): ReadonlyMap<number, readonly Finding[]> {
  const newClients = new Map<string, number>();
  const clientAfter = ({ newClient, settings }: ImportWrite) => {
    if (newClient === undefined) return settings.client_id;
    const key = nameKey(newClient.name);
    const id = newClients.get(key) ?? -newClients.size - 1;
    newClients.set(key, id);
    return id;
  };
  const neighbour = (
    id: number,
    { name, address, replaces }: Pick<Printer, "name" | "address" | "replaces">,
    client: number | null,
  ) => {
    return { printer: { id, name, address, replaces }, client: client === null ? undefined : { id: client } };
  };
  const after = new Map(
    printers.map((printer) => [printer.id, neighbour(printer.id, printer, printer.client_id)]),
  );
  for (const { number, write } of rows) {
    if (write === undefined) continue;
    const id = idAfter({ number, write });
    after.set(id, neighbour(id, write.settings, clientAfter(write)));
  }
  return neighbourFindings([...after.values()]);
}

/** The id of a row's printer; for a new printer, the negative number of its row. */
export function idAfter({ number, write }: WithWrite): number {
  return write?.printerId ?? -number;
}
