import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, inflateRawSync } from "node:zlib";
import type { ByteSource } from "../../src/domain/byte-source.ts";
import { UserError } from "../../src/domain/errors.ts";
import { fillFromLayout, type Layout, LayoutBuilder } from "../../src/pkg/zip/layout.ts";
import { generatedFile, sharedSuffix, type ZipFile, zipLayout } from "../../src/pkg/zip/zip.ts";
import { deepTest } from "../support/depth.ts";
import { sourceOf } from "../support/drivers/zip.ts";
import { seededRandom } from "../support/random.ts";

/** A segment of a layout: literal bytes, or a range of a source. */
type Segment = Buffer | readonly [source: number, offset: number, length: number];

const sources = [1, 2, 3].map((seed) => {
  const random = seededRandom(seed);
  return Buffer.from(Array.from({ length: 60_000 }, () => random(256)));
});

function layoutOf(segments: readonly Segment[]): Layout {
  const builder = new LayoutBuilder();
  for (const segment of segments) {
    if (segment instanceof Buffer) builder.bytes(segment);
    else builder.range(segment[0], segment[1], segment[2]);
  }
  return builder.build();
}

/** The bytes of the whole file. */
function wholeOf(segments: readonly Segment[]): Buffer {
  const bytes: number[] = [];
  for (const segment of segments) {
    if (segment instanceof Buffer) bytes.push(...segment);
    else for (let i = 0; i < segment[2]; i++) bytes.push(sources[segment[0]]?.[segment[1] + i] ?? -1);
  }
  return Buffer.from(bytes);
}

/** The bytes of a range, and how many buffers each read of a source filled. */
async function filled(layout: Layout, start: number, length: number) {
  const reads: number[] = [];
  const watched = sources.map((bytes): ByteSource => {
    const source = sourceOf(bytes);
    const fill = async (position: number, targets: readonly Uint8Array[]) => {
      reads.push(targets.length);
      await source.fill(position, targets);
    };
    return { ...source, fill };
  });
  const out = Buffer.alloc(length, 0xee);
  await fillFromLayout(layout, watched, start, out);
  return { out, reads };
}

test("each start and end within and between segments gives the right bytes", async () => {
  const [abc, de, f] = ["abc", "de", "f"].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
  const segments: Segment[] = [abc, [0, 5, 4], de, [0, 12, 3], [1, 0, 2], f];
  const layout = layoutOf(segments);
  const whole = wholeOf(segments);

  for (let start = 0; start <= whole.length; start++) {
    for (let end = start; end <= whole.length; end++) {
      const { out } = await filled(layout, start, end - start);

      assert.ok(out.equals(whole.subarray(start, end)), `from ${start} to ${end}`);
    }
  }
});

test("an empty layout and an empty range read nothing, and what is outside or missing is an error", async () => {
  const layout = layoutOf([Buffer.from("abc"), [0, 0, 10]]);
  const [whole, missing] = [layoutOf([[0, 0, 10]]), layoutOf([[7, 0, 10]])];

  const empty = [await filled(layoutOf([]), 0, 0), await filled(whole, 5, 0), await filled(whole, 10, 0)];

  const reads = empty.map(({ reads }) => reads);
  assert.deepEqual(reads, [[], [], []]);
  for (const [start, length] of [
    [0, 14],
    [13, 1],
    [14, 0],
    [20, 5],
    [-1, 2],
  ] as const)
    await assert.rejects(filled(layout, start, length), /the layout has 13 bytes/, `${length} from ${start}`);
  await assert.rejects(filled(missing, 0, 10), /source 7, which is not there/);
});

test("neighbouring ranges of a source are read in one call, across literals and gaps of up to 8,192 bytes and up to 1,024 buffers", async () => {
  const header = Buffer.from("header");
  /** The buffers that each read of the whole layout filled. */
  const readsOf = async (...segments: Segment[]) => {
    const layout = layoutOf(segments);
    const { out, reads } = await filled(layout, 0, layout.size);
    assert.ok(out.equals(wholeOf(segments)));
    return reads;
  };

  const near = await readsOf([0, 0, 10], header, [0, 10 + 8192, 10], [0, 20 + 8192, 10]);
  const far = await readsOf([0, 0, 10], header, [0, 10 + 8193, 10]);
  const others = await readsOf([0, 100, 10], [0, 50, 10], [1, 60, 10], [0, 60, 10]);
  const many = await readsOf(...Array.from({ length: 3000 }, (_, i): Segment => [0, i * 20, 10]));

  assert.deepEqual([near, far, others], [[5], [1, 1], [1, 1, 1, 1]]);
  assert.ok(Math.max(...many) <= 1024, `${Math.max(...many)} buffers`);
});

test("a file of its own bytes and a shared end inflates to both, for any length of its own bytes", () => {
  const end = Buffer.from("the end that all files have in common ".repeat(100));
  const shared = sharedSuffix(end);

  for (const length of [0, 1, 16 * 1024, 16 * 1024 + 1, 200_000]) {
    const own = Buffer.alloc(length, "settings, ");
    const { data, ...file } = generatedFile("install.ps1", own, shared);

    const whole = Buffer.concat([own, end]);
    assert.ok("deflated" in data);
    assert.ok(inflateRawSync(data.deflated).equals(whole), `${length} bytes`);
    assert.deepEqual(file, { name: "install.ps1", crc32: crc32(whole), size: whole.length });
  }
});

const emptyFile = (name: string): ZipFile => {
  return { name, crc32: 0, size: 0, data: { deflated: Buffer.alloc(0) } };
};
const largeFile = (name: string, length: number): ZipFile => {
  return { name, crc32: 0, size: length, data: { source: 0, offset: 0, length, method: 8 } };
};

const most = Array.from({ length: 65_535 }, (_, i) => emptyFile(`${i}`));

test("a package with too many files or bytes for a ZIP is refused with a clear message", () => {
  for (const [files, message] of [
    [[...most, emptyFile("one more")], /would contain more than 65,535 files/],
    [[largeFile("a", 3e9), largeFile("b", 2e9)], /would contain more than 4 GB/],
    [[{ ...largeFile("a", 1000), size: 5e9 }], /would contain more than 4 GB/],
    [[largeFile("a", 0xffffffff - 98)], /would contain more than 4 GB/],
  ] as const)
    assert.throws(
      () => zipLayout(files),
      (error) => error instanceof UserError && message.test(error.message),
    );
  assert.equal(zipLayout([largeFile("a", 0xffffffff - 100)]).size, 0xffffffff);
});

deepTest("a package with as many files as a ZIP can have is accepted", () => {
  const namesSize = most.reduce((sum, file) => sum + 2 * file.name.length, 0);
  assert.equal(zipLayout(most).size, 22 + 65_535 * 76 + namesSize);
});
