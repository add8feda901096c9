import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startApp, type TestApp, temporaryFolder } from "./app.ts";
import { atEnd } from "./at-end.ts";

const folders = new Map<(service: TestApp) => Promise<unknown>, Promise<string>>();

/** A service on a copy of a data folder that `fill` wrote to once, for all tests of this process that start with it. */
export async function startFilled(
  t: TestContext,
  fill: (service: TestApp) => Promise<unknown>,
): Promise<TestApp> {
  const made = folders.get(fill) ?? makeFolder(t, fill);
  folders.set(fill, made);
  const dataDir = await temporaryFolder(t);
  cpSync(await made, dataDir, { recursive: true });
  return startApp(t, { dataDir });
}

async function makeFolder(t: TestContext, fill: (service: TestApp) => Promise<unknown>): Promise<string> {
  const dataDir = mkdtempSync(join(tmpdir(), "platen-filled-"));
  atEnd(() => rmSync(dataDir, { recursive: true, force: true }));
  const service = await startApp(t, { dataDir });
  await fill(service);
  await service.stop();
  return dataDir;
}
