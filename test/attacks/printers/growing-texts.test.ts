import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { cleanText } from "../../../src/domain/fields.ts";
import { parseClient } from "../../../src/domain/printers/client.ts";
import { parsePrinter } from "../../../src/domain/printers/printer-fields.ts";
import { isNotModified, requestedRange } from "../../../src/http/answers/send.ts";
import { startApp } from "../../support/app.ts";
import { deepTest } from "../../support/depth.ts";
import { assertLinearTime, assertWithin, leastTime } from "../../support/times.ts";

/** Texts for which careless readers need more than linear time. */
const shapes: Record<string, (size: number) => string> = {
  "combining marks": (size) => `a${"\u0316\u0301".repeat(size / 2)}`,
  "combining marks beyond the first plane": (size) => `a${"\u{1d165}\u{1d16d}".repeat(size / 4)}`,
  "blanks and a letter": (size) => `${" ".repeat(size)}a${" ".repeat(size)}b`,
  "control characters": (size) => "\u0001\t\u0085".repeat(size / 3),
  "line breaks": (size) => "\r\n".repeat(size / 2),
  "lone surrogates": (size) => "\ud800".repeat(size),
  "dots and hyphens": (size) => "a-.".repeat(size / 3),
  colons: (size) => ":".repeat(size),
  "a hyphen each": (size) => `${"-a".repeat(size / 2)}!`,
  brackets: (size) => "[".repeat(size),
};

deepTest("reading a form takes linear time for every text in every field", async () => {
  const fields = ["name", "address", "port_name", "location", "replaces", "snmp_index", "color", "client_id"];
  for (const [shape, make] of Object.entries(shapes)) {
    await assertLinearTime(`cleaning ${shape}`, 25_000, (size) => cleanText(make(size)));
    for (const name of fields) {
      await assertLinearTime(`a printer’s ${name} of ${shape}`, 12_500, (size) => {
        assert.throws(() => parsePrinter({ address: "10.0.0.300", [name]: make(size) }), UserError);
      });
    }
    await assertLinearTime(`a client’s name of ${shape}`, 12_500, (size) => {
      assert.throws(() => parseClient({ name: `${make(size)}${"x".repeat(200)}` }), UserError);
    });
  }
});

test("reading headers takes linear time", async () => {
  const headers: Record<string, (size: number) => Record<string, string>> = {
    "Range of blanks": (size) => ({ range: `bytes=${" ".repeat(size)}-${" ".repeat(size)}x` }),
    "Range of hyphens": (size) => ({ range: `bytes=${"-".repeat(size)}` }),
    "Range of digits": (size) => ({ range: `bytes=${"1".repeat(size)}-${"2".repeat(size)}` }),
    "Range of ranges": (size) => ({ range: `bytes=${"0-1,".repeat(size / 4)}` }),
    "If-None-Match of tags": (size) => ({ "if-none-match": '"x",'.repeat(size / 4) }),
    "If-None-Match of blanks": (size) => ({ "if-none-match": `${" ".repeat(size)}x${" ".repeat(size)}` }),
  };
  for (const [what, make] of Object.entries(headers)) {
    await assertLinearTime(what, 100_000, (size) => {
      requestedRange(make(size), 1000, '"tag"');
      isNotModified(make(size), '"tag"');
    });
  }
});

deepTest("a form with a very long text of combining marks is answered within a second", async (t) => {
  const service = await startApp(t);
  const marks = "\u0316\u0301".repeat(13_000);

  const statuses: number[] = [];
  const took = await leastTime(async () => {
    const answer = await service.post("/printers", { name: "A", address: "10.0.0.1", replaces: marks });
    statuses.push(answer.status);
  });

  assert.ok(statuses.every((status) => status === 200 || status === 422));
  await assertWithin(1000, { took });
});

test("long runs of combining marks are cut, and ordinary text is unchanged", () => {
  const marks = "\u0301\u0316".repeat(500);
  const words = "Zoë, ก็, हिन्दी, שָׁלוֹם, Tiếng Việt".normalize("NFD");

  assert.ok(cleanText(`a${marks}b`).length <= 32);
  assert.equal(cleanText(words), words.normalize("NFC"));
});
