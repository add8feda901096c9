import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { signerOf } from "../../domain/deploy/signature.ts";
import { UserError } from "../../domain/errors.ts";
import {
  makeFolder,
  removeDurably,
  removeUnfinished,
  syncFolder,
  undefinedIfAbsent,
  writeDurably,
} from "../durable-files.ts";

const fileName = /^([0-9a-f]{64})(-[0-9a-f]{20})?\.txt$/;

/**
 * The signature blocks of scripts, each in a file `signatures/<sha256>-<digest>.txt`: the SHA-256 of the script, and the
 * beginning of the block's own SHA-256. A whole one would make the name too long for a tar archive.
 */
export class Signatures {
  readonly #folder: string;
  /** File names, by the digest of the script in hex. */
  readonly #names = new Map<string, string>();
  /** The digests of the scripts whose signatures were missing or damaged when they were last read. */
  readonly damaged = new Set<string>();
  /** Writes and deletions run one after the other. */
  #lastWork: Promise<void> = Promise.resolve();

  constructor(dataDir: string) {
    this.#folder = join(dataDir, "signatures");
  }

  /** Call it once, before anything else. */
  async load(): Promise<void> {
    await makeFolder(this.#folder);
    await removeUnfinished(this.#folder);
    for (const name of (await readdir(this.#folder)).sort()) {
      const [, digest, blockDigest] = fileName.exec(name) ?? [];
      if (digest === undefined) continue;
      // A write that was not acknowledged left two.
      if (this.#names.has(digest)) await rm(this.#pathOf(name));
      else this.#names.set(digest, blockDigest === undefined ? await this.#rename(digest, name) : name);
    }
    await syncFolder(this.#folder);
  }

  /** The digests of all scripts with a signature, also a damaged one. */
  get digests(): Pick<ReadonlyMap<string, string>, "has" | "size" | "keys"> {
    return this.#names;
  }

  /** A script's block. Undefined if it has none. @throws UserError "invalid" if it is missing or damaged */
  async read(digest: string): Promise<Buffer | undefined> {
    const name = this.#names.get(digest);
    if (name === undefined) return undefined;
    const block = await readFile(this.#pathOf(name)).catch(undefinedIfAbsent);
    // Another signature may have replaced it meanwhile.
    if (this.#names.get(digest) !== name) return this.read(digest);
    if (block !== undefined && name === nameOf(digest, block)) return block;
    this.damaged.add(digest);
    const script = digest.slice(0, 12);
    const message = `The signature of the script ${script} is missing or damaged on the server. Run sign.ps1 again.`;
    throw new UserError("invalid", message);
  }

  put(digest: string, block: Uint8Array): Promise<void> {
    return this.#inOrder(async () => {
      const name = nameOf(digest, block);
      await writeDurably(this.#pathOf(name), block);
      const old = this.#names.get(digest);
      this.#names.set(digest, name);
      this.damaged.delete(digest);
      if (old !== undefined && old !== name) await removeDurably(this.#pathOf(old));
    });
  }

  remove(digests: Iterable<string>): Promise<void> {
    return this.#inOrder(async () => {
      for (const digest of digests) {
        const name = this.#names.get(digest);
        if (name === undefined) continue;
        await rm(this.#pathOf(name), { force: true });
        this.#names.delete(digest);
        this.damaged.delete(digest);
      }
      await syncFolder(this.#folder);
    });
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#lastWork.then(work);
    this.#lastWork = done.catch(() => {});
    return done;
  }

  /** Gives a file of version 1.0 its second digest. It stays as it is, and counts as damaged, if it is no whole block. */
  async #rename(digest: string, old: string): Promise<string> {
    const block = await readFile(this.#pathOf(old));
    try {
      signerOf(block);
    } catch {
      return old;
    }
    const name = nameOf(digest, block);
    await rename(this.#pathOf(old), this.#pathOf(name));
    return name;
  }

  #pathOf(name: string): string {
    return join(this.#folder, name);
  }
}

function nameOf(digest: string, block: Uint8Array): string {
  return `${digest}-${createHash("sha256").update(block).digest("hex").slice(0, 20)}.txt`;
}
