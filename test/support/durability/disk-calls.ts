import { createRequire } from "node:module";
import type { TestContext } from "node:test";
import { cleanUp } from "../clean-up.ts";

/** A call that the service makes of its file system. */
export interface DiskCall {
  /** The name in `node:fs/promises`; for methods of a file handle with the prefix `file.`. */
  readonly name: string;
  /** For a file handle, the path that it was opened with. */
  readonly path: string;
  readonly args: readonly unknown[];
}

/** Called before each disk call. The call fails with what it throws, and waits for a returned promise. */
type Watcher = (call: DiskCall) => undefined | ((result: unknown) => void) | Promise<undefined>;

// Bundled code looks the functions up in this object at every call.
const promises = createRequire(__filename)("node:fs/promises") as Record<string, Method>;
type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>;

const functions = "access mkdir open readdir readFile rename rm stat statfs utimes writeFile".split(" ");
const methods = "close datasync read readFile readv stat sync truncate write writev writeFile".split(" ");

type PathOf = (self: unknown, first: unknown) => string;

/**
 * Intercepts the file system calls of the service in this process until the test ends. Syncs do nothing, because the power
 * stays on and a real sync takes a hundred times as long.
 * @param folder only calls below it are intercepted
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
      // Close the file also when the call is made to fail.
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
