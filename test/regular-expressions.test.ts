import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tokenizer, tokTypes } from "acorn";
import { transformSync } from "esbuild";
import { checkSync } from "recheck";
import { deepTest } from "./support/depth.ts";

interface Found {
  readonly file: string;
  readonly source: string;
  readonly flags: string;
}

/** The regular expression literals of a source file. */
function expressionsOf(file: string): Found[] {
  const text = readFileSync(file, "utf8");
  const code = file.endsWith(".ts") ? transformSync(text, { loader: "ts", charset: "utf8" }).code : text;
  const found: Found[] = [];
  for (const token of tokenizer(code, { ecmaVersion: "latest", sourceType: "module" })) {
    if (token.type !== tokTypes.regexp) continue;
    const { pattern, flags } = (token as unknown as { value: { pattern: string; flags: string } }).value;
    found.push({ file, source: pattern, flags });
  }
  return found;
}

const files = [
  ...readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join("src", name)),
  "assets/app.js",
  ...readdirSync("assets/scripts").map((name) => join("assets/scripts", name)),
];

deepTest("no regular expression takes more than linear time", () => {
  const found = files.flatMap(expressionsOf);
  const wrong: string[] = [];

  for (const { file, source, flags } of found) {
    const { status } = checkSync(source, flags, { timeout: 60_000, randomSeed: 1 });
    if (status !== "safe") wrong.push(`${file}: /${source}/${flags} is ${status}`);
  }

  assert.ok(found.length > 50, `only ${found.length} were found`);
  assert.deepEqual(wrong, []);
});

test("regular expressions are literals, except in the router", () => {
  const made = files.filter((file) => {
    const text = readFileSync(file, "utf8");
    return /\bRegExp\(/.test(text);
  });

  assert.deepEqual(made, ["src/http/router.ts"], "the router builds them from its own table");
});
