import type { Finding, FindingKind } from "./findings.ts";
import { addTo, groupsBy } from "./groups.ts";
import type { Printer } from "./printer.ts";

type Twin = Pick<Printer, "id" | "name" | "address">;

/**
 * What printers of one client say of each other: two queues of one name, or one address twice.
 * @returns findings by the printer's id
 */
export function twinFindings(printers: readonly Twin[]): Map<number, Finding[]> {
  const found = new Map<number, Finding[]>();
  const add = (id: number, kind: FindingKind, text: string) =>
    addTo(found, id, { kind, state: "attention", text });
  for (const twins of twinsBy(printers, ({ name }) => name)) {
    const text = "Another queue of this client has the same name: a PC can have only one of them.";
    for (const { id } of twins) add(id, "same-name", text);
  }
  for (const twins of twinsBy(printers, ({ address }) => address)) {
    const [first, second] = twins;
    const more = twins.length > 2 ? ` and ${twins.length - 2} more` : "";
    for (const { id, address } of twins) {
      const other = id === first?.id ? second : first;
      add(id, "same-address", `“${other?.name}”${more} of this client has the address ${address} too.`);
    }
  }
  return found;
}

/** Groups of two or more that have the same text, without regard to case. */
function twinsBy(printers: readonly Twin[], textOf: (printer: Twin) => string): Twin[][] {
  const groups = groupsBy(printers, (printer) => textOf(printer).toLowerCase());
  return [...groups].filter(([key, group]) => key !== "" && group.length > 1).map(([, group]) => group);
}
