import { type Driver, driverTitle } from "../../domain/drivers/driver.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterDetails } from "../../domain/printers/listings.ts";
import type { Printer } from "../../domain/printers/printer.ts";
import { slug } from "../../domain/text.ts";
import type { PackageFile, PackageFormat } from "../../pkg/formats/format.ts";
import type { ScriptKind } from "../../pkg/scripts/render.ts";

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

/** A driver's own packages and scripts, likewise. */
export function driverFileName(driver: Driver): string {
  return slug(driverTitle(driver)) || `driver-${driver.id}`;
}

/** What the same is called without its drivers. */
export function withoutDriverName(name: string, isApart: boolean): string {
  return isApart ? `${name}-without-driver` : name;
}

export function scriptFileName(kind: ScriptKind | "publish", name: string): string {
  return `${kind}-${name}.ps1`;
}

/** A package with what a download says of it. */
export interface NamedPackage extends Pick<PackageFormat, "contentType"> {
  readonly file: PackageFile;
  readonly fileName: string;
}

/** @param name without its ending */
export function named(format: PackageFormat, file: PackageFile, name: string): NamedPackage {
  const { contentType, extension } = format;
  return { file, contentType, fileName: name + extension };
}
