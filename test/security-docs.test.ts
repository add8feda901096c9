import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const text = readFileSync("docs/security.md", "utf8");
const rows = text
  .split("\n")
  .filter((line) => /^\| V\d/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, requirement = "", , named = ""]) => ({ requirement, named }));

test("every requirement of docs/security.md names a test that is there", () => {
  const missing = rows.flatMap(({ requirement, named }) => {
    const [, file = "", title = ""] = /^`([^`]+)` ?(.*)$/.exec(named) ?? [];
    const path = `test/${file}.test.ts`;
    const isThere = file !== "" && existsSync(path) && readFileSync(path, "utf8").includes(title);
    return isThere ? [] : [`${requirement}: ${named}`];
  });

  assert.ok(rows.length > 60);
  assert.deepEqual(missing, []);
});

test("each requirement stands there once, in the order of the standard", () => {
  const first = rows.flatMap(({ requirement }) => /^V(\d+)\.(\d+)\.(\d+)/.exec(requirement)?.[0] ?? []);
  const all = rows.flatMap(({ requirement }) => requirement.match(/V\d+\.\d+\.\d+/g) ?? []);

  const chapters = first.map((id) => Number(/\d+/.exec(id)?.[0]));

  assert.equal(first.length, rows.length);
  assert.equal(new Set(all).size, all.length);
  assert.deepEqual(
    chapters,
    chapters.toSorted((a, b) => a - b),
  );
});

test("what the documents lead to is there", () => {
  for (const path of ["SECURITY.md", "docs/security.md", "docs/limits.md"]) {
    const folder = path.startsWith("docs/") ? "docs/" : "";
    const targets = [...readFileSync(path, "utf8").matchAll(/\]\(([^)#:]+)\)/g)].map(
      ([, target = ""]) => target,
    );
    for (const target of targets) assert.ok(existsSync(folder + target), `${path}: ${target}`);
  }
});
