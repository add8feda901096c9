import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startApp, type TestApp, temporaryFolder } from "./app.ts";
import { atEnd } from "./at-end.ts";

type Make<T> = (t: TestContext, folder: string) => Promise<T>;
interface Made<T> {
  readonly folder: string;
  /** The value that `make` returned. */
  readonly value: T;
}

/** The folders of this process, by the function that filled them. */
const folders = new Map<unknown, Promise<Made<unknown>>>();

/** Calls `make` once in this process. Every test gets a copy of the folder that it filled. */
export function makeOnce<T>(t: TestContext, make: Make<T>): Promise<Made<T>> {
  return copyOf(t, make, make);
}

/** Calls `fill` once in this process. Every test gets a service on a copy of the data folder that it filled. */
export async function startFilled(
  t: TestContext,
  fill: (service: TestApp) => Promise<unknown>,
): Promise<TestApp> {
  const { folder } = await copyOf(t, fill, async (first, dataDir) => {
    const service = await startApp(first, { dataDir });
    await fill(service);
    await service.stop();
  });
  return startApp(t, { dataDir: folder });
}

async function copyOf<T>(t: TestContext, key: unknown, make: Make<T>): Promise<Made<T>> {
  const found = folders.get(key) ?? makeFolder(t, make);
  folders.set(key, found);
  const { folder: original, value } = await found;
  const folder = await temporaryFolder(t);
  cpSync(original, folder, { recursive: true });
  return { folder, value: value as T };
}

async function makeFolder<T>(t: TestContext, make: Make<T>): Promise<Made<T>> {
  const folder = mkdtempSync(join(tmpdir(), "platen-filled-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, value: await make(t, folder) };
}
