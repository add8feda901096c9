import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { manifestName } from "../../../src/domain/backup/full-backup.ts";
import { tarBlockBytes, tarHeader } from "../../../src/domain/backup/tar.ts";
import { restoreBackup } from "../../../src/store/backup/full-restore.ts";
import { openStore } from "../../../src/store/store.ts";
import { manifestOf, tarOf } from "../../support/backup/backup.ts";
import { makeTarget, part } from "../../support/backup/hostile-backups.ts";

test("invalid manifests are refused in one sentence", async (t) => {
  const { database, attack } = await makeTarget(t);
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
    assert.match(message, /its manifest is damaged|is not what was backed up/, text.slice(0, 80));
  }
  const later = await attack(tarOf([part("platen.sqlite", database), part(manifestName, '{"format":2}')]));
  assert.match(later, /is of another version of Platen/);
});

test("endless files are refused, and nothing is read after the manifest", async (t) => {
  const { dataDir, database, attack } = await makeTarget(t);
  const empty = (i: number) =>
    tarHeader({ name: `drivers/${i.toString(16).padStart(64, "0")}.zip`, size: 0 }, 0);
  const parts = [part("platen.sqlite", database)];
  async function* followed(): AsyncGenerator<Buffer> {
    yield tarOf([...parts, manifestOf(parts), part("secret", Buffer.alloc(32, 7))]);
    for (;;) yield Buffer.alloc(1 << 20);
  }
  async function* unended(): AsyncGenerator<Buffer> {
    for (let i = 0; i < 300; i++) yield empty(i);
    yield Buffer.alloc(tarBlockBytes, 7);
  }

  assert.match(await attack(unended()), /is no tar archive/);
  await restoreBackup(followed(), { dataDir, now: 0, log: () => {} });
  assert.ok(!readFileSync(join(dataDir, "secret")).equals(Buffer.alloc(32, 7)));
});

test("a forged restore folder is ignored, and a restore journal stops the start", async (t) => {
  const { dataDir, database } = await makeTarget(t);
  const names = ["restore.ready-..", "restore.ready-2026-11-22T140559Z-", "restore.ready-1"];
  for (const name of names) {
    mkdirSync(join(dataDir, name));
    writeFileSync(join(dataDir, name, "platen.sqlite"), "hostile");
  }

  const store = await openStore(dataDir, Date.now, () => {});
  await store.close();
  writeFileSync(join(dataDir, "restore.json"), '{"kept":"../outside","fresh":[]}');
  const empty = (async function* () {})();
  const message = /an interrupted restore of an earlier version of Platen: start that version/;

  await assert.rejects(restoreBackup(empty, { dataDir, now: 0, log: () => {} }), message);
  await assert.rejects(
    openStore(dataDir, Date.now, () => {}),
    message,
  );
  assert.equal(readFileSync(join(dataDir, "platen.sqlite")).length, database.length);
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.startsWith("before")),
    [],
  );
});
