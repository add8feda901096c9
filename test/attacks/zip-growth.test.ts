import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readArchive } from "../../src/pkg/archive.ts";
import { makeZip, sourceOf, unicodeExtra } from "../support/zip.ts";

/** What a measurement may be off by on a machine that does other things too. */
const noiseMs = 300;

const growing: [string, (count: number) => Buffer][] = [
  ["folders in folders", (count) => filesNamed(count, (i) => `${"a/".repeat(115)}${i}`)],
  ["folders of their own", (count) => filesNamed(count, (i) => `${i}${"/a".repeat(115)}`)],
  ["long names", (count) => filesNamed(count, (i) => `${i}${"ä".repeat(230)}`)],
  [
    "twins",
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
  test(`ten times as many ${what} take about ten times as long`, async (t) => {
    const [few, many] = [make(1000), make(10_000)];

    const fewMs = await fastestMs(few);
    const manyMs = await fastestMs(many);

    t.diagnostic(`${few.length} bytes ${fewMs.toFixed(0)} ms, ${many.length} bytes ${manyMs.toFixed(0)} ms`);
    assert.ok(manyMs < 15 * fewMs + noiseMs);
  });
}

/** The best of three, refused or not. */
async function fastestMs(zip: Buffer): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    await readArchive(sourceOf(zip)).catch((error) => assert.ok(error instanceof UserError));
    best = Math.min(best, performance.now() - start);
  }
  return best;
}
