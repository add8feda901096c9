import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type DiskCall, watchDisk } from "./disk-calls.ts";

/** A file's content: what was written, and how much of it the disk has for sure. */
interface Content {
  bytes: Buffer;
  synced: number;
}

/** A change of a folder, which lasts when the folder is synced: until then a power cut may undo it, or that of others. */
interface Change {
  readonly folder: string;
  readonly name: string;
  /** What stands there from then on; a folder has no content. */
  readonly now: Content | "folder" | undefined;
}

/** What a power cut leaves: of the changes that no sync made last, and of the bytes. */
interface Leaving {
  readonly change: (i: number, change: Change) => boolean;
  /** How many of so many bytes that were not synced. */
  readonly bytes: (unsynced: number) => number;
}

/** What a power cut left, by its path below the root; a folder has no bytes. */
interface LeftFile {
  readonly path: string;
  readonly bytes: Uint8Array | undefined;
}

const notKept = /(?:^|\/)(?:lock-|\.writable-)/;

/** Records what the service in this process does to its disk, and makes what a power cut now could leave of it. */
export class RecordedDisk {
  readonly #root: string;
  readonly #seen = new Map<string, Content | "folder">();
  /** What no power cut takes away. */
  readonly #lasting = new Map<string, Content | "folder">();
  #pending: Change[] = [];

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * @param changed told after each call that changes what a power cut may leave
   * @param skipped files and folders whose syncs are as if the service had not asked for them
   */
  static async of(
    t: TestContext,
    root: string,
    changed: (disk: RecordedDisk) => void,
    skipped: RegExp | undefined,
  ): Promise<RecordedDisk> {
    const disk = new RecordedDisk(root);
    await watchDisk(t, root, (call) => {
      if (notKept.test(call.path)) return undefined;
      if (/sync$/.test(call.name) && skipped?.test(call.path.slice(root.length))) return undefined;
      return () => {
        if (disk.#take(call)) changed(disk);
      };
    });
    return disk;
  }

  /** How many changes of folders are not synced. */
  get unsettled(): number {
    return this.#pending.length;
  }

  /** What is left, each folder before what stands in it. */
  left({ change, bytes }: Leaving): LeftFile[] {
    const left = new Map(this.#lasting);
    for (const [i, one] of this.#pending.entries()) if (change(i, one)) apply(left, one);
    this.#takeLost(left);
    const sorted = [...left].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([path, content]) => ({
      path: path.slice(this.#root.length),
      bytes: content === "folder" ? undefined : keptOf(content, bytes),
    }));
  }

  /** What stands in a folder goes with it. */
  #takeLost(left: Map<string, Content | "folder">): void {
    for (const path of [...left.keys()].sort())
      if (dirname(path) !== this.#root && !left.has(dirname(path))) left.delete(path);
  }

  #take({ name, path, args }: DiskCall): boolean {
    switch (name) {
      case "mkdir":
        return this.#makeFolder(path);
      case "open":
        return this.#open(path, String(args[1] ?? "r"));
      case "rename":
        return this.#rename(path, String(args[1]));
      case "rm":
        return this.#seen.has(path) && this.#change(path, undefined);
      case "file.sync":
      case "file.datasync":
        return this.#sync(path);
      default:
        return this.#append(name, path, args);
    }
  }

  /** With those around it. */
  #makeFolder(path: string): boolean {
    if (path === this.#root || this.#seen.has(path)) return false;
    this.#makeFolder(dirname(path));
    return this.#change(path, "folder");
  }

  #open(path: string, flags: string): boolean {
    const known = this.#seen.get(path);
    if (flags.startsWith("r") || known === "folder") return false;
    if (known === undefined) return this.#change(path, { bytes: Buffer.alloc(0), synced: 0 });
    if (flags === "w") [known.bytes, known.synced] = [Buffer.alloc(0), 0];
    return flags === "w";
  }

  #append(name: string, path: string, args: readonly unknown[]): boolean {
    const content = this.#seen.get(path);
    if (content === undefined || content === "folder") return false;
    if (name === "file.writeFile") content.bytes = Buffer.concat([content.bytes, args[0] as Uint8Array]);
    else if (name === "file.writev")
      content.bytes = Buffer.concat([content.bytes, ...(args[0] as Uint8Array[])]);
    else return false;
    return true;
  }

  /** Of two names in one folder both change or none does; of two folders each by itself. */
  #rename(from: string, to: string): boolean {
    const content = this.#seen.get(from);
    if (content === undefined) return false;
    this.#change(to, content);
    return this.#change(from, undefined);
  }

  #change(path: string, now: Change["now"]): true {
    if (now === undefined) this.#seen.delete(path);
    else this.#seen.set(path, now);
    this.#pending.push({ folder: dirname(path), name: basename(path), now });
    return true;
  }

  #sync(path: string): boolean {
    const content = this.#seen.get(path);
    if (content !== undefined && content !== "folder") {
      content.synced = content.bytes.length;
      return true;
    }
    for (const change of this.#pending) if (change.folder === path) apply(this.#lasting, change);
    this.#pending = this.#pending.filter(({ folder }) => folder !== path);
    return true;
  }
}

function keptOf({ bytes, synced }: Content, tail: Leaving["bytes"]): Uint8Array {
  return bytes.subarray(0, synced + tail(bytes.length - synced));
}

/** Equal for what is equal. */
export function digestOf(files: readonly LeftFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of files) hash.update(`${path}\n${bytes?.length}\n`).update(bytes ?? "");
  return hash.digest("hex");
}

export function writeLeft(folder: string, files: readonly LeftFile[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { path, bytes } of files) {
    if (bytes === undefined) mkdirSync(join(folder, path), { recursive: true });
    else {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
  }
}

function apply(left: Map<string, Content | "folder">, { folder, name, now }: Change): void {
  const path = join(folder, name);
  if (now === undefined) left.delete(path);
  else left.set(path, now);
}
