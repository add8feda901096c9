import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startApp } from "../support/app.ts";

/** The messages that docs/errors.md explains: the first cell of each row. `…` stands for the parts that vary. */
function explainedMessages(): string[] {
  const rows = readFileSync("docs/errors.md", "utf8").matchAll(/^\| `([^`]+)`/gm);
  return [...rows].map(([, message = ""]) => message);
}

/** Whether a source has the constant parts of a message, in their order and close together. */
function hasMessage(source: string, message: string): boolean {
  const parts = message.split("…").map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join("[^\\n]{1,200}?")).test(source);
}

test("the sources have every message that docs/errors.md explains", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|ps1)$/.test(name))
    .map((name) => readFileSync(join("src", name), "utf8"));
  const messages = explainedMessages();

  const unknown = messages.filter((message) => !sources.some((source) => hasMessage(source, message)));

  assert.ok(messages.length > 30);
  assert.deepEqual(unknown, []);
});

test("the search finds the explanation of a pasted message, whatever its names and numbers are", async (t) => {
  const app = await startApp(t);
  const wrong: string[] = [];

  for (const message of explainedMessages()) {
    const pasted = `Failed: Büro 12: ${message.replaceAll("…", "„Empfang 3“ 10.20.30.40")} (0x80070bcb)`;
    const page = await (await app.fetch(`/help?q=${encodeURIComponent(pasted)}`)).text();
    const [, first = ""] = page.split('<div class="results">')[1]?.split("<li>") ?? [];
    const text = first.replace(/<[^>]*>/g, "").replaceAll("&#39;", "'");
    const [start = ""] = message.split("…").filter((part) => part.length > 3);
    if (!first.startsWith('<p><a href="/help/errors#') || !text.includes(start.trim())) wrong.push(message);
  }

  assert.deepEqual(wrong, []);
});
