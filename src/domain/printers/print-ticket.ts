import { createHash } from "node:crypto";
import { SaxesParser, type SaxesTagNS } from "saxes";
import { errorMessage } from "../errors.ts";
import type { FieldReader } from "../fields.ts";

/** For the UTF-8 text. */
export const ticketLimitBytes = 256 * 1024;

const printSchema = "http://schemas.microsoft.com/windows/2003/08/printing/printschemaframework";

/** The XML declaration of tickets from Windows. */
const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

/** Levels of nested elements; usual tickets have about five. saxes searches all levels for each namespace. */
const maxLevels = 100;
/** In characters. saxes copies the name of a namespace for each attribute that uses it. */
const maxNamespaceLength = 1000;

/**
 * A command for Windows PowerShell 5.1 that copies the PrintTicket of a printer that the user chooses in a list. It
 * contains no printer name, so users can paste it unchanged.
 */
export const ticketCommand =
  "Get-Printer | Out-GridView -Title 'Choose the printer with the preferences' -OutputMode Single | " +
  "ForEach-Object { (Get-PrintConfiguration -PrinterObject $_).PrintTicketXML } | Set-Clipboard";

/** Reads a form's ticket; empty if there is none. */
export function parseTicket(form: FieldReader, name: string): string {
  const read = readTicket(form.typed(name));
  if ("ticket" in read) return read.ticket;
  form.refuse(name, read.problem);
  return "";
}

/** Replaces a ticket in exported lists; empty if there is none. */
export function ticketDigest(ticket: string): string {
  return ticket === "" ? "" : `sha256:${createHash("sha256").update(ticket).digest("hex")}`;
}

export function isTicketDigest(text: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(text);
}

/** A normalised ticket, or the reason why it is refused. */
type ReadTicket = { readonly ticket: string } | { readonly problem: string };

/**
 * Reads a pasted PrintTicket. Lines then end with a line feed, because browsers change line ends, and the XML declaration
 * is Windows' own, because the text has lost its original encoding. White space around the XML is removed.
 */
export function readTicket(typed: string): ReadTicket {
  const text = typed.replace(/\r\n?/g, "\n").toWellFormed().trim();
  if (text === "") return { ticket: "" };
  const ticket = declaration + text.replace(/^<\?xml[ \t\n][^>]*\?>/, "");
  const size = Buffer.byteLength(ticket);
  const problem = size > ticketLimitBytes ? tooLarge(size) : problemOf(ticket);
  return problem === undefined ? { ticket } : { problem };
}

function tooLarge(size: number): string {
  const limit = `${ticketLimitBytes / 1024} KB`;
  return `The PrintTicket has ${Math.ceil(size / 1024)} KB. The limit is ${limit}.`;
}

function problemOf(ticket: string): string | undefined {
  const parser = new SaxesParser({ xmlns: true, position: false });
  try {
    return rootProblem(rootOf(parser, ticket));
  } catch (error) {
    const reason = errorMessage(error).slice(0, 160).replace(/\.$/, "");
    return `Error in line ${parser.line} of the PrintTicket: ${reason}. Copy the PrintTicket again.`;
  }
}

/** @throws Error if the text is not well-formed XML with namespaces, has a document type definition, or exceeds a limit */
function rootOf(parser: SaxesParser<{ xmlns: true }>, text: string): Root {
  let root: Root = { local: "", uri: "" };
  let level = 0;
  parser.on("opentag", ({ local, uri }) => {
    if (level === 0) root = { local, uri };
    if (++level > maxLevels) throw new Error(`more than ${maxLevels} elements are nested.`);
  });
  parser.on("closetag", () => {
    level--;
  });
  parser.on("attribute", ({ name, value }) => {
    if (name.startsWith("xmlns") && value.length > maxNamespaceLength)
      throw new Error(`a namespace has more than ${maxNamespaceLength} characters.`);
  });
  parser.on("doctype", () => {
    throw new Error("a document type definition (<!DOCTYPE>) is not accepted.");
  });
  parser.write(text).close();
  return root;
}

type Root = Pick<SaxesTagNS, "local" | "uri">;

function rootProblem({ local, uri: namespace }: Root): string | undefined {
  if (local === "PrintCapabilities")
    return "This is a PrintCapabilities file, not a PrintTicket. Use the command below.";
  if (local !== "PrintTicket")
    return `This is not a PrintTicket (root element ${local.slice(0, 60)}). Copy the PrintTicket again.`;
  if (namespace === printSchema) return undefined;
  const found = namespace === "" ? "none" : `“${namespace.slice(0, 120)}”`;
  return `This PrintTicket is not of the Print Schema: its namespace is ${found}, not “${printSchema}”.`;
}
