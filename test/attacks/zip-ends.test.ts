import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readArchive } from "../../src/pkg/zip/archive.ts";
import { makeZip, sourceOf } from "../support/zip.ts";
import { two } from "../support/zip-parts.ts";

/** Changes an archive in place. */
type Change = (zip: Buffer, end: number) => Buffer;

const plain = makeZip(two);
const large = makeZip(two, { withZip64End: true });
const last = (zip: Buffer) => zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
/** A second archive of the same files, its directory as long as the other's. */
const other = makeZip(two.map((part) => ({ ...part, bytes: "evil" })));

const twoReadings: [string, RegExp, Change][] = [
  ["a second archive in its comment", /two ends, one in the comment/, () => makeZip(two, { comment: other })],
  ["an end in its comment", /cut off/, () => makeZip(two, { comment: `PK\x05\x06${"\xff".repeat(30)}` })],
  [
    "two directories behind each other",
    /two tables of contents/,
    (zip, end) => {
      const size = zip.readUInt32LE(end + 12);
      const directory = zip.subarray(end - size, end);
      return Buffer.concat([zip.subarray(0, end), directory, zip.subarray(end)]);
    },
  ],
  [
    "an end that points into the program in front",
    /two tables of contents/,
    (zip, end) => {
      const prefix = Buffer.alloc(1000);
      zip.copy(prefix, zip.readUInt32LE(end + 16), end - zip.readUInt32LE(end + 12), end);
      return Buffer.concat([prefix, zip]);
    },
  ],
];

for (const [what, message, change] of twoReadings) {
  test(`${what}: a ZIP that two programs would read differently is refused`, async () => {
    const zip = change(Buffer.from(plain), last(plain));

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}

/** Fields of the three end records, from where the plain one starts: offset, length, a lie, what is said. */
const endLies: [string, RegExp, number, Buffer][] = [
  ["another count", /contradict each other/, 8, Buffer.from([1, 0, 1, 0])],
  ["another directory size", /contradict each other/, 12, Buffer.from([1, 0, 0, 0])],
  ["another directory offset", /contradict each other/, 16, Buffer.from([1, 0, 0, 0])],
  ["another disk", /contradict each other/, 4, Buffer.from([1, 0])],
  ["another place of the ZIP64 record", /does not fit/, -12, Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])],
  ["a disk of the ZIP64 record", /one part of several/, -16, Buffer.from([1, 0, 0, 0])],
  ["several disks", /one part of several/, -4, Buffer.from([2, 0, 0, 0])],
  ["a longer ZIP64 record", /ZIP64 end record is missing/, -72, Buffer.from([60])],
  ["no ZIP64 record", /ZIP64 end record is missing/, -76, Buffer.from("XX")],
  ["another number on this disk", /one part of several/, -52, Buffer.from([1])],
];

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
