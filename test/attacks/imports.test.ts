import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { UserError } from "../../src/domain/errors.ts";
import { readJson } from "../../src/domain/json.ts";
import { readPrintServer } from "../../src/domain/print-server.ts";
import { inSteps } from "../../src/services/steps.ts";
import { startApp } from "../support/app.ts";
import { deepTest } from "../support/depth.ts";
import { planOf, stepped } from "../support/lists.ts";
import { growsEvenly, leastHold } from "../support/times.ts";

/** Why a text is refused; empty where it is not. */
function refusal(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid") return error.message;
    throw error;
  }
}

test("JSON that is cut off, nested or endless is refused, and none of it has a prototype", () => {
  const parse = (text: string) => stepped(readJson(text));
  const broken = [
    "{",
    "[1,]",
    '{"a":1,}',
    '{"a" 1}',
    "[1 2]",
    '"a',
    '"a\\"',
    "nul",
    "01",
    "[1]]",
    "{1:2}",
    "",
    '{"a":}',
    "+1",
    '"\u0001"',
  ];

  for (const text of broken)
    assert.match(
      refusal(() => parse(text)),
      /cut off or damaged/,
      text,
    );
  assert.match(
    refusal(() => parse("[".repeat(4_000_000))),
    /nested too deeply/,
  );
  assert.match(
    refusal(() => parse('{"a":'.repeat(1_000_000))),
    /nested too deeply/,
  );
  assert.match(
    refusal(() => parse(`[${"[],".repeat(1_000_000)}1]`)),
    /more than 500000 values/,
  );
  assert.match(
    refusal(() => parse(`"${"x".repeat(8_000_000)}"`)),
    /damaged/,
  );
  assert.equal((parse('{"__proto__":{"polluted":1}}') as Map<string, unknown>).size, 1);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("JSON is read as JavaScript reads it", () => {
  const texts = [
    '{"a":[1,-2.5e3,"\\u00fc\\n\\"",null,true,{}],"b":{"c":[[]]}}',
    " [ 1 , 2 ] ",
    '"x"',
    "0",
    "[]",
    "{}",
  ];
  const plain = (value: unknown): unknown =>
    value instanceof Map
      ? Object.fromEntries([...value].map(([name, inner]) => [name, plain(inner)]))
      : Array.isArray(value)
        ? value.map(plain)
        : value;

  for (const text of texts) assert.deepEqual(plain(stepped(readJson(text))), JSON.parse(text), text);
});

deepTest("a long JSON takes time in proportion to its length", async () => {
  const shapes: Record<string, (size: number) => string> = {
    backslashes: (size) => `["${"\\\\".repeat(size / 2)}`,
    "escaped quotes": (size) => `["${'\\"'.repeat(size / 2)}`,
    blanks: (size) => `[${" ".repeat(size)}`,
    digits: (size) => `[${"1".repeat(size)}`,
    "short texts": (size) => `[${'"\\n",'.repeat(size / 5)}1]`,
  };
  for (const [what, make] of Object.entries(shapes)) {
    await growsEvenly(what, 50_000, (size) => refusal(() => stepped(readJson(make(size)))));
  }
});

deepTest("no token of eight megabytes holds others up, and neither do millions of blanks", async (t) => {
  const size = 8 * 1024 * 1024;
  const longTexts = JSON.stringify(Array<string>(40).fill("")).replaceAll(
    '""',
    `"${"\\u0041".repeat(32_767)}"`,
  );
  const shapes: Record<string, string> = {
    "escaped quotes": `{"Printers":"${'\\"'.repeat(size / 2)}`,
    backslashes: `{"Printers":"${"\\".repeat(size)}"}`,
    blanks: `{${" ".repeat(size)}`,
    "blanks between values": `[${`1,${" ".repeat(20_000)}`.repeat(400)}1]`,
    "long texts": longTexts,
  };

  const holds: Record<string, number> = {};
  for (const [what, text] of Object.entries(shapes)) {
    holds[what] = await leastHold(3, async () => {
      await inSteps(readJson(text)).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 5));
    });
  }
  let steps = 0;
  for (const work = readJson(longTexts); !work.next().done; ) steps++;

  t.diagnostic(JSON.stringify(holds));
  assert.ok(Math.max(...Object.values(holds)) < 200, JSON.stringify(holds));
  assert.ok(steps >= 30, `${steps} steps`);
});

test("values of other types than Windows writes stand for their texts, or for nothing", () => {
  const text = JSON.stringify({
    Printers: {
      value: [
        { Name: 7, DriverName: null, PortName: { value: "IP_1" }, Comment: ["a"], Location: { x: 1 } },
        "no printer",
        { Name: { value: { value: "Deep" } }, PortName: "IP_1" },
      ],
      Count: 3,
    },
    Ports: {
      Name: "IP_1",
      PrinterHostAddress: "10.0.0.1",
      Protocol: "LPR",
      LprQueueName: "lp",
      PortNumber: "515",
    },
    Drivers: "none",
  });

  const { rows } = stepped(readPrintServer(text));

  assert.deepEqual(
    rows.map(({ values }) => [values.name, values.address, values.protocol, values.comment, values.location]),
    [
      ["7", "10.0.0.1", "lpr", "", ""],
      ["Deep", "10.0.0.1", "lpr", "", ""],
    ],
  );
});

test("a list of printers is cut at five thousand, and other JSON is said to be other", () => {
  const printers = Array.from({ length: 5001 }, (_, i) => ({ Name: `P${i}` }));

  assert.match(
    refusal(() => stepped(readPrintServer(JSON.stringify({ Printers: printers })))),
    /More than 5000/,
  );
  for (const text of ['{"a":1}', "[]", '["Printers"]', '{"__proto__":{"Printers":[]}}']) {
    assert.match(
      refusal(() => stepped(readPrintServer(text))),
      /not what the command on this page prints/,
    );
  }
});

test("a list beyond eight megabytes is refused, and so is a small state that becomes a large list", async (t) => {
  const { upload, post } = await startApp(t);
  const bomb = deflateRawSync(Buffer.alloc(200 << 20)).toString("base64");

  const large = await upload("/import/preview", Buffer.alloc((8 << 20) + 1, "a"), "printers.csv");
  const huge = await upload("/import/preview", Buffer.alloc(20 << 20, "a"), "printers.csv");
  const inflated = await post("/import", { state: bomb });

  assert.equal(large.status, 413);
  assert.equal(huge.status, 413);
  assert.match(await huge.text(), /larger than 8 MB/);
  assert.equal(inflated.status, 422);
  assert.match(await inflated.text(), /did not arrive whole/);
});

deepTest("hostile lists are answered, and nobody else waits for them", async (t) => {
  const { upload, fetch, app } = await startApp(t);
  const size = 7_900_000;
  const lists: Record<string, Buffer> = {
    "a quote that is never closed": Buffer.from(`name,address\n"${"x\n".repeat(size / 2)}`),
    "columns without end": Buffer.from(`name\n${",".repeat(size)}`),
    "a heading without end": Buffer.from(`name${",x".repeat(size / 2)}`),
    zeros: Buffer.alloc(size),
    "no UTF-8": Buffer.alloc(size, 0xe9),
    "combining marks": Buffer.from(`name\n${`${"\u0316\u0301".repeat(8000)}\n`.repeat(200)}`),
    brackets: Buffer.from("[".repeat(size)),
    "one printer of many values": Buffer.from(`{"Printers":[{${'"a":1,'.repeat(size / 6)}"b":1}]}`),
    "cells without names": Buffer.from(`name,comment\n${`,${"y".repeat(1500)}\n`.repeat(4900)}`),
  };
  const rows = Array.from({ length: 5000 }, (_, i) => `P${i},Alpha,10.0.${i >> 8}.${i & 255}\n`).join("");

  for (const [what, bytes] of Object.entries(lists)) {
    const answer = await upload("/import/preview", bytes, "list.csv");
    assert.ok([200, 422].includes(answer.status), `${what}: ${answer.status}`);
    await answer.arrayBuffer();
  }
  const texts = [...Object.values(lists).map(String), `name,client,address\n${rows}`];
  const longest = await leastHold(3, async () => {
    for (const text of texts)
      await planOf({ app }, text).catch((error: unknown) => assert.ok(error instanceof UserError));
  });

  // Some 40 ms here; without steps the last list alone takes ten times that.
  assert.ok(longest < 250, `a turn took ${longest.toFixed(0)} ms`);
  assert.equal((await fetch("/health")).status, 200);
  assert.equal(app.store.printers.list().length, 0);
});

test("names from a list are text wherever they are shown", async (t) => {
  const service = await startApp(t);
  const name = '<script>alert(1)</script>"&';
  const text = `name,client,location\n"${name.replaceAll('"', '""')}",<b>x</b>,\n`;

  const page = await (await service.post("/import/preview", { text })).text();

  assert.doesNotMatch(page, /<script>alert|<b>x/);
  assert.match(page, /<bdi>&lt;script&gt;alert/);
  assert.equal((await planOf(service, text)).counts.new, 1);
});
