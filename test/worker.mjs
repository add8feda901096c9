// Runs test files one after the other in this process, each as a suite: they share one browser and one PowerShell.
// Whichever worker makes a file's folder in .build/claimed first runs that file.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe } from "node:test";

const require = createRequire(import.meta.url);
/** @type {string[]} */
const names = JSON.parse(readFileSync(".build/tests.json", "utf8"));
for (const [i, name] of names.entries()) {
  if (!isClaimed(i)) continue;
  await describe(name, () => {
    require(`../.build/${name}`);
  });
}

await require("../.build/at-end.cjs").closeShared();

/** @param {number} i */
function isClaimed(i) {
  try {
    mkdirSync(`.build/claimed/${i}`);
    return true;
  } catch {
    return false;
  }
}
