import type { Printer } from "../../domain/printers/printer.ts";
import { printerSettingsFrom } from "../../domain/printers/printer-fields.ts";
import { idOrNull, type Row } from "../database/rows.ts";
import { unpackText } from "../packed-text.ts";

/** A printer's whole row as a record. @throws Error where its settings cannot be read */
export function printerOf(row: Row): Printer {
  const own = {
    id: Number(row.id),
    created_at: Number(row.created_at),
    updated_at: Number(row.updated_at),
    name: String(row.name),
    client_id: idOrNull(row.client_id),
    driver_id: idOrNull(row.driver_id),
    arm64_driver_id: idOrNull(row.arm64_driver_id),
  };
  // V8 takes four times as long to spread so many settings.
  const printer = Object.assign(printerSettingsFrom(String(row.settings)), own);
  const packed = String(row.print_ticket);
  if (packed === "") return printer;
  // A ticket can be a thousand times as large as its column: it is unpacked for who asks for it.
  const ticket = { enumerable: true, get: () => unpackText(packed) };
  return Object.defineProperty(printer, "print_ticket", ticket);
}
