import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ByteSource } from "../../src/domain/byte-source.ts";
import { UserError } from "../../src/domain/errors.ts";
import { checkEntry, readArchive } from "../../src/pkg/zip/archive.ts";
import { openSource } from "../../src/store/files.ts";
import { temporaryFolder } from "../support/app.ts";
import { isDeep, rounds } from "../support/depth.ts";
import { makeZip, sourceOf, unicodeExtra, type ZipPart } from "../support/drivers/zip.ts";
import { seededRandom } from "../support/random.ts";

const random = seededRandom(3);
const noise = Buffer.from(Array.from({ length: 2_500_000 }, () => random(256)));
const manyFiles: ZipPart[] = Array.from({ length: 300 }, (_, i) => ({
  name: `many/${i}`,
  bytes: "x".repeat(200 * i),
}));

/** Covers every path of the reader: large and small files, gaps, long extra fields, ZIP64, a prefix. */
const zip = makeZip(
  [
    { name: "stored.bin", bytes: noise, method: 0 },
    { name: "deflated.bin", bytes: Buffer.concat([noise, Buffer.alloc(3_000_000)]) },
    { name: "padded.txt", bytes: "x", local: { extra: Buffer.alloc(5000) } },
    {
      name: "",
      rawName: Buffer.from("u"),
      extra: unicodeExtra(Buffer.from("u"), "ü"),
      gap: Buffer.alloc(50),
    },
    { name: "described.txt", bytes: "x", withDescriptor: true, withZip64: true },
    ...manyFiles,
  ],
  { withZip64End: true, prefix: Buffer.alloc(1000, "MZ") },
);

/** Calls `before` ahead of each read, with the number of the read from 1. */
function observed(source: ByteSource, before: (read: number, position: number, length: number) => void) {
  let reads = 0;
  const watch = (position: number, length: number) => before(++reads, position, length);
  const result: ByteSource = {
    size: source.size,
    read: async (position, length) => {
      watch(position, length);
      return source.read(position, length);
    },
    fill: async (position, targets) => {
      watch(position, targets.length);
      return source.fill(position, targets);
    },
  };
  return { source: result, reads: () => reads };
}

/** Reads an archive as an upload does. Returns the number of files. */
async function readAll(source: ByteSource): Promise<number> {
  const { entries } = await readArchive(source);
  for (const entry of entries) await checkEntry(source, entry, 100);
  return entries.length;
}

const failure = new Error("the disk is on fire");

test("any failed read ends the reading of an archive with its error and without further reads", {
  timeout: 120_000,
}, async (t) => {
  const whole = observed(sourceOf(zip), () => {});
  assert.equal(await readAll(whole.source), manyFiles.length + 5);

  for (let failing = 1; failing <= whole.reads(); failing += rounds(17, 1)) {
    const { source, reads } = observed(sourceOf(zip), (read) => {
      if (read === failing) throw failure;
    });

    await assert.rejects(readAll(source), failure);

    const before = reads();
    await new Promise(setImmediate);
    assert.equal(reads(), before, `read ${failing} failed, and others followed`);
  }

  t.diagnostic(`${whole.reads()} reads failed one by one`);
});

test("the reading of an archive is clearly rejected when the file shrinks", {
  timeout: 120_000,
}, async (t) => {
  const path = join(await temporaryFolder(t), "shrinking.zip");
  const total = observed(sourceOf(zip), () => {});
  await readAll(total.source);

  for (let shrinking = 1; shrinking <= total.reads(); shrinking += isDeep && shrinking < 40 ? 1 : 7) {
    writeFileSync(path, zip);
    const file = await openSource(path);
    const { source } = observed(file, (read, position, length) => {
      if (read === shrinking) truncateSync(path, position + (length >> 1));
    });

    await assert.rejects(
      readAll(source),
      (error) => error instanceof UserError || /ended too early/.test(`${error}`),
    );

    await file.close();
  }
});
