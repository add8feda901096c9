import assert from "node:assert/strict";
import { test } from "node:test";
import { LruCache, RecentMap } from "../src/domain/collections.ts";

/** A cache of texts weighed by their length, and the keys in the order in which values were made. */
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

test("a full cache removes the least recently used value", async () => {
  const { made, get } = cacheOfTexts(2, 1000);

  for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key);

  assert.deepEqual(made, ["a", "b", "c", "b"]);
});

test("a cache keeps values up to its maximum weight, and always the newest one", async () => {
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

test("concurrent requests for a value share one computation, and a failure is not cached", async () => {
  const { made, get, cache } = cacheOfTexts(2, 1000);

  await Promise.all([get("a"), get("a")]);
  await assert.rejects(cache.get("b", () => Promise.reject(new Error("no"))));
  await get("b");

  assert.deepEqual(made, ["a", "b"]);
});

test("a recent map drops the oldest value, and setting a key again makes it the newest", () => {
  const recent = new RecentMap<number, string>(3);

  for (const key of [1, 2, 3, 1, 4]) recent.set(key, `value ${key}`);

  assert.deepEqual(
    [1, 2, 3, 4].map((key) => recent.get(key)),
    ["value 1", undefined, "value 3", "value 4"],
  );
});
