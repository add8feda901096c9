import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { test } from "node:test";

/** All sources of a folder with their texts, by path. */
function textsIn(folder: string): [string, string][] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const paths = names.filter((name) => /(?<!\.d)\.ts$/.test(name)).map((name) => join(folder, name));
  return paths.map((path) => [path, readFileSync(path, "utf8")]);
}

/** The names that a text exports in their declarations. The sources have no default exports and no export lists. */
function exportsIn(text: string): string[] {
  const declared = text.matchAll(/^export (?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm);
  return [...declared].map(([, name = ""]) => name);
}

/** The names that a file imports from other sources, as `path name`. */
function importsIn([path, text]: [string, string]): string[] {
  const from = (target: string) => normalize(join(path, "..", target));
  const named = [...text.matchAll(/\{([^{}]*)\} from "(\.[^"]+)"/g)].flatMap(([, list = "", target = ""]) =>
    list.split(",").map((part) => `${from(target)} ${/^(?:type )?(\w+)/.exec(part.trim())?.[1]}`),
  );
  const whole = [...text.matchAll(/\* as (\w+) from "(\.[^"]+)"/g)].flatMap(([, module = "", target = ""]) =>
    wordsIn(text, `${module}.`).map((name) => `${from(target)} ${name}`),
  );
  const later = [...text.matchAll(/import\("(\.[^"]+)"\)/g)].flatMap(([, target = ""]) =>
    wordsIn(text, "").map((name) => `${from(target)} ${name}`),
  );
  return [...named, ...whole, ...later];
}

/** The distinct words after a text, or all words if it is empty. */
function wordsIn(text: string, before: string): string[] {
  const words = before === "" ? text.matchAll(/\w+/g) : text.matchAll(/\w+\.(\w+)/g);
  const found = [...words].filter(([whole]) => whole.startsWith(before));
  return [...new Set(found.map(([whole, word]) => word ?? whole))];
}

test("every export of a source and of the tests' support is imported by another file", () => {
  const sources = [...textsIn("src"), ...textsIn("test/support")];
  const used = new Set([...textsIn("src"), ...textsIn("test")].flatMap(importsIn));

  const unused = sources.flatMap(([path, text]) =>
    exportsIn(text)
      .map((name) => `${path} ${name}`)
      .filter((exported) => !used.has(exported)),
  );

  assert.ok(used.has("src/domain/printers/printer-fields.ts parsePrinter"));
  const ofTheWorker = ["processor-time.ts processorTime", "at-end.ts closeShared"];
  assert.deepEqual(
    unused.filter((path) => !ofTheWorker.some((end) => path.endsWith(end))),
    [],
  );
});
