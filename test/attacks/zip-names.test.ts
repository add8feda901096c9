import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readArchive } from "../../src/pkg/zip/archive.ts";
import { checkShortNames } from "../../src/pkg/zip/archive-short-names.ts";
import { refusedNames } from "../support/refused-zips.ts";
import { makeZip, sourceOf } from "../support/zip.ts";

for (const [what, message, parts] of refusedNames) {
  test(`${what}: the ZIP is refused with one clear sentence`, async () => {
    const zip = makeZip(parts);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("names that only resemble others are taken: short ones of their own, accents, and old names alone", async () => {
  const names = [
    ["LONGFI~1.INF", "longfile.inf", "longfilename.dll", "other/longfilename.inf"],
    ["PAPYRU~1.CAT", "PAPYRU~2.CAT", "papyrus.cat"],
    ["cafe\u0301.inf", "cafe.inf", "caf\u00e9.dll"],
    ["\u0641\u0627\u0631\u0633\u06cc\u200c\u0647\u0627.pdf"],
    ["a b.inf", "ab.inf", "a-b.inf"],
  ];

  for (const some of names) {
    const { entries } = await readArchive(sourceOf(makeZip(some.map((name) => ({ name })))));

    assert.deepEqual(
      entries.map(({ path }) => path),
      some,
    );
  }
});

test("60,000 names that may be short ones take no product of them and the others, nor of their folders", () => {
  const short = Array.from({ length: 30_000 }, (_, i) => `${i % 1_000}/PAPY${i % 7}~${i % 100}.INF`);
  const deep = `${"A~1/".repeat(50)}papyrus-of-a-long-name.`;

  const started = performance.now();
  checkShortNames([...short, ...short.map((_, i) => `${deep}${i}`)]);

  assert.ok(performance.now() - started < 10_000);
});
