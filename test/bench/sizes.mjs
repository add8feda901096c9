// Prints the lengths of files and functions in src: node test/bench/sizes.mjs [FOLDER], for another checkout.
// Only named functions count; a function passed as an argument belongs to its caller.
import { join, resolve } from "node:path";
import * as ts from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

/** @typedef {{ readonly name: string, readonly lines: number }} Length */

const folder = resolve(process.argv[2] ?? ".");
const config = join(folder, "tsconfig.json");
const api = new API();
const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
/** @type {Length[]} */
const files = [];
/** @type {Length[]} */
const functions = [];
for (const path of project?.rootFiles ?? []) {
  const file = project?.program.getSourceFile(path);
  if (file === undefined || !path.startsWith(join(folder, "src/")) || path.endsWith(".d.ts")) continue;
  const name = path.slice(folder.length + 1);
  files.push({ name, lines: linesIn(file.text.trimEnd()) });
  measure(file, file, name);
}
api.close();
report("files", files);
report("functions", functions);

/**
 * @param {ts.Node} node
 * @param {ts.SourceFile} file
 * @param {string} path
 */
function measure(node, file, path) {
  const name = nameOf(node);
  if (name !== undefined) functions.push({ name: `${path} ${name}`, lines: linesIn(node.getText(file)) });
  node.forEachChild((child) => measure(child, file, path));
}

/**
 * The name of a function, a method or a constant with a function; undefined for anything else.
 * @param {ts.Node} node
 */
function nameOf(node) {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return node.name?.getText();
  if (ts.isConstructorDeclaration(node)) return "constructor";
  if (ts.isGetAccessorDeclaration(node) || ts.isSetAccessorDeclaration(node)) return node.name.getText();
  const holdsFunction =
    ts.isVariableDeclaration(node) && node.initializer && ts.isArrowFunction(node.initializer);
  return holdsFunction ? node.name.getText() : undefined;
}

/** @param {string} text */
function linesIn(text) {
  return text.split("\n").length;
}

/**
 * @param {string} what
 * @param {Length[]} found
 */
function report(what, found) {
  const sorted = found.toSorted((a, b) => a.lines - b.lines);
  const median = sorted[Math.floor(sorted.length / 2)]?.lines;
  const longest = sorted.slice(-3).reverse();
  const named = longest.map(({ name, lines }) => `${lines} (${name})`).join(", ");
  console.log(`${found.length} ${what}: median ${median} lines, longest ${named}`);
}
