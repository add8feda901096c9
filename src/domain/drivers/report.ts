import {
  type ArchiveReport,
  chosenInf,
  type Driver,
  type InfSummary,
  type ListedInf,
  missingCountOf,
  missingForOf,
} from "./driver.ts";
import { hasModel } from "./models.ts";

/** Defaults for fields that reports from earlier versions of Platen lack. */
export const infDefaults: Omit<InfSummary, "path"> = {
  class: null,
  isPrinter: false,
  driverModel: null,
  provider: null,
  driverVer: null,
  signed: false,
  catalogFiles: [],
  architectures: [],
  notShipped: [],
  descriptions: [],
  modelLines: 0,
  manufacturers: [],
  copyInf: [],
  missing: [],
  unused: { count: 0, bytes: 0, paths: [] },
};

/** Parses a saved report and fills in defaults. @throws Error if the text is not a JSON object */
export function reportFrom(json: string): ArchiveReport {
  const saved = parseObject<Partial<ArchiveReport>>(json);
  if (saved === null) throw notAnObject();
  const infs = (saved.infs ?? []).flatMap((inf): InfSummary[] =>
    // An INF without a path is left out, because it cannot be chosen.
    inf.path ? [{ ...infDefaults, missingCount: missingCountOf(inf), ...inf }] : [],
  );
  return { fileCount: 0, totalBytes: 0, printerInf: null, warnings: [], ...saved, infs };
}

/**
 * The chosen INF's data for lists; undefined if no INF is chosen.
 * @param printerModels the models that are chosen for the driver's printers
 */
export function listedInf(
  driver: Pick<Driver, "inf_path" | "driver_desc" | "report">,
  printerModels: readonly string[] = [],
): ListedInf | undefined {
  const inf = chosenInf(driver);
  if (inf === undefined) return undefined;
  const { isPrinter, driverModel, provider, driverVer, signed, architectures, notShipped } = inf;
  const deployedModels = new Set([driver.driver_desc, ...printerModels].filter((model) => model !== ""));
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
    lostModels: [...deployedModels].filter((model) => !hasModel(inf, model)),
  };
}

/**
 * Parses a driver's `listed` column. JSON `null` means that no INF is chosen.
 * @throws Error if the JSON is neither `null` nor an object
 */
export function listedInfFrom(json: string): ListedInf | undefined {
  const listed = parseObject<ListedInf>(json);
  if (listed === null) return undefined;
  // `missingFor` is missing in values from earlier versions of Platen.
  return { ...listed, missingFor: missingForOf(listed) };
}

function parseObject<T extends object>(json: string): T | null {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || Array.isArray(value)) throw notAnObject();
  return value as T | null;
}

/** The end of a sentence that begins with the name of the record. */
function notAnObject(): Error {
  return new Error("its JSON is no object");
}
