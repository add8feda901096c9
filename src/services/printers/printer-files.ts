import { crc32 } from "node:zlib";
import { UserError } from "../../domain/errors.ts";
import { checkIcon } from "../../domain/printers/icon.ts";
import { checkPreferences, preferencesDriver } from "../../domain/printers/preferences.ts";
import type { Blobs, Incoming } from "../../store/blobs.ts";
import type { Removal } from "../../store/deletions.ts";
import type { Store } from "../../store/store.ts";
import type { Undo } from "../backup/undo.ts";

interface FileServices {
  readonly store: Store;
  readonly undo: Pick<Undo, "finish">;
}

/** The uploaded file of a printer. */
interface StoredFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Buffer;
}

type FileKind = "icons" | "preferences";

/**
 * Replaces a printer's icon with an uploaded picture. On every error, the upload is deleted and the printer keeps its icon.
 * @returns the deletion of the old icon; undefined if there was none
 * @throws UserError "invalid" if the picture is not a valid icon, "not-found" if there is no such printer
 */
export function saveIcon(
  services: FileServices,
  printerId: number,
  incoming: Incoming,
): Promise<number | undefined> {
  return save(services, "icons", incoming, (bytes) => {
    checkIcon(bytes);
    return services.store.icons.put(printerId, incoming);
  });
}

/** The same for vendor preferences. @throws UserError also "invalid" if the printer cannot have any */
export function savePreferences(
  services: FileServices,
  printerId: number,
  incoming: Incoming,
): Promise<number | undefined> {
  const { printers, drivers, preferences } = services.store;
  return save(services, "preferences", incoming, (bytes) => {
    checkPreferences(bytes);
    const { printer } = printers.get(printerId);
    const driver = preferencesDriver(printer, drivers.findSummary(printer.driver_id ?? 0));
    return preferences.put(printerId, { ...incoming, crc32: crc32(bytes), ...driver });
  });
}

/** @param record checks the bytes and makes the record */
async function save(
  { store: { blobs }, undo }: FileServices,
  kind: FileKind,
  incoming: Incoming,
  record: (bytes: Buffer) => Promise<Removal>,
): Promise<number | undefined> {
  try {
    const bytes = await readWhole(blobs, incoming.path);
    if (bytes === undefined) throw new Error("a file went away while it was read");
    const put = () => blobs.keep(kind, incoming, async () => record(bytes));
    return await undo.finish(await blobs.inOrder(incoming.sha256, put));
  } finally {
    await blobs.discard(incoming);
  }
}

/** @throws UserError "not-found" if there is no such printer, or it has no icon */
export async function readIcon(store: Store, printerId: number): Promise<StoredFile> {
  store.printers.get(printerId);
  const picture = await findIcon(store, printerId);
  if (picture === undefined) throw new UserError("not-found", "This printer has no icon.");
  return picture;
}

/** @throws UserError "not-found" without a printer or preferences, "invalid" if the file is missing */
export async function readPreferences(store: Store, printerId: number): Promise<StoredFile> {
  const { printer } = store.printers.get(printerId);
  if (store.preferences.find(printerId) === undefined)
    throw new UserError("not-found", "This printer has no vendor preferences.");
  const file = await findFile(store, "preferences", printerId);
  if (file === undefined) throw missingPreferences(printer);
  return file;
}

export function missingPreferences({ name }: { readonly name: string }): UserError {
  const message = `The vendor preferences of “${name}” are missing on the server. Upload the file again, or delete it.`;
  return new UserError("invalid", message);
}

/** Undefined if the printer, its icon's record or the file is missing. */
export function findIcon(store: Store, printerId: number): Promise<StoredFile | undefined> {
  return findFile(store, "icons", printerId);
}

async function findFile(store: Store, kind: FileKind, printerId: number): Promise<StoredFile | undefined> {
  const sha256 = store[kind].find(printerId)?.sha256;
  if (sha256 === undefined) return undefined;
  const path = store.blobs.pathOf(kind, sha256);
  const bytes = await readWhole(store.blobs, path);
  return bytes && { path, sha256, bytes };
}

async function readWhole(blobs: Blobs, path: string): Promise<Buffer | undefined> {
  const source = await blobs.open(path);
  try {
    return await source?.read(0, source.size);
  } finally {
    await source?.close();
  }
}
