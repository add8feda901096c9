import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../src/domain/errors.ts";
import type { ArchiveEntry } from "../src/pkg/zip/archive.ts";
import { type CheckedEntries, EarlyReading } from "../src/services/early-checks.ts";
import { inspectArchive } from "../src/services/inspect.ts";
import { reportOf } from "../src/services/inspect-report.ts";
import { damagedZip, honestZips } from "./support/damaged-zip.ts";
import { deepTest, isDeep, rounds, seedOr, some } from "./support/depth.ts";
import { driverZip, printerInf } from "./support/driver-zip.ts";
import { packedProgram } from "./support/programs.ts";
import { seededRandom } from "./support/random.ts";
import { endLies, large, last, plain, refused, refusedNames, twoReadings } from "./support/refused-zips.ts";
import { makeZip, sourceOf, unicodeExtra, type ZipPart } from "./support/zip.ts";

type Random = (bound: number) => number;

const turn = () => new Promise((resolve) => setImmediate(resolve));
const noise = (length: number, seed: number) => {
  const random = seededRandom(seed);
  return Buffer.from(Array.from({ length }, () => random(256)));
};

/** Whatever an archive is read for: programs, plain and packed, cabinets, files of all sizes, stored and deflated. */
const parts: ZipPart[] = [
  { name: "papyrus.cat", bytes: "catalog" },
  { name: "papyrus.dl_", bytes: packedProgram(0x8664) },
  { name: "other.exe", bytes: noise(3000, 1) },
  { name: "my.cab", bytes: packedProgram(0x14c) },
  { name: "folder/", method: 0 },
  { name: "folder/stored.bin", bytes: noise(70_000, 2), method: 0 },
  { name: "folder/deflated.bin", bytes: noise(90_000, 3) },
];
const inf = printerInf({ files: ["papyrus.dll", "x"] })
  .replace("x=1", "x=2")
  .replace('1="Disk"', '1="Disk"\r\n2="Disk",my.cab');
const driver = makeZip([{ name: "papyrus.inf", bytes: inf }, ...parts]);

/** What the directory calls a cabinet, and the local header does not. */
const renamed = Buffer.from("my.bin");
const renamedCabinet = makeZip([
  { name: "papyrus.inf", bytes: inf },
  { name: "", rawName: renamed, extra: unicodeExtra(renamed, "my.cab"), bytes: packedProgram(0x14c) },
]);

/** What is said of an archive: a report, or why it is refused. */
async function saidOf(zip: Buffer, checked?: CheckedEntries): Promise<string> {
  try {
    return JSON.stringify(reportOf(await inspectArchive(sourceOf(zip), checked)));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

/** Reads an archive while it arrives, in pieces of random sizes. */
async function readEarly(zip: Buffer, random: Random): Promise<EarlyReading> {
  let arrived = 0;
  const { read } = sourceOf(zip);
  const early = new EarlyReading({
    read: (position, length) => {
      assert.ok(position + length <= arrived, "nothing is read that is not there yet");
      return read(position, length);
    },
  });
  while (arrived < zip.length) {
    arrived = Math.min(zip.length, arrived + 1 + random(random(2) === 0 ? zip.length : 300));
    early.arrived(arrived);
    await turn();
  }
  for (let turns = random(3) * 20; turns > 0; turns--) await turn();
  await early.finish(zip.length);
  return early;
}

function counted(checked: CheckedEntries) {
  const count = { found: 0, asked: 0 };
  const find: CheckedEntries["find"] = (entry) => {
    const facts = checked.find(entry);
    count.asked++;
    if (facts !== undefined) count.found++;
    return facts;
  };
  return { count, find };
}

const archives: [string, () => Buffer[]][] = [
  ["drivers", () => [driver, renamedCabinet, driverZip(), makeZip(parts)]],
  ["archives of honest writers", honestZips],
  ["archives that are refused", () => refused.map(([, , files, options]) => makeZip(files, options))],
  // Some have thousands of names: those are the deep tier's.
  [
    "archives with names that are refused",
    () =>
      refusedNames
        .filter(([, , files]) => isDeep || files.length < 1000)
        .map(([, , files]) => makeZip(files)),
  ],
  [
    "archives of two readings",
    () => twoReadings.map(([, , change]) => change(Buffer.from(plain), last(plain))),
  ],
  [
    "archives with lies in their ends",
    () =>
      endLies.map(([, , offset, lie]) => {
        const zip = Buffer.from(large);
        lie.copy(zip, last(large) + offset);
        return zip;
      }),
  ],
  [
    "damaged files",
    () =>
      [{ crc: 1 }, { size: 5 }, { packed: Buffer.from("no") }].map((lie) =>
        makeZip([{ name: "papyrus.inf", bytes: inf }, ...parts, { name: "a.dll", bytes: "abc", ...lie }]),
      ),
  ],
  [
    "archives damaged at random",
    () => {
      const random = seededRandom(seedOr(77));
      const seeds = [...honestZips(), ...Array<Buffer>(6).fill(driver)];
      return Array.from({ length: rounds(200, 3000) }, () => damagedZip(seeds, random));
    },
  ],
];
for (const [what, make] of archives) {
  test(`${what}: the same is said of them whether they are read while they arrive or not`, {
    timeout: 300_000,
  }, async (t) => {
    const random = seededRandom(5);
    const total = { found: 0, asked: 0 };
    const said = new Set<string>();

    for (const zip of some(make(), 60)) {
      const afterwards = await saidOf(zip);
      const { count, find } = counted(await readEarly(zip, random));
      assert.equal(await saidOf(zip, { find }), afterwards);
      total.found += count.found;
      total.asked += count.asked;
      said.add(afterwards);
    }

    t.diagnostic(`${said.size} answers; ${total.found} of ${total.asked} entries were known already`);
    assert.ok(said.size > 0);
  });
}

test("nothing of an entry is read again that was checked while it arrived", async () => {
  const early = await readEarly(driver, () => 50);
  const read: [number, number][] = [];
  const source = sourceOf(driver);
  const watched = {
    ...source,
    read: (position: number, length: number) => {
      read.push([position, length]);
      return source.read(position, length);
    },
  };

  const { archive } = await inspectArchive(watched, early);

  const again = archive.entries.filter(({ dataOffset, compressedSize }) =>
    read.some(([position, length]) => position === dataOffset && length === compressedSize),
  );
  assert.deepEqual(
    again.map(({ path }) => path),
    ["papyrus.inf"],
  );
});

test("what local headers do not tell all of is left until the archive is complete", async () => {
  const first: ZipPart = { name: "first.bin", bytes: "first" };
  const odd: [string, ZipPart][] = [
    ["a data descriptor", { name: "b", bytes: "b", withDescriptor: true }],
    ["encryption", { name: "b", bytes: "b", flags: 1 }],
    ["another method", { name: "b", bytes: "b", method: 9, packed: Buffer.from("b") }],
    ["a ZIP64 size", { name: "b", bytes: "b", local: { size: 0xffffffff } }],
    ["a wrong size of a stored file", { name: "b", bytes: "b", method: 0, size: 2 }],
    ["a long name", { name: "b".repeat(721), bytes: "b" }],
    ["a wrong checksum", { name: "b", bytes: "b", crc: 1 }],
  ];

  for (const [what, part] of odd) {
    const zip = makeZip([first, part, { name: "last.bin", bytes: "last" }]);
    const early = await readEarly(zip, () => 50);

    assert.ok(early.find(entryAt(zip, "first.bin")), what);
    assert.equal(early.find(entryAt(zip, "last.bin")), undefined, what);
  }
});

deepTest("no more is unpacked than a complete archive may hold", { timeout: 60_000 }, async () => {
  const names = Array.from({ length: 300 }, (_, i) => `${1000 + i}.bin`);
  const zip = makeZip(names.map((name) => ({ name, bytes: Buffer.alloc(1024 * 1024) })));
  const early = new EarlyReading(sourceOf(zip));

  early.arrived(zip.length);
  await turn();
  const known = names.filter((name) => early.find(entryAt(zip, name)) !== undefined);

  assert.equal(known.length, 256);
});

/** A file as its local header describes it, the first that has its name in it. */
function entryAt(zip: Buffer, name: string): ArchiveEntry {
  const nameOffset = zip.indexOf(name);
  const header = zip.subarray(nameOffset - 30, nameOffset);
  return {
    path: name,
    method: header.readUInt16LE(8) === 8 ? 8 : 0,
    crc32: header.readUInt32LE(14),
    compressedSize: header.readUInt32LE(18),
    size: header.readUInt32LE(22),
    dataOffset: nameOffset + name.length,
  };
}
