import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

test("all link targets of the documents exist", () => {
  const pages = [".", "docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name)),
  );
  const linksOf = (page: string) =>
    [...readFileSync(page, "utf8").matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = ""]) => target);

  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter((target) => !existsSync(join(dirname(page), target)))
      .map((target) => `${page}: ${target}`),
  );

  assert.ok(pages.length > 10);
  assert.deepEqual(broken, []);
});
