import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { UserError } from "../../../src/domain/errors.ts";
import { checkIcon, iconLimitBytes } from "../../../src/domain/printers/icon.ts";
import { startApp } from "../../support/app.ts";
import { makePicture, makePng, type Picture, pictureRows, pngChunk } from "../../support/printers/png.ts";
import { seededRandom } from "../../support/random.ts";
import { leastTime } from "../../support/times.ts";

const idat = (bytes: Uint8Array) => pngChunk("IDAT", bytes);
const packed = deflateSync(pictureRows());

const invalidPictures: [string, RegExp, Picture][] = [
  ["no picture data", /contains no picture data/, { data: [] }],
  ["empty picture data", /broken or too long/, { data: [idat(Buffer.alloc(0))] }],
  ["picture data that is none", /broken or too long/, { data: [idat(Buffer.from("no picture"))] }],
  ["picture data that is cut off", /broken or too long/, { data: [idat(packed.subarray(0, -5))] }],
  [
    "a wrong Adler checksum",
    /broken or too long/,
    { data: [idat(Buffer.from(packed).fill(1, packed.length - 4))] },
  ],
  ["more picture data than any picture has", /broken or too long/, { rows: Buffer.alloc(1 << 20) }],
];

for (const [what, message, picture] of invalidPictures) {
  test(`a PNG with ${what} is refused with one clear sentence`, () => {
    const bytes = makePicture(picture);

    assert.throws(
      () => checkIcon(bytes),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("a PNG with data after its end is refused", () => {
  const bytes = Buffer.concat([makePicture(), Buffer.from("x")]);

  assert.throws(() => checkIcon(bytes), /something follows its end/);
});

test("truncated and altered pictures are accepted or refused with a UserError", () => {
  const picture = makePicture({ colour: 3, depth: 4, palette: 48, interlace: 1 });
  const random = seededRandom(13);
  let refusals = 0;

  for (let i = 0; i < 3000; i++) {
    const copy = Buffer.from(i % 5 === 0 ? picture.subarray(0, random(picture.length)) : picture);
    if (copy.length > 0) copy[random(copy.length)] = random(256);
    try {
      checkIcon(copy);
    } catch (error) {
      assert.ok(error instanceof UserError, `${i}: ${error instanceof Error ? error.stack : error}`);
      refusals++;
    }
  }

  assert.ok(refusals > 2900, `${refusals} refused`);
});

/** Checking takes far less. The check blocks the event loop. */
const checkLimitMs = 50;

/** An icon of the largest upload size. @param make returns an icon with this many bytes of content */
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

/** A zlib stream of empty stored blocks. */
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
        checkIcon(bytes);
      } catch (error) {
        assert.ok(error instanceof UserError);
      }
    });

    t.diagnostic(`${time.toFixed(1)} ms`);
    assert.ok(bytes.length <= iconLimitBytes, `${bytes.length} bytes`);
    assert.ok(time < checkLimitMs, `${time} ms`);
  });
}

test("a damaged icon is refused with a message, and nothing is saved", async (t) => {
  const { app, addPrinter, upload } = await startApp(t);
  const id = await addPrinter();

  const answer = await upload(`/printers/${id}/icon`, makePicture({ data: [] }), "icon.png");

  assert.equal(answer.status, 422);
  assert.match(await answer.text(), /This PNG is damaged: it contains no picture data/);
  assert.equal(app.store.icons.find(id), undefined);
});
