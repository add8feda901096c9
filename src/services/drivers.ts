import { basename } from "node:path";
import { type ArchiveReport, type Driver, preferredDescription } from "../domain/driver.ts";
import { cleanText } from "../domain/fields.ts";
import type { Incoming } from "../store/blobs.ts";
import type { NewDriver } from "../store/drivers.ts";
import type { Store } from "../store/store.ts";
import type { Inspections } from "../workers/inspections.ts";

export interface AddedDriver {
  readonly driver: Driver;
  /** False where the same content was there already. */
  readonly isNew: boolean;
}

type Services = { readonly store: Store; readonly inspections: Pick<Inspections, "inspect"> };

/**
 * Makes a driver of an upload: reads it, keeps the file, then makes the record. Whatever fails, the
 * upload is gone and no record is made. Content that is known already only puts its file back.
 * @param client whose upload it is
 * @throws UserError "invalid" when it is no driver ZIP
 */
export function addDriver(
  app: Services,
  incoming: Incoming,
  fileName: string,
  client = "",
): Promise<AddedDriver> {
  return app.store.blobs.inTurn(incoming.sha256, () => add(app, incoming, fileName, client));
}

/** Deletes a driver, then its archive. @throws UserError "not-found", or "conflict" where it is in use */
export async function removeDriver({ drivers, blobs }: Store, id: number): Promise<void> {
  const { sha256 } = drivers.get(id);
  await blobs.inTurn(sha256, async () => {
    await drivers.remove(id);
    if (!drivers.hasDigest(sha256)) await blobs.removeArchive(sha256);
  });
}

async function add(
  { store, inspections }: Services,
  incoming: Incoming,
  fileName: string,
  client: string,
): Promise<AddedDriver> {
  try {
    const known = store.drivers.findByDigest(incoming.sha256);
    if (known !== undefined) {
      await store.blobs.keepArchive(incoming);
      return { driver: known, isNew: false };
    }
    const report = await inspections.inspect(incoming, client);
    return await keep(store, incoming, {
      sha256: incoming.sha256,
      file_name: cleanText(basename(fileName.replaceAll("\\", "/"))).slice(0, 255) || "driver.zip",
      size: incoming.size,
      name: "",
      comment: "",
      ...firstChoice(report),
      trust_publisher: false,
      report,
    });
  } finally {
    await store.blobs.discard(incoming);
  }
}

/** A file that was there before without a record stays when the record cannot be made. */
async function keep({ blobs, drivers }: Store, incoming: Incoming, driver: NewDriver): Promise<AddedDriver> {
  const wasThere = await blobs.exists(blobs.archivePath(incoming.sha256));
  await blobs.keepArchive(incoming);
  try {
    return await drivers.add(driver);
  } catch (error) {
    if (!wasThere) await blobs.removeArchive(incoming.sha256);
    throw error;
  }
}

/** The INF that is the printer's, and the model that most will want. */
function firstChoice(report: ArchiveReport): Pick<Driver, "inf_path" | "driver_desc"> {
  const inf = report.infs.find(({ path }) => path === report.printerInf);
  if (inf === undefined) return { inf_path: "", driver_desc: "" };
  return { inf_path: inf.path, driver_desc: preferredDescription(inf.descriptions, inf.manufacturers) };
}
