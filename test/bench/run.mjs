// Runs the benchmarks one by one: npm run bench, or npm run bench -- inf.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const only = process.argv.slice(2);
const files = readdirSync(".build/bench")
  .filter((name) => name.endsWith(".bench.cjs"))
  .filter((name) => only.length === 0 || only.some((part) => name.includes(part)));
for (const file of files.sort()) {
  const { status } = spawnSync(process.execPath, [`.build/bench/${file}`], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
