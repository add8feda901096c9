import type { PackageFile, PackageFormat } from "../../pkg/formats/format.ts";

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
