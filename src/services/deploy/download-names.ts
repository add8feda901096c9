import { type Driver, packageTitle } from "../../domain/drivers/driver.ts";
import type { Client } from "../../domain/printers/client.ts";
import type { PrinterDetails } from "../../domain/printers/listings.ts";
import type { Printer } from "../../domain/printers/printer.ts";
import { slug } from "../../domain/text.ts";
import type { PackageFile, PackageFormat } from "../../pkg/formats/format.ts";
import type { ScriptKind } from "../../pkg/scripts/render.ts";

// File names of downloads. They are slugs, because commands contain them.

/** For a printer's packages, without extension. */
export function packageName({ printer, client }: PrinterDetails): string {
  const name = [client?.name ?? "", printer.name].map(slug).filter(Boolean).join("-");
  return name || `printer-${printer.id}`;
}

/** For a printer's scripts, without kind and extension. */
export function scriptName({ id, name }: Pick<Printer, "id" | "name">): string {
  return slug(name) || `printer-${id}`;
}

/** For a client's packages and scripts, without kind and extension. */
export function clientFileName({ id, name }: Pick<Client, "id" | "name">): string {
  return slug(name) || `client-${id}`;
}

/** For a driver's own packages and scripts, without kind and extension. */
export function driverFileName(driver: Driver): string {
  return slug(packageTitle(driver)) || `driver-${driver.id}`;
}

export function withoutDriverName(name: string, omitsDriver: boolean): string {
  return omitsDriver ? `${name}-without-driver` : name;
}

export function scriptFileName(kind: ScriptKind | "publish", name: string): string {
  return `${kind}-${name}.ps1`;
}

export interface NamedPackage extends Pick<PackageFormat, "contentType"> {
  readonly file: PackageFile;
  readonly fileName: string;
}

/** @param name without extension */
export function namedPackage(format: PackageFormat, file: PackageFile, name: string): NamedPackage {
  const { contentType, extension } = format;
  return { file, contentType, fileName: name + extension };
}
