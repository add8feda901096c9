import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { fromBufferPromise } from "yauzl";
import { UserError } from "../../src/domain/errors.ts";
import { checkEntry, readArchive } from "../../src/pkg/zip/archive.ts";
import { rounds, seedOr } from "../support/depth.ts";
import { damagedZip, validZips } from "../support/drivers/damaged-zip.ts";
import { sourceOf } from "../support/drivers/zip.ts";
import { seededRandom } from "../support/random.ts";

/** The files by name. */
type Files = Map<string, { readonly size: number; readonly crc32: number; readonly bytes: Buffer }>;
/** The result of a reader: the files, or the reason why it refuses the archive. */
type Reading = Files | string;

async function readWithOurs(zip: Buffer): Promise<Reading> {
  const source = sourceOf(zip);
  try {
    const found: Files = new Map();
    for (const entry of (await readArchive(source)).entries) {
      const bytes = await checkEntry(source, entry, entry.size);
      found.set(entry.path, { size: entry.size, crc32: entry.crc32, bytes });
    }
    return found;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

interface Leniency {
  /** Whether names with `\` are refused; otherwise it counts as `/`. */
  readonly strictFileNames?: boolean;
  /** Names of files that are listed but not unpacked. */
  readonly skipped?: readonly string[];
}

/** Reads with yauzl and all its checks, and checks the checksums too, because yauzl does not. */
async function readWithTheirs(zip: Buffer, leniency: Leniency = {}): Promise<Reading> {
  const { strictFileNames = true, skipped = [] } = leniency;
  const found: Files = new Map();
  try {
    const file = await fromBufferPromise(zip, { lazyEntries: true, strictFileNames });
    for await (const entry of file.eachEntry()) {
      const name = entry.fileName;
      const isSkipped = skipped.includes(name);
      const bytes = isSkipped ? Buffer.alloc(0) : await buffer(await file.openReadStreamPromise(entry));
      assert.ok(!found.has(name), `${name} is there twice`);
      assert.ok(isSkipped || crc32(bytes) === entry.crc32, `${name}: wrong checksum`);
      found.set(name, { size: entry.uncompressedSize, crc32: entry.crc32, bytes });
    }
    return new Map([...found].filter(([name]) => !name.endsWith("/")));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Rules by which Platen refuses archives that yauzl reads, with the message of each. */
const strictness: readonly [rule: string, message: RegExp][] = [
  ["the directory is as long as its end says", /does not fit|cut off|goes on after|broken: it lists/],
  ["disk numbers, and the count of this disk", /one part of several/],
  ["the ZIP64 end record is right before its locator", /ZIP64 end record is missing/],
  ["files and their headers are before the directory", /is not where its table of contents says/],
  ["files do not overlap", / overlap\./],
  ["nothing follows the deflated bytes of a file", /does not match its checksum/],
  ["what is marked as encrypted, or as a link", /is encrypted|symbolic link/],
  ["no ZIP bombs", /more than 200 times its size/],
  ["names that lead out", /The path “/],
];

/** The offset of the last end record. */
const endOf = (zip: Buffer) => zip.lastIndexOf("PK\x05\x06", zip.length - 22, "latin1");

function withoutPrefix(zip: Buffer): Buffer {
  const end = endOf(zip);
  const isLarge = end >= 76 && zip.readUInt32LE(end - 20) === 0x07064b50;
  const prefix = isLarge
    ? end - 76 - Number(zip.readBigUInt64LE(end - 12))
    : end - zip.readUInt32LE(end + 12) - zip.readUInt32LE(end + 16);
  return zip.subarray(prefix);
}

function withoutSuffix(zip: Buffer): Buffer {
  const end = endOf(zip);
  return zip.subarray(0, end + 22 + zip.readUInt16LE(end + 20));
}

/** Replaces extra fields that are too long for their record by short ones of an unknown kind. */
function withFittingExtras(zip: Buffer): Buffer {
  const copy = Buffer.from(zip);
  const start = "PK\x01\x02";
  for (let at = copy.indexOf(start, 0, "latin1"); at >= 0; at = copy.indexOf(start, at + 1, "latin1")) {
    const from = at + 46 + copy.readUInt16LE(at + 28);
    const end = from + copy.readUInt16LE(at + 30);
    for (let field = from; field + 4 <= end; field += 4 + copy.readUInt16LE(field + 2)) {
      const space = end - field - 4;
      if (copy.readUInt16LE(field + 2) > space) copy.writeUInt32LE(0xffff + space * 0x10000, field);
    }
  }
  return copy;
}

/** The changed archive and options with which yauzl reads the same as Platen. */
type Repair = (zip: Buffer, ours: Files) => { readonly zip?: Buffer } & Leniency;

const misplaced = /header signature|end of central directory record sig|EOF|bounds/;
const unreadable = /wrong checksum|bytes in the stream|^invalid |^unexpected end/;

/** Archives that Platen reads and yauzl refuses: the reason, its message, and a repair. */
const tolerance: readonly [reason: string, message: RegExp, repair: Repair][] = [
  ["bytes after the comment", /^Invalid comment length/, (zip) => ({ zip: withoutSuffix(zip) })],
  ["`\\` as a slash", /^invalid characters in fileName: [^/]*\\/, () => ({ strictFileNames: false })],
  ["a long extra field", /^extra field length exceeds/, (zip) => ({ zip: withFittingExtras(zip) })],
  ["a program before it", misplaced, (zip) => ({ zip: withoutPrefix(zip) })],
  [
    "an omitted duplicate is damaged",
    unreadable,
    (_, ours) => ({ skipped: ["Driver.dll", "DRIVER.DLL"].filter((name) => !ours.has(name)) }),
  ],
];

/** Why yauzl refuses an archive; undefined unless it reads the same after the repairs. */
async function reasonOf(zip: Buffer, ours: Files, theirs: string): Promise<string | undefined> {
  const reasons: string[] = [];
  let given: { readonly zip: Buffer } & Leniency = { zip };
  let message = theirs;
  while (reasons.length < 4) {
    const [reason, , repair] = tolerance.find(([, pattern]) => pattern.test(message)) ?? [];
    if (reason === undefined || repair === undefined) return undefined;
    reasons.push(reason);
    given = { ...given, ...repair(given.zip, ours) };
    const retried = await readWithTheirs(given.zip, given);
    if (typeof retried !== "string") return same(ours, asOnWindows(retried)) ? reasons.join(", ") : undefined;
    message = retried;
  }
  return undefined;
}

const unusable = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}<>:"|*?\ufffd]/u;

/** The files as Windows creates them: without unusable names, without empty folder names, the last of names that differ only by case. */
function asOnWindows(found: Files): Files {
  const usable = [...found].filter(([name]) => !unusable.test(name));
  const plain = usable.map(([name, file]) => [plainName(name), file] as const);
  const last = new Map(plain.map(([name, file]) => [name.toUpperCase(), file]));
  return new Map(plain.filter(([name, file]) => last.get(name.toUpperCase()) === file));
}

function plainName(name: string): string {
  const parts = name.split(/[\\/]/).filter((part) => part !== "" && part !== ".");
  return parts.map((part) => part.replace(/[. ]+$/, "")).join("/");
}

async function verdict(zip: Buffer, ours: Reading, theirs: Reading): Promise<string> {
  if (typeof ours === "string") {
    if (typeof theirs === "string") return "both refuse";
    const rule = strictness.find(([, pattern]) => pattern.test(ours))?.[0];
    return rule === undefined ? `UNEXPLAINED, only we refuse: ${ours}` : `only we refuse: ${rule}`;
  }
  if (typeof theirs === "string") {
    const reason = await reasonOf(zip, ours, theirs);
    if (reason === undefined) return `two readings, only yauzl refuses: ${theirs}`;
    return `only yauzl refuses: ${reason}`;
  }
  if (same(ours, asOnWindows(theirs))) return "both read the same";
  return `two readings: ${[...ours.keys()]} and ${[...theirs.keys()]}`;
}

function same(ours: Files, theirs: Files): boolean {
  if (ours.size !== theirs.size) return false;
  return [...ours].every(([name, file]) => {
    const other = theirs.get(name);
    return other?.size === file.size && other.crc32 === file.crc32 && other.bytes.equals(file.bytes);
  });
}

test("yauzl agrees on honest archives and nearly all damaged ones, or a rule explains the difference", {
  timeout: 300_000,
}, async (t) => {
  const random = seededRandom(seedOr(20));
  const seeds = validZips();
  const verdicts = new Map<string, number>();

  for (let i = 0; i < rounds(300, 3000); i++) {
    const zip = seeds[i] ?? damagedZip(seeds, random);
    const kind = await verdict(zip, await readWithOurs(zip), await readWithTheirs(zip));
    const isRead = /^both read|^only yauzl/.test(kind);
    assert.ok(i >= seeds.length || isRead, `honest archive ${i}: ${kind}`);
    verdicts.set(kind, (verdicts.get(kind) ?? 0) + 1);
  }

  for (const [kind, count] of [...verdicts].sort(([, a], [, b]) => b - a)) t.diagnostic(`${count} ${kind}`);
  const counted = (pattern: RegExp) =>
    [...verdicts].reduce((sum, [kind, count]) => sum + (pattern.test(kind) ? count : 0), 0);
  assert.equal(counted(/^UNEXPLAINED/), 0, [...verdicts.keys()].join("\n"));
  // Damage may make one archive look like two. Packages contain what Platen reads, so a few differences are allowed.
  assert.ok(counted(/^two readings/) < rounds(10, 60));
  assert.ok(counted(/^both read the same/) > rounds(20, 300));
  assert.ok(counted(/^both refuse/) > rounds(50, 600));
});
