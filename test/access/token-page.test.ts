import assert from "node:assert/strict";
import { test } from "node:test";
import { dayMs } from "../../src/domain/text.ts";
import { startGuarded } from "../support/access/guarded.ts";

test("messages about a token name it, and the page marks a token in its last two weeks", async (t) => {
  const start = Date.UTC(2026, 0, 1);
  let now = start;
  const { admin } = await startGuarded(t, { clock: () => now });
  const pageAt = async (days: number) => {
    now = start + days * dayMs;
    return (await admin.fetch("/tokens")).text();
  };

  const made = await (await admin.post("/tokens", { name: "Datto", scope: "read", days: "30" })).text();
  const pages = [made, await pageAt(15), await pageAt(17)];
  const revoked = await admin.post("/tokens/1/delete", {});
  const revokedPage = await (await admin.fetch(revoked.headers.get("location") ?? "")).text();

  assert.match(made, /Token “<bdi>Datto<\/bdi>” was created\./);
  assert.deepEqual(
    pages.map((page) => page.includes(">Expires soon<")),
    [false, false, true],
  );
  assert.match(revokedPage, /Revoked: token “<bdi>Datto<\/bdi>” and its links/);
});
