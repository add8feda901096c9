import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { test } from "node:test";

const all = [
  "domain",
  "inf",
  "html",
  "store",
  "pkg",
  "services",
  "http",
  "app",
  "config",
  "cli",
  "serve",
  "main",
];
const mayImport: Record<string, readonly string[]> = {
  domain: [],
  inf: ["domain"],
  html: ["domain"],
  store: ["domain"],
  pkg: ["domain", "inf"],
  services: ["domain", "inf", "pkg", "store"],
  app: ["config", "services", "store"],
  config: [],
  http: all.filter((layer) => !["cli", "serve", "main"].includes(layer)),
  cli: all.filter((layer) => !["serve", "main"].includes(layer)),
  serve: all.filter((layer) => layer !== "main"),
  main: all,
};

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  /\.ts$/.test(name),
);

function layerOf(path: string): string {
  return path.split("/")[0]?.replace(/\.ts$/, "") ?? "";
}

test("no layer imports what house rules do not allow it", () => {
  const wrong: string[] = [];
  for (const file of sources) {
    const text = readFileSync(join("src", file), "utf8");
    for (const [, path = ""] of text.matchAll(/(?:from|import)\s+"(\.[^"]+)"/g)) {
      const target = normalize(join(file, "..", path));
      const [from, to] = [layerOf(file), layerOf(target)];
      if (from !== to && !target.startsWith("..") && !mayImport[from]?.includes(to))
        wrong.push(`${file} imports ${path}`);
    }
  }

  assert.deepEqual(wrong, []);
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

test("archives are read and packages laid out by worker threads alone", () => {
  const onOtherThreads = ["services/inspect-archive.ts", "services/worker-tasks.ts"];

  const wrong = sources.filter((file) => {
    const text = readFileSync(join("src", file), "utf8");
    return /import \{[^}]*\b(?:readArchive|layOut|zipLayout)\b[^}]*\}/.test(text) && !file.startsWith("pkg/");
  });

  assert.deepEqual(
    wrong.filter((file) => !onOtherThreads.includes(file)),
    [],
  );
});
