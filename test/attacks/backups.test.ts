import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { manifestName } from "../../src/domain/full-backup.ts";
import { tarBlockBytes, tarHeader } from "../../src/domain/tar.ts";
import { restoreBackup } from "../../src/store/full-restore.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { contentOf, manifestOf, signed, type TarPart, tarOf } from "../support/backup.ts";

interface Target {
  readonly folder: string;
  readonly dataDir: string;
  readonly database: Buffer;
  /** Restores an archive; answers why it was refused, after seeing that nothing was changed. */
  readonly attack: (tar: Buffer | AsyncIterable<Buffer>) => Promise<string>;
}

/** A DATA_DIR with a client, which no hostile archive may change. */
async function target(t: TestContext): Promise<Target> {
  const folder = await temporaryFolder(t);
  const dataDir = join(folder, "data");
  const service = await startApp(t, { dataDir, clock: Date.now });
  await service.post("/clients", { name: "Contoso" });
  await service.stop();
  const before = contentOf(folder);
  const attack = async (tar: Buffer | AsyncIterable<Buffer>) => {
    const chunks = Buffer.isBuffer(tar) ? piecesOf(tar) : tar;
    const message = await restoreBackup(chunks, { dataDir, now: 0, log: () => {} }).then(
      () => "it was restored",
      (error: Error) => error.message,
    );
    assert.deepEqual(contentOf(folder), before, message);
    assert.equal(existsSync(join(dataDir, "restore.new")), false, message);
    return message;
  };
  return { folder, dataDir, database: readFileSync(join(dataDir, "platen.sqlite")), attack };
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700);
}

const part = (name: string, bytes: Uint8Array | string = "x", header?: TarPart["header"]): TarPart => ({
  name,
  bytes: Buffer.from(bytes),
  ...(header && { header }),
});

/** Changes a field of a header, and its checksum with it. */
const field = (at: number, text: string) => (header: Buffer) => {
  header.write(text, at, "latin1");
  signed(header);
};

const digest = "ab".repeat(32);
const signing = (parts: readonly TarPart[]) => tarOf([...parts, manifestOf(parts)]);

test("names that lead out of the folder, or anywhere but to a backup’s files, are refused", async (t) => {
  const { database, attack } = await target(t);
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
    const message = await attack(signing([part("platen.sqlite", database), part(name)]));
    assert.match(message, /is no file of a backup/, name);
  }
});

test("links, devices, folders, sparse files and long names of other tars are refused", async (t) => {
  const { database, attack } = await target(t);
  const types = ["1", "2", "3", "4", "5", "6", "7", "g", "x", "L", "K", "S", "V", "M", "D", "\0", "A"];

  for (const type of types) {
    const linked = part(`drivers/${digest}.zip`, "", field(156, type));
    const message = await attack(signing([part("platen.sqlite", database), linked]));
    assert.match(message, /is no plain file/, type);
  }
  const named = part("secret", Buffer.alloc(32), field(157, "../../etc/shadow"));
  assert.match(await attack(signing([named])), /has a prefix or a link/);
  const prefixed = part("secret", Buffer.alloc(32), field(345, "../.."));
  assert.match(await attack(signing([prefixed])), /has a prefix or a link/);
});

test("a name that comes twice, and a file behind the list of files, are refused", async (t) => {
  const { database, attack } = await target(t);
  const parts = [part("platen.sqlite", database), part("platen.sqlite", database)];

  assert.match(await attack(signing(parts)), /“platen\.sqlite” is in it twice/);
  const [first] = parts;
  assert.ok(first);
  const behind = tarOf([first, manifestOf([first]), part("secret", Buffer.alloc(32))]);
  assert.match(await attack(behind), /“secret” stands behind the list/);
  const lists = tarOf([first, manifestOf([first]), manifestOf([first])]);
  assert.match(await attack(lists), /is in it twice/);
});

test("sizes that lie are refused before they take a disk", async (t) => {
  const { database, attack } = await target(t);
  const claims = (size: string) => part("platen.sqlite", database, field(124, size));

  const cases: [string, RegExp][] = [
    ["77777777777", /is larger than such a file ever is/],
    ["17777777777", /no room|ends too early/],
    ["00000000001", /something stands between|is no tar archive/],
    ["00000000000", /is no tar archive/],
    ["-0000000001", /has no number/],
    ["0x000000010", /has no number/],
    ["           ", /has no number/],
    ["\x80\0\0\0\0\0\0\x7f\xff\xff\xff", /has no number/],
  ];
  for (const [size, reason] of cases) assert.match(await attack(signing([claims(size)])), reason, size);
});

test("an archive that breaks off anywhere is refused", async (t) => {
  const { database, attack } = await target(t);
  const whole = signing([part("platen.sqlite", database), part("secret", Buffer.alloc(32))]);
  const parts = [part("platen.sqlite", database), part("secret", Buffer.alloc(32))];
  const body = tarOf([...parts, manifestOf(parts)], Buffer.alloc(0)).length;

  for (const length of [0, 1, 511, 512, 513, 4096, database.length, body - 1, body, body + 1, body + 600]) {
    const message = await attack(whole.subarray(0, length));
    assert.match(message, /broke off/, String(length));
  }
});

test("what was changed, taken out or put in is seen", async (t) => {
  const { database, attack } = await target(t);
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
    [signing([part("secret", Buffer.alloc(32))]), /it has no database/],
    [signing([part("platen.sqlite", database), part("secret", "short")]), /its secret is damaged/],
    [signing([part("platen.sqlite", changed.fill(7, 4200, 9000))]), /its database is damaged/],
    [signing([part("platen.sqlite", "")]), /its database is damaged \(it is empty\)/],
  ];
  for (const [tar, reason] of cases) assert.match(await attack(tar), reason);
});

test("a header that is damaged, and what stands behind the end, are refused", async (t) => {
  const { database, attack } = await target(t);
  const parts = [part("platen.sqlite", database)];
  const whole = signing(parts);
  const flipped = Buffer.from(whole);
  flipped.writeUInt8(flipped.readUInt8(3) ^ 1, 3);

  const cases: [Buffer, RegExp][] = [
    [flipped, /a header of it is damaged/],
    [Buffer.concat([whole, Buffer.from("more")]), /something stands behind its end/],
    [Buffer.concat([whole, Buffer.alloc(8 << 20)]), /something stands behind its end/],
    [Buffer.alloc(1 << 20, "text "), /it is no tar archive of Platen’s/],
    [
      tarOf([...parts, manifestOf(parts)], Buffer.concat([Buffer.alloc(512), Buffer.alloc(512, 1)])),
      /end is damaged/,
    ],
  ];
  for (const [tar, reason] of cases) assert.match(await attack(tar), reason);
});

test("lists of files that are none are refused in one sentence", async (t) => {
  const { database, attack } = await target(t);
  const texts = [
    "",
    "[]",
    "null",
    "{",
    '{"format":1}',
    '{"format":1,"version":"1","madeAt":"2026-01-01","missing":[],"files":{}}',
    '{"format":1,"version":"1","madeAt":"2026-01-01","missing":[1],"files":[]}',
    '{"format":1,"version":"1","madeAt":"x","missing":[],"files":[]}',
    '{"format":1,"version":"1","madeAt":"2026-01-01","missing":[],"files":[null]}',
    '{"format":1,"version":"1","madeAt":"2026-01-01","missing":[],"files":[{"name":"platen.sqlite","size":"1"}]}',
    "[".repeat(100_000),
  ];

  for (const text of texts) {
    const message = await attack(tarOf([part("platen.sqlite", database), part(manifestName, text)]));
    assert.match(message, /its manifest is/, text.slice(0, 80));
  }
  const later = await attack(tarOf([part("platen.sqlite", database), part(manifestName, '{"format":2}')]));
  assert.match(later, /is of another version of Platen/);
});

test("an endless number of files and gigabytes that never end are refused, in little memory", async (t) => {
  const { database, attack } = await target(t);
  const empty = (i: number) =>
    tarHeader({ name: `drivers/${i.toString(16).padStart(64, "0")}.zip`, size: 0 }, 0);
  async function* zeros(): AsyncGenerator<Buffer> {
    yield tarOf([part("platen.sqlite", database), manifestOf([part("platen.sqlite", database)])]);
    for (;;) yield Buffer.alloc(1 << 20);
  }
  async function* unended(): AsyncGenerator<Buffer> {
    for (let i = 0; i < 300; i++) yield empty(i);
    yield Buffer.alloc(tarBlockBytes, 7);
  }

  assert.match(await attack(zeros()), /something stands behind its end/);
  assert.match(await attack(unended()), /is no tar archive/);
});

test("a journal that somebody wrote leads nowhere", async (t) => {
  const { dataDir, folder } = await target(t);
  const outside = join(folder, "outside");
  const journals = [
    { kept: "../outside", fresh: [] },
    { kept: "before-restore-../../outside", fresh: ["platen.sqlite"] },
    { kept: "before-restore-1", fresh: "all" },
  ];

  for (const journal of journals) {
    writeFileSync(join(dataDir, "restore.json"), JSON.stringify(journal));
    const empty = (async function* () {})();
    const refused = restoreBackup(empty, { dataDir, now: 0, log: () => {} });
    await assert.rejects(refused, /restore\.json is damaged/);
  }

  assert.equal(existsSync(outside), false);
  assert.ok(readdirSync(dataDir).includes("platen.sqlite"));
});
