import assert from "node:assert/strict";
import { test } from "node:test";
import { findModels, preferredDescription } from "../../../src/domain/drivers/models.ts";
import { parseNarrowing } from "../../../src/domain/printers/search.ts";
import { printerList } from "../../../src/html/printers/printers.ts";
import { makeInf, makePrinter } from "../../support/records.ts";
import { leastTime } from "../../support/times.ts";

/** Each case below took over a second before its work was bounded. */
const limitMs = 400;

test("a search for very many words in very many models takes bounded time", async () => {
  const inf = makeInf({ descriptions: Array.from({ length: 10_000 }, (_, i) => `Papyrus ${i} PCL6`) });
  const query = "p ".repeat(7000);

  const found = findModels([inf], query, 40);
  const ms = await leastTime(() => findModels([inf], query, 40));

  assert.equal(found.count, 10_000);
  assert.ok(ms < limitMs, `${ms} ms`);
});

test("choosing among very many models of very many manufacturers takes bounded time", async () => {
  const descriptions = Array.from({ length: 10_000 }, (_, i) => `Model ${i} v1.2.3`);
  const manufacturers = Array.from({ length: 5000 }, (_, i) => `maker${i}`);

  const ms = await leastTime(() => preferredDescription(descriptions, manufacturers));

  assert.ok(ms < limitMs, `${ms} ms`);
  assert.equal(preferredDescription(["B 1", "Acme 2 v3.4", "Acme 2"], ["ACME Inc."]), "Acme 2");
  assert.equal(preferredDescription(["", "B v1.0", "C"], []), "C");
  assert.equal(preferredDescription([]), "");
});

test("a list of very many printers of one client takes linear time", async () => {
  const printer = makePrinter();
  const stated = { state: "ready", findings: [], changed: false } as const;
  const row = {
    printer,
    client: { id: 1, name: "Client" },
    driver: undefined,
    arm64Driver: undefined,
    ...stated,
  };
  const choices = { clients: [], drivers: [] };
  const narrowing = parseNarrowing({});
  const listOf = (length: number) => {
    const rows = Array.from({ length }, () => ({ ...row }));
    return { rows, narrowing, total: length, choices, formats: [] };
  };
  const [first, few, many] = [listOf(2000), listOf(2000), listOf(20_000)];
  printerList(first).toString();

  const fewMs = await leastTime(() => printerList(few).toString());
  const manyMs = await leastTime(() => printerList(many).toString());

  assert.ok(manyMs < Math.max(limitMs, 30 * fewMs), `${fewMs} and ${manyMs} ms`);
});
