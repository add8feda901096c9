import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type FileSource, fileState, moveIntoPlace, openSource } from "./files.ts";

/** An upload that is on disk, synced, and not yet anywhere that counts. */
export interface Incoming {
  readonly path: string;
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

/** Files that are named by the SHA-256 of their content: `drivers/<sha256>.zip`, `icons/<sha256>.png`. */
export class Blobs {
  readonly #incoming: string;
  readonly #folders: { readonly drivers: string; readonly icons: string };

  constructor(dataDir: string) {
    this.#incoming = join(dataDir, "incoming");
    this.#folders = { drivers: join(dataDir, "drivers"), icons: join(dataDir, "icons") };
  }

  /** Makes the folders and sweeps what a crash left behind. */
  async prepare(): Promise<void> {
    await rm(this.#incoming, { recursive: true, force: true });
    for (const folder of [this.#incoming, ...Object.values(this.#folders)])
      await mkdir(folder, { recursive: true });
  }

  /** Deletes the blobs that no record refers to: an upload that a power cut ended between file and record. */
  async sweep(kept: { drivers: ReadonlySet<string>; icons: ReadonlySet<string> }): Promise<void> {
    for (const kind of ["drivers", "icons"] as const) {
      for (const name of await readdir(this.#folders[kind])) {
        const [, sha256] = /^([0-9a-f]{64})\.(?:zip|png)(?:\.new)?$/.exec(name) ?? [];
        if (sha256 !== undefined && (!kept[kind].has(sha256) || name.endsWith(".new"))) {
          await rm(join(this.#folders[kind], name), { force: true });
        }
      }
    }
  }

  archivePath(sha256: string): string {
    return join(this.#folders.drivers, `${sha256}.zip`);
  }

  iconPath(sha256: string): string {
    return join(this.#folders.icons, `${sha256}.png`);
  }

  /** Streams an upload into a temporary file while its digest is taken. The file is gone when it fails. */
  async receive(stream: Readable): Promise<Incoming> {
    const path = join(this.#incoming, randomUUID());
    const hash = createHash("sha256");
    let size = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        size += chunk.length;
        done(null, chunk);
      },
    });
    try {
      // Opened before anything else: a file that is made only after its stream failed would stay.
      const file = await open(path, "wx");
      await pipeline(stream, measure, file.createWriteStream({ highWaterMark: 256 * 1024 }));
      await syncFile(path);
      return { path, sha256: hash.digest("hex"), size };
    } catch (error) {
      await this.discard({ path });
      throw error;
    }
  }

  /** Gives up an upload; nothing happens when it was kept already. */
  async discard(incoming: Pick<Incoming, "path">): Promise<void> {
    await rm(incoming.path, { force: true });
  }

  async keepArchive(incoming: Incoming): Promise<void> {
    await moveIntoPlace(incoming.path, this.archivePath(incoming.sha256));
  }

  async keepIcon(incoming: Incoming): Promise<void> {
    await moveIntoPlace(incoming.path, this.iconPath(incoming.sha256));
  }

  async removeArchive(sha256: string): Promise<void> {
    await rm(this.archivePath(sha256), { force: true });
  }

  async removeIcon(sha256: string): Promise<void> {
    await rm(this.iconPath(sha256), { force: true });
  }

  /** Opens a file, or answers undefined when it is not there. */
  async open(path: string): Promise<FileSource | undefined> {
    try {
      return await openSource(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  /** The size and the mark of a file, or undefined when it is not there. */
  state(path: string): ReturnType<typeof fileState> {
    return fileState(path);
  }

  async exists(path: string): Promise<boolean> {
    return (await fileState(path)) !== undefined;
  }
}

async function syncFile(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
