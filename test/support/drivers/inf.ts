import { type InfReading, readInf } from "../../../src/inf/package.ts";
import { PackageFiles } from "../../../src/inf/package-files.ts";

/** Reads the text of an INF in an archive with these other paths. */
export function read(
  text: string | Buffer,
  paths: readonly string[] = [],
  path = "a.inf",
  cabinets?: Map<string, string[]>,
): InfReading {
  return readInf(path, Buffer.from(text as string), new PackageFiles([path, ...paths], cabinets));
}

/** The start of a printer’s INF. */
export const version =
  '[Version]\nSignature="$Windows NT$"\nClass=Printer\nProvider=%P%\nDriverVer=1/2/2024,3.4\n';

/** An INF of one model. @param copy the install section and the sections that it copies */
export const filesInf = (copy: string, rest: string) =>
  `${version}CatalogFile=a.cat\n[Manufacturer]\nX=M,NTamd64\n[M.NTamd64]\n"A"=Inst\n${copy}\n${rest}\n`;
