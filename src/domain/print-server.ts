import { UserError } from "./errors.ts";
import { type ImportedList, type ImportRow, mostRows, tooMany } from "./import-row.ts";
import { type JsonObject, readJson } from "./json.ts";
import { key, objectsIn, textOf } from "./print-server-json.ts";
import { Devices, localReason, placeOf } from "./print-server-places.ts";
import { ippModel } from "./windows-drivers.ts";

/**
 * Reads what the command for print servers prints (`pkg/scripts/print-server.ps1`), in steps.
 * @param client of all of its printers; empty is none
 * @throws UserError "invalid" where it is something else
 */
export function* readPrintServer(text: string, client = ""): Generator<undefined, ImportedList> {
  const whole = yield* readJson(text);
  const printers = whole instanceof Map ? whole.get("Printers") : undefined;
  if (!(whole instanceof Map) || printers === undefined) {
    throw new UserError(
      "invalid",
      "This JSON is not what the command on this page prints: it names no “Printers”.",
    );
  }
  const queues = objectsIn(printers);
  if (queues.length > mostRows) throw tooMany();
  const ports = new Map(objectsIn(whole.get("Ports")).map((port) => [key(textOf(port, "Name")), port]));
  const devices = new Devices(whole);
  const rows: ImportRow[] = [];
  for (const queue of queues) {
    if (rows.length % 100 === 0) yield;
    const port = ports.get(key(textOf(queue, "PortName")));
    rows.push({ ...rowOf(queue, port, devices, rows.length + 1), client });
  }
  const makers = objectsIn(whole.get("Drivers")).map(
    (driver) => [key(textOf(driver, "Name")), textOf(driver, "Manufacturer")] as const,
  );
  return { rows, notices: [], makers: new Map(makers) };
}

function rowOf(
  queue: JsonObject,
  port: JsonObject | undefined,
  devices: Devices,
  number: number,
): Omit<ImportRow, "client"> {
  const line = (name: string) => textOf(queue, name).replace(/[\r\n]+/g, " ");
  const portName = line("PortName");
  const model = line("DriverName");
  const reason = virtualReason(queue, model) ?? localReason(portName, port);
  const place =
    reason === undefined ? placeOf(portName, port, devices, model) : { values: { port_name: portName } };
  return {
    number,
    values: { name: line("Name"), location: line("Location"), comment: line("Comment"), ...place.values },
    driver: { sha256: "", model: place.values.protocol === "ipp" ? ippModel : model, title: "", version: "" },
    arm64Driver: undefined,
    ticket: undefined,
    origin: undefined,
    notes: place.note === undefined ? [] : [place.note],
    problems: place.problem === undefined ? [] : [place.problem],
    leftOut: reason ?? place.leftOut,
  };
}

const virtualDrivers = [
  ["microsoft print to pdf", "Prints to PDF files: every Windows has it."],
  ["microsoft xps document writer", "Prints to XPS files: every Windows has it."],
  ["onenote", "Prints to OneNote, not to a device."],
  ["microsoft shared fax driver", "Sends faxes, and is no printer."],
  ["remote desktop easy print", "Is the printer of somebody who was logged on from afar."],
] as const;

function virtualReason(queue: JsonObject, model: string): string | undefined {
  const isConnection =
    key(textOf(queue, "Type")) === "connection" || textOf(queue, "Name").startsWith("\\\\");
  if (isConnection) return "Is a connection to a queue of another computer: run the command there.";
  const lower = model.toLowerCase();
  return virtualDrivers.find(([part]) => lower.includes(part))?.[1];
}
