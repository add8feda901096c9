import { crc32 } from "node:zlib";
import type { KeptChange } from "../../domain/deletion.ts";
import { MissingFile, UserError } from "../../domain/errors.ts";
import type { Client } from "../../domain/printers/client.ts";
import { checkIcon, type FileOwner } from "../../domain/printers/icon.ts";
import { checkPreferences, preferencesDriver } from "../../domain/printers/preferences.ts";
import type { Blobs, Incoming, SmallKind } from "../../store/blobs.ts";
import type { Store } from "../../store/store.ts";
import type { Undo } from "../backup/undo.ts";

interface FileServices {
  readonly store: Store;
  readonly undo: Pick<Undo, "finish" | "keep">;
}

/** The uploaded file of a printer or client. */
export interface StoredFile {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Buffer;
  /** The `FileSource.version` of the file. */
  readonly version: string;
}

/**
 * Replaces a printer's icon with an uploaded picture. On every error, the upload is deleted and the printer keeps its icon.
 * @returns the deletion of the old icon; undefined if there was none
 * @throws UserError "invalid" if the picture is not a valid icon, "not-found" if there is no such printer
 */
export async function saveIcon(
  { store, undo }: FileServices,
  printerId: number,
  incoming: Incoming,
): Promise<number | undefined> {
  const removal = await keepFile(store.blobs, "icons", incoming, (bytes) => {
    checkIcon(bytes);
    return store.icons.put(printerId, incoming);
  });
  return undo.finish(removal);
}

/** The same for vendor preferences. @throws UserError also "invalid" if the printer cannot have any */
export async function savePreferences(
  { store, undo }: FileServices,
  printerId: number,
  incoming: Incoming,
): Promise<number | undefined> {
  const { printers, drivers, preferences } = store;
  const removal = await keepFile(store.blobs, "preferences", incoming, (bytes) => {
    checkPreferences(bytes);
    const { printer } = printers.get(printerId);
    const driver = preferencesDriver(printer, drivers.findSummary(printer.driver_id ?? 0));
    return preferences.put(printerId, { ...incoming, crc32: crc32(bytes), ...driver });
  });
  return undo.finish(removal);
}

/** Sets the icon for apps of a client's printers that have none. @throws UserError as `saveIcon` */
export function saveClientIcon(
  services: FileServices,
  clientId: number,
  incoming: Incoming,
): Promise<KeptChange> {
  return keepFile(services.store.blobs, "icons", incoming, (bytes) => {
    checkIcon(bytes);
    const { sha256, size } = incoming;
    return services.undo.keep(services.store.clients.setIcon(clientId, { sha256, size }));
  });
}

/**
 * Moves an upload to its place and makes its record. On every error, the upload is deleted.
 * @param record checks the bytes and makes the record
 */
async function keepFile<T>(
  blobs: Blobs,
  kind: SmallKind,
  incoming: Incoming,
  record: (bytes: Buffer) => Promise<T>,
): Promise<T> {
  try {
    const file = await blobs.readWhole(incoming.path);
    if (file === undefined) throw new Error("a file went away while it was read");
    const put = () => blobs.keep(kind, incoming, async () => record(file.bytes));
    return await blobs.inOrder(incoming.sha256, put);
  } finally {
    await blobs.discard(incoming);
  }
}

/** @throws UserError "not-found" if there is no such printer, or it has no such file; otherwise as `readStored` */
export async function readPrinterFile(store: Store, kind: SmallKind, printerId: number): Promise<StoredFile> {
  const { printer } = store.printers.get(printerId);
  const file = store[kind].find(printerId);
  const name = kind === "icons" ? "icon" : "vendor preferences";
  if (file === undefined) throw new UserError("not-found", `This printer has no ${name}.`);
  return readStored(store, kind, file, printer);
}

/** @throws UserError "not-found" if there is no such client, or it has no icon; otherwise as `readStored` */
export async function readClientIcon(store: Store, clientId: number): Promise<StoredFile> {
  const picture = await findClientIcon(store, store.clients.get(clientId));
  if (picture === undefined) throw new UserError("not-found", "This client has no icon.");
  return picture;
}

/** Undefined if the client has none, or its file is missing. @throws UserError "invalid" if it is damaged */
export async function findClientIcon(store: Store, client: Client): Promise<StoredFile | undefined> {
  return client.icon && readStored(store, "icons", client.icon, client).catch(noneIfMissing);
}

function noneIfMissing(error: unknown): undefined {
  if (!(error instanceof MissingFile)) throw error;
}

/** The icon of a printer's app: its own, else its client's. As the contract says, a missing file counts as no icon. */
export async function findAppIcon(store: Store, printerId: number): Promise<StoredFile | undefined> {
  const { printer, client } = store.printers.find(printerId) ?? {};
  const own = store.icons.find(printerId);
  if (own && printer) return readStored(store, "icons", own, printer).catch(noneIfMissing);
  return client && findClientIcon(store, client);
}

/** The file of a printer or client. @throws UserError "invalid" if it is missing or damaged */
export async function readStored(
  { blobs }: Store,
  kind: SmallKind,
  { sha256 }: Pick<StoredFile, "sha256">,
  owner: Pick<Client, "name">,
): Promise<StoredFile> {
  const file = await blobs.read(kind, sha256, `The ${fileOf(kind, owner)}`);
  return { path: blobs.pathOf(kind, sha256), sha256, ...file };
}

/** The records whose icons or preferences were missing or damaged when they were last read. */
export function ownersToUpload(store: Store): FileOwner[] {
  return (["icons", "preferences"] as const).flatMap((kind) =>
    [...store.blobs.damaged].flatMap((sha256) =>
      store[kind].ownersOf(sha256).map((owner) => ({ ...owner, what: fileOf(kind, owner) })),
    ),
  );
}

function fileOf(kind: SmallKind, { name }: Pick<Client, "name">): string {
  return `${kind === "icons" ? "icon" : "preferences file"} of “${name}”`;
}
