import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { readArchive } from "../../../src/pkg/zip/archive.ts";
import { refusedNames } from "../../support/drivers/refused-zips.ts";
import { makeZip, sourceOf } from "../../support/drivers/zip.ts";

for (const [what, message, parts] of refusedNames) {
  test(`a ZIP is refused with one sentence for ${what}`, async () => {
    const zip = makeZip(parts);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

test("names that only resemble others are accepted: short names, accents, widths and blanks", async () => {
  const names = [
    ["LONGFI~1.INF", "longfilename.inf"],
    ["PAPYRU~1.CAT", "PAPYRU~2.CAT", "papyrus.cat"],
    ["cafe\u0301.inf", "cafe.inf", "caf\u00e9.inf"],
    ["d.inf", "\uff44.inf"],
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
