import assert from "node:assert/strict";
import { test } from "node:test";
import { readTicket } from "../../../src/domain/printers/print-ticket.ts";

test("problems with very long names in a ticket have short messages", () => {
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
