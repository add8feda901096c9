import { createRequire } from "node:module";
import type { TestContext } from "node:test";
import { cleanUp } from "../clean-up.ts";

/** A call that the service makes of its file system. */
export interface DiskCall {
  /** As `node:fs/promises` and its file handles call it; a handle's with `file.` before it. */
  readonly name: string;
  /** Of a handle, the one that it was opened with. */
  readonly path: string;
  readonly args: readonly unknown[];
}

/** Told of each call before it is made; what it throws is what the call fails with, and a promise holds it up. */
type Watcher = (call: DiskCall) => undefined | ((result: unknown) => void) | Promise<undefined>;

// What bundled code calls: the functions are looked up in this object each time.
const promises = createRequire(__filename)("node:fs/promises") as Record<string, Method>;
type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>;

const functions = [
  "access",
  "mkdir",
  "open",
  "readdir",
  "readFile",
  "rename",
  "rm",
  "stat",
  "statfs",
  "utimes",
  "writeFile",
];
const methods = [
  "close",
  "datasync",
  "read",
  "readFile",
  "readv",
  "stat",
  "sync",
  "truncate",
  "write",
  "writev",
  "writeFile",
];

type PathOf = (self: unknown, first: unknown) => string;

/**
 * Puts itself between the service in this process and its file system, until the test is over. Nothing is synced in
 * earnest: the power stays on, and a real disk takes a hundred times as long.
 * @param folder only calls below it are told of
 */
export async function watchDisk(t: TestContext, folder: string, watch: Watcher): Promise<void> {
  const paths = new WeakMap<object, string>();
  const isBelow = (path: string) => path === folder || path.startsWith(`${folder}/`);
  const replace = (owner: Record<string, Method>, name: string, prefix: string, pathOf: PathOf) => {
    const original = owner[name] as Method;
    const isClose = name === "close";
    const isDone = ["close", "sync", "datasync"].includes(name);
    owner[name] = async function (this: unknown, ...args: unknown[]) {
      const path = pathOf(this, args[0]);
      if (!isBelow(path)) return original.apply(this, args);
      // A file is closed also where closing fails.
      if (isClose) await original.apply(this, args);
      const done = await watch({ name: prefix + name, path, args });
      const result = isDone ? undefined : await original.apply(this, args);
      if (name === "open") paths.set(result as object, path);
      done?.(result);
      return result;
    };
    cleanUp(t, () => {
      owner[name] = original;
    });
  };
  const handle = (await promises.open?.(__filename, "r")) as { close(): Promise<void> };
  const handles = Object.getPrototypeOf(handle) as Record<string, Method>;
  await handle.close();
  for (const name of functions) replace(promises, name, "", (_, path) => String(path));
  for (const name of methods) replace(handles, name, "file.", (self) => paths.get(self as object) ?? "");
}
