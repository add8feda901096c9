// Builds and runs the tests. `node test/run.mjs` runs the quick tier: all *.test.ts. With --deep it runs the deep tier: all
// *.deep.ts, and all cases of each *.test.ts that imports support/depth.ts. Further words select the files whose path
// contains one of them.
// REQUIRE_ALL=1 makes a skipped test fail the run, for CI. Two things may be missing even then: PowerShell and .NET, which
// Debian does not have; and the right to mount a disk or make a network namespace, which containers may lack. WORKERS=1
// uses one process. ORDER=random or ORDER=random:17 shuffles the files.
// `npm test` lets Node collect garbage in one step. Each service's database is memory outside of the heap, which makes Node
// mark the heap again after every few tests; in small steps that needs a quarter of the tests' processor time.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const isDeep = process.argv.includes("--deep");
const words = process.argv
  .slice(2)
  .filter((argument) => argument !== "--deep")
  .map((word) => word.replace(/^(?:\.\/)?test\//, ""));
const deepSupport = findDeepSupport();
const all = readdirSync("test", { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => (isDeep ? isDeepTest(name) : name.endsWith(".test.ts")))
  .sort();
for (const word of words) {
  if (all.some((name) => name.includes(word))) continue;
  console.error(`No test file of the ${isDeep ? "deep" : "quick"} tier has “${word}” in its path.`);
  process.exit(1);
}
const names = all.filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
const { status } = spawnSync(process.execPath, ["build.mjs", "--tests", ...names], { stdio: "inherit" });
if (status !== 0) process.exit(1);
// Quick tests wait for other processes a fifth of their time. Deep tests measure times.
const workers = Number(
  process.env.WORKERS ?? Math.min(4, Math.max(2, availableParallelism()) + (isDeep ? 0 : 1)),
);
prepareWorkers(ordered(names));
const temporary = mkdtempSync(join(temporaryRoot(), "platen-run-"));
process.env.TMPDIR = temporary;
// Makes .NET compile each method once: PowerShell needs a fifth less time for scripts that run once or twice.
process.env.DOTNET_TieredCompilation ??= "0";
// Keeps PowerShell from contacting any server.
Object.assign(process.env, { POWERSHELL_TELEMETRY_OPTOUT: "1", POWERSHELL_UPDATECHECK: "Off" });

/** @type {{ readonly name: string, readonly why: string }[]} */
const skipped = [];
/** Milliseconds for each file. @type {Map<string, number>} */
const files = new Map();
const count = { passed: 0, failed: 0 };
const started = performance.now();
// Deep tests watch the memory and the event loop of their own process, so each worker ends after one file.
const processes = isDeep ? names.length : Math.min(workers, names.length);
if (isDeep) Object.assign(process.env, { DEEP: "1", FILES_A_WORKER: "1" });
process.env.FILE_TIMEOUT_MS = String((isDeep ? 25 : 5) * 60_000);
const entries = Array.from({ length: processes }, () => "test/worker.mjs");
const stream = run({ files: entries, concurrency: workers, timeout: 30 * 60_000 });
stream.on("test:fail", ({ name, nesting, details }) => {
  if (nesting === 0) files.set(name, details.duration_ms);
  // A suite that fails because of its tests is not counted itself; a file that cannot be loaded is.
  const ofTests =
    details?.type === "suite" &&
    "failureType" in details.error &&
    details.error.failureType === "subtestsFailed";
  if (!ofTests) count.failed++;
  process.exitCode = 1;
});
stream.on("test:pass", ({ name, skip, nesting, details }) => {
  // The top level has the files, as suites, and workers that found no file left.
  if (nesting === 0) files.set(name, details.duration_ms);
  else if (skip !== undefined) skipped.push({ name, why: String(skip) });
  else if (details.type !== "suite") count.passed++;
});
stream.compose(new spec()).pipe(process.stdout);
stream.on("end", () => setImmediate(finish));

/** The ends of the paths in test imports that lead to support/depth.ts, directly or through other support files. */
function findDeepSupport() {
  const texts = readdirSync("test/support", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({ name, text: readFileSync(`test/support/${name}`, "utf8") }));
  const found = new Set(["depth.ts"]);
  for (const deep of found)
    for (const { name, text } of texts) if (text.includes(`/${basename(deep)}"`)) found.add(name);
  return [...found].map((name) => `support/${name}"`);
}

/** @param {string} name */
function isDeepTest(name) {
  if (name.endsWith(".deep.ts")) return true;
  const text = name.endsWith(".test.ts") ? readFileSync(`test/${name}`, "utf8") : "";
  return deepSupport.some((path) => text.includes(path));
}

/** The parent of temporary folders: in memory in the quick tier, if 4 GB are free there. Only the deep tier needs a real disk. */
function temporaryRoot() {
  const memory = "/dev/shm";
  if (isDeep || process.env.TMPDIR !== undefined || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4 * 1024 ** 3 ? memory : tmpdir();
}

/** @param {readonly string[]} tests */
function prepareWorkers(tests) {
  rmSync(".build/claimed", { recursive: true, force: true });
  rmSync(".build/times.tsv", { force: true });
  mkdirSync(".build/claimed");
  writeFileSync(".build/tests.json", JSON.stringify(tests));
}

/**
 * The files with PowerShell first, those with a browser next, since the first worker starts at the front and the others at
 * the back: starting a PowerShell and using each of its parts for the first time costs many seconds.
 * @param {readonly string[]} tests
 */
function ordered(tests) {
  const [order, given] = (process.env.ORDER ?? "sorted").split(":");
  const seed = given ?? String(Date.now() % 1_000_000);
  if (order === "random") console.log(`ORDER=random:${seed}`);
  /** @param {string} name */
  const keyOf = (name) => {
    if (order === "random") return createHash("sha256").update(`${seed}${name}`).digest("hex");
    const text = readFileSync(`test/${name}`, "utf8");
    return `${text.includes("withoutPowerShell") ? 0 : text.includes("withoutBrowser") ? 1 : 2} ${name}`;
  };
  const keys = new Map(tests.map((name) => [name, keyOf(name)]));
  return tests.toSorted((a, b) => ((keys.get(a) ?? "") < (keys.get(b) ?? "") ? -1 : 1));
}

/** What a machine lacks when tests are skipped, and how to get it. @type {readonly (readonly [RegExp, string])[]} */
const remedies = [
  [/PowerShell/, "PowerShell: dotnet tool install --global PowerShell, or set PLATEN_PWSH"],
  [/dotnet/, ".NET: https://dot.net"],
  [/Chromium/, "a browser: apt-get install chromium-headless-shell, or set CHROMIUM"],
  [
    /mount|namespace/,
    "the right to mount disks and make network namespaces: run as root in a privileged container",
  ],
  [
    /no (?:unzip|7z|python3|osslsigncode|ippeveprinter)/,
    "apt-get install unzip p7zip-full python3-cryptography osslsigncode cups-ipp-utils dbus-daemon",
  ],
];

function finish() {
  for (const { name, why } of skipped) console.log(`SKIPPED ${name}: ${why}`);
  const forbidden = skipped.filter(({ why }) => !/PowerShell|dotnet|mount|namespace/.test(why));
  if (process.env.REQUIRE_ALL === "1" && forbidden.length > 0) {
    console.log(`${forbidden.length} tests were skipped although REQUIRE_ALL=1`);
    process.exitCode = 1;
  }
  const lost = names.filter((name) => !files.has(name));
  for (const name of lost) console.log(`NOT RUN TO ITS END ${name}`);
  if (lost.length > 0) process.exitCode = 1;
  judgeTimes();
  rmSync(temporary, { recursive: true, force: true });
  const seconds = (performance.now() - started) / 1000;
  console.log(`${names.length} files in ${seconds.toFixed(0)} s`);
  for (const [pattern, remedy] of remedies) {
    const missed = skipped.filter(({ why }) => pattern.test(why)).length;
    if (missed > 0) console.log(`${missed} tests skipped. To run them, get ${remedy}`);
  }
  console.log(`${count.passed} passed, ${count.failed + lost.length} failed, ${skipped.length} skipped`);
}

/**
 * Prints the five files with the most processor time, and the sum of all tests. A run of all quick tests, none of which is
 * skipped, fails if one of them uses more than 2 % of the sum: a slow or busy machine makes all of them slower.
 */
function judgeTimes() {
  const times = existsSync(".build/times.tsv")
    ? readFileSync(".build/times.tsv", "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split("\t"))
        .map(([file = "", ms, test = ""]) => ({ file, seconds: Number(ms) / 1000, test }))
    : [];
  /** @type {Map<string, number>} */
  const byFile = new Map();
  for (const { file, seconds } of times) byFile.set(file, (byFile.get(file) ?? 0) + seconds);
  const slowest = [...byFile].sort(([, a], [, b]) => b - a).slice(0, 5);
  for (const [file, used] of slowest)
    console.log(`${used.toFixed(1).padStart(6)} s of processor time: ${file}`);
  const sum = [...byFile.values()].reduce((total, used) => total + used, 0);
  console.log(`${sum.toFixed(0)} s of processor time in all tests`);
  if (isDeep || words.length > 0 || skipped.length > 0) return;
  for (const { file, seconds, test } of times) {
    if (seconds <= sum / 50) continue;
    console.log(`TOO SLOW ${file}: “${test}” used ${seconds.toFixed(1)} s. Make it smaller, or deep.`);
    process.exitCode = 1;
  }
}
