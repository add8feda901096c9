import {
  type Architecture,
  type ArchiveReport,
  architectures,
  chosenInf,
  type Driver,
  type InfSummary,
  type ListedInf,
  missingCountOf,
  missingForOf,
  type UnusedFiles,
} from "./driver.ts";
import { hasModel } from "./models.ts";
import { StoredObject } from "./stored.ts";

/** Reads a report that was kept. @throws Error when the text is no object in JSON */
export function reportFrom(json: string): ArchiveReport {
  const stored = StoredObject.parse(json);
  const unused = stored.object("unused");
  return {
    fileCount: stored.integer("fileCount"),
    totalBytes: stored.integer("totalBytes"),
    // An INF without a path cannot be chosen, and is none.
    infs: stored.objects("infs").flatMap((inf) => (inf.text("path") === "" ? [] : infFrom(inf))),
    ...(unused === undefined ? {} : { unused: unusedFrom(unused) }),
    printerInf: stored.textOrNull("printerInf"),
    warnings: stored.texts("warnings"),
  };
}

/**
 * What lists show of the driver's chosen INF; undefined where none is chosen.
 * @param used the models that printers of the driver choose by themselves
 */
export function listedInf(
  driver: Pick<Driver, "inf_path" | "driver_desc" | "report">,
  used: readonly string[] = [],
): ListedInf | undefined {
  const inf = chosenInf(driver);
  if (inf === undefined) return undefined;
  const { isPrinter, driverModel, provider, driverVer, signed, architectures, notShipped } = inf;
  const deployed = new Set([driver.driver_desc, ...used].filter((model) => model !== ""));
  return {
    isPrinter,
    class: inf.class,
    driverModel,
    provider,
    driverVer,
    signed,
    architectures,
    notShipped,
    missingCount: missingCountOf(inf),
    missingFor: missingForOf(inf),
    modelCount: inf.descriptions.length,
    lostModels: [...deployed].filter((model) => !hasModel(inf, model)),
  };
}

/** Reads what was kept for lists; `null` stands for no chosen INF. @throws Error when it is neither */
export function listedInfFrom(json: string): ListedInf | undefined {
  if (json === "null") return undefined;
  const stored = StoredObject.parse(json);
  const architectures = architecturesFrom(stored, "architectures");
  const missingCount = stored.integer("missingCount");
  const earlier = missingCount > 0 ? architectures : [];
  return {
    isPrinter: stored.flag("isPrinter"),
    class: stored.textOrNull("class"),
    driverModel: stored.choice("driverModel", ["", "v3", "v4"]) || null,
    provider: stored.textOrNull("provider"),
    driverVer: driverVerFrom(stored),
    signed: stored.flag("signed"),
    architectures,
    notShipped: architecturesFrom(stored, "notShipped"),
    missingCount,
    missingFor: stored.has("missingFor") ? architecturesFrom(stored, "missingFor") : earlier,
    modelCount: stored.integer("modelCount"),
    lostModels: stored.texts("lostModels"),
  };
}

function infFrom(stored: StoredObject): InfSummary {
  const missing = stored.texts("missing");
  return {
    path: stored.text("path"),
    class: stored.textOrNull("class"),
    isPrinter: stored.flag("isPrinter"),
    driverModel: stored.choice("driverModel", ["", "v3", "v4"]) || null,
    provider: stored.textOrNull("provider"),
    driverVer: driverVerFrom(stored),
    signed: stored.flag("signed"),
    catalogFiles: stored.texts("catalogFiles"),
    architectures: architecturesFrom(stored, "architectures"),
    notShipped: architecturesFrom(stored, "notShipped"),
    descriptions: stored.texts("descriptions"),
    modelLines: stored.integer("modelLines"),
    manufacturers: stored.texts("manufacturers"),
    copyInf: stored.texts("copyInf"),
    missing,
    missingCount: stored.integer("missingCount", missing.length, missing.length),
    ...(stored.has("missingFor") && { missingFor: architecturesFrom(stored, "missingFor") }),
    unused: unusedFrom(stored.object("unused")),
  };
}

function unusedFrom(stored: StoredObject | undefined): UnusedFiles {
  return {
    count: stored?.integer("count") ?? 0,
    bytes: stored?.integer("bytes") ?? 0,
    paths: stored?.texts("paths") ?? [],
  };
}

function driverVerFrom(stored: StoredObject): InfSummary["driverVer"] {
  const driverVer = stored.object("driverVer");
  return driverVer === undefined
    ? null
    : { date: driverVer.text("date"), version: driverVer.text("version") };
}

function architecturesFrom(stored: StoredObject, name: string): Architecture[] {
  // In the order that was kept: a printer's revision is made of it.
  return stored.texts(name).flatMap((text) => architectures.find((known) => known === text) ?? []);
}
