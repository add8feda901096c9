import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { schemaVersion } from "../../src/store/database/migrations.ts";
import { startApp, temporaryFolder } from "../support/app.ts";
import { selectCases } from "../support/depth.ts";
import { fill, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";

const folder = "test/store/schemas";
const found = readdirSync(folder)
  .filter((name) => name.endsWith(".json.gz"))
  .map((name) => Number.parseInt(name, 10))
  .sort((a, b) => a - b);
/** Schemas that no version had: its update went from the one before to the one after. */
const skipped = [2, 4, 6];

/** The data folder of an old version, which that version's own code made: `make.mjs` says how. */
interface OldFolder {
  /** The revision of the first printer in the old version's scripts. */
  readonly revision: string;
  /** The files' content in base64, by path. */
  readonly files: Readonly<Record<string, string>>;
}

function readFolder(schema: number): OldFolder {
  const packed = readFileSync(join(folder, `${String(schema).padStart(2, "0")}.json.gz`));
  return JSON.parse(gunzipSync(packed).toString("utf8"));
}

function unpack({ files }: OldFolder, dataDir: string): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true });
    writeFileSync(join(dataDir, path), Buffer.from(content, "base64"));
  }
}

test("there is a folder of every schema so far", () => {
  const all = Array.from({ length: schemaVersion }, (_, i) => i + 1).filter((one) => !skipped.includes(one));

  assert.deepEqual(found, all);
});

for (const schema of selectCases(found, 6)) {
  test(`a data folder with schema ${schema} keeps its records, files and revisions, and its database stays beside the new one`, async (t) => {
    const [dataDir, old] = [await temporaryFolder(t), readFolder(schema)];
    unpack(old, dataDir);

    const { fetch, app, stop } = await startApp(t, { dataDir });
    const paths = [
      ...["", "clients/1", "drivers/1", "drivers/1/archive", "printers", "printers/1/edit"],
      ...["printers/1/packages/rmm", "printers/1/packages/mdm", "printers/1/icon"],
    ];
    const statuses = await Promise.all(paths.map(async (path) => (await fetch(`/${path}`)).status));
    const script = await (await fetch("/printers/1/scripts/detect")).text();
    const { clients, printers, drivers } = app.store;
    const printed = [1, 2].map((id) => {
      const { name, client_id, driver_id, address, driver_desc, location } = printers.get(id).printer;
      return [name, client_id, driver_id, address, driver_desc, location];
    });
    const [client, driver] = [clients.get(1), drivers.get(1)];
    await stop();

    assert.deepEqual([...new Set(statuses)], [200]);
    assert.deepEqual(printed, [
      ["Front Desk", 1, 1, "10.0.0.9", "Papyrus 100 PS", "Hall"],
      ["Back Office", null, 1, "10.0.0.10", "Papyrus 100 PS", "Hall"],
    ]);
    assert.equal(client.name, "Contoso Büro");
    assert.equal(driver.file_name, "papyrus.zip");
    assert.match(script, new RegExp(`\\b${old.revision}\\b`));
    const kept = readdirSync(dataDir).filter((name) => name.startsWith("platen.sqlite.schema-"));
    assert.deepEqual(kept, schema === schemaVersion ? [] : [`platen.sqlite.schema-${schema}`]);
    for (const name of kept)
      assert.equal(readFileSync(join(dataDir, name)).toString("base64"), old.files["platen.sqlite"]);
  });
}

test("an update without room on the disk changes nothing, says so, and works when there is room", async (t) => {
  const disk = smallDisk(t, 2 << 20);
  if (disk === undefined) return t.skip(withoutDisk);
  const old = readFolder(11);
  unpack(old, disk);
  const free = fill(disk);

  await assert.rejects(
    startApp(t, { dataDir: disk }),
    /a disk that is full: make room there, and start Platen again/,
  );
  const after = readFileSync(join(disk, "platen.sqlite")).toString("base64");
  free();
  const { fetch } = await startApp(t, { dataDir: disk });

  assert.equal(after, old.files["platen.sqlite"]);
  assert.equal((await fetch("/printers/1")).status, 200);
  assert.ok(readdirSync(disk).includes("platen.sqlite.schema-11"));
});
