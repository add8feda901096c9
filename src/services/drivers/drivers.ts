import { basename } from "node:path";
import type { ArchiveReport, Driver } from "../../domain/drivers/driver.ts";
import { firstModel } from "../../domain/drivers/models.ts";
import { cleanText } from "../../domain/fields.ts";
import type { AddedDriver } from "../../domain/printers/listings.ts";
import { withUnseenShown } from "../../domain/text.ts";
import type { Incoming } from "../../store/blobs.ts";
import type { NewDriver } from "../../store/drivers/drivers.ts";
import type { Store } from "../../store/store.ts";
import type { Inspections } from "../../workers/inspections.ts";
import type { PackageBuilder } from "../deploy/packages.ts";
import type { ArchiveCheck } from "./archive-check.ts";

/** Who sends a driver. */
interface Uploader {
  /** The site that it came from. */
  readonly site?: string;
  /** Asks whether they may do so still: reading a large driver takes a while. */
  readonly askAgain?: () => Promise<void>;
}

/** What adding a driver needs. */
interface DriverServices {
  readonly store: Store;
  readonly inspections: Pick<Inspections, "inspect">;
  readonly archives: Pick<ArchiveCheck, "uploaded" | "stateOf">;
  readonly packages: Pick<PackageBuilder, "prepare">;
}

/**
 * Makes a driver of an upload: reads it, keeps the file, then makes the record. Whatever fails, the
 * upload is gone and no record is made. Content that is known already only puts its file back.
 * @throws UserError "invalid" when it is no driver ZIP, "busy", and what `askAgain` throws
 */
export async function addDriver(
  services: DriverServices,
  incoming: Incoming,
  fileName: string,
  uploader: Uploader = {},
): Promise<AddedDriver> {
  const { blobs } = services.store;
  try {
    return await blobs.inTurn(incoming.sha256, () => add(services, incoming, fileName, uploader));
  } finally {
    await blobs.discard(incoming);
  }
}

async function add(
  services: DriverServices,
  incoming: Incoming,
  fileName: string,
  { site = "", askAgain }: Uploader,
): Promise<AddedDriver> {
  const record = await recordOf(services, incoming, fileName, site);
  const added = await services.store.blobs.keep("drivers", incoming, async () => {
    await askAgain?.();
    return record();
  });
  await services.archives.uploaded(incoming.sha256);
  services.packages.prepare(added.driver);
  return added;
}

/** What makes an upload's record, or finds the one that the same content has already. */
async function recordOf(
  { store, inspections, archives }: DriverServices,
  incoming: Incoming,
  fileName: string,
  site: string,
): Promise<() => Promise<AddedDriver>> {
  const known = store.drivers.findByDigest(incoming.sha256);
  if (known !== undefined) {
    const state = await archives.stateOf(known);
    const mended = state === "sound" ? undefined : state;
    return async () => ({ driver: known, isNew: false, mended });
  }
  const driver = newDriver(incoming, fileName, await inspections.inspect(incoming, site));
  return () => store.drivers.add(driver);
}

function newDriver({ sha256, size }: Incoming, fileName: string, report: ArchiveReport): NewDriver {
  return {
    sha256,
    file_name: shownName(fileName) || "driver.zip",
    size,
    name: "",
    comment: "",
    ...firstChoice(report),
    model_chosen: false,
    trust_publisher: false,
    drop_unused: false,
    report,
  };
}

/** Without folders, as everybody can see it, whole characters of it. */
function shownName(fileName: string): string {
  const name = cleanText(basename(fileName.replaceAll("\\", "/")));
  return withUnseenShown(name).slice(0, 255).toWellFormed();
}

/** The INF that is the printer's, and the model that most will want. */
function firstChoice(report: ArchiveReport): Pick<Driver, "inf_path" | "driver_desc"> {
  const inf = report.infs.find(({ path }) => path === report.printerInf);
  if (inf === undefined) return { inf_path: "", driver_desc: "" };
  return { inf_path: inf.path, driver_desc: firstModel(inf) };
}
