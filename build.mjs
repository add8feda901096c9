// Bundles the service into the single file dist/platen.cjs. --tests WORD… also bundles the tests whose path contains one
// of the words into .build/, and --demo bundles the demo.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { build, transform } from "esbuild";
import { helpFiles, helpModule } from "./help.mjs";
import { billOfMaterials, licences } from "./supply.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const bill = billOfMaterials();
/** The commit that is built: PLATEN_COMMIT, else git's. */
const commit = process.env.PLATEN_COMMIT || git("rev-parse", "--short=12", "HEAD") || "unknown";

/** What git prints; empty where there is no git, or no repository. @param {...string} args */
function git(...args) {
  return spawnSync("git", args, { encoding: "utf8" }).stdout?.trim() ?? "";
}

/**
 * Bundles a script or style sheet with everything that it imports. `zip.js` is a module, which `app.js` imports when it
 * makes a ZIP.
 * @param {string} entry
 */
async function pageAsset(entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: entry.endsWith("zip.js") ? "esm" : "iife",
    external: ["./zip.js"],
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
    PLATEN_COMMIT: JSON.stringify(commit),
    PLATEN_LICENCES: JSON.stringify(licences()),
    // A string: every thread would create an object again.
    PLATEN_BILL: JSON.stringify(JSON.stringify(bill)),
  },
  loader: { ".wasm": "binary", ".ps1": "text", ".css": "text", ".svg": "text" },
  plugins: [
    {
      // The server embeds the bundled scripts and styles of pages as text.
      name: "page assets as text",
      setup({ onLoad }) {
        onLoad({ filter: /[\\/]assets[\\/]htmx-[^\\/]+\.js$/ }, ({ path }) => ({
          contents: readFileSync(path, "utf8"),
          loader: "text",
        }));
        onLoad({ filter: /[\\/]assets[\\/](?:app\.(?:js|css)|scripts[\\/]zip\.js)$/ }, async ({ path }) => ({
          contents: await pageAsset(path),
          loader: "text",
        }));
      },
    },
    {
      name: "docs as pages of the help",
      setup({ onLoad }) {
        onLoad({ filter: /[\\/]docs[\\/]README\.md$/ }, () => ({
          contents: helpModule(),
          loader: "js",
          resolveDir: ".",
          watchFiles: helpFiles(),
        }));
      },
    },
  ],
};

/**
 * Escapes everything but ASCII. V8 stores a source with any other character in two bytes per character, once for each
 * thread; esbuild does not escape tagged templates and regular expressions.
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
 * Bundles tests and demo into .build/: a file for each entry point, and shared chunks. esbuild can split only ES modules,
 * so each file is then converted to CommonJS, which the test worker loads synchronously within a suite.
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
      "oidc-provider",
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
    .filter((name) => /\.(?:test|deep|bench)\.ts$/.test(name) && only.some((part) => name.includes(part)));
  for (const name of names) programs[name.slice(0, -".ts".length)] = `test/${name}`;
  for (const name of ["at-end", "processor-time"]) programs[name] = `test/support/${name}.ts`;
}
if (testsAt > 0 || process.argv.includes("--demo"))
  for (const name of ["main", "screenshots"]) programs[`demo/${name}`] = `demo/${name}.ts`;
if (Object.keys(programs).length > 0) {
  rmSync(".build", { recursive: true, force: true });
  await buildPrograms(programs);
  // The modules of dist/platen.cjs, for the test of its licences.
  writeFileSync(".build/platen.json", JSON.stringify(metafile));
}
