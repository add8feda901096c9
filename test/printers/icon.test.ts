import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { checkIcon } from "../../src/domain/printers/icon.ts";
import { without } from "../support/drivers/foreign.ts";
import { makePicture, type Picture, pictureRows, pngChunk } from "../support/printers/png.ts";
import { picturesByPython } from "../support/printers/png-by-python.ts";

const kinds: [colour: number, depths: readonly number[]][] = [
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]],
];

test("pictures of every colour type, depth and interlacing are accepted", () => {
  const pictures: Picture[] = kinds.flatMap(([colour, depths]) =>
    depths.flatMap((depth) =>
      [0, 1].map((interlace) => ({ colour, depth, interlace, palette: colour === 3 ? 3 * 2 ** depth : 0 })),
    ),
  );

  for (const picture of pictures) checkIcon(makePicture(picture));

  assert.equal(pictures.length, 30);
});

test("a palette beside true colours, data in many chunks and ancillary chunks are accepted", () => {
  const packed = deflateSync(pictureRows());
  const pieces = [packed.subarray(0, 1), Buffer.alloc(0), packed.subarray(1, 7), packed.subarray(7)];
  const text = pngChunk("tEXt", Buffer.from("Comment\0hello"));
  const animation = [pngChunk("acTL", Buffer.alloc(8, 1)), pngChunk("fcTL", Buffer.alloc(26))];

  checkIcon(makePicture({ colour: 6, palette: 768 }));
  checkIcon(makePicture({ data: pieces.map((piece) => pngChunk("IDAT", piece)) }));
  checkIcon(makePicture({ before: [text, ...animation], after: [pngChunk("fdAT", Buffer.alloc(9)), text] }));
});

test("invalid combinations of colour type, depth and palette are refused as damaged", () => {
  const pictures: Picture[] = [
    { colour: 3 },
    { colour: 1 },
    { colour: 99, depth: 77 },
    { colour: 2, depth: 4 },
    { colour: 3, depth: 16, palette: 768 },
  ];

  for (const picture of pictures)
    assert.throws(
      () => checkIcon(makePicture({ ...picture, rows: Buffer.alloc(10) })),
      /This PNG is damaged: its colour format is not valid/,
      JSON.stringify(picture),
    );
});

test("another size is refused by its header, before the data is unpacked", () => {
  const sizes: [number, number][] = [
    [1, 1],
    [255, 256],
    [0x7fffffff, 0x7fffffff],
  ];

  for (const [width, height] of sizes) {
    const picture = makePicture({ width, height, rows: Buffer.alloc(10) });

    assert.throws(() => checkIcon(picture), new RegExp(`${width} × ${height} pixels`));
  }
});

test("pictures of another encoder are accepted", { skip: without.python }, () => {
  const pictures = picturesByPython();

  for (const picture of pictures) checkIcon(picture);

  assert.equal(pictures.length, 30);
});
