import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const text = readFileSync("docs/limits.md", "utf8");
const sourceOf = (path: string) => readFileSync(`src/${path}`, "utf8");

/** Every row: what, figure, where, and its test at the end. */
const rows = text
  .split("\n")
  .filter((line) => /^\| .*`[\w/-]+\.ts /.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map((cells) => ({ figure: cells[2] ?? "", where: cells[3] ?? "", test: cells.at(-2) ?? "" }));

const units: Record<string, number> = { KB: 1024, MB: 1024 * 1024, s: 1000, min: 60_000 };

function figureOf(written: string): number {
  const [number = "", unit] = written.split(" ");
  return Number(number.replaceAll(",", "")) * (unit === undefined ? 1 : (units[unit] ?? Number.NaN));
}

/** What a name is given in a source: a product of numbers and of other such names. @param name may be `outer.inner` */
function valueIn(source: string, name: string): number {
  const [first = "", ...inner] = name.split(".");
  const rest = inner.length > 0 ? source.slice(source.search(new RegExp(`\\b${first}\\b`))) : source;
  const last = inner.at(-1) ?? first;
  const given = [...rest.matchAll(new RegExp(`\\b${last}\\s*[:=]\\s*([\\w\\s*+]+?)\\s*[,;)}]`, "g"))];
  const values = given.map(([, expression = ""]) => evaluate(source, expression));
  return values.find((value) => !Number.isNaN(value)) ?? Number.NaN;
}

function evaluate(source: string, expression: string): number {
  const product = (factors: string) =>
    factors.split("*").reduce((value, factor) => value * factorOf(source, factor.trim()), 1);
  return expression.split("+").reduce((value, factors) => value + product(factors), 0);
}

function factorOf(source: string, factor: string): number {
  if (/^\d/.test(factor)) return Number(factor.replaceAll("_", ""));
  if (!/^[a-z]\w*$/.test(factor) || ["number", "string"].includes(factor)) return Number.NaN;
  if (new RegExp(`const ${factor}\\b`).test(source)) return valueIn(source, factor);
  const from = new RegExp(`\\b${factor}\\b[^;]*from "(?:\\.{1,2}/)+([^"]+)"`).exec(source)?.[1] ?? "";
  const [path] = sources.filter((candidate) => from !== "" && candidate.endsWith(from));
  return path === undefined ? Number.NaN : valueIn(sourceOf(path), factor);
}

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

test("every figure of docs/limits.md is the one that counts", () => {
  const wrong = rows.flatMap(({ figure, where }) => {
    const [path = "", name = ""] = where.replaceAll("`", "").split(" ");
    const value = existsSync(`src/${path}`) ? valueIn(sourceOf(path), name) : Number.NaN;
    return value === figureOf(figure) ? [] : [`${where}: ${value}, not ${figure}`];
  });

  assert.ok(rows.length > 100);
  assert.deepEqual(wrong, []);
});

test("every limit has a test, which is there", () => {
  const missing = rows.flatMap(({ where, test: named }) => {
    const [, file = "", title = ""] = /^`([^`]+)` ?(.*)$/.exec(named) ?? [];
    const path = `test/${file}.test.ts`;
    const isThere = file !== "" && existsSync(path) && readFileSync(path, "utf8").includes(title);
    return isThere ? [] : [`${where}: ${named}`];
  });

  assert.deepEqual(missing, []);
});

test("every limit in the sources stands in docs/limits.md", () => {
  const name = /^(?:export )?const (\w*[lL]imit(?:Bytes)?|(?:most|max)[A-Z]\w*)(?::[^=]+)? = [\w\s*]+;$/gm;
  const unnamed = sources.flatMap((path) =>
    [...sourceOf(path).matchAll(name)]
      .map(([, limit]) => `${path.slice(path.lastIndexOf("/") + 1)} ${limit}`)
      .filter((limit) => !text.includes(`${limit}\``)),
  );

  assert.deepEqual(unnamed, []);
});
