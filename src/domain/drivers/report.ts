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

/** Values for fields that reports of earlier versions lack. */
const infDefaults: Omit<InfSummary, "path"> = {
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

/** Reads a saved report and fills in defaults. @throws Error when the text is not a JSON object */
export function reportFrom(json: string): ArchiveReport {
  const saved = parseObject<Partial<ArchiveReport>>(json);
  if (saved === null) throw notAnObject();
  const infs = (saved.infs ?? []).flatMap((inf): InfSummary[] =>
    // An INF without a path cannot be chosen.
    inf.path ? [{ ...infDefaults, missingCount: missingCountOf(inf), ...inf }] : [],
  );
  return { fileCount: 0, totalBytes: 0, printerInf: null, warnings: [], ...saved, infs };
}

/**
 * What lists show of the driver's chosen INF; undefined where none is chosen.
 * @param used the models that printers of the driver choose
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

/**
 * Reads the saved `listed` value. JSON `null` means that no INF is chosen.
 * @throws Error when it is neither `null` nor an object
 */
export function listedInfFrom(json: string): ListedInf | undefined {
  const listed = parseObject<ListedInf>(json);
  if (listed === null) return undefined;
  // Values of earlier versions lack `missingFor`.
  return { ...listed, missingFor: missingForOf(listed) };
}

function parseObject<T extends object>(json: string): T | null {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || Array.isArray(value)) throw notAnObject();
  return value as T | null;
}

function notAnObject(): Error {
  return new Error("its JSON is no object");
}
