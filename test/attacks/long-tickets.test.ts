import assert from "node:assert/strict";
import { test } from "node:test";
import { planImport } from "../../src/domain/import-planner.ts";
import { KnownDrivers } from "../../src/domain/known-drivers.ts";
import { readTicket } from "../../src/domain/print-ticket.ts";
import { readPrinterCsv } from "../../src/domain/printer-csv-reader.ts";
import { deepTest } from "../support/depth.ts";
import { stepped } from "../support/lists.ts";
import { ticketAround } from "../support/tickets.ts";

test("what is wrong with a name as long as a ticket is said in a sentence", () => {
  const name = "n".repeat(100_000);
  const wrong = [
    `<${name}>`,
    `<${name}></b>`,
    `<b></${name}>`,
    `<${name}:b/>`,
    `<b ${name}/>`,
    `<b ${name}='`,
  ];

  for (const text of [
    ...wrong,
    `<b xmlns:${name}=''/>`,
    `<b>&${name};</b>`,
    `<b ${name}='' ${name}=''/>`,
    `<b/><${name}/>`,
  ]) {
    const found = readTicket(text);
    assert.ok("problem" in found && found.problem.length < 300, text.slice(0, 20));
  }
});

deepTest("others have their turn between the rows of a list in which every row brings a large ticket", () => {
  const ticket = ticketAround("<a/>".repeat(8000)).replaceAll('"', "'").replaceAll("\r\n", "");
  const list = stepped(readPrinterCsv(`name,print_ticket\n${`P,"${ticket}"\n`.repeat(100)}`));
  const drivers = new KnownDrivers(new Set());
  const known = { printers: [], clients: [], drivers, driversById: new Map(), tickets: new Map() };

  const work = planImport(list, known, { client: "", takesAll: true });
  let steps = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;

  assert.ok(step.value.rows.every(({ write }) => write?.ticket.text !== ""));
  assert.ok(steps >= 100, `${steps} steps`);
});
