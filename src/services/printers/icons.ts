import { UserError } from "../../domain/errors.ts";
import { checkIcon } from "../../domain/printers/icon.ts";
import type { Blobs, Incoming } from "../../store/blobs.ts";
import type { Store } from "../../store/store.ts";
import type { Undo } from "../backup/undo.ts";

/** What giving a printer an icon needs. */
interface IconServices {
  readonly store: Store;
  readonly undo: Pick<Undo, "settle">;
}

/** A printer's picture as it was uploaded. */
interface Picture {
  /** Of its file. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Buffer;
}

/**
 * Gives a printer the picture that was uploaded, in place of the one it had. Whatever fails, the upload is
 * gone and the printer keeps what it had.
 * @returns the deletion of the one that it had; undefined where there was none
 * @throws UserError "invalid" when it is no icon, "not-found" when there is no such printer
 */
export async function keepIcon(
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
    return await undo.settle(await blobs.inTurn(incoming.sha256, put));
  } finally {
    await blobs.discard(incoming);
  }
}

/** A printer's picture. @throws UserError "not-found" where there is no such printer, or none of it */
export async function readIcon(store: Store, printerId: number): Promise<Picture> {
  store.printers.get(printerId);
  const picture = await findIcon(store, printerId);
  if (picture === undefined) throw new UserError("not-found", "This printer has no icon.");
  return picture;
}

/** A printer's picture; undefined where its record or its file is missing. */
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
