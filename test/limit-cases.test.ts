import assert from "node:assert/strict";
import { test } from "node:test";
import { maxBulkPrinters, parseIds } from "../src/domain/printers/bulk.ts";
import { slug } from "../src/domain/text.ts";
import { infLimitBytes } from "../src/inf/document.ts";
import { infsOf } from "../src/inf/entries.ts";
import { readArchive } from "../src/pkg/zip/archive.ts";
import { Quota, WorkQueue } from "../src/workers/admission.ts";
import { makeZip, sourceOf } from "./support/drivers/zip.ts";

const mebi = 1024 * 1024;

test("INFs over the limits for one INF and for all INFs are refused by their sizes", () => {
  const infs = (count: number, size: number) =>
    Array.from({ length: count }, (_, i) => ({ path: `${i}.inf`, size }));

  assert.equal(infsOf(infs(4, infLimitBytes)).length, 4);
  assert.throws(() => infsOf(infs(1, infLimitBytes + 1)), /“0\.inf” is larger than 16 MB/);
  assert.throws(
    () => infsOf([...infs(4, infLimitBytes), { path: "one.inf", size: 1 }]),
    /larger than 64 MB together/,
  );
});

test("an oversized directory of a ZIP is not read", async () => {
  const zip = makeZip([{ name: "a.inf", bytes: "x" }], { directoryTrailer: Buffer.alloc(65 * mebi) });
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

test("a bulk change accepts the maximum number of printers and refuses one more", () => {
  const ids = Array.from({ length: maxBulkPrinters }, (_, i) => i + 1);

  assert.deepEqual(parseIds([ids.join()]), ids);
  assert.throws(
    () => parseIds([ids.join(), String(maxBulkPrinters + 1)]),
    /5001 printers are too many at once/,
  );
});

test("a name of any length makes a file name of at most 80 letters", () => {
  assert.equal(slug("Ä".repeat(80)), "a".repeat(80));
  assert.equal(slug("Ä".repeat(5000)), "a".repeat(80));
});

test("one client can use half of the slots and queue places", async () => {
  const admission = new WorkQueue(2, new Quota(4, "tasks run"));
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
