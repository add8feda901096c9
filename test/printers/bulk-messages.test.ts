import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelChangeCounts } from "../../src/domain/printers/bulk.ts";
import { driverChangedMessage } from "../../src/html/printers/bulk-messages.ts";
import { makeDriver } from "../support/records.ts";

/** The message as plain text, with X for the driver's name. */
function messageFor(count: number, models: Partial<ModelChangeCounts>, driver_desc = "New"): string {
  const result = { action: "driver", count, to: 1, kept: 0, changed: 0, own: 0, ...models } as const;
  const { text } = driverChangedMessage(result, { ...makeDriver(), driver_desc });
  return String(text)
    .replace(/<a .*<\/a>/, "X")
    .replaceAll(/<\/?bdi>/g, "");
}

test("after a driver change of one printer, one sentence names its model", () => {
  const sentences = [
    messageFor(1, { kept: 1 }),
    messageFor(1, { kept: 1, own: 1 }),
    messageFor(1, { changed: 1 }),
    messageFor(1, { changed: 1, own: 1 }),
    messageFor(1, { own: 1 }),
    messageFor(1, { own: 1 }, ""),
    messageFor(1, {}),
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

test("after a driver change of several printers, those with the driver's own model are counted among all", () => {
  const sentences = [
    messageFor(3, { kept: 2, changed: 1, own: 1 }),
    messageFor(3, { kept: 1, changed: 2, own: 3 }),
    messageFor(3, { changed: 3, own: 3 }),
    messageFor(3, { kept: 3, own: 2 }),
    messageFor(3, { changed: 2 }),
    messageFor(3, { own: 3 }),
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
