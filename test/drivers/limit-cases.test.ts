import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentMap } from "../../src/domain/collections.ts";
import { maxAtOnce, parseIds } from "../../src/domain/printers/bulk.ts";
import { slug } from "../../src/domain/text.ts";
import { infLimitBytes } from "../../src/inf/document.ts";
import { infsOf } from "../../src/inf/entries.ts";
import { readArchive } from "../../src/pkg/zip/archive.ts";
import { Admission } from "../../src/workers/admission.ts";
import { makeZip, sourceOf } from "../support/drivers/zip.ts";

const mebi = 1024 * 1024;

test("an INF over its limit is refused by its size alone, and so are many that are over it together", () => {
  const infs = (count: number, size: number) =>
    Array.from({ length: count }, (_, i) => ({ path: `${i}.inf`, size }));

  assert.equal(infsOf(infs(4, infLimitBytes)).length, 4);
  assert.throws(() => infsOf(infs(1, infLimitBytes + 1)), /“0\.inf” has over 16 MB/);
  assert.throws(
    () => infsOf([...infs(4, infLimitBytes), { path: "one.inf", size: 1 }]),
    /over 64 MB together/,
  );
});

test("the directory of a ZIP that is larger than any is not read", async () => {
  const zip = makeZip([{ name: "a.inf", bytes: "x" }], { directoryTail: Buffer.alloc(65 * mebi) });
  const source = sourceOf(zip);
  let read = 0;
  const counted = {
    ...source,
    size: source.size,
    read: (start: number, length: number) => {
      read += length;
      return source.read(start, length);
    },
  };

  await assert.rejects(readArchive(counted), /its table of contents does not fit/);

  assert.ok(read < mebi, `${read} bytes were read`);
});

test("as many printers as are possible at once are taken, and one more is not", () => {
  const ids = Array.from({ length: maxAtOnce }, (_, i) => i + 1);

  assert.deepEqual(parseIds([ids.join()]), ids);
  assert.throws(() => parseIds([ids.join(), String(maxAtOnce + 1)]), /5001 printers are too many at once/);
});

test("a name of any length makes a file name of 80 letters at most", () => {
  assert.equal(slug("Ä".repeat(80)), "a".repeat(80));
  assert.equal(slug("Ä".repeat(5000)), "a".repeat(80));
});

test("one client takes half of what may run and wait, and leaves the other half to others", async () => {
  const admission = new Admission(2, 4);
  const control = new AbortController();
  const ended = new Promise<void>((end) => control.signal.addEventListener("abort", () => end()));

  const tasks = [1, 2].map(() => admission.run(() => ended, "greedy"));
  await assert.rejects(
    admission.run(() => ended, "greedy"),
    { code: "busy" },
  );
  tasks.push(admission.run(() => ended, "another"));
  control.abort();
  await Promise.all(tasks);
  await admission.run(async () => {}, "greedy");
});

test("the latest values are kept, the oldest forgotten, and one that is set again is no older than others", () => {
  const latest = new RecentMap<number, string>(3);

  for (const key of [1, 2, 3, 1, 4]) latest.set(key, `value ${key}`);

  assert.deepEqual(
    [1, 2, 3, 4].map((key) => latest.get(key)),
    ["value 1", undefined, "value 3", "value 4"],
  );
});
