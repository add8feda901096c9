// Bundles and runs the test files whose path holds one of the words given, or all of them, and says what was skipped and why. With REQUIRE_ALL=1 a skip fails the
// run: what CI should have, it must have. Absent may be a real PowerShell and .NET, which Debian does not have, the right
// to mount a disk, which a container may lack, and the team's ../shared, which is not part of the project.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const only = process.argv.slice(2);
const { status } = spawnSync(process.execPath, ["build.mjs", "--tests", ...only], { stdio: "inherit" });
if (status !== 0) process.exit(1);
const files = readdirSync(".build", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.cjs"))
  .filter((name) => only.length === 0 || only.some((part) => name.includes(part)))
  .map((name) => `.build/${name}`)
  .sort();
if (files.length === 0) throw new Error(`no test is named ${only.join(" or ")}`);

/** @type {{ readonly name: string, readonly why: string }[]} */
const skipped = [];
const count = { passed: 0, failed: 0 };
const stream = run({ files, concurrency: 2, timeout: 15 * 60_000 });
stream.on("test:fail", ({ details }) => {
  if (details?.type !== "suite") count.failed++;
  process.exitCode = 1;
});
stream.on("test:pass", ({ name, skip, details }) => {
  if (skip !== undefined) skipped.push({ name, why: String(skip) });
  else if (details?.type !== "suite") count.passed++;
});
stream.compose(new spec()).pipe(process.stdout);
stream.on("end", () => setImmediate(finish));

function finish() {
  for (const { name, why } of skipped) console.log(`SKIPPED ${name}: ${why}`);
  const forbidden = skipped.filter(({ why }) => !/PowerShell|dotnet|mount|^\.\.\/shared/.test(why));
  if (process.env.REQUIRE_ALL === "1" && forbidden.length > 0) {
    console.log(`${forbidden.length} tests were skipped although REQUIRE_ALL=1`);
    process.exitCode = 1;
  }
  console.log(`${count.passed} passed, ${count.failed} failed, ${skipped.length} skipped`);
}
