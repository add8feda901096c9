import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { csvRow, readCsv } from "../../src/domain/csv.ts";
import { UserError } from "../../src/domain/errors.ts";
import { deepTest } from "../support/depth.ts";
import { without } from "../support/drivers/foreign.ts";
import { seededRandom } from "../support/random.ts";
import { assertLinearTime } from "../support/times.ts";

const pieces = [
  "a",
  "Büro",
  '"',
  '""',
  ",",
  ";",
  "\t",
  "\n",
  "\r\n",
  "\r",
  " ",
  "'",
  "=1+1",
  "😀",
  "مكتب",
  "\u00a0",
  "0",
];

/** Rows of cells that a careless reader or writer damages. */
function awkwardRows(seed: number): string[][] {
  const random = seededRandom(seed);
  const cell = () => Array.from({ length: random(5) }, () => pieces[random(pieces.length)] ?? "").join("");
  const width = 1 + random(6);
  return Array.from({ length: 1 + random(8) }, () => Array.from({ length: width }, cell));
}

test("written cells are read back unchanged, whatever the cells and the separator", () => {
  for (const separator of [",", ";", "\t"]) {
    for (let seed = 1; seed <= 300; seed++) {
      const rows = awkwardRows(seed);
      const text = rows.map((cells) => csvRow(cells, separator)).join("");

      const read = readCsv(text, separator);

      assert.deepEqual(read, rows);
    }
  }
});

test("Python’s reader finds the same cells", { skip: without.python }, () => {
  const rows = Array.from({ length: 300 }, (_, i) => awkwardRows(i + 1)).flat();
  const text = rows.map((cells) => csvRow(cells, ",")).join("");
  const program =
    "import csv, io, json, sys\ntext = sys.stdin.buffer.read().decode('utf-8')\nprint(json.dumps([row for row in csv.reader(io.StringIO(text, newline=''))]))";

  const python = spawnSync("python3", ["-c", program], { input: text, maxBuffer: 1 << 28 });

  assert.equal(python.stderr.toString(), "");
  // A row of one empty cell is an empty line, which Python reads as a row without cells.
  const expected = rows.map((cells) => (cells.length === 1 && cells[0] === "" ? [] : cells));
  assert.deepEqual(JSON.parse(python.stdout.toString()), expected);
});

test("cells are read as in RFC 4180, with the leniency of spreadsheets", () => {
  const read = (text: string) => readCsv(text, ",");

  assert.deepEqual(read('a,"b ""c"", d"\r\n"e\r\nf",g'), [
    ["a", 'b "c", d'],
    ["e\r\nf", "g"],
  ]);
  assert.deepEqual(read("a,b,\n,c"), [
    ["a", "b", ""],
    ["", "c"],
  ]);
  assert.deepEqual(read("a\n\nb\n"), [["a"], [""], ["b"]]);
  assert.deepEqual(read('"a"b,c "d"'), [["ab", 'c "d"']]);
  assert.deepEqual(read(""), []);
});

test("an invalid file is refused with the number of the row, and not read to its end", () => {
  const refused: [string, RegExp][] = [
    ['a,b\nc,"d\ne,f\n', /Row 2 .* quote that is never closed/],
    [`a\n${",".repeat(100_000)}`, /Row 2 .* more than 256 columns/],
    [`a\n"${"x".repeat(40_000)}"`, /Row 2 .* more than 32767 characters: a quote may be missing/],
    [`a\n${"x".repeat(8_000_000)}`, /Row 2 .* more than 32767 characters/],
    [`a\n${'"'.repeat(7_999_999)}`, /Row 2 /],
  ];
  for (const [text, message] of refused) {
    assert.throws(
      () => readCsv(text, ","),
      (error) => error instanceof UserError && error.code === "invalid" && message.test(error.message),
    );
  }
});

deepTest("the time to read a file is proportional to its length", async () => {
  const shapes: Record<string, (size: number) => string> = {
    "empty cells": (size) => `${",".repeat(99)}\n`.repeat(size / 100),
    "quoted quotes": (size) => `"${'""'.repeat(400)}"\n`.repeat(size / 803),
    "line breaks": (size) => "\r\n".repeat(size / 2),
    "quotes in cells": (size) => 'a"b"\n'.repeat(size / 5),
  };
  for (const [what, make] of Object.entries(shapes)) {
    await assertLinearTime(what, 200_000, (size) => readCsv(make(size), ","));
  }
});
