import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
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

/** The folders inside the layers `domain`, `store`, `services`, `html` and `http`. Files at a layer's root belong to none. */
const subjects = ["drivers", "printers", "deploy", "import", "access", "audit", "backup"];

/** The subjects that each subject may import, in its own layer and in those below. */
const inDomain: Record<string, readonly string[]> = {
  drivers: [],
  printers: ["drivers"],
  deploy: ["drivers", "printers"],
  import: ["drivers", "printers"],
  access: [],
  audit: [],
  backup: [],
};
/** In the store, an entry of the audit log names the record, and a download is counted from the log. */
const inStore = {
  ...inDomain,
  drivers: ["printers"],
  printers: ["drivers", "import"],
  deploy: ["audit"],
  audit: ["printers"],
  backup: ["drivers", "printers", "access", "audit"],
};
const inServices = {
  ...inDomain,
  drivers: ["printers", "deploy"],
  printers: ["drivers", "deploy", "backup"],
  deploy: ["drivers", "printers", "access", "audit"],
  backup: ["drivers", "printers", "deploy", "access", "audit"],
};
/** A page of a printer, a client or a driver also shows packages and the audit log. */
const inPages = {
  ...inDomain,
  drivers: ["printers", "deploy", "audit"],
  printers: ["drivers", "deploy", "audit"],
  deploy: ["drivers", "printers", "access"],
};
const mayImportSubject: Record<string, Record<string, readonly string[]>> = {
  domain: inDomain,
  store: inStore,
  services: inServices,
  html: inPages,
  http: inPages,
};

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  /(?<!\.d)\.ts$/.test(name),
);

function layerOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return first === "pkg" ? `pkg/${second}` : first.replace(/\.ts$/, "");
}

/** The subject of a path such as `store/drivers/drivers.ts`; undefined at a layer's root and in other folders. */
function subjectOf(path: string): string | undefined {
  const [, folder = "", file] = path.split("/");
  return file !== undefined && subjects.includes(folder) ? folder : undefined;
}

/** What a source's text imports of ours, also what it loads only when it is needed, from its own folder. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, path = ""]) => path);
}

function targetsOf(file: string, text: string): string[] {
  return importsOf(text).map((path) => normalize(join(file, "..", path)));
}

/** The imports of a source that the table of subjects does not allow. A file at the root of `domain` imports no subject. */
function otherSubjects(file: string, text: string): string[] {
  const own = subjectOf(file);
  const allowed = own === undefined ? [] : (mayImportSubject[layerOf(file)]?.[own] ?? []);
  if (own === undefined && layerOf(file) !== "domain") return [];
  return targetsOf(file, text).filter((target) => {
    const subject = subjectOf(target);
    return subject !== undefined && subject !== own && !allowed.includes(subject);
  });
}

/** The imports of a source that the table does not allow. */
function forbidden(file: string, text: string): string[] {
  return targetsOf(file, text).filter((target) => {
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

test("no subject imports another one that the table does not allow it", () => {
  const wrong = sources.flatMap((file) =>
    otherSubjects(file, readFileSync(join("src", file), "utf8")).map((target) => `${file} imports ${target}`),
  );

  assert.deepEqual(wrong, []);
});

test("a driver may not import a printer in the domain, and a printer may import a driver", () => {
  const text = `import "../drivers/a.ts"; import "../printers/b.ts"; import "../c.ts";`;

  assert.deepEqual(otherSubjects("domain/drivers/sample.ts", text), ["domain/printers/b.ts"]);
  assert.deepEqual(otherSubjects("domain/printers/sample.ts", text), []);
  assert.deepEqual(otherSubjects("domain/sample.ts", `import "./drivers/a.ts";`), ["domain/drivers/a.ts"]);
});

test("no two sources import each other, however many stand between them", () => {
  const imports = new Map(
    sources.map((file) => [file, targetsOf(file, readFileSync(join("src", file), "utf8"))] as const),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (path.includes(file) || done.has(file)) return;
    for (const target of imports.get(file) ?? []) follow(target, [...path, file]);
    done.add(file);
  };

  for (const file of sources) follow(file, []);

  assert.deepEqual(circles, []);
});

test("no folder has more files than fit on a screen", () => {
  const counts = new Map<string, number>();
  for (const file of sources) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);

  const full = [...counts].filter(([, count]) => count > 25);

  assert.ok(counts.size > 20);
  assert.deepEqual(full, []);
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
