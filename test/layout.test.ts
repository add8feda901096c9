import assert from "node:assert/strict";
import { test } from "node:test";
import type { ByteSource } from "../src/domain/byte-source.ts";
import { fillFromLayout, type Layout, LayoutBuilder, wholeOf } from "../src/pkg/layout.ts";
import { seededRandom } from "./support/random.ts";
import { sourceOf } from "./support/zip.ts";

type Random = (bound: number) => number;

function someBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(256)));
}

/** Literals and ranges by chance, with gaps of every size between the ranges; and the bytes they stand for. */
function someLayout(random: Random, sources: readonly Buffer[]): { layout: Layout; whole: Buffer } {
  const builder = new LayoutBuilder();
  const parts: Buffer[] = [];
  const at = sources.map(() => 0);
  for (let i = 0; i < 60; i++) {
    const number = random(sources.length);
    const source = sources[number] ?? Buffer.alloc(0);
    const gap = [0, 1, 30, 8191, 8192, 8193, 20_000][random(7)] ?? 0;
    const offset =
      random(10) === 0 ? random(source.length) : Math.min((at[number] ?? 0) + gap, source.length);
    const length = Math.min(random(3_000), source.length - offset);
    const literal = someBytes(random, random(4) === 0 ? 0 : random(80));
    builder.bytes(literal).range(number, offset, length);
    parts.push(literal, source.subarray(offset, offset + length));
    at[number] = offset + length;
  }
  return { layout: builder.build(), whole: Buffer.concat(parts) };
}

test("any part of any layout is what its segments say, whatever gaps stand between them", async () => {
  const random = seededRandom(11);
  for (let round = 0; round < 40; round++) {
    const bytes = [someBytes(random, 60_000), someBytes(random, 40_000)];
    const { layout, whole } = someLayout(random, bytes);
    const sources = bytes.map(sourceOf);
    for (let i = 0; i < 20; i++) {
      const start = random(whole.length);
      const part = Buffer.alloc(random(whole.length - start) + 1);

      await fillFromLayout(layout, sources, start, part);

      assert.equal(layout.size, whole.length);
      assert.ok(part.equals(whole.subarray(start, start + part.length)), `round ${round}, from ${start}`);
    }
  }
});

test("neighbours in a source are read at once, over a gap that is small, and apart over a large one", async () => {
  const reads: number[] = [];
  const source = sourceOf(Buffer.alloc(100_000));
  const counted: ByteSource = {
    ...source,
    fill: (position, targets) => {
      reads.push(position);
      return source.fill(position, targets);
    },
  };
  const near = new LayoutBuilder().range(0, 0, 10).range(0, 8_202, 10).build();
  const far = new LayoutBuilder().range(0, 0, 10).range(0, 8_203, 10).build();

  await fillFromLayout(near, [counted], 0, new Uint8Array(20));
  await fillFromLayout(far, [counted], 0, new Uint8Array(20));

  assert.deepEqual(reads, [0, 0, 8_203]);
});

test("a layout that names a source which is not there, or asks beyond its end, fails instead of giving zeros", async () => {
  const short = sourceOf(Buffer.alloc(5));

  await assert.rejects(fillFromLayout(wholeOf(6), [], 0, new Uint8Array(6)), /source 0, which is not there/);
  await assert.rejects(fillFromLayout(wholeOf(6), [short], 0, new Uint8Array(6)), /beyond the end/);
});
