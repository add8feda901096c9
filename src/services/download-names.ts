import type { Client } from "../domain/client.ts";
import type { PrinterDetails } from "../domain/listings.ts";
import type { Printer } from "../domain/printer.ts";
import { slug } from "../domain/slug.ts";
import type { ScriptKind } from "../pkg/scripts/render.ts";

// What downloads are called. Commands name these files, so nothing but slugs stands in them.

/** A printer's packages, without their endings. */
export function packageName({ printer, client }: PrinterDetails): string {
  const name = [client?.name ?? "", printer.name].map(slug).filter(Boolean).join("-");
  return name || `printer-${printer.id}`;
}

/** A printer's scripts, without kind and ending. */
export function scriptName({ id, name }: Pick<Printer, "id" | "name">): string {
  return slug(name) || `printer-${id}`;
}

/** A client's packages and scripts, likewise. */
export function clientFileName({ id, name }: Pick<Client, "id" | "name">): string {
  return slug(name) || `client-${id}`;
}

export function scriptFileName(kind: ScriptKind, name: string): string {
  return `${kind}-${name}.ps1`;
}
