// Builds and runs the tests: `node test/run.mjs` the quick ones (*.test.ts), with --deep the exhaustive ones (*.deep.ts);
// of these all, or the files whose path holds one of the words given. With REQUIRE_ALL=1 a skip fails the run: what CI
// should have, it must have. Absent may be a real PowerShell and .NET, which Debian does not have, the right to mount a
// disk, which a container may lack, and the team's ../shared, which is not part of the project.
// WORKERS=3 takes three processes; ORDER=random or ORDER=random:17 shuffles the files.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const isDeep = process.argv.includes("--deep");
const only = process.argv.slice(2).filter((argument) => argument !== "--deep");
const ending = isDeep ? ".deep.cjs" : ".test.cjs";
const wanted = only.length > 0 ? only : [ending];
const { status } = spawnSync(process.execPath, ["build.mjs", "--tests", ...wanted], { stdio: "inherit" });
if (status !== 0) process.exit(1);
const names = readdirSync(".build", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(ending))
  .sort();
if (names.length === 0) throw new Error(`no test is named ${only.join(" or ")}`);
const workers = Number(process.env.WORKERS ?? Math.min(4, Math.max(2, availableParallelism())));
prepareWorkers(shuffled(names));

/** @type {{ readonly name: string, readonly why: string }[]} */
const skipped = [];
/** @type {{ readonly name: string, readonly ms: number }[]} */
const files = [];
const count = { passed: 0, failed: 0 };
const started = performance.now();
// Deep tests watch the memory and the turns of their own process, so each file has one for itself.
const entries = isDeep
  ? names.map((name) => `.build/${name}`)
  : Array.from({ length: Math.min(workers, names.length) }, () => "test/worker.mjs");
const stream = run({ files: entries, concurrency: workers, timeout: 30 * 60_000 });
stream.on("test:fail", ({ details }) => {
  if (details?.type !== "suite") count.failed++;
  process.exitCode = 1;
});
stream.on("test:pass", ({ name, skip, nesting, details }) => {
  if (skip !== undefined) skipped.push({ name, why: String(skip) });
  else if (details?.type !== "suite") count.passed++;
  if (nesting === 0) files.push({ name, ms: details.duration_ms });
});
stream.compose(new spec()).pipe(process.stdout);
stream.on("end", () => setImmediate(finish));

/** @param {readonly string[]} tests */
function prepareWorkers(tests) {
  rmSync(".build/claimed", { recursive: true, force: true });
  mkdirSync(".build/claimed");
  writeFileSync(".build/tests.json", JSON.stringify(tests));
}

/** @param {readonly string[]} tests */
function shuffled(tests) {
  const [order, given] = (process.env.ORDER ?? "sorted").split(":");
  if (order !== "random") return tests;
  const seed = given ?? String(Date.now() % 1_000_000);
  console.log(`ORDER=random:${seed}`);
  const keys = new Map(
    tests.map((name) => [
      name,
      createHash("sha256")
        .update(seed + name)
        .digest("hex"),
    ]),
  );
  return tests.toSorted((a, b) => ((keys.get(a) ?? "") < (keys.get(b) ?? "") ? -1 : 1));
}

function finish() {
  for (const { name, why } of skipped) console.log(`SKIPPED ${name}: ${why}`);
  const forbidden = skipped.filter(({ why }) => !/PowerShell|dotnet|mount|^\.\.\/shared/.test(why));
  if (process.env.REQUIRE_ALL === "1" && forbidden.length > 0) {
    console.log(`${forbidden.length} tests were skipped although REQUIRE_ALL=1`);
    process.exitCode = 1;
  }
  for (const { name, ms } of files.sort((a, b) => b.ms - a.ms).slice(0, 5))
    console.log(`${(ms / 1000).toFixed(1).padStart(6)} s ${name}`);
  const seconds = (performance.now() - started) / 1000;
  console.log(`${names.length} files in ${seconds.toFixed(0)} s`);
  console.log(`${count.passed} passed, ${count.failed} failed, ${skipped.length} skipped`);
}
