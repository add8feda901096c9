import assert from "node:assert/strict";
import { test } from "node:test";
import { readCsv } from "../../src/domain/csv.ts";
import { matchRows } from "../../src/domain/import/import-match.ts";
import { readPrinterCsv } from "../../src/domain/import/printer-csv.ts";
import { startApp } from "../support/app.ts";
import { makePrinter } from "../support/records.ts";
import { assertLinearTime, leastTime } from "../support/times.ts";

const size = 7_900_000;
const addresses = Array.from({ length: 5000 }, (_, i) => `P${i},Alpha,10.0.${i >> 8}.${i & 255}\n`);
const longNames = Array.from({ length: 240 }, () => ({ Name: "\u0316\u0301".repeat(8000) }));
const lists: Record<string, string | Buffer> = {
  "a quote that is never closed": `name,address\n"${"x\n".repeat(size / 2)}`,
  "columns without end": `name\n${",".repeat(size)}`,
  "a heading without end": `name${",x".repeat(size / 2)}`,
  "blank rows": `name\nA\n${"\n".repeat(4 << 20)}`,
  zeros: Buffer.alloc(size),
  "no UTF-8": Buffer.alloc(size, 0xe9),
  "combining marks": `name\n${`${"\u0316\u0301".repeat(8000)}\n`.repeat(200)}`,
  brackets: "[".repeat(size),
  "objects without end": `[${"{},".repeat(size / 3)}{}]`,
  "one printer of many values": `{"Printers":[{${'"a":1,'.repeat(490_000)}"b":1}]}`,
  "cells without names": `name,comment\n${`,${"y".repeat(1500)}\n`.repeat(4900)}`,
  "long texts": JSON.stringify({ Printers: longNames }),
  "five thousand printers": `name,client,address\n${addresses.join("")}`,
};

test("each hostile list takes at most four seconds of processor time", { timeout: 300_000 }, async (t) => {
  const { upload, fetch, app } = await startApp(t);
  const times: Record<string, number> = {};
  for (const [what, text] of Object.entries(lists)) {
    const bytes = Buffer.from(text as string);
    const statuses = new Set<number>();
    times[what] = await leastTime(async () => {
      const answer = await upload("/import/preview", bytes, "list.csv");
      statuses.add(answer.status);
      await answer.arrayBuffer();
    }, 2);
    assert.ok(
      [...statuses].every((status) => [200, 422].includes(status)),
      `${what}: ${[...statuses]}`,
    );
  }

  t.diagnostic(JSON.stringify(times, (_, ms) => (typeof ms === "number" ? Math.round(ms) : ms)));
  assert.ok(Math.max(...Object.values(times)) < 4000, JSON.stringify(times));
  assert.equal((await fetch("/health")).status, 200);
  assert.equal(app.store.printers.list().length, 0);
});

test("a list of 8 MB that hardly compresses passes through the preview completely", async (t) => {
  const { post, upload } = await startApp(t);
  const noise = () => Buffer.from(Array.from({ length: 24_000 }, () => Math.random() * 256));
  const rows = Array.from({ length: 250 }, (_, i) => `P${i},${noise().toString("base64")}\n`);
  const list = Buffer.from(`name,other\n${rows.join("")}`);

  const page = await (await upload("/import/preview", list, "a.csv")).text();
  const state = /name="state" value="([^"]*)"/.exec(page)?.[1] ?? "";
  const answer = await post("/import/preview", { state });

  const tooLarge = await post("/import", { state: Buffer.alloc((8 << 20) + 1, "a").toString("base64") });
  assert.ok(list.length > 7_900_000 && list.length <= 8 << 20, `${list.length} bytes`);
  assert.deepEqual([answer.status, tooLarge.status], [200, 413]);
});

test("the time to read a file is proportional to its length", async () => {
  const shapes: Record<string, (size: number) => string> = {
    "empty cells": (size) => `${",".repeat(99)}\n`.repeat(size / 100),
    "quoted quotes": (size) => `"${'""'.repeat(400)}"\n`.repeat(size / 803),
    "line breaks": (size) => "\r\n".repeat(size / 2),
    "quotes in cells": (size) => 'a"b"\n'.repeat(size / 5),
  };
  for (const [what, make] of Object.entries(shapes))
    await assertLinearTime(what, 200_000, (size) => readCsv(make(size), ","));
});

test("the time to match rows and printers with the same name is proportional to their number", async () => {
  const printer = makePrinter();
  const rows = readPrinterCsv("name,client\nOFFICE,\n").rows;
  const matched = (count: number, exported: number) => {
    const printers = Array.from({ length: count }, (_, i) => ({ ...printer, id: i + 1 }));
    const all = printers.flatMap(({ id, created_at }) => {
      const origin = id > exported ? undefined : { id, created_at };
      return rows.map((row) => ({ ...row, number: id + 1, origin }));
    });
    return [...matchRows(all, { printers, clients: new Map(), client: "" }).values()];
  };

  await assertLinearTime("rows without an origin", 1500, (size) => matched(size, 0));
  await assertLinearTime("exported rows", 1500, (size) => matched(size, size));
  await assertLinearTime("all but a few", 1500, (size) => matched(size, size - 3));

  const ids = matched(5, 4).map((match) => match.printer?.id);
  assert.deepEqual(ids, [1, 2, 3, 4, 5]);
  assert.match(matched(5, 3)[4]?.problem ?? "", /5 printers of this client have this name/);
});
