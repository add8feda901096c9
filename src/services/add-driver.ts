import { basename } from "node:path";
import { type ArchiveReport, type Driver, preferredDescription } from "../domain/driver.ts";
import { cleanText } from "../domain/fields.ts";
import type { Incoming } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import type { Workers } from "./workers.ts";

export interface AddedDriver {
  readonly driver: Driver;
  /** False where the same content was there already. */
  readonly isNew: boolean;
}

/** What is under way, by the path that the archive will have. */
const running = new Map<string, Promise<void>>();

/**
 * Makes a driver of an upload: reads it, keeps the file, then makes the record. Whatever fails, the
 * upload is gone and no record is made. Content that is known already only puts its file back.
 * @throws UserError "invalid" when it is no driver ZIP
 */
export function addDriver(
  app: { readonly store: Store; readonly workers: Workers },
  incoming: Incoming,
  fileName: string,
): Promise<AddedDriver> {
  // Two uploads of the same content go one after the other: neither may take the other's file away.
  const key = app.store.blobs.archivePath(incoming.sha256);
  const before = running.get(key) ?? Promise.resolve();
  const work = before.then(() => add(app, incoming, fileName));
  const settled = work.then(
    () => {},
    () => {},
  );
  running.set(key, settled);
  void settled.then(() => {
    if (running.get(key) === settled) running.delete(key);
  });
  return work;
}

async function add(
  { store, workers }: Parameters<typeof addDriver>[0],
  incoming: Incoming,
  fileName: string,
): Promise<AddedDriver> {
  try {
    const known = store.drivers.findByDigest(incoming.sha256);
    if (known !== undefined) {
      await store.blobs.keepArchive(incoming);
      return { driver: known, isNew: false };
    }
    const report = await workers.inspect(incoming.path);
    await store.blobs.keepArchive(incoming);
    return await store.drivers.add({
      sha256: incoming.sha256,
      file_name: cleanText(basename(fileName.replaceAll("\\", "/"))).slice(0, 255) || "driver.zip",
      size: incoming.size,
      name: "",
      comment: "",
      ...firstChoice(report),
      trust_publisher: false,
      report,
    });
  } catch (error) {
    if (store.drivers.findByDigest(incoming.sha256) === undefined)
      await store.blobs.removeArchive(incoming.sha256);
    throw error;
  } finally {
    await store.blobs.discard(incoming);
  }
}

/** The INF that is the printer's, and the model that most will want. */
function firstChoice(report: ArchiveReport): Pick<Driver, "inf_path" | "driver_desc"> {
  const inf = report.infs.find(({ path }) => path === report.printerInf);
  if (inf === undefined) return { inf_path: "", driver_desc: "" };
  return { inf_path: inf.path, driver_desc: preferredDescription(inf.descriptions, inf.manufacturers) };
}
