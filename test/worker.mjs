// Runs test files one by one in this process, each as a suite, so that they share one browser and one PowerShell.
// A worker claims a file by creating its folder in .build/claimed; the first takes them from the front, the others from the
// back. A quick test fails if it uses too much processor time.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterEach, before, describe } from "node:test";
import { wholePaths } from "./whole-paths.mjs";

const require = createRequire(import.meta.url);
/** @param {string} name */
const load = (name) => require(`../.build/${name}.cjs`);
/** @type {string[]} */
const names = JSON.parse(readFileSync(".build/tests.json", "utf8"));
const timeout = Number(process.env.FILE_TIMEOUT_MS);
const isDeep = process.env.DEEP === "1";
const { processorTime, slowness } = load("processor-time");
/** The first test of a process is not held to its budget: it compiles what the others use, too. */
let isFirst = true;
let left = Number(process.env.FILES_A_WORKER ?? names.length);
const entries = [...names.entries()];
for (const [i, name] of isClaimed("front") ? entries : entries.reverse()) {
  if (left === 0 || !isClaimed(i)) continue;
  left--;
  await describe(name, { timeout }, () => {
    holdToBudget(name);
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
 * Notes the processor time of each test in .build/times.tsv, from the end of the test before it, and fails a quick test that
 * is at 2.5 times its budget: single times vary, mostly those of the first test that uses a part of PowerShell. A slower machine
 * has a larger budget.
 * @param {string} name
 */
function holdToBudget(name) {
  const isHeavy = /withoutPowerShell|withoutBrowser/.test(readFileSync(`test/${name}`, "utf8"));
  const budgetMs = isHeavy ? 700 : 1000;
  let startMs = 0;
  before(() => {
    startMs = processorTime();
  });
  afterEach(async (context) => {
    const test = context.name;
    const usedMs = processorTime() - startMs;
    appendFileSync(".build/times.tsv", `${name}\t${usedMs.toFixed(0)}\t${test}\n`);
    const isOver = !isDeep && !isFirst && usedMs > 2.5 * budgetMs && wholePaths[name] !== test;
    isFirst = false;
    const limitMs = isOver ? 2.5 * budgetMs * (await slowness()) : budgetMs;
    startMs = processorTime();
    if (isOver && usedMs > limitMs)
      throw new Error(
        `“${test}” used ${usedMs.toFixed(0)} ms of processor time; the quick tier allows ${limitMs.toFixed(0)} ms. Make it smaller, or move it to the deep tier.`,
      );
  });
}
