import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { checkEntry, readArchive } from "../../src/pkg/zip/archive.ts";
import { packers } from "../support/drivers/foreign.ts";
import { makeZip, sourceOf, unicodeExtra, zip64Extra } from "../support/drivers/zip.ts";
import { seededRandom } from "../support/random.ts";

async function contentsOf(zip: Buffer): Promise<Record<string, string>> {
  const source = sourceOf(zip);
  const { entries } = await readArchive(source);
  const pairs = entries.map(
    async (entry) => [entry.path, (await checkEntry(source, entry, 1e9)).toString()] as const,
  );
  return Object.fromEntries(await Promise.all(pairs));
}

const long = "0123456789".repeat(10_000);

test("stored and deflated entries, data descriptors, ZIP64 fields and entries in any order are read correctly", async () => {
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

test("names are read as UTF-8, as CP437, or from the Unicode field, and `\\` separates folders", async () => {
  const [marked, other, third] = ["??.txt", "renamed.txt", "third.txt"].map((name) => Buffer.from(name)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const zip = makeZip([
    { name: "Büro ä.inf", bytes: "1" },
    { name: "", rawName: Buffer.from([0x42, 0x81, 0x72, 0x6f]), bytes: "2" },
    { name: "", rawName: Buffer.from("a\\b\\c.txt"), bytes: "3" },
    { name: "", rawName: marked, extra: unicodeExtra(marked, "日本.txt"), bytes: "4" },
    { name: "", rawName: other, extra: unicodeExtra(marked, "stale.txt"), bytes: "5" },
    { name: "", rawName: third, extra: unicodeExtra(third, "later version.txt", 2), bytes: "6" },
  ]);

  assert.deepEqual(await contentsOf(zip), {
    "Büro ä.inf": "1",
    Büro: "2",
    "a/b/c.txt": "3",
    "日本.txt": "4",
    "renamed.txt": "5",
    "third.txt": "6",
  });
});

test("local headers may omit fields or write them in other forms, as common ZIP writers do", async () => {
  const zeros = { crc: 0, packedSize: 0, size: 0 };
  const full = { packedSize: 0xffffffff, size: 0xffffffff };
  const slash = Buffer.from("dir/file.txt");
  const zip = makeZip([
    {
      name: "python.txt",
      bytes: "streamed",
      withDescriptor: true,
      local: { ...full, extra: zip64Extra(0, 0) },
    },
    { name: "infozip.txt", bytes: "streamed", withDescriptor: true, local: full },
    { name: "known.txt", bytes: "known", flags: 0x808 },
    { name: "flag.txt", bytes: "in one place only", flags: 0x808, local: { flags: 0x800, ...zeros } },
    { name: "large.txt", bytes: "large", local: { ...full, extra: zip64Extra(5, 7) } },
    { name: "", rawName: Buffer.from("dir\\file.txt"), bytes: "slashed", local: { name: slash } },
    { name: "ascii.txt", bytes: "UTF-8 in one place only", local: { flags: 0 } },
    { name: "padded.txt", bytes: "far", local: { extra: Buffer.alloc(4096) } },
    { name: "nothing.txt", packed: Buffer.alloc(0) },
  ]);

  const contents = await contentsOf(zip);

  assert.deepEqual(Object.keys(contents).length, 9);
  assert.equal(contents["dir/file.txt"], "slashed");
  assert.equal(contents["padded.txt"], "far");
  assert.equal(contents["nothing.txt"], "");
});

test("the table of contents overrides local headers, and unlisted files are ignored", async () => {
  const wrongFields = {
    name: Buffer.from("../b.txt"),
    method: 8,
    crc: 1,
    size: 4,
    packedSize: 4,
    flags: 0x801,
  };
  const zip = makeZip(
    [
      { name: "a.txt", bytes: "hello", method: 0, local: wrongFields },
      { name: "hidden.txt", bytes: "unlisted" },
    ],
    { order: [0] },
  );

  assert.deepEqual(await contentsOf(zip), { "a.txt": "hello" });
});

test("an archive with a signed directory and an archive inside an archive are read", async () => {
  const inner = makeZip([{ name: "inner.txt", bytes: "inner" }], { comment: "inner comment" });
  const signature = Buffer.from("PK\x05\x05\x03\x00abc", "latin1");

  const signed = await contentsOf(makeZip([{ name: "a.txt", bytes: "x" }], { directoryTrailer: signature }));
  const nested = await contentsOf(makeZip([{ name: "inner.zip", bytes: inner, method: 0 }]));

  assert.deepEqual(signed, { "a.txt": "x" });
  assert.deepEqual(Object.keys(nested), ["inner.zip"]);
});

test("a program before the archive is skipped", async () => {
  const zip = makeZip([{ name: "a.inf", bytes: "inside" }], { prefix: Buffer.alloc(5000, "MZ") });

  assert.deepEqual(await contentsOf(zip), { "a.inf": "inside" });
});

test("a program before an archive with ZIP64 records is skipped", async () => {
  const options = { prefix: Buffer.alloc(5000, "MZ"), withZip64End: true };
  const zip = makeZip([{ name: "a.inf", bytes: "inside", withZip64: true }], options);

  assert.deepEqual(await contentsOf(zip), { "a.inf": "inside" });
});

test("a name that is a file and a folder is refused: Windows cannot create both", async () => {
  const read = (...names: string[]) =>
    readArchive(sourceOf(makeZip(names.map((name) => ({ name, bytes: "x" })))));

  await assert.rejects(read("x86", "x86/a.dll"), /contains “x86” as a file and as a folder/);
  await assert.rejects(read("X86/b/a.dll", "b.dll", "x86/B"), /contains “x86\/B” as a file and as a folder/);
  assert.equal((await read("x86", "x86.b/a.dll")).entries.length, 2);
});

test("the later of two names that differ only by case counts, with a warning", async () => {
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
    "“Driver.dll” and “DRIVER.DLL” differ only in case. Windows keeps only the second file.",
  ]);
});

const tree = {
  "printer.inf": Buffer.from("[Version]"),
  "amd64/driver.dll": Buffer.alloc(100_000, "driver"),
  "amd64/Büro ä.txt": Buffer.from("umlauts"),
  "empty.txt": Buffer.alloc(0),
};

for (const [packer, { skip, pack }] of Object.entries(packers)) {
  test(`an archive of ${packer} is read`, { skip }, async () => {
    const zip = pack(tree);

    const contents = await contentsOf(zip);

    const expected = Object.entries(tree).map(([name, bytes]) => [name, bytes.toString()]);
    assert.deepEqual(contents, Object.fromEntries(expected));
  });
}

test("names that differ only by case are one file; other similar names are different files", async () => {
  const names = ["Ä.txt", "ä.txt", "é.txt", "e\u0301.txt", "straße.txt", "STRASSE.txt"];
  const zip = makeZip(names.map((name) => ({ name })));

  const { entries } = await readArchive(sourceOf(zip));

  assert.deepEqual(
    entries.map(({ path }) => path),
    names.slice(1),
  );
});

test("a wrong checksum, a wrong size and damaged data are refused", async () => {
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

test("a cut or changed archive is read or clearly refused", async (t) => {
  const zip = makeZip(
    [
      { name: "a.txt", bytes: "aaaa" },
      { name: "c.inf", bytes: long, withDescriptor: true, withZip64: true },
    ],
    {
      withZip64End: true,
    },
  );
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
