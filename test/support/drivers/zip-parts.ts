import { unicodeExtra, type ZipPart } from "./zip.ts";

/** Two files. */
export const two: ZipPart[] = [
  { name: "a.txt", bytes: "aaaa" },
  { name: "b.txt", bytes: "bbbb" },
];

/** A name's bytes as old writers have them. */
const raw = (name: string) => Buffer.from(name, "latin1");

/** A file with another name in Unicode beside its raw one. */
export const named = (name: string, unicode: string): ZipPart => ({
  name: "",
  rawName: raw(name),
  extra: unicodeExtra(raw(name), unicode),
  bytes: "x",
});
