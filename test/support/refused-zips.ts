import { makeZip, unicodeExtra, type ZipOptions, type ZipPart, zip64Extra } from "./zip.ts";
import { named, raw, two } from "./zip-parts.ts";

export const hello = { bytes: "hello", method: 0 };
const differs = /give “a\.txt” different/;

/** ZIPs of these parts are refused: what is wrong, what is said of it, and how the ZIP is written. */
export const refused: [string, RegExp, readonly ZipPart[], ZipOptions?][] = [
  ["an encrypted entry", /encrypted \(“a\.txt”\)/, [{ name: "a.txt", bytes: "x", flags: 0x801 }]],
  ["strong encryption", /encrypted/, [{ name: "a.txt", bytes: "x", flags: 0x841 }]],
  ["a part of several", /one part of several/, two, { diskNumber: 1 }],
  [
    "Deflate64",
    /a method \(9\) that packages cannot hold/,
    [{ name: "a.txt", bytes: "x", method: 9, packed: Buffer.from("x") }],
  ],
  ["LZMA", /a method \(14\)/, [{ name: "a.txt", bytes: "x", method: 14, packed: Buffer.from("x") }]],
  [
    "a symbolic link",
    /symbolic link/,
    [{ name: "a", bytes: "b", madeBy: 0x314, externalAttributes: (0o120777 << 16) >>> 0 }],
  ],
  ["two names for one place", /overlap in this ZIP/, two, { pointTo: [0, 0] }],
  ["a bomb", /two hundred times its size/, [{ name: "a.bin", bytes: "x", size: 0x3000_0000 }]],
  [
    "more than 4 GB",
    /more than 4 GB/,
    [
      { name: "a", bytes: "x", size: 0xffff_fffe },
      { name: "b", bytes: "x", size: 0xffff_fffe },
    ],
  ],
  ["another name in the local header", differs, [{ name: "a.txt", local: { name: raw("b.txt") } }]],
  ["a local name that leads out", differs, [{ name: "a.txt", local: { name: raw("../b.txt") } }]],
  ["a longer local name", differs, [{ name: "a.txt", local: { name: raw("a.txt.exe") } }]],
  [
    "a local Unicode name that leads out",
    /leads out/,
    [{ name: "a.txt", local: { extra: unicodeExtra(raw("a.txt"), "../b.txt") } }],
  ],
  [
    "another local Unicode name",
    /give “b” different names/,
    [{ ...named("a", "b"), local: { extra: unicodeExtra(raw("a"), "c") } }],
  ],
  ["another local method", differs, [{ name: "a.txt", ...hello, local: { method: 8 } }]],
  ["a local header that is encrypted", differs, [{ name: "a.txt", ...hello, local: { flags: 0x801 } }]],
  ["another local checksum", differs, [{ name: "a.txt", ...hello, local: { crc: 1 } }]],
  ["another local size", differs, [{ name: "a.txt", ...hello, local: { size: 4 } }]],
  ["another local packed size", differs, [{ name: "a.txt", ...hello, local: { packedSize: 4 } }]],
  [
    "local sizes of nothing",
    differs,
    [{ name: "a.txt", ...hello, local: { size: 0, packedSize: 0, crc: 0 } }],
  ],
  [
    "a wrong local size before a data descriptor",
    differs,
    [{ name: "a.txt", bytes: "x", withDescriptor: true, local: { size: 4 } }],
  ],
  [
    "another local ZIP64 size",
    differs,
    [
      {
        name: "a.txt",
        ...hello,
        local: { size: 0xffffffff, packedSize: 0xffffffff, extra: zip64Extra(5, 4) },
      },
    ],
  ],
  ["a missing local ZIP64 size", differs, [{ name: "a.txt", ...hello, local: { size: 0xffffffff } }]],
  ["a folder with contents", /the folder “a\/” has contents/, [{ name: "a/", bytes: "x" }]],
  ["more files than counted", /goes on after the 1 files/, two, { count: 1 }],
  ["more files than counted, with ZIP64", /goes on after the 1 files/, two, { count: 1, withZip64End: true }],
  ["fewer files than counted", /lists 2 files where its end counts 3/, two, { count: 3 }],
  ["fewer files than counted, with ZIP64", /lists 2 files/, two, { count: 3, withZip64End: true }],
  ["bytes behind its directory", /goes on after/, two, { directoryTail: Buffer.alloc(46) }],
  ["a file that is not listed", /does not list/, two, { order: [0] }],
  ["a first file that is not listed", /does not list/, two, { order: [1] }],
  ["no file that is listed", /does not list/, two, { order: [] }],
  [
    "a file hidden behind a data descriptor",
    /does not list/,
    [
      { name: "a.txt", bytes: "x", withDescriptor: true },
      { name: "b.txt", bytes: "y" },
    ],
    { order: [0] },
  ],
  ["an archive in front of it", /does not list/, two, { prefix: makeZip([{ name: "c.txt" }]) }],
];

/** The same, for what is wrong with a name. */
export const refusedNames: [string, RegExp, readonly ZipPart[]][] = [
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
  ["a name that turns the direction of text", /nobody sees \(U\+202E\)/, [{ name: "x\u202efni.exe" }]],
  [
    "a name with a blank of no width",
    /“a\[U\+200B\]\.inf” contains a character that nobody/,
    [{ name: "a\u200b.inf" }],
  ],
  ["a name with a mark of byte order", /nobody sees \(U\+FEFF\)/, [{ name: "\ufeffa.inf" }]],
  ["a name with the end of a line", /nobody sees \(U\+2028\)/, [{ name: "a\u2028.inf" }]],
  ["a name with a terminal's command", /nobody sees \(U\+009B\)/, [{ name: "a\u009b31m.inf" }]],
  ["a file that is an empty folder too", /a file and a folder/, [{ name: "A" }, { name: "a/", method: 0 }]],
];
/** Changes an archive in place. */
type Change = (zip: Buffer, end: number) => Buffer;

export const plain = makeZip(two);
export const large = makeZip(two, { withZip64End: true });
export const last = (zip: Buffer) => zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
/** A second archive of the same files, its directory as long as the other's. */
const other = makeZip(two.map((part) => ({ ...part, bytes: "evil" })));

/** ZIPs that two programs would read differently. */
export const twoReadings: [string, RegExp, Change][] = [
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

/** Fields of the three end records, from where the plain one starts: offset, length, a lie, what is said. */
export const endLies: [string, RegExp, number, Buffer][] = [
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
