import { deflateSync } from "fflate";
import { makeZip, unicodeExtra, type ZipOptions, type ZipPart, zip64Extra } from "./zip.ts";

type Random = (bound: number) => number;

const text = "some text that can be packed, ".repeat(20);
const files: ZipPart[] = [
  { name: "printer.inf", bytes: text },
  { name: "amd64/driver.dll", bytes: text.toUpperCase(), method: 0 },
  { name: "empty.txt" },
];

/** Valid archives in the forms of common ZIP writers, a few files each. */
export function validZips(): Buffer[] {
  const raw = Buffer.from([0x42, 0x81, 0x72, 0x6f]);
  const full = { packedSize: 0xffffffff, size: 0xffffffff };
  const zeros = { crc: 0, packedSize: 0, size: 0 };
  return [
    zipOf(files),
    zipOf(files.map((file) => ({ ...file, withDescriptor: true }))),
    zipOf(
      files.map((file) => ({ ...file, withZip64: true })),
      { withZip64End: true },
    ),
    zipOf([
      { name: "a.txt", bytes: text, withDescriptor: true, local: { ...full, extra: zip64Extra(0, 0) } },
    ]),
    zipOf([{ name: "", rawName: raw, bytes: text }, ...files], { comment: "a comment" }),
    zipOf([{ name: "", rawName: raw, extra: unicodeExtra(raw, "Büro"), bytes: text }, ...files]),
    zipOf([{ name: "", rawName: Buffer.from("dir\\a.txt"), bytes: text }]),
    zipOf(files, { prefix: Buffer.alloc(300, "MZ") }),
    zipOf([...files, { name: "dir/", method: 0 }, { name: "dir/a", bytes: "a" }], {
      order: [4, 2, 0, 3, 1],
    }),
    zipOf([{ name: "inner.zip", bytes: zipOf(files), method: 0 }]),
    zipOf([
      { name: "Driver.dll", bytes: "old" },
      { name: "DRIVER.DLL", bytes: "new" },
    ]),
    zipOf([]),
    zipOf([
      { name: "infozip.txt", bytes: text, withDescriptor: true, local: full },
      { name: "known.txt", bytes: text, flags: 0x808 },
      { name: "flag.txt", bytes: text, flags: 0x808, local: { flags: 0x800, ...zeros } },
      { name: "large.txt", bytes: "large", local: { ...full, extra: zip64Extra(5, 7) } },
      { name: "", rawName: Buffer.from("a\\b.txt"), bytes: text, local: { name: Buffer.from("a/b.txt") } },
      { name: "ascii.txt", bytes: text, local: { flags: 0 } },
      { name: "padded.txt", bytes: text, local: { extra: Buffer.alloc(4096) } },
    ]),
  ];
}

/** Packs with fflate, which makes the same bytes on every system, so that the same damage hits the same bytes. */
function zipOf(parts: readonly ZipPart[], options?: ZipOptions): Buffer {
  const packed = (part: ZipPart) => Buffer.from(deflateSync(Buffer.from(part.bytes ?? "")));
  return makeZip(
    parts.map((part) => (part.method === 0 ? part : { ...part, packed: packed(part) })),
    options,
  );
}

/** One of the archives, damaged in one to three places. */
export function damagedZip(seeds: readonly Buffer[], random: Random): Buffer {
  let zip: Buffer = Buffer.from(pick(seeds, random));
  for (let n = 1 + random(3); n > 0; n--) zip = pick(damages, random)(zip, random, seeds);
  return zip;
}

function pick<T>(items: readonly T[], random: Random): T {
  const item = items[random(items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

type Damage = (zip: Buffer, random: Random, seeds: readonly Buffer[]) => Buffer;

/** Structures of a ZIP: the signature, and the offset and length of each field. */
const structures = (
  [
    ["PK\x03\x04", "0:4 4:2 6:2 8:2 14:4 18:4 22:4 26:2 28:2 30:4"],
    ["PK\x01\x02", "4:2 8:2 10:2 16:4 20:4 24:4 28:2 30:2 32:2 34:2 38:4 42:4 46:4"],
    ["PK\x05\x06", "4:2 6:2 8:2 10:2 12:4 16:4 20:2"],
    ["PK\x06\x06", "4:4 16:4 20:4 24:4 32:4 40:4 48:4 52:4"],
    ["PK\x06\x07", "4:4 8:4 12:4 16:4"],
    ["PK\x07\x08", "4:4 8:4 12:4"],
    ["\x75\x70", "2:2 4:1 5:4 9:4"],
    ["\x01\x00\x10\x00", "2:2 4:4 8:4 12:4"],
  ] as const
).map(([signature, fields]) => ({
  signature,
  fields: fields.split(" ").map((field) => field.split(":").map(Number) as [number, number]),
}));

const changeField: Damage = (zip, random) => {
  const { signature, fields } = pick(structures, random);
  const places = placesOf(zip, signature);
  const [offset, length] = pick(fields, random);
  const at = places.length === 0 ? zip.length : pick(places, random) + offset;
  if (at + length <= zip.length)
    zip.writeUIntLE(wrongValue(zip.readUIntLE(at, length), length, random), at, length);
  return zip;
};

function placesOf(zip: Buffer, signature: string): number[] {
  const places: number[] = [];
  for (let at = zip.indexOf(signature, 0, "latin1"); at >= 0; at = zip.indexOf(signature, at + 1, "latin1"))
    places.push(at);
  return places;
}

function wrongValue(truth: number, length: number, random: Random): number {
  const most = 256 ** length;
  const near = [truth + 1, truth - 1, truth + random(64), truth ^ (1 << random(8 * length))];
  const values = [0, 1, most - 1, ...near, random(most)];
  return (((pick(values, random) >>> 0) % most) + most) % most;
}

const changeByte: Damage = (zip, random) => {
  if (zip.length > 0) zip[random(zip.length)] = random(256);
  return zip;
};

const cut: Damage = (zip, random) => zip.subarray(0, random(zip.length + 1));

/** Replaces up to 60 bytes by up to 60 others. */
const replace: Damage = (zip, random) => {
  const at = random(zip.length + 1);
  const others = Buffer.alloc(random(60), random(256));
  return Buffer.concat([zip.subarray(0, at), others, zip.subarray(at + random(60))]);
};

/** Appends bytes, or another archive. */
const append: Damage = (zip, random, seeds) =>
  Buffer.concat([zip, pick([Buffer.alloc(1 + random(40), random(256)), pick(seeds, random)], random)]);

/** Copies a structure of this or another archive over a structure of this archive. */
const splice: Damage = (zip, random, seeds) => {
  const { signature } = pick(structures, random);
  const donor = random(2) === 0 ? zip : pick(seeds, random);
  const [from, to] = [placesOf(donor, signature), placesOf(zip, signature)];
  if (from.length === 0 || to.length === 0) return zip;
  const start = pick(from, random);
  const at = pick(to, random);
  const piece = donor.subarray(start, start + 20 + random(200));
  return Buffer.concat([zip.subarray(0, at), piece, zip.subarray(at + (random(2) === 0 ? piece.length : 0))]);
};

/** Each kind of damage as often as it is here. */
const damages: readonly Damage[] = [
  ...Array<Damage>(6).fill(changeField),
  ...[changeByte, changeByte, cut, replace, replace, append, append, splice, splice],
];
