import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ByteSource } from "../../src/domain/byte-source.ts";
import { UserError } from "../../src/domain/errors.ts";
import { checkEntry, readArchive } from "../../src/pkg/zip/archive.ts";
import { openSource } from "../../src/store/files.ts";
import { temporaryFolder } from "../support/app.ts";
import { deepTest, rounds } from "../support/depth.ts";
import { makeZip, sourceOf, unicodeExtra, type ZipPart } from "../support/drivers/zip.ts";
import { seededRandom } from "../support/random.ts";
import { assertLinearTime } from "../support/times.ts";

const random = seededRandom(3);
/** The reader reads more than 2 MB in several pieces. */
const noise = Buffer.from(Array.from({ length: 2_500_000 }, () => random(256)));
const numbered = (count: number) => Array.from({ length: count }, (_, i) => i);
const manyFiles = numbered(rounds(60, 300)).map((i) => ({ name: `many/${i}`, bytes: "x".repeat(200 * i) }));

/** Covers every path of the reader: large and small files, gaps, long extra fields, ZIP64, a prefix. */
const zip = makeZip(
  [
    { name: "stored.bin", bytes: noise, method: 0 },
    { name: "deflated.bin", bytes: Buffer.concat([noise, Buffer.alloc(3_000_000)]) },
    { name: "padded.txt", bytes: "x", local: { extra: Buffer.alloc(5000) } },
    { name: "u", extra: unicodeExtra(Buffer.from("u"), "ü"), gap: Buffer.alloc(50) },
    { name: "described.txt", bytes: "x", withDescriptor: true, withZip64: true },
    ...manyFiles,
  ],
  { withZip64End: true, prefix: Buffer.alloc(1000, "MZ") },
);

/** Calls `before` ahead of each read, with the number of the read from 1. */
function observed(source: ByteSource, before: (read: number, position: number, length: number) => void) {
  let reads = 0;
  const result: ByteSource = {
    size: source.size,
    read: async (position, length) => {
      before(++reads, position, length);
      return source.read(position, length);
    },
    fill: async (position, targets) => {
      before(++reads, position, targets.length);
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

test("any failed read ends the reading of an archive with its error and without further reads", async (t) => {
  const failure = new Error("the disk is on fire");
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

deepTest("the reading of an archive is clearly rejected when the file shrinks", async (t) => {
  const path = join(await temporaryFolder(t), "shrinking.zip");
  const total = observed(sourceOf(zip), () => {});
  await readAll(total.source);

  for (let shrinking = 1; shrinking <= total.reads(); shrinking += shrinking < 40 ? 1 : 7) {
    writeFileSync(path, zip);
    const file = await openSource(path);
    const { source } = observed(file, (read, position, length) => {
      if (read === shrinking) truncateSync(path, position + (length >> 1));
    });

    const isClear = (error: unknown) => error instanceof UserError || /ended too early/.test(`${error}`);
    await assert.rejects(readAll(source), isClear);

    await file.close();
  }
});

function filesNamed(count: number, name: (i: number) => string): Buffer {
  return makeZip(numbered(count).map((i) => ({ name: name(i), method: 0 })));
}

const inOneFile = (part: Partial<ZipPart>) => makeZip([{ name: "a", ...part }]);
const manyNames = unicodeExtra(Buffer.from("another name"), "b");
const inCases = (i: number) => i.toString(2).padStart(16, "0").replaceAll("0", "a").replaceAll("1", "A");

const growing: [what: string, make: (count: number) => Buffer][] = [
  ["folders in folders", (count) => filesNamed(count, (i) => `${"a/".repeat(115)}${i}`)],
  ["folders of their own", (count) => filesNamed(count, (i) => `${i}${"/a".repeat(115)}`)],
  ["long names", (count) => filesNamed(count, (i) => `${i}${"ä".repeat(230)}`)],
  ["duplicates by case", (count) => filesNamed(count, inCases)],
  ["hidden bytes", (count) => makeZip(numbered(count).map((i) => ({ name: `${i}`, gap: Buffer.alloc(40) })))],
  ["end records", (count) => Buffer.concat([Buffer.alloc(count * 4, "PK\x05\x06", "latin1"), inOneFile({})])],
  ["Unicode names", (count) => inOneFile({ extra: Buffer.alloc(count * 5, manyNames) })],
  ["bytes of one name", (count) => inOneFile({ rawName: Buffer.alloc(count * 3, "a") })],
];

for (const [what, make] of growing) {
  deepTest(`ten times as many ${what} take about ten times as long`, async () => {
    const zips = new Map([1000, 10_000].map((count) => [count, make(count)]));

    await assertLinearTime(what, 1000, async (count) => {
      const source = sourceOf(zips.get(count) ?? Buffer.alloc(0));
      await readArchive(source).catch((error) => assert.ok(error instanceof UserError));
    });
  });
}

test("overlapping headers are not read again for each file", async () => {
  const count = rounds(500, 5000);
  const overlapping = makeZip([
    ...numbered(count).map((i): ZipPart => ({ name: `${i}`, method: 0 })),
    { name: "last", bytes: Buffer.alloc(100_000), method: 0 },
  ]);
  for (let at = 0; at < count * 30; at = overlapping.indexOf("PK\x03\x04", at + 1, "latin1"))
    overlapping.writeUInt16LE(60_000, at + 28);
  const folder = { name: "a/", method: 0, local: { extra: Buffer.alloc(60_000) } };
  const sameFolder = makeZip([folder, ...numbered(count).map(() => ({ name: "a/", method: 0 }))], {
    pointTo: numbered(count + 1).map(() => 0),
  });

  for (const bytes of [overlapping, sameFolder]) {
    let total = 0;
    const source = sourceOf(bytes);
    const read = (position: number, length: number) => {
      total += length;
      return source.read(position, length);
    };

    await assert.rejects(readArchive({ ...source, read }), UserError);
    assert.ok(total < 2 * bytes.length + 100_000, `${total} bytes read of ${bytes.length}`);
  }
});
