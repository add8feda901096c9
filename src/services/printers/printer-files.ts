import { crc32 } from "node:zlib";
import type { KeptChange } from "../../domain/deletion.ts";
import { UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
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

interface ClientFileServices {
  readonly store: Store;
  readonly undo: Pick<Undo, "keep">;
}

/** The uploaded file of a printer or client. */
export interface StoredFile {
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

/** Sets the icon for apps of a client's printers that have none. @throws UserError as `saveIcon` */
export function saveClientIcon(
  services: ClientFileServices,
  clientId: number,
  incoming: Incoming,
): Promise<KeptChange> {
  return keepFile(services.store.blobs, "icons", incoming, (bytes) => {
    checkIcon(bytes);
    const { sha256, size } = incoming;
    return services.undo.keep(services.store.clients.setIcon(clientId, { sha256, size }));
  });
}

/** @param record checks the bytes and makes the record */
async function save(
  { store: { blobs }, undo }: FileServices,
  kind: FileKind,
  incoming: Incoming,
  record: (bytes: Buffer) => Promise<Removal>,
): Promise<number | undefined> {
  return undo.finish(await keepFile(blobs, kind, incoming, record));
}

/** Moves an upload to its place and makes its record. On every error, the upload is deleted. */
async function keepFile<T>(
  blobs: Blobs,
  kind: FileKind,
  incoming: Incoming,
  record: (bytes: Buffer) => Promise<T>,
): Promise<T> {
  try {
    const bytes = await readWhole(blobs, incoming.path);
    if (bytes === undefined) throw new Error("a file went away while it was read");
    const put = () => blobs.keep(kind, incoming, async () => record(bytes));
    return await blobs.inOrder(incoming.sha256, put);
  } finally {
    await blobs.discard(incoming);
  }
}

/** @throws UserError "not-found" if there is no such printer, or it has no icon */
export async function readIcon(store: Store, printerId: number): Promise<StoredFile> {
  store.printers.get(printerId);
  const picture = await findFile(store, "icons", printerId);
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

/** @throws UserError "not-found" if there is no such client, or it has no icon */
export async function readClientIcon(store: Store, clientId: number): Promise<StoredFile> {
  const picture = await findClientIcon(store, store.clients.get(clientId));
  if (picture === undefined) throw new UserError("not-found", "This client has no icon.");
  return picture;
}

/** Undefined if the client has none, or its file is missing. */
export function findClientIcon(store: Store, { icon }: Client): Promise<StoredFile | undefined> {
  return readFile(store, "icons", icon?.sha256);
}

/** The icon of a printer's app: its own, else its client's. Undefined if there is none, or its file is missing. */
export function findAppIcon(store: Store, printerId: number): Promise<StoredFile | undefined> {
  return readFile(store, "icons", store.printers.appIcons([printerId]).get(printerId)?.sha256);
}

function findFile(store: Store, kind: FileKind, printerId: number): Promise<StoredFile | undefined> {
  return readFile(store, kind, store[kind].find(printerId)?.sha256);
}

async function readFile(
  store: Store,
  kind: FileKind,
  sha256: string | undefined,
): Promise<StoredFile | undefined> {
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
