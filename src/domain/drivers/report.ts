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

/** What an INF is said to be where a report of an earlier version lacks a field. */
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

/** Reads a report that was kept; a field that it lacks is its default. @throws Error when the text is no object in JSON */
export function reportFrom(json: string): ArchiveReport {
  const stored = storedObject<Partial<ArchiveReport>>(json);
  if (stored === null) throw notAnObject();
  const infs = (stored.infs ?? []).flatMap((inf): InfSummary[] =>
    // An INF without a path cannot be chosen, and is none.
    inf.path ? [{ ...infDefaults, missingCount: missingCountOf(inf), ...inf }] : [],
  );
  return { fileCount: 0, totalBytes: 0, printerInf: null, warnings: [], ...stored, infs };
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
  const listed = storedObject<ListedInf>(json);
  if (listed === null) return undefined;
  // Lists of earlier versions do not say which machines need the missing files.
  return { ...listed, missingFor: missingForOf(listed) };
}

function storedObject<T extends object>(json: string): T | null {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || Array.isArray(value)) throw notAnObject();
  return value as T | null;
}

function notAnObject(): Error {
  return new Error("its JSON is no object");
}
