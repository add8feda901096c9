import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readArchive } from "../../src/pkg/zip/archive.ts";
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
