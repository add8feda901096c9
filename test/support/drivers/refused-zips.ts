import { unicodeExtra, type ZipOptions, type ZipPart } from "./zip.ts";

export const twoFiles: ZipPart[] = [
  { name: "a.txt", bytes: "aaaa" },
  { name: "b.txt", bytes: "bbbb" },
];

const only = (part: Partial<ZipPart>): ZipPart[] => [{ name: "a.txt", bytes: "x", ...part }];
const large = { bytes: "x", size: 0xffff_fffe };

/** The problem, the message, the parts or the name of the only file, and the options. */
type Refusal<T> = [what: string, message: RegExp, parts: T, options?: ZipOptions | undefined];

const cases: readonly Refusal<readonly ZipPart[] | string>[] = [
  ["an encrypted entry", /encrypted \(“a\.txt”\)/, only({ flags: 0x801 })],
  ["strong encryption", /encrypted/, only({ flags: 0x841 })],
  ["one part of several", /one part of several/, twoFiles, { diskNumber: 1 }],
  ["Deflate64", /Deflate64[\s\S]* 7-Zip \(format ZIP, method Deflate\)/, only({ method: 9 })],
  ["LZMA", /a method \(14\)/, only({ method: 14 })],
  ["a symbolic link", /symbolic link/, only({ madeBy: 0x314, externalAttributes: 0xa1ff_0000 })],
  ["two names for one place", / overlap\./, twoFiles, { pointTo: [0, 0] }],
  ["a ZIP bomb", /200 times its size/, only({ size: 0x3000_0000 })],
  ["more than 4 GB", /more than 4 GB/, ["a", "b"].map((name) => ({ name, ...large }))],
  ["a folder with contents", /the folder “a” has contents/, "a/"],
  ["more files than counted", /goes on after the 1 files/, twoFiles, { count: 1 }],
  ["more than counted, with ZIP64", /goes on after the 1 files/, twoFiles, { count: 1, withZip64End: true }],
  ["fewer files than counted", /lists 2 files where its end counts 3/, twoFiles, { count: 3 }],
  ["fewer files than counted, with ZIP64", /lists 2 files/, twoFiles, { count: 3, withZip64End: true }],
  ["bytes after its directory", /goes on after/, twoFiles, { directoryTrailer: Buffer.alloc(46) }],
  ["a name that leads out", /points outside the ZIP\. Extract it/, "a/../../b.txt"],
  ["a name that leads out with backslashes", /points outside the ZIP/, "..\\b.txt"],
  [
    "a duplicate name",
    /contains “a\.txt” twice, as Windows reads names\. Extract it/,
    [...only({}), ...only({})],
  ],
  [
    "two names for one path",
    /contains “x\/a” twice, as/,
    [...only({ name: "x/a" }), ...only({ name: "./x.//a " })],
  ],
  ["dots and blanks that Windows drops", /points outside/, "a/.. /b.txt"],
  ["a Unicode name that leads out", /points outside/, [fileWithUnicodeName("b.txt", "../b.txt")]],
];

/** ZIPs that are refused. */
export const refused = cases.map(([what, message, parts, options]): Refusal<readonly ZipPart[]> => {
  return [what, message, typeof parts === "string" ? only({ name: parts }) : parts, options];
});

/** A file with a raw name and another name in its Unicode field. */
function fileWithUnicodeName(name: string, unicode: string): ZipPart {
  const rawName = Buffer.from(name, "latin1");
  return { name: "", rawName, extra: unicodeExtra(rawName, unicode), bytes: "x" };
}
