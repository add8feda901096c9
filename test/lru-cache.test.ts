import assert from "node:assert/strict";
import { test } from "node:test";
import { LruCache } from "../src/domain/collections.ts";

/** Texts that weigh what they are long, and how often each was made. */
function cacheOfTexts(count: number, weight: number) {
  const made: string[] = [];
  const cache = new LruCache<string>({ count, weight, weigh: (text) => text.length });
  const get = (key: string, length = 1) =>
    cache.get(key, async () => {
      made.push(key);
      return "x".repeat(length);
    });
  return { made, get, cache };
}

test("the least recently used is forgotten when there are too many", async () => {
  const { made, get } = cacheOfTexts(2, 1000);

  for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key);

  assert.deepEqual(made, ["a", "b", "c", "b"]);
});

test("so many are kept as weigh no more than is allowed, and the latest whatever it weighs", async () => {
  const { made, get } = cacheOfTexts(100, 10);

  await get("a", 4);
  await get("b", 4);
  await get("c", 4);
  await get("b", 4);
  await get("heavy", 500);
  await get("heavy", 500);
  await get("b", 4);

  assert.deepEqual(made, ["a", "b", "c", "heavy", "b"]);
});

test("what is being made is not made twice, and what failed is made again", async () => {
  const { made, get, cache } = cacheOfTexts(2, 1000);

  await Promise.all([get("a"), get("a")]);
  await assert.rejects(cache.get("b", () => Promise.reject(new Error("no"))));
  await get("b");

  assert.deepEqual(made, ["a", "b"]);
});
