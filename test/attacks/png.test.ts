import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { UserError } from "../../src/domain/errors.ts";
import { checkIcon, iconLimitBytes } from "../../src/domain/icon.ts";
import { pngTools } from "../../src/services/icons.ts";
import { startApp } from "../support/app.ts";
import { makePicture, makePng, type Picture, pictureRows, pngChunk } from "../support/png.ts";
import { seededRandom } from "../support/random.ts";
import { leastTime } from "../support/times.ts";

const idat = (bytes: Uint8Array) => pngChunk("IDAT", bytes);
const packed = deflateSync(pictureRows());
const header = makePicture().subarray(16, 29);

function withFilter(filter: number, picture: Picture = {}): Picture {
  const rows = pictureRows(picture);
  return { ...picture, rows: rows.fill(filter, 257 * 100, 257 * 100 + 1) };
}

const lies: [string, RegExp, Picture][] = [
  ["no picture data", /holds no picture/, { data: [] }],
  ["empty picture data", /broken or too long/, { data: [idat(Buffer.alloc(0))] }],
  ["picture data that is none", /broken or too long/, { data: [idat(Buffer.from("no picture"))] }],
  ["picture data that is cut off", /broken or too long/, { data: [idat(packed.subarray(0, -5))] }],
  [
    "a wrong Adler checksum",
    /broken or too long/,
    { data: [idat(Buffer.from(packed).fill(1, packed.length - 4))] },
  ],
  ["bytes behind the picture data", /not as long/, { data: [idat(packed), idat(Buffer.from("x"))] }],
  ["a row too few", /not as long/, { rows: pictureRows({ height: 255 }) }],
  ["a byte too many", /broken or too long/, { rows: Buffer.concat([pictureRows(), Buffer.alloc(1)]) }],
  ["rows of an interlaced picture", /broken or too long/, { rows: pictureRows({ interlace: 1 }) }],
  ["an interlaced picture with plain rows", /not as long/, { interlace: 1, rows: pictureRows() }],
  ["a filter that does not exist", /filter that does not exist/, withFilter(5)],
  [
    "picture data in two places",
    /interrupted/,
    { data: [idat(packed), pngChunk("tEXt", packed), idat(packed)] },
  ],
  ["two headers", /two headers/, { before: [pngChunk("IHDR", header)] }],
  ["a second header behind the picture", /two headers/, { after: [pngChunk("IHDR", header)] }],
  ["3 bits", /3 bits of colour type 0/, { depth: 3 }],
  ["0 bits", /0 bits of colour type 0/, { depth: 0 }],
  ["4 bits of true colour", /4 bits of colour type 2/, { depth: 4, colour: 2 }],
  ["16 bits of palette", /16 bits of colour type 3/, { depth: 16, colour: 3, palette: 768 }],
  ["colour type 1", /colour type 1/, { colour: 1 }],
  ["colour type 5", /colour type 5/, { colour: 5 }],
  ["colour type 7", /colour type 7/, { colour: 7 }],
  ["another compression", /method that does not exist/, { compression: 1 }],
  ["another filter method", /method that does not exist/, { filter: 1 }],
  ["another interlacing", /method that does not exist/, { interlace: 2 }],
  ["no width", /impossible size/, { width: 0 }],
  ["more height than a number holds", /impossible size/, { height: 0x80000000, rows: pictureRows() }],
  ["no palette", /palette is missing/, { colour: 3 }],
  ["a palette of grey", /palette, but no colours/, { palette: 768 }],
  ["a palette of grey with alpha", /palette, but no colours/, { colour: 4, palette: 768 }],
  ["two palettes", /two palettes/, { colour: 3, palette: 768, before: [pngChunk("PLTE", Buffer.alloc(3))] }],
  ["a palette that is no multiple of three", /palette is broken/, { colour: 3, palette: 7 }],
  ["an empty palette", /palette is broken/, { colour: 3, before: [pngChunk("PLTE", Buffer.alloc(0))] }],
  ["a palette of 257 colours", /palette is broken/, { colour: 2, palette: 771 }],
  ["more colours than indexes", /palette is broken/, { colour: 3, depth: 1, palette: 9 }],
  [
    "a palette behind the picture",
    /behind its picture/,
    { colour: 3, after: [pngChunk("PLTE", Buffer.alloc(3))] },
  ],
  ["a chunk that must be known", /chunk “CgBI”/, { before: [pngChunk("CgBI", Buffer.alloc(4))] }],
  ["a chunk without a name", /name of a chunk/, { before: [pngChunk("a1b2", Buffer.alloc(4))] }],
  ["an end that is not empty", /not empty/, { after: [pngChunk("IEND", Buffer.alloc(1))] }],
];
for (const [what, message, picture] of lies) {
  test(`a PNG with ${what} is refused with one clear sentence`, () => {
    const bytes = makePicture(picture);
    const whole = what.includes("end that") ? bytes.subarray(0, -12) : bytes;

    assert.throws(
      () => checkIcon(whole, pngTools),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("a PNG with something behind its end is refused", () => {
  const bytes = Buffer.concat([makePicture(), Buffer.from("x")]);

  assert.throws(() => checkIcon(bytes, pngTools), /something follows its end/);
});

test("no cut and no changed byte leads to anything but an answer or a clear refusal", () => {
  const picture = makePicture({ colour: 3, depth: 4, palette: 48, interlace: 1 });
  const random = seededRandom(13);
  let refusals = 0;

  for (let i = 0; i < 3000; i++) {
    const copy = Buffer.from(i % 5 === 0 ? picture.subarray(0, random(picture.length)) : picture);
    if (copy.length > 0) copy[random(copy.length)] = random(256);
    try {
      checkIcon(copy, pngTools);
    } catch (error) {
      assert.ok(error instanceof UserError, `${i}: ${error instanceof Error ? error.stack : error}`);
      refusals++;
    }
  }

  assert.ok(refusals > 2900, `${refusals} refused`);
});

/** Far above what checking takes; the event loop must not stand still for longer. */
const checkLimitMs = 50;

/** Fills an icon up to the limit of an upload with what a maker returns for a size. */
function filled(make: (size: number) => Buffer): Buffer {
  return make(iconLimitBytes - makePng().length - 12);
}

const largest: [string, () => Buffer][] = [
  ["the largest picture", () => makePicture({ colour: 6, depth: 16, interlace: 1 })],
  [
    "empty chunks",
    () => makePicture({ before: chunksOf(64_000 - 100, () => pngChunk("tEXt", Buffer.alloc(0))) }),
  ],
  ["empty data chunks", () => makePicture({ data: chunksOf(63_900, () => idat(Buffer.alloc(0))) })],
  [
    "one large chunk",
    () => filled((size) => makePicture({ before: [pngChunk("tEXt", Buffer.alloc(size))] })),
  ],
  ["empty blocks of data", () => filled((size) => makePicture({ data: [idat(emptyBlocks(size))] }))],
  ["data that unpacks to 64 MB", () => makePicture({ rows: Buffer.alloc(64 << 20) })],
];

function chunksOf(count: number, make: () => Buffer): Buffer[] {
  return Array.from({ length: count }, make);
}

/** A zlib stream of nothing: stored blocks without a byte, then one that ends it. */
function emptyBlocks(size: number): Buffer {
  const block = Buffer.from([0, 0, 0, 0xff, 0xff]);
  const blocks = Buffer.alloc(Math.floor((size - 11) / 5) * 5, block);
  return Buffer.concat([Buffer.from([0x78, 1]), blocks, Buffer.from([1, 0, 0, 0xff, 0xff, 0, 0, 0, 1])]);
}

for (const [what, make] of largest) {
  test(`an icon of ${what} is checked within ${checkLimitMs} ms`, async (t) => {
    const bytes = make();

    const time = await leastTime(() => {
      try {
        checkIcon(bytes, pngTools);
      } catch (error) {
        assert.ok(error instanceof UserError);
      }
    });

    t.diagnostic(`${time.toFixed(1)} ms`);
    assert.ok(bytes.length <= iconLimitBytes, `${bytes.length} bytes`);
    assert.ok(time < checkLimitMs, `${time} ms`);
  });
}

test("a damaged icon is answered in its place, and nothing of it is kept", async (t) => {
  const { app, addPrinter, upload } = await startApp(t);
  const id = await addPrinter();

  const answer = await upload(`/printers/${id}/icon`, makePicture({ data: [] }), "icon.png");

  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /This PNG is damaged: it holds no picture/);
  assert.equal(app.store.icons.find(id), undefined);
});
