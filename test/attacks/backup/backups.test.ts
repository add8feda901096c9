import assert from "node:assert/strict";
import { test } from "node:test";
import { manifestOf, tarOf } from "../../support/backup/backup.ts";
import { field, makeTarget, part, withManifest } from "../../support/backup/hostile-backups.ts";

const digest = "ab".repeat(32);

test("file names outside the folder, or of no backup file, are refused", async (t) => {
  const { database, attack } = await makeTarget(t);
  const names = [
    [
      "../escaped",
      "../../../etc/cron.d/x",
      "/etc/passwd",
      "//server/share",
      "C:\\x",
      "..\\x",
      "./platen.sqlite",
    ],
    [
      "drivers/../secret",
      `drivers/${digest}.zip/../../x`,
      `drivers/${digest.toUpperCase()}.zip`,
      "drivers/x.zip",
    ],
    [
      `icons/${digest}.zip`,
      "audit/../../x.jsonl",
      "audit/.jsonl",
      "audit/a/b.jsonl",
      "audit/..jsonl",
      "lease",
    ],
    [
      "restore.json",
      "restore.new/x",
      "backups/x",
      "platen.sqlite.reserve",
      "secret\n",
      "",
      " ",
      "platen.sqlite ",
    ],
  ].flat();

  for (const name of names) {
    const message = await attack(withManifest([part("platen.sqlite", database), part(name)]));
    assert.match(message, /is no file of a backup/, name);
  }
});

test("names of missing files must be valid, so a manifest cannot write control characters to a terminal", async (t) => {
  const { attack, database } = await makeTarget(t);
  const parts = [part("platen.sqlite", database)];

  for (const name of ["\x1b[31mred", "x".repeat(100_000), "drivers/../x"]) {
    const message = await attack(tarOf([...parts, manifestOf(parts, [name])]));
    assert.match(message, /its manifest is damaged/);
  }
});

test("links, devices, folders, sparse files and long names are refused", async (t) => {
  const { database, attack } = await makeTarget(t);
  const types = ["1", "2", "3", "4", "5", "6", "7", "g", "x", "L", "K", "S", "V", "M", "D", "\0", "A"];

  for (const type of types) {
    const linked = part(`drivers/${digest}.zip`, "", field(156, type));
    const message = await attack(withManifest([part("platen.sqlite", database), linked]));
    assert.match(message, /is no plain file/, type);
  }
});

test("a duplicate file name is refused", async (t) => {
  const { database, attack } = await makeTarget(t);
  const parts = [part("platen.sqlite", database), part("platen.sqlite", database)];

  assert.match(await attack(withManifest(parts)), /“platen\.sqlite” is in it twice/);
});

test("wrong sizes are refused before they fill the disk", async (t) => {
  const { database, attack } = await makeTarget(t);
  const claims = (size: string) => part("platen.sqlite", database, field(124, size));

  const cases: [string, RegExp][] = [
    ["77777777777", /is larger than such a file ever is/],
    ["17777777777", /is larger than such a file ever is/],
    ["03777777777", /no room|ends too early/],
    ["00000000001", /something stands between|is no tar archive/],
    ["00000000000", /is no tar archive/],
    ["-0000000001", /has no number/],
    ["0x000000010", /has no number/],
    ["           ", /has no number/],
    ["\x80\0\0\0\0\0\0\x7f\xff\xff\xff", /has no number/],
  ];
  for (const [size, reason] of cases) assert.match(await attack(withManifest([claims(size)])), reason, size);
});

test("an archive that is cut off before the end of its manifest is refused", async (t) => {
  const { database, attack } = await makeTarget(t);
  const whole = withManifest([part("platen.sqlite", database), part("secret", Buffer.alloc(32))]);
  const parts = [part("platen.sqlite", database), part("secret", Buffer.alloc(32))];
  const body = tarOf([...parts, manifestOf(parts)], Buffer.alloc(0)).length;

  for (const length of [0, 1, 511, 512, 513, 4096, database.length, body - 1000, body - 1]) {
    const message = await attack(whole.subarray(0, length));
    assert.match(message, /broke off/, String(length));
  }
});

test("changed, removed and added files are detected", async (t) => {
  const { database, attack } = await makeTarget(t);
  const parts = [part("platen.sqlite", database), part("secret", Buffer.alloc(32))];
  const list = manifestOf(parts);
  const changed = Buffer.from(database);
  changed.writeUInt8(database.readUInt8(5000) ^ 1, 5000);

  const cases: [Buffer, RegExp][] = [
    [
      tarOf([part("platen.sqlite", changed), part("secret", Buffer.alloc(32)), list]),
      /is not what was backed up/,
    ],
    [
      tarOf([part("platen.sqlite", database), part("secret", Buffer.alloc(32, 1)), list]),
      /is not what was backed/,
    ],
    [tarOf([part("platen.sqlite", database), list]), /“secret” is not in it, although its list says so/],
    [tarOf([...parts, part(`icons/${digest}.png`), list]), /is not what was backed up/],
    [tarOf(parts), /it has no list of its files/],
    [withManifest([part("secret", Buffer.alloc(32))]), /it has no database/],
    [withManifest([part("platen.sqlite", database), part("secret", "short")]), /its secret is damaged/],
    [withManifest([part("platen.sqlite", changed.fill(7, 4200, 9000))]), /its database is damaged/],
    [withManifest([part("platen.sqlite", "")]), /its database is damaged \(it is empty\)/],
  ];
  for (const [tar, reason] of cases) assert.match(await attack(tar), reason);
});

test("a damaged header is refused", async (t) => {
  const { database, attack } = await makeTarget(t);
  const parts = [part("platen.sqlite", database)];
  const whole = withManifest(parts);
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(flipped.readUInt8(3) ^ 1, 3);

  const cases: [Buffer, RegExp][] = [
    [flipped, /a header of it is damaged/],
    [Buffer.alloc(1 << 20, "text "), /it is no tar archive of Platen’s/],
  ];
  for (const [tar, reason] of cases) assert.match(await attack(tar), reason);
});
