import type { FieldMessages } from "../errors.ts";
import type { Architecture, ArchiveReport, Driver, DriverSummary } from "./driver.ts";
import { infDefaults } from "./report.ts";

/** A placeholder: the name of the INF differs between versions of Windows, and no script needs it. */
const infPath = "windows";

export const ippDriverId = 1_000_001;

export const ippModel = "Microsoft IPP Class Driver";

/** Drivers of Windows that can replace a vendor's driver. Their ids are far above those of uploads, which count from 1. */
const windowsDrivers = [
  {
    id: ippDriverId,
    origin: "ipp",
    name: "Microsoft IPP Class Driver",
    comment:
      "For printers that speak IPP (IPP Everywhere, Mopria), also where Windows protected print mode is on.",
    models: [ippModel],
    architectures: ["amd64", "arm64"],
  },
  {
    id: 1_000_002,
    origin: "windows",
    name: "Microsoft PCL6 and PS Class Drivers",
    comment: "For office printers that speak PCL 6 or PostScript, over RAW or LPR.",
    models: ["Microsoft PCL6 Class Driver", "Microsoft PS Class Driver"],
    architectures: ["amd64", "arm64", "x86"],
  },
  {
    id: 1_000_003,
    origin: "windows",
    name: "Generic / Text Only",
    comment: "For label, receipt and line printers whose programs speak the printer’s own language.",
    models: ["Generic / Text Only"],
    architectures: ["amd64", "arm64", "x86"],
  },
] as const;

/** Whether a driver comes with Windows: it has no archive and cannot be edited or deleted. */
export function isWindowsDriver({ origin }: Pick<DriverSummary, "origin">): boolean {
  return origin !== "upload";
}

/** The uploaded drivers among these, without duplicates. Drivers of Windows have no files. */
export function uploadedDrivers<T extends Pick<DriverSummary, "id" | "origin">>(
  drivers: readonly (T | undefined)[],
): T[] {
  const uploaded = drivers.flatMap((driver) =>
    driver === undefined || isWindowsDriver(driver) ? [] : driver,
  );
  return [...new Map(uploaded.map((driver) => [driver.id, driver])).values()];
}

/**
 * The conflict between a printer's protocol and its driver, by field. Windows makes IPP queues only with its IPP class
 * driver, and that driver prints over IPP only.
 */
export function ippProblem(protocol: string, { origin }: Pick<DriverSummary, "origin">): FieldMessages {
  if (protocol === "ipp" && origin !== "ipp")
    return {
      driver_id: "IPP requires the Microsoft IPP Class Driver. Choose it, or another protocol.",
    };
  if (protocol !== "ipp" && origin === "ipp")
    return {
      protocol: "The Microsoft IPP Class Driver supports only IPP. Choose IPP, or another driver.",
    };
  return {};
}

/** The records that every database has from the beginning. */
export function windowsDriverRecords(): Omit<
  Driver,
  "uploaded_at" | "updated_at" | "former_title" | "listed" | "exact_version"
>[] {
  return windowsDrivers.map(({ id, origin, name, comment, models, architectures }) => ({
    id,
    origin,
    name,
    comment,
    // A placeholder: no archive has this digest.
    sha256: String(id).padStart(64, "0"),
    file_name: "",
    size: 0,
    inf_path: infPath,
    driver_desc: models[0],
    model_chosen: true,
    trust_publisher: false,
    drop_unused: false,
    report: reportOf(models, architectures),
  }));
}

function reportOf(descriptions: readonly string[], architectures: readonly Architecture[]): ArchiveReport {
  const inf = {
    ...infDefaults,
    path: infPath,
    class: "Printer",
    isPrinter: true,
    provider: "Microsoft",
    signed: true,
    architectures,
    descriptions,
    modelLines: descriptions.length,
    manufacturers: ["Microsoft"],
  };
  return { fileCount: 0, totalBytes: 0, infs: [inf], printerInf: infPath, warnings: [] };
}
