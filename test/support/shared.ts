import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";

/** The team's shared material, which is not part of the project and may be absent. */
export const shared = resolve("../shared");

/** Why a test that needs the shared material is skipped; false where it is there. */
export const withoutShared = existsSync(resolve(shared, "inf/README.md")) ? false : "../shared is not here";

/** Makes a driver ZIP of one of the shared packages. */
export function makeSharedZip(folder: string, out: string, ...options: string[]): void {
  const tool = resolve(shared, "tools/make-driver-zip.py");
  execFileSync("python3", [tool, resolve(shared, "inf", folder), out, ...options], { stdio: "pipe" });
}
