// Runs test files one after the other in this process, each as a suite: they share one browser and one PowerShell.
// Whichever worker makes a file's folder in .build/claimed first runs that file.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe } from "node:test";

const require = createRequire(import.meta.url);
/** @param {string} name */
const load = (name) => require(`../.build/${name}.cjs`);
/** @type {string[]} */
const names = JSON.parse(readFileSync(".build/tests.json", "utf8"));
let left = Number(process.env.FILES_A_WORKER ?? names.length);
for (const [i, name] of names.entries()) {
  if (left === 0 || !isClaimed(i)) continue;
  left--;
  await describe(name, () => {
    load(name.replace(/\.ts$/, ""));
  });
}
await load("at-end").closeShared();

/** @param {number} i */
function isClaimed(i) {
  try {
    mkdirSync(`.build/claimed/${i}`);
    return true;
  } catch {
    return false;
  }
}
