// Runs test files one by one in this process, each as a suite, so that they share one browser and one PowerShell.
// A worker claims a file by creating its folder in .build/claimed; the first takes them from the front, the others from the
// back. .build/times.tsv gets the processor time of each test.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterEach, before, describe } from "node:test";

const require = createRequire(import.meta.url);
/** @param {string} name */
const load = (name) => require(`../.build/${name}.cjs`);
/** @type {string[]} */
const names = JSON.parse(readFileSync(".build/tests.json", "utf8"));
const timeout = Number(process.env.FILE_TIMEOUT_MS);
const { processorTime } = load("processor-time");
let left = Number(process.env.FILES_A_WORKER ?? names.length);
const entries = [...names.entries()];
for (const [i, name] of isClaimed("front") ? entries : entries.reverse()) {
  if (left === 0 || !isClaimed(i)) continue;
  left--;
  await describe(name, { timeout }, () => {
    noteTimes(name);
    load(name.replace(/\.ts$/, ""));
  });
}
await load("at-end").closeShared();
// Ends the process although a test has left a timer or a server running.
setTimeout(() => {
  console.error(`The tests left open: ${process.getActiveResourcesInfo().join(", ")}`);
  process.exit(1);
}, 60_000).unref();

/** @param {number | "front"} what */
function isClaimed(what) {
  try {
    mkdirSync(`.build/claimed/${what}`);
    return true;
  } catch {
    return false;
  }
}

/**
 * Notes the processor time of each test in .build/times.tsv, from the end of the test before it.
 * @param {string} name
 */
function noteTimes(name) {
  let startMs = 0;
  before(() => {
    startMs = processorTime();
  });
  afterEach(({ name: test }) => {
    const nowMs = processorTime();
    appendFileSync(".build/times.tsv", `${name}\t${(nowMs - startMs).toFixed(0)}\t${test}\n`);
    startMs = nowMs;
  });
}
