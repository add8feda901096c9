// Bundles the service into the one file dist/platen.cjs, with --tests also the tests into .build/, and with --demo the demo.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { version, dependencies } = JSON.parse(readFileSync("package.json", "utf8"));

/** The licences of Platen itself and of everything that the bundle holds, each under its name and version. */
function licences() {
  const texts = [`Platen ${version}\n\n${readFileSync("LICENSE", "utf8")}`];
  const waiting = Object.keys(dependencies);
  for (const name of waiting) {
    const folder = `node_modules/${name}`;
    const { version, dependencies = {} } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    waiting.push(...Object.keys(dependencies).filter((needed) => !waiting.includes(needed)));
    texts.push(`${name} ${version}\n\n${readFileSync(`${folder}/LICENSE`, "utf8")}`);
  }
  const [htmx] = readdirSync("assets").filter((name) => /^htmx-.*\.js$/.test(name));
  texts.push(`${htmx}\n\n${readFileSync("assets/htmx-LICENSE.txt", "utf8")}`);
  return texts.map((text) => text.trim()).join(`\n\n${"-".repeat(80)}\n\n`);
}

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
  define: { PLATEN_VERSION: JSON.stringify(version), PLATEN_LICENCES: JSON.stringify(licences()) },
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
writeFileSync("dist/platen.cjs", inAscii(readFileSync("dist/platen.cjs", "utf8")));

/**
 * What is run from .build/ and never shipped.
 * @param {string} folder
 * @param {string[]} names
 * @param {string} outdir
 */
async function buildPrograms(folder, names, outdir) {
  await build({
    ...shared,
    entryPoints: names.map((name) => `${folder}/${name}`),
    outdir,
    outbase: folder,
    format: "cjs",
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
    sourcemap: "inline",
  });
}

if (process.argv.includes("--tests")) {
  rmSync(".build", { recursive: true, force: true });
  const tests = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => /\.(?:test|bench)\.ts$/.test(name));
  await buildPrograms("test", tests, ".build");
  // What the one file is made of, for the test of its licences.
  writeFileSync(".build/platen.json", JSON.stringify(metafile));
}
if (process.argv.includes("--tests") || process.argv.includes("--demo"))
  await buildPrograms("demo", ["main.ts", "screenshots.ts"], ".build/demo");
