import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelsGiven } from "../../src/domain/printers/bulk.ts";
import { driverMessage } from "../../src/html/printers/bulk-messages.ts";
import { makeDriver } from "../support/records.ts";

/** What is said of so many printers after the driver's name, as plain text. */
function said(count: number, models: Partial<ModelsGiven>, driver_desc = "New"): string {
  const given = { action: "driver", count, to: 1, kept: 0, changed: 0, own: 0, ...models } as const;
  const { text } = driverMessage(given, { ...makeDriver(), driver_desc });
  return String(text)
    .replace(/<a .*<\/a>/, "X")
    .replaceAll(/<\/?bdi>/g, "");
}

test("of one printer that was given a driver one sentence says what became of its model", () => {
  const sentences = [
    said(1, { kept: 1 }),
    said(1, { kept: 1, own: 1 }),
    said(1, { changed: 1 }),
    said(1, { changed: 1, own: 1 }),
    said(1, { own: 1 }),
    said(1, { own: 1 }, ""),
    said(1, {}),
  ];

  assert.deepEqual(sentences, [
    "1 printer now uses X and keeps its model. Deploy again.",
    "1 printer now uses X and keeps its model: the driver’s own, New. Deploy again.",
    "1 printer now uses X with another model. Deploy again.",
    "1 printer now uses X with another model: the driver’s own, New. Deploy again.",
    "1 printer now uses X and has the driver’s own, New. Deploy again.",
    "1 printer now uses X and has the driver’s own. Deploy again.",
    "1 printer now uses X. Deploy again.",
  ]);
});

test("of several printers it is plain that those with the driver's own model are among the others", () => {
  const sentences = [
    said(3, { kept: 2, changed: 1, own: 1 }),
    said(3, { kept: 1, changed: 2, own: 3 }),
    said(3, { changed: 3, own: 3 }),
    said(3, { kept: 3, own: 2 }),
    said(3, { changed: 2 }),
    said(3, { own: 3 }),
  ];

  assert.deepEqual(sentences, [
    "3 printers now use X. 2 keep their model, 1 gets another model. 1 of all 3 has the driver’s own, New. Deploy again.",
    "3 printers now use X. 1 keeps its model, 2 get another model. All have the driver’s own, New. Deploy again.",
    "3 printers now use X. All get another model: the driver’s own, New. Deploy again.",
    "3 printers now use X. All keep their model. 2 of all 3 have the driver’s own, New. Deploy again.",
    "3 printers now use X. 2 get another model. Deploy again.",
    "3 printers now use X. All have the driver’s own, New. Deploy again.",
  ]);
});
