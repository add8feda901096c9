import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { UserError } from "../../../src/domain/errors.ts";
import { checkEntry, readArchive } from "../../../src/pkg/zip/archive.ts";
import { deepTest } from "../../support/depth.ts";
import { hello, refused } from "../../support/drivers/refused-zips.ts";
import { makeZip, sourceOf } from "../../support/drivers/zip.ts";

for (const [what, message, parts, options] of refused) {
  test(`a ZIP is refused with one sentence for ${what}`, async () => {
    const zip = makeZip(parts, options);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("a file that contains another file's header is refused as overlapping", async () => {
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

  await assert.rejects(readArchive(sourceOf(zip)), /“a\.txt” and “b\.txt” overlap\./);
});

test("a table of contents whose last entry extends beyond its end is refused", async () => {
  const zip = makeZip([{ name: "a.txt", ...hello }]);
  const record = zip.lastIndexOf("PK\x01\x02", undefined, "latin1");
  zip.writeUInt16LE(5, record + 32);

  await assert.rejects(readArchive(sourceOf(zip)), /table of contents is cut off/);
});

test("a warning names the first file that differs only by case and counts the others", async () => {
  const names = "abcdefg".split("").flatMap((letter) => [letter, letter.toUpperCase()]);
  const zip = makeZip(names.map((name) => ({ name, ...hello })));

  const { warnings } = await readArchive(sourceOf(zip));

  assert.deepEqual(warnings, [
    "“a” and “A” differ only in case. Windows keeps only the second file. In all, 7 pairs differ like this.",
  ]);
});

test("bytes hidden after the packed bytes of a file are refused, in small and large files", async () => {
  for (const size of [10, 5_000_000]) {
    for (const extraBytes of [1, 100, 3_000_000]) {
      const bytes = Buffer.alloc(size, "abc");
      const packed = Buffer.concat([deflateRawSync(bytes), Buffer.alloc(extraBytes)]);
      const source = sourceOf(makeZip([{ name: "a.txt", bytes, packed }]));
      const { entries } = await readArchive(source);

      for (const entry of entries) {
        assert.equal(entry.crc32, crc32(bytes));
        await assert.rejects(checkEntry(source, entry, 0), /does not match its checksum/);
      }
    }
  }
});

deepTest("20,000 names that differ only by case make one warning", async () => {
  const names = Array.from({ length: 10_000 }, (_, i) =>
    i.toString(2).padStart(14, "0").replaceAll("0", "A"),
  );
  const zip = makeZip(names.flatMap((name) => [{ name }, { name: name.replaceAll("A", "a") }]).slice(0, -1));

  const { entries, warnings } = await readArchive(sourceOf(zip));

  assert.equal(entries.length, 10_000);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /9999 pairs differ/);
});
