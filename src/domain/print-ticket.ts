import { createHash } from "node:crypto";
import type { FieldReader } from "./fields.ts";
import { compactXml } from "./xml.ts";
import { XmlProblem } from "./xml-text.ts";

/** In UTF-8, as it is typed and as it is kept. */
export const ticketLimitBytes = 256 * 1024;

const printSchema = "http://schemas.microsoft.com/windows/2003/08/printing/printschemaframework";

/** As Windows gives tickets. What is kept is ASCII, which is UTF-8 wherever it goes. */
const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

/**
 * Copies the PrintTicket of a printer that is chosen in a list; for Windows PowerShell 5.1. No name stands in it, so there is
 * nothing in it to change.
 */
export const ticketCommand =
  "Get-Printer | Out-GridView -Title 'The printer that prints as wished' -OutputMode Single | " +
  "ForEach-Object { (Get-PrintConfiguration -PrinterObject $_).PrintTicketXML } | Set-Clipboard";

/** A form's ticket as it is kept; empty where there is none. */
export function parseTicket(form: FieldReader, name: string): string {
  const read = readTicket(form.typed(name));
  if ("ticket" in read) return read.ticket;
  form.refuse(name, read.problem);
  return "";
}

/** Names a ticket where it would be too large; empty where there is none. */
export function ticketName(ticket: string): string {
  return ticket === "" ? "" : `sha256:${createHash("sha256").update(ticket).digest("hex")}`;
}

export function isTicketName(text: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

/** A ticket as it is kept, or why it is not taken. */
type ReadTicket = { readonly ticket: string } | { readonly problem: string };

/**
 * Reads a PrintTicket as somebody pasted it. What is kept means the same in one line of ASCII, and is read as itself.
 */
export function readTicket(typed: string): ReadTicket {
  const text = typed.replace(/\r\n?/g, "\n");
  if (/^[\ufeff \t\n]*$/.test(text)) return { ticket: "" };
  const size = Buffer.byteLength(text);
  if (size > ticketLimitBytes) return tooLarge(size);
  try {
    return ticketFrom(text);
  } catch (error) {
    if (!(error instanceof XmlProblem)) throw error;
    const line = text.slice(0, error.offset).split("\n").length;
    return { problem: `The PrintTicket cannot be read, in line ${line}: ${error.message}` };
  }
}

/** @throws XmlProblem */
function ticketFrom(text: string): ReadTicket {
  const { root, text: compact } = compactXml(text);
  if (root.local === "PrintCapabilities")
    return {
      problem: "This is no PrintTicket but PrintCapabilities: what the printer can do, not what it shall do.",
    };
  if (root.local !== "PrintTicket")
    return { problem: `This is no PrintTicket: its root element is ${root.local.slice(0, 60)}.` };
  if (root.namespace !== printSchema) {
    const found = root.namespace === "" ? "none" : `“${root.namespace.slice(0, 120)}”`;
    return {
      problem: `This PrintTicket is not of the Print Schema: its namespace is ${found}, not “${printSchema}”.`,
    };
  }
  const ticket = declaration + compact;
  return ticket.length > ticketLimitBytes ? tooLarge(ticket.length) : { ticket };
}

function tooLarge(size: number): ReadTicket {
  const limit = `${ticketLimitBytes / 1024} KB`;
  return { problem: `The PrintTicket has ${Math.ceil(size / 1024)} KB; at most ${limit} are possible.` };
}
