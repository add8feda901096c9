import { access, statfs } from "node:fs/promises";

/** Whether there is such a file or folder that can be seen. */
export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** For `catch`: undefined where there is no such file. @throws any other error */
export function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}

/** For `catch`: no names where there is no such folder. @throws any other error */
export function noneIfAbsent(error: NodeJS.ErrnoException): never[] {
  return undefinedIfAbsent(error) ?? [];
}

/** Bytes that anybody may still write where a folder is; undefined where the system does not tell. */
export async function freeBytes(folder: string): Promise<number | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found === undefined ? undefined : found.bavail * found.bsize;
}
