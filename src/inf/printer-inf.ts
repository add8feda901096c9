import type { InfDocument } from "./document.ts";

const printerClassGuid = "{4d36e979-e325-11ce-bfc1-08002be10318}";

export interface InfVersion {
  readonly class: string | null;
  readonly classGuid: string | null;
  /** Class or ClassGuid is Printer. */
  readonly isPrinter: boolean;
  /** `v4` means ClassVer 4.0 or later; null for other device classes. */
  readonly driverModel: "v3" | "v4" | null;
  readonly provider: string | null;
  /** Both as in the INF; a version may have fewer or more than four parts. */
  readonly driverVer: { readonly date: string; readonly version: string } | null;
  /** Catalog file names by decoration in lower case; `default` for the undecorated one. */
  readonly catalogs: Readonly<Record<string, string | null>>;
}

/** Reads `[Version]`. */
export function readVersion(inf: InfDocument): InfVersion {
  const className = inf.value("Version", "Class") ?? null;
  const classGuid = inf.value("Version", "ClassGuid") ?? null;
  const isPrinter = className?.toLowerCase() === "printer" || classGuid?.toLowerCase() === printerClassGuid;
  const isV4 = Number.parseFloat(inf.value("Version", "ClassVer") ?? "") >= 4;
  return {
    class: className,
    classGuid,
    isPrinter,
    driverModel: isPrinter ? (isV4 ? "v4" : "v3") : null,
    provider: inf.value("Version", "Provider") ?? null,
    driverVer: readDriverVer(inf),
    catalogs: readCatalogs(inf),
  };
}

function readDriverVer(inf: InfDocument): InfVersion["driverVer"] {
  const [date, version] = inf
    .values("Version", "DriverVer")
    .slice(0, 2)
    .map((value) => inf.resolve(value).trim());
  return date ? { date, version: version ?? "" } : null;
}

function readCatalogs(inf: InfDocument): Record<string, string | null> {
  const catalogs = new Map<string, string | null>([["default", null]]);
  for (const line of inf.section("Version") ?? []) {
    const key = line.key?.toLowerCase() ?? "";
    if (key !== "catalogfile" && !key.startsWith("catalogfile.")) continue;
    const decoration = key === "catalogfile" ? "default" : key.slice("catalogfile.".length);
    const value = inf.resolve(line.values[0] ?? "");
    if (value !== "" && !catalogs.get(decoration)) catalogs.set(decoration, value);
  }
  return Object.fromEntries(catalogs);
}
