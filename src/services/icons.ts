import { checkIcon } from "../domain/icon.ts";
import type { Incoming } from "../store/blobs.ts";
import type { Store } from "../store/store.ts";
import { pngTools } from "./png-tools.ts";

/**
 * Gives a printer the picture that was uploaded, in place of the one it had. Whatever fails, the upload is
 * gone and the printer keeps what it had.
 * @throws UserError "invalid" when it is no icon, "not-found" when there is no such printer
 */
export async function keepIcon(store: Store, printerId: number, incoming: Incoming): Promise<void> {
  try {
    checkIcon(await readIcon(store, incoming.path), pngTools);
    const unused = await store.blobs.inTurn(incoming.sha256, () => putIcon(store, printerId, incoming));
    if (unused !== undefined) await removeUnusedIcon(store, unused);
  } finally {
    await store.blobs.discard(incoming);
  }
}

/** Takes a printer's icon away. */
export async function removeIcon(store: Store, printerId: number): Promise<void> {
  const unused = await store.icons.remove(printerId);
  if (unused !== undefined) await removeUnusedIcon(store, unused);
}

/** Deletes a printer, and its picture with it where no other printer has the same. @throws UserError */
export async function removePrinter(store: Store, id: number): Promise<void> {
  const unused = await store.printers.remove(id);
  if (unused !== undefined) await removeUnusedIcon(store, unused);
}

/** An uploaded or kept picture, whole. */
export async function readIcon(store: Store, path: string): Promise<Buffer> {
  const source = await store.blobs.open(path);
  if (source === undefined) throw new Error("a picture went away while it was read");
  try {
    return await source.read(0, source.size);
  } finally {
    await source.close();
  }
}

async function putIcon(
  { blobs, icons }: Store,
  printerId: number,
  incoming: Incoming,
): Promise<string | undefined> {
  const wasThere = await blobs.exists(blobs.iconPath(incoming.sha256));
  await blobs.keepIcon(incoming);
  try {
    return await icons.put(printerId, incoming);
  } catch (error) {
    if (!wasThere) await blobs.removeIcon(incoming.sha256);
    throw error;
  }
}

/** Asked again in turn: an upload of the same picture may have come first. */
function removeUnusedIcon({ blobs, icons }: Store, sha256: string): Promise<void> {
  return blobs.inTurn(sha256, async () => {
    if (!icons.hasDigest(sha256)) await blobs.removeIcon(sha256);
  });
}
