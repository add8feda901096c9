// Bundles the service into the one file dist/platen.cjs, with --tests also the tests into .build/ that are named behind it
// (all whose path holds one of the words), and with --demo the demo.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { build, transform } from "esbuild";
import { billOfMaterials, licences } from "./supply.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const bill = billOfMaterials();

/**
 * A script or style sheet with everything that it imports.
 * @param {string} entry
 */
async function pageAsset(entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022", "chrome109", "firefox115", "safari16.4"],
    write: false,
    logLevel: "warning",
  });
  return outputFiles[0]?.text ?? "";
}

/** @type {import("esbuild").BuildOptions} */
const shared = {
  bundle: true,
  platform: "node",
  target: "node20.15",
  logLevel: "warning",
  legalComments: "none",
  define: {
    PLATEN_VERSION: JSON.stringify(version),
    PLATEN_LICENCES: JSON.stringify(licences()),
    // As a text: as an object it would be made anew by every thread.
    PLATEN_BILL: JSON.stringify(JSON.stringify(bill)),
  },
  loader: { ".wasm": "binary", ".ps1": "text", ".css": "text", ".svg": "text" },
  plugins: [
    {
      // The scripts and styles that pages load are text to the server, each put together of its parts.
      name: "page assets as text",
      setup({ onLoad }) {
        onLoad({ filter: /[\\/]assets[\\/]htmx-[^\\/]+\.js$/ }, ({ path }) => ({
          contents: readFileSync(path, "utf8"),
          loader: "text",
        }));
        onLoad({ filter: /[\\/]assets[\\/]app\.(?:js|css)$/ }, async ({ path }) => ({
          contents: await pageAsset(path),
          loader: "text",
        }));
      },
    },
  ],
};

/**
 * The same program in ASCII: V8 keeps a source with one other character in two bytes each, once for every thread, and
 * esbuild leaves what stands in tagged templates and regular expressions as it is.
 * @param {string} program
 */
function inAscii(program) {
  return program.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const { metafile } = await build({
  ...shared,
  entryPoints: ["src/main.ts"],
  outfile: "dist/platen.cjs",
  format: "cjs",
  minify: true,
  keepNames: true,
  metafile: true,
});
const program = inAscii(readFileSync("dist/platen.cjs", "utf8"));
writeFileSync("dist/platen.cjs", program);
writeFileSync("dist/platen.cdx.json", `${JSON.stringify(bill, null, 2)}\n`);
console.log(`sha256 ${createHash("sha256").update(program).digest("hex")} dist/platen.cjs`);

/**
 * What is run from .build/ and never shipped: an entry point a file, and what several of them need in shared chunks.
 * esbuild splits ES modules alone, so each file is turned into CommonJS afterwards: the worker of the tests loads them
 * synchronously, within a suite.
 * @param {Record<string, string>} entryPoints
 */
async function buildPrograms(entryPoints) {
  const { outputFiles } = await build({
    ...shared,
    entryPoints,
    outdir: ".build",
    format: "esm",
    splitting: true,
    chunkNames: "chunks/[hash]",
    outExtension: { ".js": ".cjs" },
    external: [
      "playwright-core",
      "axe-core",
      "web-tree-sitter",
      "acorn",
      "esbuild",
      "recheck",
      "typescript",
      "yauzl",
    ],
    write: false,
  });
  await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await transform(text, { format: "cjs", platform: "node", charset: "utf8" });
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, code);
    }),
  );
}

/** @type {Record<string, string>} */
const programs = {};
const testsAt = process.argv.indexOf("--tests");
if (testsAt > 0) {
  const only = process.argv.slice(testsAt + 1);
  const names = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter(
      (name) => /\.(?:test|deep|bench|soak)\.ts$/.test(name) && only.some((part) => name.includes(part)),
    );
  for (const name of names) programs[name.slice(0, -".ts".length)] = `test/${name}`;
  programs["at-end"] = "test/support/at-end.ts";
}
if (testsAt > 0 || process.argv.includes("--demo"))
  for (const name of ["main", "screenshots"]) programs[`demo/${name}`] = `demo/${name}.ts`;
if (Object.keys(programs).length > 0) {
  rmSync(".build", { recursive: true, force: true });
  await buildPrograms(programs);
  // What the one file is made of, for the test of its licences.
  writeFileSync(".build/platen.json", JSON.stringify(metafile));
}
