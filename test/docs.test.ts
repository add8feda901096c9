import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { PackageFacts } from "../src/pkg/formats/format.ts";
import { packageFormats } from "../src/pkg/formats/formats.ts";

test("the README and docs/rmm.md name every RMM tool that has a guide", () => {
  const names = ["fileName", "detectionFileName", "place", "urls"];
  const facts = Object.fromEntries(names.map((name) => [name, undefined])) as unknown as PackageFacts;

  const tools = packageFormats.flatMap((format) => format.tools(facts).map(({ tool }) => tool));

  assert.ok(tools.length > 5);
  for (const page of ["README.md", "docs/rmm.md"]) {
    const text = readFileSync(page, "utf8");
    assert.deepEqual(
      tools.filter((tool) => !text.includes(tool)),
      [],
      page,
    );
  }
});

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
