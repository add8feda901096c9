import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";

/**
 * An optional folder beside the project: INFs of real drivers with expected results, and a verifier of `.intunewin` files.
 * Vendors own the INFs, so they are not part of the project.
 */
export const shared = resolve("../shared");

/** The reason to skip tests that need the shared material; false if it exists. */
export const withoutShared = existsSync(resolve(shared, "inf/README.md")) ? false : "../shared is not here";

const run = promisify(execFile);

/** Makes a driver ZIP from a shared package, without blocking this process. */
export async function makeSharedZip(folder: string, out: string, ...options: string[]): Promise<void> {
  const tool = resolve(shared, "tools/make-driver-zip.py");
  await run("python3", [tool, resolve(shared, "inf", folder), out, ...options]);
}
