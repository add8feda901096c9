import { UserError } from "../../domain/errors.ts";
import { checkIcon } from "../../domain/printers/icon.ts";
import type { Blobs, Incoming } from "../../store/blobs.ts";
import type { Store } from "../../store/store.ts";
import type { Undo } from "../backup/undo.ts";

interface IconServices {
  readonly store: Store;
  readonly undo: Pick<Undo, "finish">;
}

/** The uploaded picture of a printer. */
interface Picture {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Buffer;
}

/**
 * Replaces a printer's icon with an uploaded picture. On every error, the upload is deleted and the printer keeps its icon.
 * @returns the deletion of the old icon; undefined if there was none
 * @throws UserError "invalid" if the picture is not a valid icon, "not-found" if there is no such printer
 */
export async function saveIcon(
  { store, undo }: IconServices,
  printerId: number,
  incoming: Incoming,
): Promise<number | undefined> {
  const { blobs, icons } = store;
  try {
    const bytes = await readWhole(blobs, incoming.path);
    if (bytes === undefined) throw new Error("a picture went away while it was read");
    checkIcon(bytes);
    const put = () => blobs.keep("icons", incoming, () => icons.put(printerId, incoming));
    return await undo.finish(await blobs.inOrder(incoming.sha256, put));
  } finally {
    await blobs.discard(incoming);
  }
}

/** @throws UserError "not-found" if there is no such printer, or it has no icon */
export async function readIcon(store: Store, printerId: number): Promise<Picture> {
  store.printers.get(printerId);
  const picture = await findIcon(store, printerId);
  if (picture === undefined) throw new UserError("not-found", "This printer has no icon.");
  return picture;
}

/** Undefined if the printer, its icon's record or the file is missing. */
export async function findIcon(store: Store, printerId: number): Promise<Picture | undefined> {
  const sha256 = store.icons.find(printerId)?.sha256;
  if (sha256 === undefined) return undefined;
  const path = store.blobs.pathOf("icons", sha256);
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
