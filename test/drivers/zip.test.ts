import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { checkEntry, readArchive } from "../../src/pkg/zip/archive.ts";
import { packers } from "../support/drivers/foreign.ts";
import { refused, twoFiles } from "../support/drivers/refused-zips.ts";
import { makeZip, sourceOf, unicodeExtra } from "../support/drivers/zip.ts";

async function contentsOf(zip: Buffer): Promise<Record<string, string>> {
  const source = sourceOf(zip);
  const { entries } = await readArchive(source);
  const contents: Record<string, string> = {};
  for (const entry of entries) contents[entry.path] = String(await checkEntry(source, entry, 1e9));
  return contents;
}

/** Reads an archive of files with these names. */
async function readNames(...names: string[]) {
  const zip = makeZip(names.map((name) => ({ name, bytes: "x" })));
  const { entries, warnings } = await readArchive(sourceOf(zip));
  return { paths: entries.map(({ path }) => path), warnings };
}

const assertRefused = (zip: Buffer, message: RegExp, what?: string) =>
  assert.rejects(readArchive(sourceOf(zip)), { name: "UserError", message }, what);

test("names are read as UTF-8, as CP437, or from the Unicode field, and `\\` separates folders", async () => {
  const [marked, other, third] = ["??.txt", "renamed.txt", "third.txt"].map((name) => Buffer.from(name));
  assert.ok(marked && other && third);
  const zip = makeZip([
    { name: "Büro ä.inf", bytes: "1" },
    { name: "", rawName: Buffer.from([0x42, 0x81, 0x72, 0x6f]), bytes: "2" },
    { name: "", rawName: Buffer.from("a\\b\\c.txt"), bytes: "3" },
    { name: "", rawName: marked, extra: unicodeExtra(marked, "日本.txt"), bytes: "4" },
    { name: "", rawName: other, extra: unicodeExtra(marked, "stale.txt"), bytes: "5" },
    { name: "", rawName: third, extra: unicodeExtra(third, "later version.txt", 2), bytes: "6" },
    { name: "nothing.txt", packed: Buffer.alloc(0) },
  ]);

  assert.deepEqual(await contentsOf(zip), {
    "Büro ä.inf": "1",
    Büro: "2",
    "a/b/c.txt": "3",
    "日本.txt": "4",
    "renamed.txt": "5",
    "third.txt": "6",
    "nothing.txt": "",
  });
});

/** A name, and why Windows cannot create it. */
const unusable: readonly (readonly [name: string, why: string])[] = [
  ["C:/b.txt", "contains a character that Windows does not allow"],
  ["a.txt:hidden", "contains a character that Windows does not allow"],
  ["sub/CON.inf", "is the name of a Windows device"],
  ["lpt1", "is the name of a Windows device"],
  ["con .txt", "is the name of a Windows device"],
  ["sub/Aux    .inf/a.txt", "is the name of a Windows device"],
  ["clock$.txt", "is the name of a Windows device"],
  ["CONIN$.a", "is the name of a Windows device"],
  ["conout$ .a", "is the name of a Windows device"],
  ["COM².inf", "is the name of a Windows device"],
  ["a\u0007.txt", "contains a control character"],
  ["", "has a name of dots and spaces only"],
  [" /a.txt", "has a name of dots and spaces only"],
  ["x".repeat(241), "is longer than 240 characters"],
  ["x\u202efni.exe", "contains an invisible character (U+202E)"],
  ["a\u200b.inf", "contains an invisible character (U+200B)"],
  ["\ufeffa.inf", "contains an invisible character (U+FEFF)"],
  ["a\u2028.inf", "contains an invisible character (U+2028)"],
  ["a\u009b31m.inf", "contains an invisible character (U+009B)"],
];

test("files whose names Windows cannot create are left out with a warning, and the other files are read", async () => {
  for (const [name, flaw] of unusable) {
    const zip = makeZip([{ name, bytes: "x" }, ...twoFiles]);
    const { entries, leftOut, warnings } = await readArchive(sourceOf(zip));

    assert.deepEqual(
      entries.map(({ path }) => path),
      ["a.txt", "b.txt"],
      name,
    );
    assert.deepEqual(leftOut, [{ path: name, flaw }]);
    assert.match(warnings.join(), /^Packages leave out files that Windows cannot create: “/);
  }
  const broken = [{ name: "", rawName: Buffer.from([0xff, 0xfe]), flags: 0x800 }];
  const short = Buffer.from("a.txt");
  const long = [{ name: "", rawName: short, extra: unicodeExtra(short, `${".".repeat(65_000)}x`) }];
  const many = unusable.slice(0, 5).map(([name]) => ({ name }));
  assert.match(String((await readArchive(sourceOf(makeZip(broken)))).warnings), /is not valid UTF-8/);
  assert.match(
    String((await readArchive(sourceOf(makeZip(long)))).warnings),
    /is longer than 240 characters/,
  );
  assert.match(
    String((await readArchive(sourceOf(makeZip(many)))).warnings),
    /, “lpt1” is [\w ]+ and 1 more\.$/,
  );
});

test("empty folder names, `.`, and dots and spaces at the end of names are dropped, as unpackers do", async () => {
  const { paths, warnings } = await readNames(
    "./a.inf",
    "b//b.inf",
    "/c.inf",
    "\\\\host\\d.inf",
    "Acme 1 /e.inf",
    "Acme Inc./f.inf. .",
  );

  assert.deepEqual(paths, ["a.inf", "b/b.inf", "c.inf", "host/d.inf", "Acme 1/e.inf", "Acme Inc/f.inf"]);
  assert.deepEqual(warnings, []);
});

test("a folder is known by the slash at its end or by its attribute", async () => {
  const folder = { externalAttributes: 0x10, method: 0 };

  const contents = await contentsOf(
    makeZip([
      { name: "./", method: 0 },
      { name: "x64", ...folder },
      { name: "x64/a.inf", bytes: "1" },
      { name: "full", ...folder, bytes: "2" },
    ]),
  );

  assert.deepEqual(contents, { "x64/a.inf": "1", full: "2" });
});

test("names in Shift-JIS are read if their second bytes are `|` or `\\`, which CP437 cannot mean", async () => {
  const part = (hex: string, bytes = "x") => ({ name: "", rawName: Buffer.from(hex, "hex"), bytes });
  const [table, port, plain] = ["955c", "837c", "82a0"];

  const japanese = await contentsOf(
    makeZip([part(`${table}2f612e696e66`), part(`${port}2e747874`), part(`${plain}2e747874`)]),
  );
  const western = await contentsOf(
    makeZip([part("815c", ""), part("815c782e747874"), part(`${plain}2e747874`)]),
  );

  assert.deepEqual(Object.keys(japanese), ["表/a.inf", "ポ.txt", "あ.txt"]);
  assert.deepEqual(Object.keys(western), ["ü/x.txt", "éá.txt"]);
});

test("the table of contents overrides local headers, and unlisted files are ignored", async () => {
  const local = { name: Buffer.from("../b.txt"), method: 8, crc: 1, size: 4, packedSize: 4, flags: 0x801 };
  const zip = makeZip(
    [
      { name: "a.txt", bytes: "hello", method: 0, local },
      { name: "hidden.txt", bytes: "unlisted" },
    ],
    { order: [0] },
  );

  assert.deepEqual(await contentsOf(zip), { "a.txt": "hello" });
});

test("an archive with a signed directory or a program before it is read, also with ZIP64 records", async () => {
  const prefix = Buffer.alloc(5000, "MZ");
  const directoryTrailer = Buffer.from("PK\x05\x05\x03\x00abc", "latin1");

  for (const options of [{ directoryTrailer }, { prefix }, { prefix, withZip64End: true }]) {
    const zip = makeZip([{ name: "a.inf", bytes: "inside", withZip64: "withZip64End" in options }], options);

    assert.deepEqual(await contentsOf(zip), { "a.inf": "inside" });
  }
});

test("a name that is a file and a folder is refused: Windows cannot create both", async () => {
  const { paths } = await readNames("x86", "x86.b/a.dll");

  assert.deepEqual(paths, ["x86", "x86.b/a.dll"]);
  await assert.rejects(readNames("x86", "x86/a.dll"), /contains “x86” as a file and as a folder/);
  await assert.rejects(readNames("X86/b/a.dll", "b.dll", "x86/B"), /“x86\/B” as a file and as a folder/);
});

test("the later of two names that differ only by case counts, with a warning about the first pair and the number", async () => {
  const pairs = "abcdefg".split("").flatMap((letter) => [letter, letter.toUpperCase()]);

  const one = await readNames("Driver.dll", "other.dll", "DRIVER.DLL");
  const seven = await readNames(...pairs);

  assert.deepEqual(one.paths, ["other.dll", "DRIVER.DLL"]);
  assert.deepEqual(one.warnings, [
    "“Driver.dll” and “DRIVER.DLL” differ only in case. Windows keeps only the second file.",
  ]);
  assert.deepEqual(seven.warnings, [
    "“a” and “A” differ only in case. Windows keeps only the second file. In all, 7 pairs differ like this.",
  ]);
});

test("names that only resemble others are accepted: short names, accents, widths, blanks, ß and SS", async () => {
  const names = [
    ["LONGFI~1.INF", "longfilename.inf"],
    ["PAPYRU~1.CAT", "PAPYRU~2.CAT", "papyrus.cat"],
    ["cafe\u0301.inf", "cafe.inf", "caf\u00e9.inf"],
    ["d.inf", "\uff44.inf"],
    ["\u0641\u0627\u0631\u0633\u06cc\u200c\u0647\u0627.pdf"],
    ["a b.inf", "ab.inf", "a-b.inf"],
    ["é.txt", "e\u0301.txt", "straße.txt", "STRASSE.txt"],
  ];

  for (const some of names) assert.deepEqual((await readNames(...some)).paths, some);
  assert.deepEqual((await readNames("Ä.txt", "ä.txt")).paths, ["ä.txt"]);
});

for (const [packer, { skip, pack }] of Object.entries(packers)) {
  test(`an archive of ${packer} is read`, { skip }, async () => {
    const tree = {
      "printer.inf": "[Version]",
      "amd64/driver.dll": "driver".repeat(20_000),
      "amd64/Büro ä.txt": "umlauts",
      "empty.txt": "",
    };

    const files = Object.entries(tree).map(([name, text]) => [name, Buffer.from(text)]);
    const contents = await contentsOf(pack(Object.fromEntries(files)));

    assert.deepEqual(contents, tree);
  });
}

test("a wrong checksum, a wrong size and damaged data are refused", async () => {
  const wrong = [
    { crc: 1 },
    { size: 4 },
    { size: 6 },
    { packed: Buffer.from("no deflate data") },
    { method: 0, crc: 1 },
  ];

  for (const fields of wrong) {
    const zip = makeZip([{ name: "a.txt", bytes: "hello", ...fields }]);
    await assert.rejects(contentsOf(zip), { name: "UserError", message: /“a\.txt” does not match/ });
  }
});

test("a ZIP is refused with one sentence for anything that packages must not contain", async () => {
  for (const [what, message, parts, options] of refused)
    await assertRefused(makeZip(parts, options), message, what);
});

test("a ZIP64 archive is refused for wrong fields in its end records", async () => {
  /** The offset from the plain end record, the bytes there, and the message. */
  const wrong: [what: string, offset: number, bytes: Buffer, message: RegExp][] = [
    ["a disk of the ZIP64 record", -60, Buffer.of(1, 0, 0, 0), /one part of several/],
    ["several disks", -4, Buffer.of(2, 0, 0, 0), /one part of several/],
    ["no ZIP64 record", -76, Buffer.from("XX"), /ZIP64 end record is missing/],
    ["another number on this disk", -52, Buffer.of(1), /one part of several/],
  ];

  for (const [what, offset, lie, message] of wrong) {
    const zip = makeZip(twoFiles, { withZip64End: true });
    lie.copy(zip, zip.lastIndexOf("PK\x05\x06", undefined, "latin1") + offset);
    await assertRefused(zip, message, what);
  }
});

const hello = { bytes: "hello", method: 0 };

test("a file that contains another file's header is refused as overlapping", () => {
  const inner = makeZip([{ name: "b.txt", ...hello }]);
  const zip = makeZip([
    { name: "a.txt", bytes: inner.subarray(0, 30 + 5 + 5), method: 0 },
    { name: "b.txt", ...hello },
  ]);
  zip.writeUInt32LE(30 + 5, zip.lastIndexOf("b.txt") - 4);

  return assertRefused(zip, /“a\.txt” and “b\.txt” overlap\./);
});

test("a table of contents whose last entry extends beyond its end is refused", () => {
  const zip = makeZip([{ name: "a.txt", ...hello }]);
  zip.writeUInt16LE(5, zip.lastIndexOf("PK\x01\x02", undefined, "latin1") + 32);

  return assertRefused(zip, /table of contents is cut off/);
});

test("bytes hidden after the packed bytes of a file are refused, in small and large files", async () => {
  for (const [size, extraBytes] of [
    [10, 1],
    [10, 3_000_000],
    [5_000_000, 100],
  ]) {
    const bytes = Buffer.alloc(size ?? 0, "abc");
    const packed = Buffer.concat([deflateRawSync(bytes), Buffer.alloc(extraBytes ?? 0)]);
    const source = sourceOf(makeZip([{ name: "a.txt", bytes, packed }]));
    const { entries } = await readArchive(source);

    for (const entry of entries) {
      assert.equal(entry.crc32, crc32(bytes));
      await assert.rejects(checkEntry(source, entry, 0), /does not match its checksum/);
    }
    assert.equal(entries.length, 1);
  }
});
