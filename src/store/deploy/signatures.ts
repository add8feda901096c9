import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, removeDurably, undefinedIfAbsent, writeDurably } from "../durable-files.ts";

const fileName = /^([0-9a-f]{64})\.txt$/;

/** The signature blocks of scripts, each in a file named by the SHA-256 of its script: `signatures/<sha256>.txt`. */
export class Signatures {
  readonly #folder: string;
  readonly #digests = new Set<string>();

  constructor(dataDir: string) {
    this.#folder = join(dataDir, "signatures");
  }

  /** Call it once, before anything else. */
  async load(): Promise<void> {
    await makeFolder(this.#folder);
    for (const name of await readdir(this.#folder)) {
      const digest = fileName.exec(name)?.[1];
      if (digest !== undefined) this.#digests.add(digest);
      // What an interrupted write left.
      else if (name.endsWith(".txt.new")) await rm(join(this.#folder, name), { force: true });
    }
  }

  /** The digests of all signed scripts, in hex. */
  get digests(): ReadonlySet<string> {
    return this.#digests;
  }

  /** A script's block. Undefined if it has none. */
  async read(digest: string): Promise<Buffer | undefined> {
    return this.#digests.has(digest) ? readFile(this.#pathOf(digest)).catch(undefinedIfAbsent) : undefined;
  }

  async put(digest: string, block: Uint8Array): Promise<void> {
    await writeDurably(this.#pathOf(digest), block);
    this.#digests.add(digest);
  }

  async remove(digest: string): Promise<void> {
    this.#digests.delete(digest);
    await removeDurably(this.#pathOf(digest));
  }

  #pathOf(digest: string): string {
    return join(this.#folder, `${digest}.txt`);
  }
}
