import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { writeUpload } from "../../src/store/blobs.ts";
import { temporaryFolder } from "../support/app.ts";
import { seededRandom } from "../support/random.ts";
import { until } from "../support/until.ts";

const random = seededRandom(4);
const bytes = Buffer.from(Array.from({ length: 3_000_000 }, () => random(256)));

/** Chunks of these lengths, repeated until all bytes are sent. */
function* chunksOf(lengths: readonly number[]): Generator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + (lengths[i % lengths.length] ?? 1);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** A stream that sends this chunk and stays open. */
function stalledStream(first: Buffer): Readable {
  const stream = new Readable({ read: () => {} });
  stream.push(first);
  return stream;
}

test("the file of an upload has the right bytes and digest for chunks of any size", async (t) => {
  const folder = await temporaryFolder(t);

  for (const lengths of [[65_536], [1, 2000], [1_000_000, 10], [bytes.length]]) {
    const path = join(folder, lengths.join());
    const file = await open(path, "wx");
    const written = await writeUpload(Readable.from(chunksOf(lengths)), file);
    await file.close();

    assert.deepEqual(written, {
      sha256: createHash("sha256").update(bytes).digest("hex"),
      size: bytes.length,
    });
    assert.ok(bytes.equals(readFileSync(path)));
  }
});

test("an empty upload makes an empty file", async (t) => {
  const file = await open(join(await temporaryFolder(t), "empty"), "wx");

  const { size } = await writeUpload(Readable.from([]), file);
  await file.close();

  assert.equal(size, 0);
});

test("an upload ends at once when the disk fails, even if its client stalls", {
  skip: existsSync("/dev/full") ? false : "there is no disk here that is always full",
  timeout: 10_000,
}, async (t) => {
  const file = await open("/dev/full", "w");
  t.after(() => file.close());
  const stream = stalledStream(bytes);

  const work = writeUpload(stream, file);

  await assert.rejects(work, { code: "ENOSPC" });
  assert.ok(stream.destroyed);
});

test("a failed upload writes no more to the disk", async (t) => {
  const path = join(await temporaryFolder(t), "broken");
  const file = await open(path, "wx");
  const stream = stalledStream(bytes);
  const work = writeUpload(stream, file);

  await until(() => statSync(path).size === bytes.length);
  stream.destroy(new Error("broken off"));

  await assert.rejects(work, /broken off/);
  assert.equal(statSync(path).size, bytes.length);
  await file.close();
});
