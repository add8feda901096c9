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
  config: ["domain"],
  app: ["config", "services", "store", "workers"],
  "create-app": ["app", "config", "domain", "services", "store", "workers"],
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

/** What a source's text imports of ours, also what it loads only when it is needed, from its own folder. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, path = ""]) => path);
}

/** The imports of a source that the table does not allow. */
function forbidden(file: string, text: string): string[] {
  const targets = importsOf(text).map((path) => normalize(join(file, "..", path)));
  return targets.filter((target) => {
    const [from, to] = [layerOf(file), layerOf(target)];
    const isOurs = !target.startsWith("..");
    return isOurs && from !== to && !mayImport[from]?.includes(to);
  });
}

test("no layer imports what the architecture does not allow it", () => {
  const wrong = sources.flatMap((file) =>
    forbidden(file, readFileSync(join("src", file), "utf8")).map((target) => `${file} imports ${target}`),
  );

  assert.deepEqual(wrong, []);
});

test("an import counts however it is written, and whenever it happens", () => {
  const text = `
    import "../http/a.ts";
    import b from "../http/b.ts";
    import type { C } from "../http/c.ts";
    import {
      type D,
      d,
    } from "../http/d.ts";
    export { e } from "../http/e.ts";
    export * from "../http/f.ts";
    const g = async () => (await import("../http/g.ts")).g;
    void import(
      "../http/h.ts"
    );
    let i: import("../http/i.ts").I;
    let j: typeof import("../http/j.ts");
    import { fine } from "../domain/errors.ts";
    import { own } from "./own.ts";
    import { readFile } from "node:fs/promises";`;

  const found = forbidden("store/sample.ts", text);

  assert.deepEqual(
    found,
    [..."abcdefghij"].map((name) => `http/${name}.ts`),
  );
});

test("what is imported stands there as a plain text, so that it is seen", () => {
  const wrong = sources.filter((file) =>
    /\bimport\s*\((?!\s*"[^"]*"\s*\))|\brequire\("|createRequire/.test(
      readFileSync(join("src", file), "utf8"),
    ),
  );

  assert.deepEqual(wrong, []);
});

test("every source belongs to a layer that the architecture names", () => {
  const unknown = sources.filter((file) => mayImport[layerOf(file)] === undefined);

  assert.deepEqual(unknown, []);
});

test("only the store touches the file system, and only the configuration reads the environment", () => {
  const wrong = sources.filter((file) => {
    const text = readFileSync(join("src", file), "utf8");
    const readsFiles = /"node:fs/.test(text) && layerOf(file) !== "store";
    const readsEnvironment = /process\.env/.test(text) && file !== "config.ts";
    return readsFiles || readsEnvironment;
  });

  assert.deepEqual(wrong, []);
});

test("no file is longer than anyone reads at one sitting", () => {
  const files = ["src", "test", "demo", "assets"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const ours = [...files, "build.mjs"].filter((name) => /(?<!\.min)\.(?:ts|js|mjs|ps1)$/.test(name));

  const long = ours.filter((name) => readFileSync(name, "utf8").split("\n").length > 400);

  assert.ok(ours.length > 150, `only ${ours.length} were found`);
  assert.deepEqual(long, []);
});

test("archives are read and packages laid out by other threads and processes alone", () => {
  const onOtherThreads = ["services/drivers/inspect.ts", "workers/tasks.ts"];
  const blocking = [
    "readArchive",
    "checkEntry",
    "usedEntries",
    "layOutDrivers",
    "layOut",
    "zipPrefix",
    "zipLayout",
  ];

  const wrong = sources.filter((file) => {
    const text = readFileSync(join("src", file), "utf8");
    const imported = [...text.matchAll(/import \{([^}]*)\}/g)].flatMap(([, names = ""]) =>
      names.split(/[\s,]+/),
    );
    return blocking.some((name) => imported.includes(name)) && !file.startsWith("pkg/");
  });

  assert.deepEqual(
    wrong.filter((file) => !onOtherThreads.includes(file)),
    [],
  );
});
