import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { type DiskCall, watchDisk } from "./disk-calls.ts";

/** A file's content: the bytes written, and how many of them are synced. */
interface Content {
  bytes: Buffer;
  synced: number;
}

/** A change of a folder. Until the folder is synced, a power cut may undo it, independently of other changes. */
interface Change {
  readonly folder: string;
  readonly name: string;
  /** The new entry with this name; undefined when it is deleted. */
  readonly now: Content | "folder" | undefined;
}

/** Chooses which unsynced changes and bytes a power cut leaves. */
interface CutChoice {
  readonly change: (i: number, change: Change) => boolean;
  /** The number of unsynced bytes that are left. */
  readonly bytes: (unsynced: number) => number;
}

/** A file or folder that a power cut left, by its path below the root. A folder has no bytes. */
export interface LeftFile {
  readonly path: string;
  readonly bytes: Uint8Array | undefined;
}

const ignoredFiles = /(?:^|\/)(?:lock-|\.writable-)/;

/** Records the disk calls of the service in this process, and computes what a power cut now could leave. */
export class RecordedDisk {
  readonly #root: string;
  readonly #current = new Map<string, Content | "folder">();
  /** The synced entries, which survive a power cut. */
  readonly #lasting = new Map<string, Content | "folder">();
  #pending: Change[] = [];

  private constructor(root: string) {
    this.#root = root;
  }

  /**
   * @param changed is called after each call that changes what a power cut may leave
   * @param skipped files and folders whose syncs are ignored
   */
  static async of(
    t: TestContext,
    root: string,
    changed: (disk: RecordedDisk) => void,
    skipped: RegExp | undefined,
  ): Promise<RecordedDisk> {
    const disk = new RecordedDisk(root);
    await watchDisk(t, root, (call) => {
      if (ignoredFiles.test(call.path)) return undefined;
      if (/sync$/.test(call.name) && skipped?.test(call.path.slice(root.length))) return undefined;
      return () => {
        if (disk.#apply(call)) changed(disk);
      };
    });
    return disk;
  }

  /** The number of unsynced changes of folders. */
  get pendingChanges(): number {
    return this.#pending.length;
  }

  /** The files that are left, each folder before its content. */
  left({ change, bytes }: CutChoice): LeftFile[] {
    const left = new Map(this.#lasting);
    for (const [i, one] of this.#pending.entries()) if (change(i, one)) apply(left, one);
    // The content of a folder that is not left is not left either.
    for (const path of [...left.keys()].sort())
      if (dirname(path) !== this.#root && !left.has(dirname(path))) left.delete(path);
    const sorted = [...left].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([path, content]) => ({
      path: path.slice(this.#root.length),
      bytes: content === "folder" ? undefined : leftBytes(content, bytes),
    }));
  }

  #apply({ name, path, args }: DiskCall): boolean {
    if (name === "mkdir") return this.#makeFolder(path);
    if (name === "open") return this.#open(path, String(args[1] ?? "r"));
    if (name === "rename") return this.#rename(path, String(args[1]));
    if (name === "rm") return this.#current.has(path) && this.#change(path, undefined);
    return /sync$/.test(name) ? this.#sync(path) : this.#append(name, path, args);
  }

  /** Also makes the parent folders. */
  #makeFolder(path: string): boolean {
    if (path === this.#root || this.#current.has(path)) return false;
    this.#makeFolder(dirname(path));
    return this.#change(path, "folder");
  }

  #open(path: string, flags: string): boolean {
    const known = this.#current.get(path);
    if (flags.startsWith("r") || known === "folder") return false;
    if (known === undefined) return this.#change(path, { bytes: Buffer.alloc(0), synced: 0 });
    if (flags === "w") [known.bytes, known.synced] = [Buffer.alloc(0), 0];
    return flags === "w";
  }

  #append(name: string, path: string, args: readonly unknown[]): boolean {
    const content = this.#current.get(path);
    if (content === undefined || content === "folder") return false;
    if (name !== "file.writeFile" && name !== "file.writev") return false;
    const added = name === "file.writev" ? (args[0] as Uint8Array[]) : [args[0] as Uint8Array];
    content.bytes = Buffer.concat([content.bytes, ...added]);
    return true;
  }

  /** Adds the new name and removes the old one, as two changes. */
  #rename(from: string, to: string): boolean {
    const content = this.#current.get(from);
    if (content === undefined) return false;
    this.#change(to, content);
    return this.#change(from, undefined);
  }

  #change(path: string, now: Change["now"]): true {
    if (now === undefined) this.#current.delete(path);
    else this.#current.set(path, now);
    this.#pending.push({ folder: dirname(path), name: basename(path), now });
    return true;
  }

  #sync(path: string): boolean {
    const content = this.#current.get(path);
    if (content !== undefined && content !== "folder") {
      content.synced = content.bytes.length;
      return true;
    }
    for (const change of this.#pending) if (change.folder === path) apply(this.#lasting, change);
    this.#pending = this.#pending.filter(({ folder }) => folder !== path);
    return true;
  }
}

function leftBytes({ bytes, synced }: Content, unsyncedLeft: CutChoice["bytes"]): Uint8Array {
  const count = synced + unsyncedLeft(bytes.length - synced);
  return count === bytes.length ? bytes : bytes.subarray(0, count);
}

export function writeLeft(folder: string, files: readonly LeftFile[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { path, bytes } of files) {
    mkdirSync(bytes === undefined ? join(folder, path) : dirname(join(folder, path)), { recursive: true });
    if (bytes !== undefined) writeFileSync(join(folder, path), bytes);
  }
}

function apply(left: Map<string, Content | "folder">, { folder, name, now }: Change): void {
  const path = join(folder, name);
  if (now === undefined) left.delete(path);
  else left.set(path, now);
}
