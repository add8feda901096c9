import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkBackupFile, manifestName, readManifest } from "../../src/domain/backup/full-backup.ts";
import { readTarHeader, tarBlockBytes, tarHeader } from "../../src/domain/backup/tar.ts";
import { restoreBackup } from "../../src/store/backup/full-restore.ts";
import { databaseLimitBytes } from "../../src/store/record-limits.ts";
import { openAt } from "../support/backup/backup.ts";
import {
  field,
  makeTarget,
  manifestOf,
  part,
  tarOf,
  withManifest,
} from "../support/backup/hostile-backups.ts";
import { rounds } from "../support/depth.ts";

const digest = "ab".repeat(32);
const archive = `drivers/${digest}.zip`;
const gibi = 1024 ** 3;

const foreignNames = [
  ...["../escaped", "../../../etc/cron.d/x", "/etc/passwd", "//server/share", "C:\\x", "..\\x"],
  ...["./platen.sqlite", "drivers/../secret", `${archive}/../../x`, `drivers/${digest.toUpperCase()}.zip`],
  ...["drivers/x.zip", `icons/${digest}.zip`, "audit/../../x.jsonl", "audit/.jsonl", "audit/a/b.jsonl"],
  ...["audit/..jsonl", "lease", "restore.json", "restore.new/x", "backups/x", "platen.sqlite.reserve"],
  ...["secret\n", "", " ", "platen.sqlite "],
];
const foreignTypes = [..."1234567gxLKSVMDA", "\0"];
const manifestStart = '{"format":1,"version":"1","madeAt":"2026-01-01","missing"';
const damagedManifests = [
  ...["", "[]", "null", "{", '{"format":1}', `${manifestStart}:[],"files":{}}`],
  ...[`${manifestStart}:[1],"files":[]}`, `${manifestStart}:[],"files":[null]}`, "[".repeat(100_000)],
  '{"format":1,"version":"1","madeAt":"x","missing":[],"files":[]}',
];
const wrongSizes: readonly (readonly [string, RegExp])[] = [
  ["03777777777", /no room|ends too early/],
  ["00000000001", /something stands between|is no tar archive/],
  ["00000000000", /is no tar archive/],
  ...["-0000000001", "0x000000010", "           ", "\x80\0\0\0\0\0\0\x7f\xff\xff\xff"].map(
    (size) => [size, /has no number/] as const,
  ),
];

type Cases = readonly (readonly [string, Buffer, RegExp])[];

/** Archives that a restore must refuse, by the rule. */
const subjects: Readonly<Record<string, (database: Buffer) => Cases>> = {
  "file names outside the folder, or of no backup file, are refused": (database) =>
    foreignNames
      .slice(0, 3)
      .map((name) => [
        name,
        withManifest([part("platen.sqlite", database), part(name)]),
        /is no file of a backup/,
      ]),
  "links, devices, folders, sparse files and long names are refused": (database) =>
    foreignTypes
      .slice(0, 2)
      .map((type) => [
        type,
        withManifest([part("platen.sqlite", database), part(archive, "", field(156, type))]),
        /is no plain file/,
      ]),
  "names of missing files must be valid, so a manifest cannot write control characters to a terminal": (
    database,
  ) => {
    const parts = [part("platen.sqlite", database)];
    return ["\x1b[31mred", "x".repeat(100_000), "drivers/../x"].map((name) => [
      name,
      tarOf([...parts, manifestOf(parts, [name])]),
      /its manifest is damaged/,
    ]);
  },
  "invalid manifests are refused in one sentence": (database) => {
    const withText = (text: string) => tarOf([part("platen.sqlite", database), part(manifestName, text)]);
    const wrongList = `${manifestStart}:[],"files":[{"name":"platen.sqlite","size":"1"}]}`;
    return [
      ["another version", withText('{"format":2}'), /is of another version of Platen/],
      ["a wrong list", withText(wrongList), /is not what was backed up/],
      ["damaged", withText("[]"), /its manifest is damaged/],
    ];
  },
  "wrong sizes are refused before they fill the disk": (database) =>
    wrongSizes.map(([size, reason]) => [
      size,
      withManifest([part("platen.sqlite", database, field(124, size))]),
      reason,
    ]),
  "an archive that is cut off before the end of its manifest is refused": (database) => {
    const parts = [part("platen.sqlite", database), part("secret", Buffer.alloc(32))];
    const body = tarOf([...parts, manifestOf(parts)], Buffer.alloc(0)).length;
    return [0, 1, 511, 512, 513, 4096, database.length, body - 1000, body - 1].map((length) => [
      String(length),
      withManifest(parts).subarray(0, length),
      /broke off/,
    ]);
  },
  "changed, removed, added and doubled files are detected": (database) => {
    const [sound, secret] = [part("platen.sqlite", database), part("secret", Buffer.alloc(32))];
    const list = manifestOf([sound, secret]);
    const changed = Buffer.from(database);
    changed.writeUInt8(database.readUInt8(5000) ^ 1, 5000);
    const damaged = Buffer.from(changed).fill(7, 4200, 9000);
    const otherSecret = part("secret", Buffer.alloc(32, 1));
    const notBackedUp = /is not what was backed up/;
    return [
      ["changed", tarOf([part("platen.sqlite", changed), secret, list]), notBackedUp],
      ["secret", tarOf([sound, otherSecret, list]), notBackedUp],
      ["removed", tarOf([sound, list]), /“secret” is not in it, although its list says so/],
      ["added", tarOf([sound, secret, part(`icons/${digest}.png`), list]), notBackedUp],
      ["twice", withManifest([sound, sound]), /“platen\.sqlite” is in it twice/],
      ["no list", tarOf([sound, secret]), /it has no list of its files/],
      ["no database", withManifest([secret]), /it has no database/],
      ["a short secret", withManifest([sound, part("secret", "short")]), /its secret is damaged/],
      ["damaged", withManifest([part("platen.sqlite", damaged)]), /its database is damaged/],
      ["empty", withManifest([part("platen.sqlite", "")]), /its database is damaged \(it is empty\)/],
    ];
  },
  "a damaged header is refused": (database) => {
    const flipped = withManifest([part("platen.sqlite", database)]);
    flipped.writeUInt8(flipped.readUInt8(3) ^ 1, 3);
    return [
      ["a flipped bit", flipped, /a header of it is damaged/],
      ["text", Buffer.alloc(1 << 20, "text "), /it is no tar archive of Platen’s/],
    ];
  },
};

for (const [rule, casesOf] of Object.entries(subjects)) {
  test(rule, async (t) => {
    const { database, attack } = await makeTarget(t);

    for (const [name, tar, reason] of casesOf(database))
      assert.match(await attack(tar), reason, name.slice(0, 80));
  });
}

test("every foreign name, type and manifest is refused when it is read, and no size that the service itself can have", () => {
  const headerOf = (name: string, change: (header: Buffer) => void = () => {}) => {
    const header = tarHeader({ name, size: 1 }, 0);
    change(header);
    return readTarHeader(header);
  };

  for (const name of foreignNames)
    assert.throws(() => checkBackupFile(headerOf(name), name), /is no file of a backup/, name);
  for (const type of foreignTypes)
    assert.throws(() => headerOf(archive, field(156, type)), /is no plain file/, type);
  for (const text of damagedManifests)
    assert.throws(() => readManifest(text), /its manifest is damaged/, text.slice(0, 80));
  checkBackupFile({ name: "platen.sqlite", size: 2 * databaseLimitBytes }, "");
  checkBackupFile({ name: archive, size: 4095 * 1024 * 1024 }, "");
});

test("files with too large sizes are refused before any of their bytes is read", async (t) => {
  const { attack } = await makeTarget(t);
  const cases: readonly (readonly [string, number])[] = [
    ["platen.sqlite", 2 * gibi],
    ["platen.sqlite", gibi / 2 + 1],
    ["platen.sqlite", 0o77777777777],
    ["secret", 33],
    [archive, 4 * gibi + 1],
    [archive, 0o77777777777],
    [`icons/${digest}.png`, 1024 * 1024 + 1],
    [manifestName, 24 * 1024 * 1024 + 1],
    ["audit/2026-11.jsonl", 4 * gibi + 1],
  ];
  let taken = 0;
  async function* endless(name: string, size: number): AsyncGenerator<Buffer> {
    yield tarHeader({ name, size }, 0);
    for (;;) {
      taken += 1 << 20;
      yield Buffer.alloc(1 << 20);
    }
  }

  for (const [name, size] of cases) {
    const message = await attack(endless(name, size));
    assert.match(message, /is larger than such a file ever is: \d+ bytes/, `${name} of ${size}`);
    assert.equal(taken, 0, `${name} of ${size}`);
  }
});

test("endless files are refused, and nothing is read after the manifest", async (t) => {
  const { dataDir, database, attack } = await makeTarget(t);
  const parts = [part("platen.sqlite", database)];
  async function* followed(): AsyncGenerator<Buffer> {
    yield tarOf([...parts, manifestOf(parts), part("secret", Buffer.alloc(32, 7))]);
    for (;;) yield Buffer.alloc(1 << 20);
  }
  async function* unended(): AsyncGenerator<Buffer> {
    for (let i = 0; i < rounds(30, 300); i++)
      yield tarHeader({ name: `drivers/${i.toString(16).padStart(64, "0")}.zip`, size: 0 }, 0);
    yield Buffer.alloc(tarBlockBytes, 7);
  }

  assert.match(await attack(unended()), /is no tar archive/);
  await restoreBackup(followed(), { dataDir, now: 0, log: () => {} });
  assert.ok(!readFileSync(join(dataDir, "secret")).equals(Buffer.alloc(32, 7)));
});

test("a forged restore folder is ignored, and a restore journal stops the start", async (t) => {
  const { dataDir, database } = await makeTarget(t);
  for (const name of ["restore.ready-..", "restore.ready-2026-11-22T140559Z-", "restore.ready-1"]) {
    mkdirSync(join(dataDir, name));
    writeFileSync(join(dataDir, name, "platen.sqlite"), "hostile");
  }

  await (await openAt(dataDir)).close();
  writeFileSync(join(dataDir, "restore.json"), '{"kept":"../outside","fresh":[]}');
  const empty = (async function* () {})();
  const message = /an interrupted restore of an earlier version of Platen: start that version/;

  await assert.rejects(restoreBackup(empty, { dataDir, now: 0, log: () => {} }), message);
  await assert.rejects(openAt(dataDir), message);
  assert.equal(readFileSync(join(dataDir, "platen.sqlite")).length, database.length);
  assert.ok(readdirSync(dataDir).every((name) => !name.startsWith("before")));
});
