import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { UserError } from "../../src/domain/errors.ts";
import { checkEntry, readArchive } from "../../src/pkg/zip/archive.ts";
import {
  makeZip,
  sourceOf,
  unicodeExtra,
  type ZipOptions,
  type ZipPart,
  zip64Extra,
} from "../support/zip.ts";
import { named, raw, two } from "../support/zip-parts.ts";

const hello = { bytes: "hello", method: 0 };
const differs = /give “a\.txt” different/;

const refused: [string, RegExp, readonly ZipPart[], ZipOptions?][] = [
  ["an encrypted entry", /encrypted \(“a\.txt”\)/, [{ name: "a.txt", bytes: "x", flags: 0x801 }]],
  ["strong encryption", /encrypted/, [{ name: "a.txt", bytes: "x", flags: 0x841 }]],
  ["a part of several", /one part of several/, two, { diskNumber: 1 }],
  [
    "Deflate64",
    /a method \(9\) that packages cannot hold/,
    [{ name: "a.txt", bytes: "x", method: 9, packed: Buffer.from("x") }],
  ],
  ["LZMA", /a method \(14\)/, [{ name: "a.txt", bytes: "x", method: 14, packed: Buffer.from("x") }]],
  [
    "a symbolic link",
    /symbolic link/,
    [{ name: "a", bytes: "b", madeBy: 0x314, externalAttributes: (0o120777 << 16) >>> 0 }],
  ],
  ["two names for one place", /overlap in this ZIP/, two, { pointTo: [0, 0] }],
  ["a bomb", /two hundred times its size/, [{ name: "a.bin", bytes: "x", size: 0x3000_0000 }]],
  [
    "more than 4 GB",
    /more than 4 GB/,
    [
      { name: "a", bytes: "x", size: 0xffff_fffe },
      { name: "b", bytes: "x", size: 0xffff_fffe },
    ],
  ],
  ["another name in the local header", differs, [{ name: "a.txt", local: { name: raw("b.txt") } }]],
  ["a local name that leads out", differs, [{ name: "a.txt", local: { name: raw("../b.txt") } }]],
  ["a longer local name", differs, [{ name: "a.txt", local: { name: raw("a.txt.exe") } }]],
  [
    "a local Unicode name that leads out",
    /leads out/,
    [{ name: "a.txt", local: { extra: unicodeExtra(raw("a.txt"), "../b.txt") } }],
  ],
  [
    "another local Unicode name",
    /give “b” different names/,
    [{ ...named("a", "b"), local: { extra: unicodeExtra(raw("a"), "c") } }],
  ],
  ["another local method", differs, [{ name: "a.txt", ...hello, local: { method: 8 } }]],
  ["a local header that is encrypted", differs, [{ name: "a.txt", ...hello, local: { flags: 0x801 } }]],
  ["another local checksum", differs, [{ name: "a.txt", ...hello, local: { crc: 1 } }]],
  ["another local size", differs, [{ name: "a.txt", ...hello, local: { size: 4 } }]],
  ["another local packed size", differs, [{ name: "a.txt", ...hello, local: { packedSize: 4 } }]],
  [
    "local sizes of nothing",
    differs,
    [{ name: "a.txt", ...hello, local: { size: 0, packedSize: 0, crc: 0 } }],
  ],
  [
    "a wrong local size before a data descriptor",
    differs,
    [{ name: "a.txt", bytes: "x", withDescriptor: true, local: { size: 4 } }],
  ],
  [
    "another local ZIP64 size",
    differs,
    [
      {
        name: "a.txt",
        ...hello,
        local: { size: 0xffffffff, packedSize: 0xffffffff, extra: zip64Extra(5, 4) },
      },
    ],
  ],
  ["a missing local ZIP64 size", differs, [{ name: "a.txt", ...hello, local: { size: 0xffffffff } }]],
  ["a folder with contents", /the folder “a\/” has contents/, [{ name: "a/", bytes: "x" }]],
  ["more files than counted", /goes on after the 1 files/, two, { count: 1 }],
  ["more files than counted, with ZIP64", /goes on after the 1 files/, two, { count: 1, withZip64End: true }],
  ["fewer files than counted", /lists 2 files where its end counts 3/, two, { count: 3 }],
  ["fewer files than counted, with ZIP64", /lists 2 files/, two, { count: 3, withZip64End: true }],
  ["bytes behind its directory", /goes on after/, two, { directoryTail: Buffer.alloc(46) }],
  ["a file that is not listed", /does not list/, two, { order: [0] }],
  ["a first file that is not listed", /does not list/, two, { order: [1] }],
  ["no file that is listed", /does not list/, two, { order: [] }],
  [
    "a file hidden behind a data descriptor",
    /does not list/,
    [
      { name: "a.txt", bytes: "x", withDescriptor: true },
      { name: "b.txt", bytes: "y" },
    ],
    { order: [0] },
  ],
  ["an archive in front of it", /does not list/, two, { prefix: makeZip([{ name: "c.txt" }]) }],
];
for (const [what, message, parts, options] of refused) {
  test(`${what}: the ZIP is refused with one clear sentence`, async () => {
    const zip = makeZip(parts, options);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("a file that holds another one's header is refused as overlapping", async () => {
  const inner = makeZip([{ name: "b.txt", ...hello }]);
  const bytes = inner.subarray(0, 30 + 5 + 5);
  const zip = makeZip(
    [
      { name: "a.txt", bytes, method: 0 },
      { name: "b.txt", ...hello },
    ],
    { order: [0, 1] },
  );
  zip.writeUInt32LE(30 + 5, zip.lastIndexOf("b.txt") - 4);

  await assert.rejects(readArchive(sourceOf(zip)), /“a\.txt” and “b\.txt” overlap in this ZIP/);
});

test("bytes hidden behind a file's packed ones are found, in small files and in large ones", async () => {
  for (const size of [10, 5_000_000]) {
    for (const behind of [1, 100, 3_000_000]) {
      const bytes = Buffer.alloc(size, "abc");
      const packed = Buffer.concat([deflateRawSync(bytes), Buffer.alloc(behind)]);
      const source = sourceOf(makeZip([{ name: "a.txt", bytes, packed }]));
      const { entries } = await readArchive(source);

      for (const entry of entries) {
        assert.equal(entry.crc32, crc32(bytes));
        await assert.rejects(checkEntry(source, entry, 0), /does not match its checksum/);
      }
    }
  }
});

test("10,000 twins make a handful of warnings and a count", async () => {
  const names = Array.from({ length: 10_000 }, (_, i) =>
    i.toString(2).padStart(14, "0").replaceAll("0", "A"),
  );
  const zip = makeZip(names.flatMap((name) => [{ name }, { name: name.replaceAll("A", "a") }]).slice(0, -1));

  const { entries, warnings } = await readArchive(sourceOf(zip));

  assert.equal(entries.length, 10_000);
  assert.equal(warnings.length, 6);
  assert.equal(warnings.at(-1), "9994 more files differ only by case from one before them.");
});
