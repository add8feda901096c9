// Runs the soak tests one by one: npm run soak, or npm run soak -- mixed.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const only = process.argv.slice(2);
const files = readdirSync(".build/soak")
  .filter((name) => name.endsWith(".soak.cjs"))
  .filter((name) => only.length === 0 || only.some((part) => name.includes(part)));
for (const file of files.sort()) {
  const env = { ...process.env, DEEP: "1" };
  const { status } = spawnSync(process.execPath, [`.build/soak/${file}`], { stdio: "inherit", env });
  if (status !== 0) process.exitCode = 1;
}
