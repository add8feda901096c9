import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { temporaryFolder } from "./app.ts";
import { atEnd } from "./at-end.ts";

type Make<T> = (t: TestContext, folder: string) => Promise<T>;
interface Made<T> {
  readonly folder: string;
  /** What `make` answered. */
  readonly value: T;
}

const folders = new Map<Make<unknown>, Promise<Made<unknown>>>();

/** A copy of a folder that `make` filled once, for all tests of this process that ask for it. */
export async function madeOnce<T>(t: TestContext, make: Make<T>): Promise<Made<T>> {
  const found = folders.get(make) ?? makeFolder(t, make);
  folders.set(make, found);
  const { folder: original, value } = await found;
  const folder = await temporaryFolder(t);
  cpSync(original, folder, { recursive: true });
  return { folder, value: value as T };
}

async function makeFolder<T>(t: TestContext, make: Make<T>): Promise<Made<T>> {
  const folder = mkdtempSync(join(tmpdir(), "platen-made-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, value: await make(t, folder) };
}
