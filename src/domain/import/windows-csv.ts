import type { ImportRow } from "./import-row.ts";
import { rowOfQueue } from "./print-server.ts";

/**
 * Properties of a queue and its port, as `Get-Printer | Export-Csv` names them, with Platen's column that says the same,
 * and the names in Print Management's exports and common scripts, in lower case.
 */
const properties: readonly (readonly [property: string, own: string, ...names: string[]])[] = [
  ["Name", "name", "printername"],
  ["DriverName", "driver_model", "printdrivername"],
  ["PortName", "port_name"],
  ["PrinterHostAddress", "address", "address", "hostaddress", "ipaddress"],
  ["Location", "location"],
  ["Comment", "comment", "comments"],
  ["Type", ""],
  ["Protocol", "protocol"],
  ["PortNumber", "port_number"],
  ["LprQueueName", "lpr_queue"],
  ["SNMPEnabled", "snmp"],
  ["SNMPCommunity", "snmp_community"],
  ["SNMPIndex", "snmp_index"],
];

/** The properties whose names make a list one of Windows. The others may be columns of any list. */
const telling = ["Name", "DriverName", "PortName", "PrinterHostAddress"];

/** How a print server shares its queues is not copied to the PCs. */
const sharing = ["shared", "share_name"];

/** The property that a heading names, such as “Driver Name”; undefined if unknown. */
export function propertyNamed(head: string): string | undefined {
  return propertyOf(head)?.[0];
}

function propertyOf(head: string) {
  const name = head.toLowerCase().replace(/[ _-]/g, "");
  return properties.find(([property, , ...names]) => [property.toLowerCase(), ...names].includes(name));
}

/**
 * The columns of a list of Windows: properties, and Platen's other columns. A name of Windows counts if the list has no
 * column of Platen for it, so lists with all columns of Platen stay such lists.
 * @param own the columns of Platen that the headings name
 * @returns undefined for a list of Platen
 */
export function windowsColumns(
  heads: readonly string[],
  own: readonly (string | undefined)[],
): (string | undefined)[] | undefined {
  const named = heads.map((head, i) => {
    const [property, column] = propertyOf(head) ?? [];
    return own[i] === undefined && own.includes(column) ? undefined : property;
  });
  const isTelling = named.some((property = "", i) => own[i] === undefined && telling.includes(property));
  if (!isTelling) return undefined;
  return named.map((property, i) => property ?? (sharing.includes(own[i] ?? "") ? undefined : own[i]));
}

/**
 * Adds what the columns of Windows say to a row.
 * @param row has what Platen's other columns say
 * @param cell the text of a column; undefined if the list does not have it
 */
export function withQueue(row: ImportRow, cell: (column: string) => string | undefined): ImportRow {
  const queue = Object.fromEntries(properties.map(([property]) => [property, cell(property)]));
  const { values, driver, remarks, problems, problemIfNew, leftOut } = rowOfQueue(queue, row.number);
  return {
    ...row,
    values: { ...row.values, ...values },
    driver: row.driver ?? (driver && { ...driver, version: cell("driver_version")?.trim() ?? "" }),
    remarks,
    problems: [...row.problems, ...problems],
    problemIfNew,
    leftOut,
  };
}
