// Builds and runs the tests. `node test/run.mjs` runs the quick tier: all *.test.ts. With --deep it runs the exhaustive tier:
// all *.deep.ts, and each *.test.ts that imports support/depth.ts, with all its cases. Words that follow narrow that down
// to the files whose path holds one of them.
// With REQUIRE_ALL=1 a skip fails the run: what CI should have, it must have. Absent may be a real PowerShell and .NET,
// which Debian does not have, the right to mount a disk, which a container may lack, and the team's ../shared, which is not
// part of the project. WORKERS=3 takes three processes; ORDER=random or ORDER=random:17 shuffles the files.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const isDeep = process.argv.includes("--deep");
const only = process.argv.slice(2).filter((argument) => argument !== "--deep");
/** As imports name them: support/depth.ts, and the support files that take more cases in the deep tier. */
const deepSupport = readdirSync("test/support")
  .filter((name) => name.endsWith(".ts"))
  .filter(
    (name) => name === "depth.ts" || readFileSync(`test/support/${name}`, "utf8").includes("./depth.ts"),
  )
  .map((name) => `support/${name}"`);
const names = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => (isDeep ? isDeepTest(name) : name.endsWith(".test.ts")))
  .filter((name) => only.length === 0 || only.some((part) => name.includes(part)))
  .sort();
if (names.length === 0) throw new Error(`no test is named ${only.join(" or ")}`);
const { status } = spawnSync(process.execPath, ["build.mjs", "--tests", ...names], { stdio: "inherit" });
if (status !== 0) process.exit(1);
const workers = Number(process.env.WORKERS ?? Math.min(4, Math.max(2, availableParallelism())));
prepareWorkers(shuffled(names));
if (!isDeep) useMemory();
// .NET then compiles each method once: PowerShell takes a fifth less for scripts that run once or twice.
process.env.DOTNET_TieredCompilation ??= "0";

/** @type {{ readonly name: string, readonly why: string }[]} */
const skipped = [];
/** @type {{ readonly name: string, readonly ms: number }[]} */
const files = [];
const count = { passed: 0, failed: 0 };
const started = performance.now();
// Deep tests watch the memory and the event loop of their own process, so each worker ends after one file.
const processes = isDeep ? names.length : Math.min(workers, names.length);
if (isDeep) Object.assign(process.env, { DEEP: "1", FILES_A_WORKER: "1" });
const entries = Array.from({ length: processes }, () => "test/worker.mjs");
const stream = run({ files: entries, concurrency: workers, timeout: 30 * 60_000 });
stream.on("test:fail", ({ details }) => {
  // A file that cannot be loaded fails as a suite without tests.
  const ofTests =
    details?.type === "suite" &&
    "failureType" in details.error &&
    details.error.failureType === "subtestsFailed";
  if (!ofTests) count.failed++;
  process.exitCode = 1;
});
stream.on("test:pass", ({ name, skip, nesting, details }) => {
  if (skip !== undefined) skipped.push({ name, why: String(skip) });
  else if (details?.type !== "suite") count.passed++;
  if (nesting === 0) files.push({ name, ms: details.duration_ms });
});
stream.compose(new spec()).pipe(process.stdout);
stream.on("end", () => setImmediate(finish));

/** @param {string} name */
function isDeepTest(name) {
  if (name.endsWith(".deep.ts")) return true;
  const text = name.endsWith(".test.ts") ? readFileSync(`test/${name}`, "utf8") : "";
  return deepSupport.some((path) => text.includes(path));
}

/** Has temporary folders in memory where it has room: what is synced to a real disk is the deep tier's. */
function useMemory() {
  const folder = "/dev/shm";
  if (process.env.TMPDIR !== undefined || !existsSync(folder)) return;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize > 4 * 1024 ** 3) process.env.TMPDIR = folder;
}

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
