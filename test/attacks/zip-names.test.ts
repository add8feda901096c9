import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readArchive } from "../../src/pkg/zip/archive.ts";
import { makeZip, sourceOf, unicodeExtra, type ZipPart } from "../support/zip.ts";
import { named, raw } from "../support/zip-parts.ts";

const refused: [string, RegExp, readonly ZipPart[]][] = [
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
    "names that are no UTF-8",
    /not valid UTF-8/,
    [{ name: "", rawName: Buffer.from([0xff, 0xfe]), flags: 0x800, bytes: "x" }],
  ],
  ["a device with blanks", /Windows device/, [{ name: "con .txt" }]],
  ["a device with many blanks", /Windows device/, [{ name: "sub/Aux    .inf/a.txt" }]],
  ["the clock", /Windows device/, [{ name: "CLOCK$" }]],
  ["the clock's file", /Windows device/, [{ name: "clock$.txt" }]],
  ["the console for reading", /Windows device/, [{ name: "CONIN$.a" }]],
  ["the console for writing", /Windows device/, [{ name: "conout$ .a" }]],
  ["a port with a raised digit", /Windows device/, [{ name: "COM².inf" }]],
  ["a raised digit and a blank", /Windows device/, [{ name: "lpt³ .inf" }]],
  ["dots and blanks that Windows drops", /leads out/, [{ name: "a/.. /b.txt" }]],
  ["a raw name that leads out", /name “\.\.\/b\.txt” leads out/, [named("../b.txt", "b.txt")]],
  ["a raw name that is absolute", /is absolute/, [named("\\b.txt", "b.txt")]],
  ["a raw name with a drive letter", /drive letter/, [named("C:b.txt", "b.txt")]],
  ["a raw name of a device", /Windows device/, [named("nul", "b.txt")]],
  ["a raw name with an end in it", /control character/, [named("a.exe\0.txt", "b.txt")]],
  ["an empty raw name", /is empty/, [named("", "b.txt")]],
  ["a Unicode name that leads out", /leads out/, [named("b.txt", "../b.txt")]],
  ["a folder that is a file in Unicode", /also called/, [named("a/", "a.txt")]],
  [
    "a UTF-8 name with another one beside it",
    /“b\.txt” is also called “a\.txt”/,
    [{ ...named("a.txt", "b.txt"), flags: 0x800 }],
  ],
  [
    "two Unicode names",
    /two Unicode names/,
    [{ name: "a", extra: Buffer.concat([unicodeExtra(raw("a"), "b"), unicodeExtra(raw("a"), "c")]) }],
  ],
  ["a file that is an empty folder too", /a file and a folder/, [{ name: "A" }, { name: "a/", method: 0 }]],
];
for (const [what, message, parts] of refused) {
  test(`${what}: the ZIP is refused with one clear sentence`, async () => {
    const zip = makeZip(parts);

    await assert.rejects(
      readArchive(sourceOf(zip)),
      (error) => error instanceof UserError && message.test(error.message),
    );
  });
}
