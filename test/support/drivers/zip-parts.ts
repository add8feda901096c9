import { unicodeExtra, type ZipPart } from "./zip.ts";

export const twoFiles: ZipPart[] = [
  { name: "a.txt", bytes: "aaaa" },
  { name: "b.txt", bytes: "bbbb" },
];

const raw = (name: string) => Buffer.from(name, "latin1");

/** A file with a raw name and another name in its Unicode field. */
export const fileWithUnicodeName = (name: string, unicode: string): ZipPart => ({
  name: "",
  rawName: raw(name),
  extra: unicodeExtra(raw(name), unicode),
  bytes: "x",
});
