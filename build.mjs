// Bundles the service into the one file dist/platen.cjs, and with --tests the tests into .build/.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const shared = {
  bundle: true,
  platform: "node",
  target: "node20.15",
  logLevel: "warning",
  legalComments: "none",
  define: { PLATEN_VERSION: JSON.stringify(version) },
  loader: { ".wasm": "binary", ".ps1": "text", ".css": "text", ".svg": "text" },
  plugins: [
    {
      // The scripts that pages load are text to the server, not code.
      name: "page scripts as text",
      setup({ onLoad }) {
        onLoad({ filter: /[\\/]assets[\\/][^\\/]+\.js$/ }, ({ path }) => ({
          contents: readFileSync(path, "utf8"),
          loader: "text",
        }));
      },
    },
  ],
};

await build({
  ...shared,
  entryPoints: ["src/main.ts"],
  outfile: "dist/platen.cjs",
  format: "cjs",
  minify: true,
  keepNames: true,
});

if (process.argv.includes("--tests")) {
  rmSync(".build", { recursive: true, force: true });
  const tests = readdirSync("test", { recursive: true })
    .map((name) => `test/${name.replaceAll("\\", "/")}`)
    .filter((name) => /\.(?:test|bench)\.ts$/.test(name));
  await build({
    ...shared,
    entryPoints: tests,
    outdir: ".build",
    outbase: "test",
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    external: ["playwright-core", "axe-core", "web-tree-sitter", "acorn", "esbuild", "recheck", "yauzl"],
    sourcemap: "inline",
  });
}
