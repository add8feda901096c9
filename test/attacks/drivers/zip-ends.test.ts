import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../src/domain/errors.ts";
import { readArchive } from "../../../src/pkg/zip/archive.ts";
import { endRecordOffset, wrongEndRecords, zip64Archive } from "../../support/drivers/refused-zips.ts";
import { sourceOf } from "../../support/drivers/zip.ts";

for (const [what, message, offset, lie] of wrongEndRecords) {
  test(`a ZIP64 archive is refused for ${what} in an end record`, async () => {
    const zip = Buffer.from(zip64Archive);
    lie.copy(zip, endRecordOffset(zip64Archive) + offset);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}
