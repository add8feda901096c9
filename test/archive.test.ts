import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../src/domain/errors.ts";
import { checkEntry, readArchive } from "../src/pkg/archive.ts";
import { seededRandom } from "./support/random.ts";
import { makeZip, sourceOf, type ZipOptions, type ZipPart } from "./support/zip.ts";

async function contentsOf(zip: Buffer): Promise<Record<string, string>> {
  const source = sourceOf(zip);
  const { entries } = await readArchive(source);
  const pairs = entries.map(
    async (entry) => [entry.path, (await checkEntry(source, entry, 1e9)).toString()] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}

const long = "0123456789".repeat(10_000);

test("stored and deflated entries, data descriptors, ZIP64 fields and any order come out right", async () => {
  const zip = makeZip(
    [
      { name: "stored.txt", bytes: "stored", method: 0 },
      { name: "sub/deflated.txt", bytes: long },
      { name: "described.txt", bytes: "with a descriptor", withDescriptor: true },
      { name: "large.txt", bytes: "with ZIP64 sizes", withZip64: true },
      { name: "empty.txt" },
      { name: "sub/", method: 0 },
    ],
    { order: [3, 0, 5, 2, 4, 1], comment: "a comment", withZip64End: true },
  );

  const contents = await contentsOf(zip);

  assert.deepEqual(contents, {
    "large.txt": "with ZIP64 sizes",
    "stored.txt": "stored",
    "described.txt": "with a descriptor",
    "empty.txt": "",
    "sub/deflated.txt": long,
  });
});

test("names are read as UTF-8, as CP437, or from the Unicode field, and `\\` is a folder", async () => {
  const zip = makeZip([
    { name: "Büro ä.inf", bytes: "1" },
    { name: "", rawName: Buffer.from([0x42, 0x81, 0x72, 0x6f]), bytes: "2" },
    { name: "", rawName: Buffer.from("a\\b\\c.txt"), bytes: "3" },
  ]);

  assert.deepEqual(await contentsOf(zip), { "Büro ä.inf": "1", Büro: "2", "a/b/c.txt": "3" });
});

test("a program in front of the archive is skipped", async () => {
  const zip = makeZip([{ name: "a.inf", bytes: "inside" }], { prefix: Buffer.alloc(5000, "MZ") });

  assert.deepEqual(await contentsOf(zip), { "a.inf": "inside" });
});

test("of two names that differ only by case the later one counts, with a warning", async () => {
  const zip = makeZip([
    { name: "Driver.dll", bytes: "old" },
    { name: "other.dll", bytes: "x" },
    { name: "DRIVER.DLL", bytes: "new" },
  ]);

  const { entries, warnings } = await readArchive(sourceOf(zip));

  assert.deepEqual(
    entries.map(({ path }) => path),
    ["other.dll", "DRIVER.DLL"],
  );
  assert.deepEqual(warnings, [
    "“Driver.dll” and “DRIVER.DLL” differ only by case: Windows keeps the later one.",
  ]);
});

const two: ZipPart[] = [
  { name: "a.txt", bytes: "aaaa" },
  { name: "b.txt", bytes: "bbbb" },
];

const refused: [string, RegExp, readonly ZipPart[], ZipOptions?][] = [
  ["an encrypted entry", /encrypted \(“a\.txt”\)/, [{ name: "a.txt", bytes: "x", flags: 0x801 }]],
  ["strong encryption", /encrypted/, [{ name: "a.txt", bytes: "x", flags: 0x841 }]],
  ["a part of several", /one part of several/, two, { diskNumber: 1 }],
  [
    "Deflate64",
    /a method \(9\) that Windows/,
    [{ name: "a.txt", bytes: "x", method: 9, packed: Buffer.from("x") }],
  ],
  ["LZMA", /a method \(14\)/, [{ name: "a.txt", bytes: "x", method: 14, packed: Buffer.from("x") }]],
  ["a name that leads out", /leads out of its folder/, [{ name: "a/../../b.txt", bytes: "x" }]],
  ["a name that leads out with backslashes", /leads out of its folder/, [{ name: "..\\b.txt", bytes: "x" }]],
  ["an absolute name", /is absolute/, [{ name: "/etc/passwd", bytes: "x" }]],
  ["a drive letter", /drive letter/, [{ name: "C:/b.txt", bytes: "x" }]],
  ["a network path", /is absolute/, [{ name: "\\\\host\\share\\b.txt", bytes: "x" }]],
  ["a device", /Windows device/, [{ name: "sub/CON.inf", bytes: "x" }]],
  ["another device", /Windows device/, [{ name: "lpt1", bytes: "x" }]],
  ["a stream", /does not allow/, [{ name: "a.txt:hidden", bytes: "x" }]],
  ["a name ending with a dot", /dot or a blank/, [{ name: "a./b.txt", bytes: "x" }]],
  ["a control character", /control character/, [{ name: "a\u0007.txt", bytes: "x" }]],
  ["an empty name", /is empty/, [{ name: "", bytes: "x" }]],
  ["a very long name", /longer than 240/, [{ name: "x".repeat(241), bytes: "x" }]],
  ["a name twice", /holds “a\.txt” twice/, [{ name: "a.txt" }, { name: "a.txt" }]],
  [
    "a file that is a folder too",
    /a file and a folder at once/,
    [
      { name: "A", bytes: "x" },
      { name: "a/b", bytes: "y" },
    ],
  ],
  [
    "a symbolic link",
    /symbolic link/,
    [{ name: "a", bytes: "b", madeBy: 0x314, externalAttributes: (0o120777 << 16) >>> 0 }],
  ],
  ["overlapping entries", /overlap in this ZIP/, two, { pointTo: [0, 0] }],
  [
    "names that are no UTF-8",
    /not valid UTF-8/,
    [{ name: "", rawName: Buffer.from([0xff, 0xfe]), flags: 0x800, bytes: "x" }],
  ],
  ["a bomb", /two hundred times its size/, [{ name: "a.bin", bytes: "x", size: 0x3000_0000 }]],
  [
    "more than 4 GB",
    /more than 4 GB/,
    [
      { name: "a", bytes: "x", size: 0xffff_fffe },
      { name: "b", bytes: "x", size: 0xffff_fffe },
    ],
  ],
];
for (const [what, message, parts, options] of refused) {
  test(`${what} is refused with one clear sentence`, async () => {
    const zip = makeZip(parts, options);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("a wrong checksum, a wrong size and damaged data are found", async () => {
  const wrong = [
    makeZip([{ name: "a.txt", bytes: "hello", crc: 1 }]),
    makeZip([{ name: "a.txt", bytes: "hello", size: 4 }]),
    makeZip([{ name: "a.txt", bytes: "hello", size: 6 }]),
    makeZip([{ name: "a.txt", bytes: "hello", packed: Buffer.from("no deflate data") }]),
    makeZip([{ name: "a.txt", bytes: "hello", method: 0, crc: 1 }]),
  ];

  for (const zip of wrong) {
    await assert.rejects(
      contentsOf(zip),
      (error) => error instanceof UserError && /“a\.txt” does not match/.test(error.message),
    );
  }
});

test("no cut and no changed byte leads to anything but an answer or a clear refusal", async (t) => {
  const zip = makeZip([...two, { name: "c.inf", bytes: long, withDescriptor: true, withZip64: true }], {
    withZip64End: true,
  });
  const random = seededRandom(7);
  let refusals = 0;

  for (let i = 0; i < 3000; i++) {
    const copy = Buffer.from(i % 5 === 0 ? zip.subarray(0, random(zip.length)) : zip);
    for (let n = 1 + random(3); n > 0 && copy.length > 0; n--) copy[random(copy.length)] = random(256);
    try {
      await contentsOf(copy);
    } catch (error) {
      assert.ok(error instanceof UserError, `${i}: ${error instanceof Error ? error.stack : error}`);
      refusals++;
    }
  }

  t.diagnostic(`seed 7: 3000 damaged archives, ${refusals} refused`);
  assert.ok(refusals > 1000);
});
