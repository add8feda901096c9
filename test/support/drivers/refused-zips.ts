import { makeZip, type ZipOptions, type ZipPart } from "./zip.ts";
import { named, two } from "./zip-parts.ts";

export const hello = { bytes: "hello", method: 0 };

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
  ["a folder with contents", /the folder “a\/” has contents/, [{ name: "a/", bytes: "x" }]],
  ["more files than counted", /goes on after the 1 files/, two, { count: 1 }],
  ["more files than counted, with ZIP64", /goes on after the 1 files/, two, { count: 1, withZip64End: true }],
  ["fewer files than counted", /lists 2 files where its end counts 3/, two, { count: 3 }],
  ["fewer files than counted, with ZIP64", /lists 2 files/, two, { count: 3, withZip64End: true }],
  ["bytes behind its directory", /goes on after/, two, { directoryTail: Buffer.alloc(46) }],
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
  ["a Unicode name that leads out", /leads out/, [named("b.txt", "../b.txt")]],
  ["a name that turns the direction of text", /nobody sees \(U\+202E\)/, [{ name: "x\u202efni.exe" }]],
  [
    "a name with a blank of no width",
    /“a\[U\+200B\]\.inf” contains a character that nobody/,
    [{ name: "a\u200b.inf" }],
  ],
  ["a name with a mark of byte order", /nobody sees \(U\+FEFF\)/, [{ name: "\ufeffa.inf" }]],
  ["a name with the end of a line", /nobody sees \(U\+2028\)/, [{ name: "a\u2028.inf" }]],
  ["a name with a terminal's command", /nobody sees \(U\+009B\)/, [{ name: "a\u009b31m.inf" }]],
];

export const large = makeZip(two, { withZip64End: true });
export const last = (zip: Buffer) => zip.lastIndexOf("PK\x05\x06", undefined, "latin1");

/** Fields of the ZIP64 end records, from where the plain one starts: offset, length, a lie, what is said. */
export const endLies: [string, RegExp, number, Buffer][] = [
  ["a disk of the ZIP64 record", /one part of several/, -60, Buffer.from([1, 0, 0, 0])],
  ["several disks", /one part of several/, -4, Buffer.from([2, 0, 0, 0])],
  ["no ZIP64 record", /ZIP64 end record is missing/, -76, Buffer.from("XX")],
  ["another number on this disk", /one part of several/, -52, Buffer.from([1])],
];
