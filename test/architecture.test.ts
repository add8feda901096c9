import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { test } from "node:test";

/** Every layer with those that it may import: a folder of `src`, or a file of its own. */
const mayImport: Record<string, readonly string[]> = {
  domain: [],
  inf: ["domain"],
  html: ["domain"],
  store: ["domain"],
  "pkg/zip": ["domain"],
  "pkg/scripts": ["domain", "inf"],
  "pkg/formats": ["domain", "inf", "pkg/zip", "pkg/scripts"],
  workers: ["domain", "inf", "pkg/zip", "pkg/scripts", "pkg/formats"],
  services: ["domain", "inf", "store", "pkg/zip", "pkg/scripts", "pkg/formats", "workers"],
  config: [],
  app: ["config", "services", "store", "workers"],
  "create-app": ["app", "config", "services", "store", "workers"],
  http: [
    "domain",
    "inf",
    "html",
    "store",
    "pkg/zip",
    "pkg/scripts",
    "pkg/formats",
    "workers",
    "services",
    "config",
    "app",
  ],
};
for (const last of ["cli", "serve", "main"]) mayImport[last] = Object.keys(mayImport);

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  /(?<!\.d)\.ts$/.test(name),
);

function layerOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "pkg" ? `pkg/${second}` : first.replace(/\.ts$/, "");
}

/** What a source imports of ours, also what it loads only when it is needed. */
function importsOf(file: string): string[] {
  const text = readFileSync(join("src", file), "utf8");
  const found = text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, path = ""]) => normalize(join(file, "..", path)));
}

test("no layer imports what the architecture does not allow it", () => {
  const wrong: string[] = [];
  for (const file of sources) {
    for (const target of importsOf(file)) {
      const [from, to] = [layerOf(file), layerOf(target)];
      const isOurs = !target.startsWith("..");
      if (isOurs && from !== to && !mayImport[from]?.includes(to)) wrong.push(`${file} imports ${target}`);
    }
  }

  assert.deepEqual(wrong, []);
});

test("every source belongs to a layer that the architecture names", () => {
  const unknown = sources.filter((file) => mayImport[layerOf(file)] === undefined);

  assert.deepEqual(unknown, []);
});

test("only the store touches the file system, and only the configuration reads the environment", () => {
  const wrong = sources.filter((file) => {
    const text = readFileSync(join("src", file), "utf8");
    const readsFiles = /from "node:fs/.test(text) && layerOf(file) !== "store";
    const readsEnvironment = /process\.env/.test(text) && file !== "config.ts";
    return readsFiles || readsEnvironment;
  });

  assert.deepEqual(wrong, []);
});

test("no file is longer than anyone reads at one sitting", () => {
  const long = sources.filter((file) => readFileSync(join("src", file), "utf8").split("\n").length > 260);

  assert.deepEqual(long, []);
});

test("archives are read and packages laid out by other threads and processes alone", () => {
  const onOtherThreads = ["services/inspect.ts", "workers/tasks.ts"];

  const wrong = sources.filter((file) => {
    const text = readFileSync(join("src", file), "utf8");
    return /import \{[^}]*\b(?:readArchive|layOut|zipLayout)\b[^}]*\}/.test(text) && !file.startsWith("pkg/");
  });

  assert.deepEqual(
    wrong.filter((file) => !onOtherThreads.includes(file)),
    [],
  );
});
