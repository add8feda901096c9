import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { readArchive } from "../../../src/pkg/zip/archive.ts";
import { makeZip, sourceOf, unicodeExtra } from "../../support/drivers/zip.ts";
import { assertLinearTime } from "../../support/times.ts";

const growing: [string, (count: number) => Buffer][] = [
  ["folders in folders", (count) => filesNamed(count, (i) => `${"a/".repeat(115)}${i}`)],
  ["folders of their own", (count) => filesNamed(count, (i) => `${i}${"/a".repeat(115)}`)],
  ["long names", (count) => filesNamed(count, (i) => `${i}${"ä".repeat(230)}`)],
  [
    "duplicates by case",
    (count) =>
      filesNamed(count, (i) => i.toString(2).padStart(16, "0").replaceAll("0", "a").replaceAll("1", "A")),
  ],
  ["hidden bytes", (count) => makeZip(numbered(count).map((i) => ({ name: `${i}`, gap: Buffer.alloc(40) })))],
  [
    "end records",
    (count) => Buffer.concat([Buffer.alloc(count * 4, "PK\x05\x06", "latin1"), makeZip([{ name: "a" }])]),
  ],
  ["Unicode names", (count) => makeZip([{ name: "a", extra: unicodeExtras(count / 2) }])],
  ["bytes of one name", (count) => makeZip([{ name: "", rawName: Buffer.alloc(count * 3, "a") }])],
];

function numbered(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

function filesNamed(count: number, name: (i: number) => string): Buffer {
  return makeZip(numbered(count).map((i) => ({ name: name(i), method: 0 })));
}

function unicodeExtras(count: number): Buffer {
  return Buffer.alloc(count * 10, unicodeExtra(Buffer.from("another name"), "b"));
}

for (const [what, make] of growing) {
  test(`ten times as many ${what} take about ten times as long`, async () => {
    const zips = new Map([1000, 10_000].map((count) => [count, make(count)]));

    await assertLinearTime(what, 1000, async (count) => {
      const zip = zips.get(count) ?? Buffer.alloc(0);
      await readArchive(sourceOf(zip)).catch((error) => assert.ok(error instanceof UserError));
    });
  });
}

/** The number of bytes that are read of an archive. */
async function bytesRead(zip: Buffer): Promise<number> {
  const source = sourceOf(zip);
  let total = 0;
  const read = (position: number, length: number) => {
    total += length;
    return source.read(position, length);
  };
  await assert.rejects(readArchive({ ...source, read }), UserError);
  return total;
}

test("overlapping headers are not read again for each file", async () => {
  const overlapping = makeZip([
    ...numbered(5000).map((i) => ({ name: `${i}`, method: 0 })),
    { name: "last", bytes: Buffer.alloc(100_000), method: 0 },
  ]);
  for (let at = 0; at < 5000 * 30; at = overlapping.indexOf("PK\x03\x04", at + 1, "latin1"))
    overlapping.writeUInt16LE(60_000, at + 28);
  const folder = { name: "a/", method: 0, local: { extra: Buffer.alloc(60_000) } };
  const sameFolder = makeZip([folder, ...numbered(5000).map(() => ({ name: "a/", method: 0 }))], {
    pointTo: numbered(5001).map(() => 0),
  });

  for (const zip of [overlapping, sameFolder]) {
    const total = await bytesRead(zip);

    assert.ok(total < 2 * zip.length + 100_000, `${total} bytes read of ${zip.length}`);
  }
});
