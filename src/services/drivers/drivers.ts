import { basename } from "node:path";
import type { AddedDriver, ArchiveReport, Driver } from "../../domain/drivers/driver.ts";
import { preselectedModel } from "../../domain/drivers/models.ts";
import { cleanText } from "../../domain/fields.ts";
import { escapeInvisible } from "../../domain/text.ts";
import { type Incoming, innerPath } from "../../store/blobs.ts";
import type { NewDriver } from "../../store/drivers/drivers.ts";
import type { Store } from "../../store/store.ts";
import type { Inspections } from "../../workers/inspections.ts";
import type { PackageBuilder } from "../deploy/packages.ts";
import type { ArchiveCheck } from "./archive-check.ts";

interface Uploader {
  /** The network that the upload came from. */
  readonly network?: string;
  /** Throws unless the sender may still upload: reading a large driver takes a while. */
  readonly recheckSender?: () => Promise<void>;
}

interface DriverServices {
  readonly store: Store;
  readonly inspections: Pick<Inspections, "inspect">;
  readonly archives: Pick<ArchiveCheck, "recordUpload" | "knownStateOf">;
  readonly packages: Pick<PackageBuilder, "prepare">;
}

/**
 * Adds a driver from an upload: reads the upload, keeps the file, then makes the record. If the driver is in a ZIP inside
 * the upload, only that ZIP is kept, as if it had been uploaded itself. If anything fails, the upload is deleted and no
 * record is made. If a driver already has this archive, the upload only restores the archive's file.
 * @throws UserError "invalid" when it is no driver ZIP, "busy", and what `recheckSender` throws
 */
export async function addDriver(
  services: DriverServices,
  incoming: Incoming,
  fileName: string,
  uploader: Uploader = {},
): Promise<AddedDriver> {
  const { blobs } = services.store;
  try {
    return await blobs.inOrder(incoming.sha256, () => add(services, incoming, fileName, uploader));
  } finally {
    await blobs.discard(incoming);
  }
}

async function add(
  services: DriverServices,
  incoming: Incoming,
  fileName: string,
  uploader: Uploader,
): Promise<AddedDriver> {
  const { store, inspections } = services;
  const known = store.drivers.findByDigest(incoming.sha256);
  if (known !== undefined) return keep(services, incoming, uploader, known);
  const { report, inner } = await inspections.inspect(incoming, uploader.network ?? "");
  if (inner === undefined) return keep(services, incoming, uploader, newDriver(incoming, fileName, report));
  const taken = { ...inner, path: innerPath(incoming.path) };
  const added = await store.blobs.inOrder(taken.sha256, () =>
    keep(
      services,
      taken,
      uploader,
      store.drivers.findByDigest(taken.sha256) ?? newDriver(taken, taken.name, report),
    ),
  );
  return { ...added, taken: inner.remark };
}

/** Keeps the file, then makes the record of a new driver. For a known one, it only puts the file back. */
async function keep(
  { store, archives, packages }: DriverServices,
  incoming: Incoming,
  { recheckSender }: Uploader,
  driver: Driver | NewDriver,
): Promise<AddedDriver> {
  const state = "id" in driver ? await archives.knownStateOf(driver) : undefined;
  const added = await store.blobs.keep("drivers", incoming, async () => {
    await recheckSender?.();
    if (!("id" in driver)) return store.drivers.add(driver);
    return { driver, isNew: false, previousProblem: state === "sound" ? undefined : state };
  });
  await archives.recordUpload(incoming.sha256);
  packages.prepare(added.driver);
  return added;
}

function newDriver({ sha256, size }: Incoming, fileName: string, report: ArchiveReport): NewDriver {
  return {
    sha256,
    file_name: cleanFileName(fileName) || "driver.zip",
    size,
    comment: "",
    ...defaultChoice(report),
    model_chosen: false,
    trust_publisher: false,
    drop_unused: false,
    exact_version: false,
    report,
  };
}

/** The file name without folders and with invisible characters made visible, at most 255 UTF-16 units. */
function cleanFileName(fileName: string): string {
  const name = cleanText(basename(fileName.replaceAll("\\", "/")));
  return escapeInvisible(name).slice(0, 255).toWellFormed();
}

/** The printer's INF and its preselected model. Empty if there is none. */
function defaultChoice(report: ArchiveReport): Pick<Driver, "inf_path" | "driver_desc"> {
  const inf = report.infs.find(({ path }) => path === report.printerInf);
  if (inf === undefined) return { inf_path: "", driver_desc: "" };
  return { inf_path: inf.path, driver_desc: preselectedModel(inf) };
}
