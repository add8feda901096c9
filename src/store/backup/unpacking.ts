import { createHash } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type BackupFile,
  checkBackupFile,
  type Manifest,
  manifestName,
  mostFiles,
  readManifest,
} from "../../domain/full-backup.ts";
import {
  isEmptyBlock,
  printable,
  readTarHeader,
  type TarFile,
  tarBlockBytes,
  tarPadding,
} from "../../domain/tar.ts";
import { ownerOnly, syncFolder, writeAll } from "../durable-files.ts";
import { freeBytes } from "../found-files.ts";
import { StreamBytes } from "./stream-bytes.ts";

const mebi = 1024 * 1024;
/** So much stays free on the disk. */
const leastFreeBytes = 16 * mebi;
/** What may follow the end of an archive: tar programs fill up to their own sizes, with zeros. */
const mostAfterEnd = 4 * mebi;

/**
 * Unpacks a full backup into an empty folder and compares every file with the list in it.
 * @param tar from anywhere: nothing in it is believed
 * @throws Error that says what is wrong; the folder is left for the caller to delete
 */
export async function unpackBackup(tar: AsyncIterable<Buffer>, folder: string): Promise<Manifest> {
  const bytes = new StreamBytes(tar);
  const found = new Map<string, BackupFile>();
  for (;;) {
    const header = await bytes.exactly(tarBlockBytes);
    if (isEmptyBlock(header)) break;
    const file = readTarHeader(header);
    checkNext(file, found);
    found.set(file.name, await unpackFile(bytes, file, folder));
  }
  await checkEnd(bytes);
  const manifest = await manifestIn(found, folder);
  checkAgainst(manifest, found);
  for (const name of ["drivers", "icons", "audit", "."])
    if (name === "." || hasBelow(found, name)) await syncFolder(join(folder, name));
  return manifest;
}

function checkNext(file: TarFile, found: ReadonlyMap<string, BackupFile>): void {
  const shown = printable(file.name);
  checkBackupFile(file, shown);
  if (found.has(file.name)) throw new Error(`“${shown}” is in it twice`);
  if (found.has(manifestName)) throw new Error(`“${shown}” stands behind the list of its files`);
  if (found.size >= mostFiles) throw new Error(`it has more than ${mostFiles} files`);
}

async function unpackFile(bytes: StreamBytes, file: TarFile, folder: string): Promise<BackupFile> {
  const path = join(folder, file.name);
  await requireRoom(folder, file);
  await mkdir(dirname(path), { recursive: true });
  const hash = createHash("sha256");
  const handle = await open(path, "wx", ownerOnly);
  try {
    for await (const piece of bytes.pieces(file.size)) {
      hash.update(piece);
      await writeAll(handle, [piece]);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (!isEmptyBlock(await bytes.exactly(tarPadding(file.size).length)))
    throw new Error(`something stands between “${file.name}” and the next file`);
  return { ...file, sha256: hash.digest("hex") };
}

/** Where the system does not tell, there is room until the disk says otherwise. */
async function requireRoom(folder: string, { name, size }: TarFile): Promise<void> {
  const free = await freeBytes(folder);
  if (free === undefined || free >= size + leastFreeBytes) return;
  throw new Error(`the disk has no room for “${name}” of ${size} bytes`);
}

async function checkEnd(bytes: StreamBytes): Promise<void> {
  if (!isEmptyBlock(await bytes.exactly(tarBlockBytes))) throw new Error("its end is damaged");
  let after = 0;
  for (let piece = await bytes.next(mebi); piece !== undefined; piece = await bytes.next(mebi)) {
    after += piece.length;
    if (after > mostAfterEnd || !isEmptyBlock(piece)) throw new Error("something stands behind its end");
  }
}

async function manifestIn(found: ReadonlyMap<string, BackupFile>, folder: string): Promise<Manifest> {
  if (!found.has(manifestName)) throw new Error("it has no list of its files: it is no backup of Platen’s");
  return readManifest(await readFile(join(folder, manifestName), "utf8"));
}

function checkAgainst(manifest: Manifest, found: ReadonlyMap<string, BackupFile>): void {
  const listed = new Map(manifest.files.map((file) => [file.name, file]));
  for (const file of found.values()) {
    if (file.name === manifestName) continue;
    const { size, sha256 } = listed.get(file.name) ?? {};
    if (size !== file.size || sha256 !== file.sha256)
      throw new Error(`“${file.name}” is not what was backed up: its SHA-256 is ${file.sha256}`);
  }
  const lost = manifest.files.find(({ name }) => !found.has(name));
  if (lost !== undefined)
    throw new Error(`“${printable(lost.name)}” is not in it, although its list says so`);
  if (!found.has("platen.sqlite")) throw new Error("it has no database");
  if ((found.get("secret")?.size ?? 32) !== 32) throw new Error("its secret is damaged");
}

function hasBelow(found: ReadonlyMap<string, BackupFile>, folder: string): boolean {
  return [...found.keys()].some((name) => name.startsWith(`${folder}/`));
}
