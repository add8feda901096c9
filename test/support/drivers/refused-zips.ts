import { makeZip, type ZipOptions, type ZipPart } from "./zip.ts";
import { fileWithUnicodeName, twoFiles } from "./zip-parts.ts";

export const hello = { bytes: "hello", method: 0 };

/** ZIPs that are refused: the problem, the message, the parts and the options. */
export const refused: [string, RegExp, readonly ZipPart[], ZipOptions?][] = [
  ["an encrypted entry", /encrypted \(“a\.txt”\)/, [{ name: "a.txt", bytes: "x", flags: 0x801 }]],
  ["strong encryption", /encrypted/, [{ name: "a.txt", bytes: "x", flags: 0x841 }]],
  ["one part of several", /one part of several/, twoFiles, { diskNumber: 1 }],
  [
    "Deflate64",
    /a method \(9\) that packages cannot contain/,
    [{ name: "a.txt", bytes: "x", method: 9, packed: Buffer.from("x") }],
  ],
  ["LZMA", /a method \(14\)/, [{ name: "a.txt", bytes: "x", method: 14, packed: Buffer.from("x") }]],
  [
    "a symbolic link",
    /symbolic link/,
    [{ name: "a", bytes: "b", madeBy: 0x314, externalAttributes: (0o120777 << 16) >>> 0 }],
  ],
  ["two names for one place", / overlap\./, twoFiles, { pointTo: [0, 0] }],
  ["a ZIP bomb", /200 times its size/, [{ name: "a.bin", bytes: "x", size: 0x3000_0000 }]],
  [
    "more than 4 GB",
    /more than 4 GB/,
    [
      { name: "a", bytes: "x", size: 0xffff_fffe },
      { name: "b", bytes: "x", size: 0xffff_fffe },
    ],
  ],
  ["a folder with contents", /the folder “a\/” has contents/, [{ name: "a/", bytes: "x" }]],
  ["more files than counted", /goes on after the 1 files/, twoFiles, { count: 1 }],
  [
    "more files than counted, with ZIP64",
    /goes on after the 1 files/,
    twoFiles,
    { count: 1, withZip64End: true },
  ],
  ["fewer files than counted", /lists 2 files where its end counts 3/, twoFiles, { count: 3 }],
  ["fewer files than counted, with ZIP64", /lists 2 files/, twoFiles, { count: 3, withZip64End: true }],
  ["bytes after its directory", /goes on after/, twoFiles, { directoryTrailer: Buffer.alloc(46) }],
];

/** ZIPs that are refused because of a name: the problem, the message and the parts. */
export const refusedNames: [string, RegExp, readonly ZipPart[]][] = [
  ["a name that leads out", /points outside the ZIP/, [{ name: "a/../../b.txt", bytes: "x" }]],
  ["a name that leads out with backslashes", /points outside the ZIP/, [{ name: "..\\b.txt", bytes: "x" }]],
  ["an absolute name", /is absolute/, [{ name: "/etc/passwd", bytes: "x" }]],
  ["a drive letter", /drive letter/, [{ name: "C:/b.txt", bytes: "x" }]],
  ["a network path", /is absolute/, [{ name: "\\\\host\\share\\b.txt", bytes: "x" }]],
  ["a device", /Windows device/, [{ name: "sub/CON.inf", bytes: "x" }]],
  ["another device", /Windows device/, [{ name: "lpt1", bytes: "x" }]],
  ["a stream", /does not allow/, [{ name: "a.txt:hidden", bytes: "x" }]],
  ["a name ending with a dot", /dot or space/, [{ name: "a./b.txt", bytes: "x" }]],
  ["a control character", /control character/, [{ name: "a\u0007.txt", bytes: "x" }]],
  ["an empty name", /is empty/, [{ name: "", bytes: "x" }]],
  ["a very long name", /longer than 240/, [{ name: "x".repeat(241), bytes: "x" }]],
  ["a duplicate name", /contains “a\.txt” twice/, [{ name: "a.txt" }, { name: "a.txt" }]],
  [
    "names that are not UTF-8",
    /not valid UTF-8/,
    [{ name: "", rawName: Buffer.from([0xff, 0xfe]), flags: 0x800, bytes: "x" }],
  ],
  ["a device with blanks", /Windows device/, [{ name: "con .txt" }]],
  ["a device with many blanks", /Windows device/, [{ name: "sub/Aux    .inf/a.txt" }]],
  ["the device CLOCK$", /Windows device/, [{ name: "CLOCK$" }]],
  ["a file of the device CLOCK$", /Windows device/, [{ name: "clock$.txt" }]],
  ["the device CONIN$", /Windows device/, [{ name: "CONIN$.a" }]],
  ["the device CONOUT$", /Windows device/, [{ name: "conout$ .a" }]],
  ["a port with a raised digit", /Windows device/, [{ name: "COM².inf" }]],
  ["a raised digit and a blank", /Windows device/, [{ name: "lpt³ .inf" }]],
  ["dots and blanks that Windows drops", /points outside/, [{ name: "a/.. /b.txt" }]],
  ["a Unicode name that leads out", /points outside/, [fileWithUnicodeName("b.txt", "../b.txt")]],
  ["a name with a direction control", /an invisible character \(U\+202E\)/, [{ name: "x\u202efni.exe" }]],
  [
    "a name with a zero-width space",
    /“a\[U\+200B\]\.inf” contains an invisible character/,
    [{ name: "a\u200b.inf" }],
  ],
  ["a name with a byte order mark", /an invisible character \(U\+FEFF\)/, [{ name: "\ufeffa.inf" }]],
  ["a name with a line separator", /an invisible character \(U\+2028\)/, [{ name: "a\u2028.inf" }]],
  [
    "a name with a terminal control sequence",
    /an invisible character \(U\+009B\)/,
    [{ name: "a\u009b31m.inf" }],
  ],
];

export const zip64Archive = makeZip(twoFiles, { withZip64End: true });
export const endRecordOffset = (zip: Buffer) => zip.lastIndexOf("PK\x05\x06", undefined, "latin1");

/** Wrong fields of the ZIP64 end records: the problem, the message, the offset from the plain end record, the bytes. */
export const wrongEndRecords: [string, RegExp, number, Buffer][] = [
  ["a disk of the ZIP64 record", /one part of several/, -60, Buffer.from([1, 0, 0, 0])],
  ["several disks", /one part of several/, -4, Buffer.from([2, 0, 0, 0])],
  ["no ZIP64 record", /ZIP64 end record is missing/, -76, Buffer.from("XX")],
  ["another number on this disk", /one part of several/, -52, Buffer.from([1])],
];
