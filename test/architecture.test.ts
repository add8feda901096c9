import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

/**
 * The layers that each layer may import, types included. A layer is a folder of `src`, a folder of `pkg`, or a single file
 * at the root, such as `config.ts`; `cli.ts` and the folder `cli` are one layer.
 */
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
  app: ["config", "domain", "services", "store", "workers"],
  "create-app": ["app", "config", "domain", "services", "store", "workers"],
};
for (const last of ["http", "cli", "serve", "main"])
  mayImport[last] = Object.keys(mayImport).filter((layer) => last !== "http" || layer !== "create-app");

/** The folders inside the layers `domain`, `store`, `services`, `html` and `http`. Files at a layer's root belong to no subject. */
const subjects = ["drivers", "printers", "deploy", "import", "access", "audit", "backup"];

/**
 * The subjects that the files of each subject may import, whatever layer the imported file is in. Only in the domain is
 * this as strict as the records are: a printer has a driver, and a package is made of printers.
 */
const domainImports: Record<string, readonly string[]> = {
  drivers: [],
  printers: ["drivers"],
  deploy: ["drivers", "printers"],
  import: ["drivers", "printers"],
  access: [],
  audit: [],
  backup: [],
};
const storeImports = {
  ...domainImports,
  // The list of drivers counts their printers, and a driver that a printer uses cannot be deleted.
  drivers: ["printers"],
  // One write saves all printers of an import.
  printers: ["drivers", "import"],
  // Downloads are counted from the audit log.
  deploy: ["audit"],
  // An entry names the changed fields of a printer.
  audit: ["printers"],
  // Restoring and deleting concern all records.
  backup: ["drivers", "printers", "access", "audit"],
};
const serviceImports = {
  ...domainImports,
  // A changed driver needs other packages, and changes the revisions of its printers.
  drivers: ["printers", "deploy"],
  // A printer's state includes when it was deployed, and a replaced icon can be restored.
  printers: ["drivers", "deploy", "backup"],
  // `publish.ps1` contains links, and the audit log says what was deployed.
  deploy: ["drivers", "printers", "access", "audit"],
  backup: ["drivers", "printers", "deploy", "access", "audit"],
};
/** The page of a printer, a client or a driver also has packages; a script contains links. */
const pageImports = {
  ...domainImports,
  drivers: ["printers", "deploy"],
  printers: ["drivers", "deploy"],
  // The audit log shows values as the printer's form does.
  audit: ["printers"],
  deploy: ["drivers", "printers", "access"],
};
/** Files at the roots of these layers may import every subject, except in the domain. */
const mayImportSubject: Record<string, Record<string, readonly string[]>> = {
  domain: domainImports,
  store: storeImports,
  services: serviceImports,
  html: pageImports,
  http: pageImports,
};

/** The texts of all sources by path. */
const texts = new Map(
  readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.d)\.ts$/.test(name))
    .map((name) => [name, readFileSync(join("src", name), "utf8")]),
);
const sources = [...texts.keys()];
const sourcesWith = (isWrong: (text: string, file: string) => boolean) =>
  sources.filter((file) => isWrong(texts.get(file) ?? "", file));

function layerOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "pkg" ? `pkg/${second}` : first.replace(/\.ts$/, "");
}

/** The subject of a path such as `store/drivers/drivers.ts`; undefined at a layer's root and in other folders. */
function subjectOf(path: string): string | undefined {
  const [, folder = "", file] = path.split("/");
  return file !== undefined && subjects.includes(folder) ? folder : undefined;
}

/** The relative paths that a source imports, also dynamically. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, path = ""]) => path);
}

function targetsOf(file: string, text: string): string[] {
  return importsOf(text).map((path) => normalize(join(file, "..", path)));
}

/** The imports that `mayImportSubject` does not allow. */
function forbiddenSubjects(file: string, text: string): string[] {
  const own = subjectOf(file);
  const allowed = own === undefined ? [] : (mayImportSubject[layerOf(file)]?.[own] ?? []);
  if (own === undefined && layerOf(file) !== "domain") return [];
  return targetsOf(file, text).filter((target) => {
    const subject = subjectOf(target);
    return subject !== undefined && subject !== own && !allowed.includes(subject);
  });
}

/** The imports that `mayImport` does not allow. Files outside `src`, such as assets, may be imported anywhere. */
function forbiddenImports(file: string, text: string): string[] {
  return targetsOf(file, text).filter((target) => {
    const [from, to] = [layerOf(file), layerOf(target)];
    const isInSrc = !target.startsWith("..");
    return isInSrc && from !== to && !mayImport[from]?.includes(to);
  });
}

test("no layer and no subject imports another one that the architecture does not allow", () => {
  const wrong = [...texts].flatMap(([file, text]) =>
    [...forbiddenImports(file, text), ...forbiddenSubjects(file, text)].map(
      (target) => `${file} imports ${target}`,
    ),
  );

  assert.deepEqual(wrong, []);
  assert.deepEqual(
    sources.filter((file) => mayImport[layerOf(file)] === undefined),
    [],
    "every source belongs to a layer",
  );
});

test("a driver may not import a printer in the domain, and a printer may import a driver", () => {
  const text = `import "../drivers/a.ts"; import "../printers/b.ts"; import "../c.ts";`;

  assert.deepEqual(forbiddenSubjects("domain/drivers/sample.ts", text), ["domain/printers/b.ts"]);
  assert.deepEqual(forbiddenSubjects("domain/printers/sample.ts", text), []);
  assert.deepEqual(forbiddenSubjects("domain/sample.ts", `import "./drivers/a.ts";`), [
    "domain/drivers/a.ts",
  ]);
});

test("no sources import each other in a cycle", () => {
  const imports = new Map([...texts].map(([file, text]) => [file, targetsOf(file, text)] as const));
  const done = new Set<string>();
  const cycles: string[] = [];
  const follow = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (path.includes(file) || done.has(file)) return;
    for (const target of imports.get(file) ?? []) follow(target, [...path, file]);
    done.add(file);
  };

  for (const file of sources) follow(file, []);

  assert.deepEqual(cycles, []);
});

test("no folder has more than 25 files", () => {
  const tests = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.\w+$/.test(name),
  );
  const counts = new Map<string, number>();
  for (const file of [
    ...sources.map((name) => join("src", name)),
    ...tests.map((name) => join("test", name)),
  ])
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);

  const full = [...counts].filter(([, count]) => count > 25);

  assert.ok(counts.size > 40);
  assert.deepEqual(full, []);
});

test("all forms of imports count, static and dynamic", () => {
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

  const found = forbiddenImports("store/sample.ts", text);

  assert.deepEqual(
    found,
    [..."abcdefghij"].map((name) => `http/${name}.ts`),
  );
});

test("every import names its path as a plain string, so that these tests see it", () => {
  const dynamic = /\bimport\s*\((?!\s*"[^"]*"\s*\))|\brequire\("|createRequire/;

  assert.deepEqual(
    sourcesWith((text) => dynamic.test(text)),
    [],
  );
});

test("only the store touches the file system, and only the configuration reads the environment", () => {
  const wrong = sourcesWith(
    (text, file) =>
      (/"node:fs/.test(text) && layerOf(file) !== "store") ||
      (/process\.env/.test(text) && file !== "config.ts"),
  );

  assert.deepEqual(wrong, []);
});

test("no file is longer than 400 lines", () => {
  const files = ["src", "test", "demo", "assets"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  );
  const ours = [...files, "build.mjs"].filter((name) => /(?<!\.min)\.(?:ts|js|mjs|ps1)$/.test(name));

  const long = ours.filter((name) => readFileSync(name, "utf8").split("\n").length > 400);

  assert.ok(ours.length > 150, `only ${ours.length} were found`);
  assert.deepEqual(long, []);
});

test("only other threads and processes read archives and lay out packages", () => {
  const inspection = ["inspect.ts", "inspect-upload.ts"].map((name) => `services/drivers/${name}`);
  const onOtherThreads = [...inspection, "workers/tasks.ts"];
  const blocking = [
    "readArchive",
    "checkEntry",
    "unpackEntry",
    "usedEntries",
    "layOutDrivers",
    "layOut",
    "zipPrefix",
    "zipLayout",
  ];

  const all = [...texts.values()].join("\n");
  const unknown = blocking.filter(
    (name) => !new RegExp(`export (?:async )?function\\*? ?${name}\\b`).test(all),
  );
  const wrong = sourcesWith((text, file) => {
    const lists = [...text.matchAll(/import \{([^}]*)\}/g)].map(([, names = ""]) => names.split(/[\s,]+/));
    return blocking.some((name) => lists.flat().includes(name)) && !file.startsWith("pkg/");
  });

  assert.deepEqual(unknown, [], "these functions have another name");
  const others = wrong.filter((file) => !onOtherThreads.includes(file));
  assert.deepEqual(others, []);
});
