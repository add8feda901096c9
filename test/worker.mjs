// Runs test files one by one in this process, each as a suite, so that they share one browser and one PowerShell.
// A worker claims a file by creating its folder in .build/claimed.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe } from "node:test";

const require = createRequire(import.meta.url);
/** @param {string} name */
const load = (name) => require(`../.build/${name}.cjs`);
/** @type {string[]} */
const names = JSON.parse(readFileSync(".build/tests.json", "utf8"));
const timeout = Number(process.env.FILE_TIMEOUT_MS);
let left = Number(process.env.FILES_A_WORKER ?? names.length);
for (const [i, name] of names.entries()) {
  if (left === 0 || !isClaimed(i)) continue;
  left--;
  await describe(name, { timeout }, () => {
    load(name.replace(/\.ts$/, ""));
  });
}
await load("at-end").closeShared();
// Ends the process although a test has left a timer or a server running.
setTimeout(() => {
  console.error(`The tests left open: ${process.getActiveResourcesInfo().join(", ")}`);
  process.exit(1);
}, 60_000).unref();

/** @param {number} i */
function isClaimed(i) {
  try {
    mkdirSync(`.build/claimed/${i}`);
    return true;
  } catch {
    return false;
  }
}
