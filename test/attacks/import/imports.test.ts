import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { readPrintServer } from "../../../src/domain/import/print-server.ts";
import { startApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { planOf } from "../../support/printers/lists.ts";
import { leastTime } from "../../support/times.ts";

/** The message with which a text is refused; empty if it is not. */
function refusal(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid") return error.message;
    throw error;
  }
}

test("JSON that is cut off, deeply nested or endless is refused, and cannot change prototypes", () => {
  const broken = [
    "{",
    "[1,]",
    '{"a":1,}',
    '{"a" 1}',
    "[1 2]",
    '["a',
    '["a\\"',
    "[nul",
    "[01",
    "[1]]",
    "{1:2}",
    '{"a":}',
    "[+1",
    '["\u0001"]',
    "[".repeat(400_000),
  ];
  const endless = ["[".repeat(4_000_000), '{"a":'.repeat(1_000_000), `[${"{},".repeat(1_000_000)}1]`];
  const deep = `{"Printers":[{"Name":${'{"value":'.repeat(400_000)}"Deep"${"}".repeat(400_000)}}]}`;

  for (const text of broken)
    assert.match(
      refusal(() => readPrintServer(text)),
      /incomplete or damaged/,
      text.slice(0, 20),
    );
  for (const text of endless)
    assert.match(
      refusal(() => readPrintServer(text)),
      /more than 500000 values/,
    );
  assert.equal(readPrintServer(deep).rows[0]?.values.name, "Deep");
  assert.match(
    refusal(() => readPrintServer('{"__proto__":{"Printers":[]}}')),
    /contains no “Printers”/,
  );
  assert.equal(({} as Record<string, unknown>).Printers, undefined);
});

test("values of unexpected types are read as text or ignored", () => {
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

  const { rows } = readPrintServer(text);

  assert.deepEqual(
    rows.map(({ values }) => [values.name, values.address, values.protocol, values.comment, values.location]),
    [
      ["7", "10.0.0.1", "lpr", "", ""],
      ["Deep", "10.0.0.1", "lpr", "", ""],
    ],
  );
});

test("more than 5000 printers are refused, and so is any other JSON", () => {
  const printers = Array.from({ length: 5001 }, (_, i) => ({ Name: `P${i}` }));

  assert.match(
    refusal(() => readPrintServer(JSON.stringify({ Printers: printers }))),
    /more than 5000 printers/,
  );
  for (const text of ['{"a":1}', "[]", '["Printers"]', '{"__proto__":{"Printers":[]}}']) {
    assert.match(
      refusal(() => readPrintServer(text)),
      /contains no “Printers”/,
    );
  }
});

test("a list over 8 MB is refused, as a file and in a preview’s hidden field", async (t) => {
  const { upload, post } = await startApp(t);
  const state = Buffer.alloc((8 << 20) + 1, "a").toString("base64");

  const large = await upload("/import/preview", Buffer.alloc((8 << 20) + 1, "a"), "printers.csv");
  const huge = await upload("/import/preview", Buffer.alloc(20 << 20, "a"), "printers.csv");
  const carried = await post("/import", { state });

  assert.equal(large.status, 413);
  assert.equal(huge.status, 413);
  assert.match(await huge.text(), /larger than 8 MB/);
  assert.equal(carried.status, 413);
});

deepTest(
  "each hostile list takes at most four seconds of processor time",
  { timeout: 300_000 },
  async (t) => {
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
      "objects without end": Buffer.from(`[${"{},".repeat(size / 3)}{}]`),
      "one printer of many values": Buffer.from(`{"Printers":[{${'"a":1,'.repeat(490_000)}"b":1}]}`),
      "cells without names": Buffer.from(`name,comment\n${`,${"y".repeat(1500)}\n`.repeat(4900)}`),
      "long texts": Buffer.from(
        JSON.stringify({
          Printers: Array.from({ length: 240 }, () => ({ Name: "\u0316\u0301".repeat(8000) })),
        }),
      ),
    };
    const rows = Array.from({ length: 5000 }, (_, i) => `P${i},Alpha,10.0.${i >> 8}.${i & 255}\n`).join("");
    lists["five thousand printers"] = Buffer.from(`name,client,address\n${rows}`);

    const times: Record<string, number> = {};
    for (const [what, bytes] of Object.entries(lists)) {
      const statuses: number[] = [];
      times[what] = await leastTime(async () => {
        const answer = await upload("/import/preview", bytes, "list.csv");
        statuses.push(answer.status);
        await answer.arrayBuffer();
      }, 2);
      assert.ok(
        statuses.every((status) => [200, 422].includes(status)),
        `${what}: ${statuses}`,
      );
    }

    t.diagnostic(JSON.stringify(times, (_, ms) => (typeof ms === "number" ? Math.round(ms) : ms)));
    assert.ok(Math.max(...Object.values(times)) < 4000, JSON.stringify(times));
    assert.equal((await fetch("/health")).status, 200);
    assert.equal(app.store.printers.list().length, 0);
  },
);

test("pages escape names from a list", async (t) => {
  const service = await startApp(t);
  const name = '<script>alert(1)</script>"&';
  const text = `name,client,location\n"${name.replaceAll('"', '""')}",<b>x</b>,\n`;

  const page = await (await service.post("/import/preview", { text })).text();

  assert.doesNotMatch(page, /<script>alert|<b>x/);
  assert.match(page, /<bdi>&lt;script&gt;alert/);
  assert.equal((await planOf(service, text)).counts.new, 1);
});
