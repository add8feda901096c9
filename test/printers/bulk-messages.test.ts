import assert from "node:assert/strict";
import { test } from "node:test";
import { bulkMessage } from "../../src/html/printers/bulk-messages.ts";

const fine = { blocked: 0, attention: 0 };

/** The message's tone, text without markup, and links. */
function told({ action = "driver", count = 3, to = 1, worse = fine, target = "X" } = {}, isNone = false) {
  const result = {
    action: action as "client" | "driver",
    count,
    to: isNone ? null : to,
    undo: undefined,
    worse,
  };
  const { tone, text, links = [] } = bulkMessage(result, target);
  return [tone, String(text).replaceAll(/<[^>]*>/g, ""), ...links.map(({ path }) => path)];
}

test("a bulk change that makes no printer worse has a green message that names the new client or driver", () => {
  const messages = [
    told(),
    told({ count: 1 }),
    told({ action: "client", count: 1 }),
    told({}, true),
    told({ action: "client", count: 1 }, true),
  ];

  assert.deepEqual(messages, [
    ["good", "3 printers now use X. Download and deploy them again."],
    ["good", "1 printer now uses X. Download and deploy it again."],
    ["good", "1 printer moved to X."],
    ["good", "3 printers now have no driver."],
    ["good", "1 printer now has no client."],
  ]);
});

test("a bulk change that makes printers worse warns with their number and links to them", () => {
  const blocked = told({ worse: { blocked: 2, attention: 1 } });
  const attention = told({ action: "client", worse: { blocked: 0, attention: 3 } });

  assert.deepEqual(blocked, [
    "warn",
    "3 printers now use X. Download and deploy them again. 2 printers are now blocked. 1 printer now needs attention.",
    "/printers?state=blocked",
    "/printers?state=attention",
  ]);
  assert.deepEqual(attention, [
    "warn",
    "3 printers moved to X. 3 printers now need attention.",
    "/printers?state=attention",
  ]);
});
