import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { reportFrom } from "../../src/domain/drivers/report.ts";
import { printerSettingsFrom } from "../../src/domain/printers/printer-fields.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { schemaVersion } from "../../src/store/database/migrations.ts";
import { navigation, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { filesIn } from "../support/backup/deletions.ts";
import { editDatabase, makeOldDatabase, oldReport, oldSettings } from "../support/database.ts";
import { selectCases } from "../support/depth.ts";
import { fill, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";
import { settingDefaults } from "../support/records.ts";

type Fields = Record<string, unknown>;
const settings = JSON.parse(oldSettings) as Fields;
const report = JSON.parse(oldReport) as Fields & { infs: [Fields] };
const inf = report.infs[0];

const infDefaults: Fields = {
  ...{ class: null, isPrinter: false, driverModel: null, provider: null, driverVer: null, signed: false },
  ...{ catalogFiles: [], architectures: [], notShipped: [], descriptions: [], modelLines: 0 },
  ...{ manufacturers: [], copyInf: [], missing: [], unused: { count: 0, bytes: 0, paths: [] } },
};

function without(fields: Fields, name: string): string {
  const { [name]: _, ...rest } = fields;
  return JSON.stringify(rest);
}

function withInf(changed: string | Fields): string {
  const text = typeof changed === "string" ? changed : JSON.stringify(changed);
  return JSON.stringify({ ...report, infs: [JSON.parse(text)] });
}

test("an old driver’s model counts as chosen when Platen prefers another one, and old rows keep their revision", async (t) => {
  const dataDir = await temporaryFolder(t);
  const path = await makeOldDatabase(dataDir, { reports: [oldReport, oldReport, oldReport] });
  await editDatabase(path, (db) => {
    db.run("UPDATE drivers SET driver_desc = '' WHERE id = 2");
    db.run("UPDATE drivers SET driver_desc = 'Papyrus 300' WHERE id = 3");
  });

  const { store } = (await startApp(t, { dataDir })).app;

  const chosen = [1, 2, 3].map((id) => store.drivers.get(id).model_chosen);
  const { printer } = store.printers.get(1);
  assert.deepEqual(chosen, [false, false, true]);
  assert.equal(revisionOf({ printer, driver: store.drivers.get(1), arm64Driver: undefined }), "745534ad52bc");
});

test("a field missing in a printer’s row or a driver’s report is read as its default", async (t) => {
  const dataDir = await temporaryFolder(t);
  const printerFields = Object.keys(settings);
  const rows = printerFields.flatMap((name) => [
    without(settings, name),
    JSON.stringify({ ...settings, [name]: settingDefaults[name] }),
  ]);
  const infFields = Object.keys(infDefaults);
  const reports = infFields.flatMap((name) => [
    withInf(without(inf, name)),
    withInf({ ...inf, [name]: infDefaults[name] }),
  ]);
  reports.push(...Object.keys(report).map((name) => without(report, name)), withInf(without(inf, "path")));
  await makeOldDatabase(dataDir, { settings: rows, reports });

  const { app, fetch } = await startApp(t, { dataDir });
  const paths = ["/", "/printers", "/drivers", ...reports.map((_, i) => `/drivers/${i + 1}`).slice(-7)];
  const answers = await Promise.all(paths.map((path) => fetch(path)));

  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  for (const name of printerFields) assert.ok(Object.hasOwn(settingDefaults, name), name);
  assert.deepEqual(["path", ...infFields], Object.keys(inf));
  // Of each pair of rows the first lacks a field, and the second has its default.
  const { printers, drivers } = app.store;
  const printer = (id: number) => ({ ...printers.get(id).printer, id: 0 });
  const driver = (id: number) => [
    drivers.get(id).report,
    drivers.get(id).listed,
    drivers.get(id).driver_desc,
  ];
  for (const [i, name] of printerFields.entries())
    assert.deepEqual(printer(2 * i + 1), printer(2 * i + 2), name);
  for (const [i, name] of infFields.entries()) assert.deepEqual(driver(2 * i + 1), driver(2 * i + 2), name);
});

test("a field with a wrong type or value gets its default", () => {
  const wrong = [null, 42.5, -1, {}, [], [7, {}], "neither", true];
  const choices = ["protocol", "duplex", "color", "collate", "paper_size"];

  for (const name of Object.keys(settings)) {
    for (const value of wrong) {
      const read = printerSettingsFrom(JSON.stringify({ ...settings, [name]: value })) as unknown as Fields;
      const kept = typeof value === typeof settingDefaults[name] && !Array.isArray(settingDefaults[name]);
      const isFree = kept && typeof value !== "number" && !choices.includes(name);
      assert.deepEqual(read[name], isFree ? value : settingDefaults[name], `${name} is ${value}`);
    }
  }
});

test("architectures keep their saved order, because revisions depend on it", () => {
  const architectures = ["arm64", "x86", "amd64"];

  const read = reportFrom(withInf({ ...inf, architectures }));

  assert.deepEqual(read.infs[0]?.architectures, architectures);
});

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

    // Soon after its deletion a printer can be undone, unless it was kept as JSON.
    const { fetch, app, stop } = await startApp(t, { dataDir, clock: () => Date.UTC(2026, 0) });
    const deletions = app.undo.list().map(({ name }) => name);
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
    assert.deepEqual(deletions, schema < 12 ? [] : ["Deleted"]);
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

test("a deletion that an earlier version kept as JSON becomes final, and its file is deleted", async (t) => {
  const [dataDir, digest] = [await temporaryFolder(t), "e".repeat(64)];
  unpack(readFolder(11), dataDir);
  const before = filesIn(dataDir);
  writeFileSync(join(dataDir, "icons", `${digest}.png`), "an icon");
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    db.run("INSERT INTO deleted_files (deletion_id, kind, sha256) VALUES (1, 'icons', ?)", [digest]);
  });

  const { app } = await startApp(t, { dataDir, clock: () => Date.UTC(2026, 0) });

  assert.deepEqual([app.undo.list(), filesIn(dataDir)], [[], before]);
});

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

/** The data folder of the last version in which a driver had a name only from a person: four drivers, of which one is deleted. */
async function startBeforeNames(t: TestContext): Promise<TestApp> {
  const dataDir = await temporaryFolder(t);
  unpack(readFolder(12), dataDir);
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    const digest = (id: number) => `${id}`.repeat(64);
    for (const [id, name] of [[2, "Front desk"] as const, [3, "FRONT DESK"] as const, [4, ""] as const]) {
      db.run("CREATE TEMP TABLE one AS SELECT * FROM drivers WHERE id = 1");
      db.run("UPDATE one SET id = ?, name = ?, sha256 = ?", [id, name, digest(id)]);
      db.run(`INSERT INTO ${id === 4 ? "deleted_drivers SELECT 1, *" : "drivers SELECT *"} FROM one`);
      const target = id === 4 ? "deleted_reports SELECT 1," : "reports SELECT";
      db.run(`INSERT INTO ${target} ${id}, report FROM reports WHERE driver_id = 1`);
      db.run("DROP TABLE one");
    }
  });
  return startApp(t, { dataDir, clock: () => Date.UTC(2026, 0) });
}

test("stored drivers get names of their own, those that people gave stay, and a deleted one gets its name when it is restored", async (t) => {
  const { app, fetch, post } = await startBeforeNames(t);
  const names = () => app.store.drivers.list().map(({ name }) => name);

  const before = names();
  const windows = app.store.drivers.windowsDrivers().map(({ name }) => name);
  const list = await (await fetch("/drivers")).text();
  const answer = await post("/deletions/1/undo", {}, navigation);

  assert.deepEqual(before.sort(), ["FRONT DESK (2)", "Front desk", "Papyrus 100 PS 1.2"]);
  assert.equal(windows[0], "Microsoft IPP Class Driver");
  assert.match(list, /<bdi>Papyrus 100 PS 1\.2<\/bdi>/);
  assert.equal(answer.status, 303);
  const { name, former_title } = app.store.drivers.get(4);
  assert.deepEqual([name, former_title], ["Papyrus 100 PS 1.2.3", "Papyrus papyrus.inf 1.2.3.4"]);
});

test("packages, scripts and apps of stored drivers keep their title until a person renames the driver", async (t) => {
  const { app, fetch, post } = await startBeforeNames(t);
  const facts = async (id: number) => {
    const script = await (await fetch(`/drivers/${id}/scripts/install`)).text();
    const publish = await (await fetch(`/drivers/${id}/publish`)).text();
    const zip = await fetch(`/drivers/${id}/packages/rmm`, { method: "HEAD" });
    const [, log] = /LogName = '([^']+)'/.exec(script) ?? [];
    const [, title] = /\sName = '([^']+)'/.exec(script) ?? [];
    const [, app] = /displayName = '([^']+)'/.exec(publish) ?? [];
    const [, file] = /filename="([^"]+)"/.exec(zip.headers.get("content-disposition") ?? "") ?? [];
    const [, revision] = /Revision = '(\w+)'/.exec(script) ?? [];
    return [revision, log, title, app, file];
  };

  const before = await facts(1);
  await post("/drivers/1", { name: "Papyrus 100 PS 1.2", comment: "the same name" });
  const same = await facts(1);
  await post("/drivers/1", { name: "Cellar" });
  const renamed = await facts(1);
  const third = await (await fetch("/drivers/3/scripts/install")).text();

  const [revision, ...titles] = before;
  const former = ["Papyrus papyrus.inf 1.2.3.4", "Printer driver Papyrus papyrus.inf 1.2.3.4"];
  const [log, file] = ["Platen-driver-papyrus-papyrus-inf-1-2-3-4", "papyrus-papyrus-inf-1-2-3-4.zip"];
  assert.deepEqual(titles, [log, ...former, file]);
  assert.deepEqual(same, before);
  const cellar = ["Platen-driver-cellar", "Cellar", "Printer driver Cellar 1.2", "cellar.zip"];
  assert.deepEqual(renamed, [revision, ...cellar]);
  assert.match(third, /\sName = 'FRONT DESK'/);
  assert.equal(app.store.drivers.get(1).former_title, "");
});
