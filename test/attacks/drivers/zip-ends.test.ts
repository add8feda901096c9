import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { readArchive } from "../../../src/pkg/zip/archive.ts";
import { endLies, large, last } from "../../support/drivers/refused-zips.ts";
import { sourceOf } from "../../support/drivers/zip.ts";

for (const [what, message, offset, lie] of endLies) {
  test(`${what} in one of its end records: a ZIP64 archive is refused`, async () => {
    const zip = Buffer.from(large);
    lie.copy(zip, last(large) + offset);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}
