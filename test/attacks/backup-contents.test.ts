import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { manifestName } from "../../src/domain/full-backup.ts";
import { tarBlockBytes, tarHeader } from "../../src/domain/tar.ts";
import { restoreBackup } from "../../src/store/backup/full-restore.ts";
import { manifestOf, tarOf } from "../support/backup.ts";
import { part, targetOf } from "../support/hostile-backups.ts";

test("lists of files that are none are refused in one sentence", async (t) => {
  const { database, attack } = await targetOf(t);
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
  const { database, attack } = await targetOf(t);
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
  const { dataDir, folder } = await targetOf(t);
  const outside = join(folder, "outside");
  const journals = [
    { kept: "../outside", fresh: [] },
    { kept: "before-restore-../../outside", fresh: ["platen.sqlite"] },
    { kept: "before-restore-1", fresh: "all" },
  ].map((journal) => JSON.stringify(journal));

  for (const journal of [...journals, "{", "", "null", "7"]) {
    writeFileSync(join(dataDir, "restore.json"), journal);
    const empty = (async function* () {})();
    const refused = restoreBackup(empty, { dataDir, now: 0, log: () => {} });
    await assert.rejects(refused, /restore\.json is damaged/);
  }

  assert.equal(existsSync(outside), false);
  assert.ok(readdirSync(dataDir).includes("platen.sqlite"));
});
