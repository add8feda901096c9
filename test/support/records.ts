import type { Driver, InfSummary } from "../../src/domain/drivers/driver.ts";
import { proposedNames } from "../../src/domain/drivers/driver-name.ts";
import { listedInf } from "../../src/domain/drivers/report.ts";
import type { Printer, PrinterSettings } from "../../src/domain/printers/printer.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";

/** An INF summary, with defaults for everything. */
export function makeInf(inf: Partial<InfSummary> = {}): InfSummary {
  return {
    path: "papyrus.inf",
    class: "Printer",
    isPrinter: true,
    driverModel: "v3",
    provider: "Papyrus",
    driverVer: { date: "06/21/2025", version: "1.2.3.4" },
    signed: true,
    catalogFiles: ["papyrus.cat"],
    architectures: ["amd64"],
    notShipped: [],
    descriptions: ["Papyrus 100 PCL6"],
    modelLines: 1,
    manufacturers: ["Papyrus"],
    copyInf: [],
    missing: [],
    unused: { count: 0, bytes: 0, paths: [] },
    ...inf,
  };
}

/** A driver with one INF. */
export function makeDriver(driver: Partial<Driver> & { readonly inf?: Partial<InfSummary> } = {}): Driver {
  const { inf, ...rest } = driver;
  const summary = makeInf(inf);
  const made = {
    id: 1,
    origin: "upload" as const,
    sha256: "a".repeat(64),
    file_name: "papyrus.zip",
    size: 1000,
    uploaded_at: 0,
    updated_at: 0,
    former_title: "",
    comment: "",
    inf_path: summary.path,
    driver_desc: summary.descriptions[0] ?? "",
    model_chosen: false,
    trust_publisher: false,
    drop_unused: false,
    exact_version: false,
    report: { fileCount: 3, totalBytes: 100, infs: [summary], printerInf: summary.path, warnings: [] },
    ...rest,
  };
  return { name: proposedNames(made)[0], ...made, listed: listedInf(made) };
}

/** A printer from form fields, parsed as in the service. */
export function makePrinter(fields: Record<string, string> & { id?: string } = {}): Printer {
  const { id = "7", ...input } = fields;
  const settings = parsePrinter({ name: "Office", address: "10.0.0.9", ...input });
  return { ...settings, id: Number(id), driver_id: 1, created_at: 0, updated_at: 0, preferences_sha256: "" };
}

/** The defaults of a printer's settings, for an empty form or an old row. */
export const settingDefaults: Readonly<Record<string, unknown>> = {
  driver_desc: "",
  address: "",
  port_name: "",
  protocol: "raw",
  port_number: 9100,
  ipp_path: "/ipp/print",
  ipp_tls: false,
  lpr_queue: "",
  snmp: false,
  snmp_community: "public",
  snmp_index: 1,
  location: "",
  comment: "",
  set_default: false,
  shared: false,
  share_name: "",
  duplex: "",
  color: "",
  collate: "",
  paper_size: "",
  print_ticket: "",
  reset_user_preferences: false,
  arm64_driver_id: null,
  arm64_driver_desc: "",
  subnets: [],
  requires_reachable: false,
  permission_sddl: "",
  keep_printed: false,
  hold_mismatched: false,
  replaces: [],
  keep_driver: false,
} satisfies Record<Exclude<keyof PrinterSettings, "name" | "client_id" | "driver_id">, unknown>;
