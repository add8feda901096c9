import { clientNameKey } from "./client.ts";
import { matchRows } from "./import-match.ts";
import type { ImportOptions, ImportPlan, Known, PlannedRow } from "./import-plan.ts";
import type { ImportedList, ImportRow } from "./import-row.ts";
import { ImportRows } from "./import-rows.ts";
import { leftOut } from "./import-shown.ts";

/** Says what an import would do, in steps of a row, which may bring a PrintTicket; nothing is changed. */
export function* planImport(
  list: ImportedList,
  known: Known,
  { client, takesAll }: ImportOptions,
): Generator<undefined, ImportPlan> {
  const clients = new Map(known.clients.map((each) => [clientNameKey(each.name), each]));
  const { rows } = list;
  const isTaken = (row: ImportRow) => takesAll || row.leftOut === undefined;
  const here = { printers: known.printers, clients, client };
  const matches = yield* matchRows(rows.filter(isTaken), here);
  const taken = new ImportRows(known, clients, client);
  const planned: PlannedRow[] = [];
  for (const row of rows) {
    yield;
    planned.push(isTaken(row) ? taken.plan(row, matches.get(row)) : leftOut(row));
  }
  const missing = [...taken.missing.values()].map(({ name, printers }) => {
    return { name, printers, maker: list.makers.get(name.toLowerCase()) ?? "" };
  });
  return { rows: planned, ...summed(planned), missing, notices: list.notices };
}

function summed(rows: readonly PlannedRow[]): Pick<ImportPlan, "counts" | "newClients"> {
  const counts = { wrong: 0, changes: 0, new: 0, same: 0, "left out": 0 };
  const made = new Map<string, string>();
  for (const { mark, write } of rows) {
    counts[mark]++;
    if (write?.newClient) made.set(clientNameKey(write.newClient.name), write.newClient.name);
  }
  return { counts, newClients: [...made.values()] };
}
