import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Driver } from "../../src/domain/drivers/driver.ts";
import { reportFrom } from "../../src/domain/drivers/report.ts";
import { printerSettingsFrom } from "../../src/domain/printers/printer-fields.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { migrations, schemaVersion } from "../../src/store/database/migrations.ts";
import type { Store } from "../../src/store/store.ts";
import { navigation, startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { dropLaterColumns } from "../support/backup/deletions.ts";
import { editDatabase, makeOldDatabase, oldReport, oldSettings } from "../support/database.ts";
import { selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { fill, smallDisk, withoutDisk } from "../support/durability/small-disk.ts";
import { makeOnce } from "../support/filled.ts";
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

async function startWithOldRows(
  t: TestContext,
  records: Parameters<typeof makeOldDatabase>[1],
): Promise<TestApp> {
  const dataDir = await temporaryFolder(t);
  await makeOldDatabase(dataDir, records);
  return startApp(t, { dataDir });
}

/**
 * Visits every page and script of these printers and drivers; of a few of them in the quick tier.
 * @returns those that answer 500 or more
 */
async function visitAll({ fetch }: TestApp, printers: number[], drivers: number[]): Promise<string[]> {
  const parts = ["", "/edit", "/scripts/install", "/scripts/uninstall", "/scripts/detect"];
  const paths = [
    ...["/", "/clients", "/clients/1", "/drivers", "/printers", "/packages"],
    ...selectCases(printers, 4).flatMap((id) => [
      ...parts.map((part) => `/printers/${id}${part}`),
      `/printers?copy=${id}`,
    ]),
    ...selectCases(drivers, 8).flatMap((id) => [`/drivers/${id}`, `/drivers/${id}/models?q=p`]),
  ];
  const failed: string[] = [];
  for (const path of paths) {
    const answer = await fetch(path);
    await answer.arrayBuffer();
    if (answer.status >= 500) failed.push(`${answer.status} ${path}`);
  }
  return failed;
}

/** The revision of a printer with a driver, as if all drivers had the same archive. */
function revision(store: Store, printerId: number, driverId: number): string {
  const driver: Driver = { ...store.drivers.get(driverId), sha256: "a".repeat(64) };
  return revisionOf({ printer: store.printers.get(printerId).printer, driver, arm64Driver: undefined });
}

test("rows that the first version wrote keep their revision", async (t) => {
  const { app, fetch } = await startWithOldRows(t, {});

  const script = await (await fetch("/printers/1/scripts/detect")).text();

  const { printer } = app.store.printers.get(1);
  assert.equal(
    revisionOf({ printer, driver: app.store.drivers.get(1), arm64Driver: undefined }),
    "745534ad52bc",
  );
  assert.match(script, /745534ad52bc/);
});

test("the model of an old driver counts as chosen when Platen prefers another one", async (t) => {
  const dataDir = await temporaryFolder(t);
  const path = await makeOldDatabase(dataDir, { reports: [oldReport, oldReport, oldReport] });
  await editDatabase(path, (db) => {
    db.run("UPDATE drivers SET driver_desc = '' WHERE id = 2");
    db.run("UPDATE drivers SET driver_desc = 'Papyrus 300' WHERE id = 3");
  });

  const { app } = await startApp(t, { dataDir });

  const chosen = [1, 2, 3].map((id) => app.store.drivers.get(id).model_chosen);
  assert.deepEqual(chosen, [false, false, true]);
});

test("a field missing in a row has its default on every page and in every script", async (t) => {
  const names = Object.keys(settings);
  const rows = names.flatMap((name) => [
    without(settings, name),
    JSON.stringify({ ...settings, [name]: settingDefaults[name] }),
  ]);
  const app = await startWithOldRows(t, { settings: rows });

  // Printers with odd ids lack a field. The next one has it.
  const odd = names.map((_, i) => 2 * i + 1);
  const failed = await visitAll(app, odd, [1]);

  assert.deepEqual(failed, []);
  for (const name of names) assert.ok(Object.hasOwn(settingDefaults, name), name);
  names.forEach((name, i) => {
    assert.equal(revision(app.app.store, 2 * i + 1, 1), revision(app.app.store, 2 * i + 2, 1), name);
  });
});

test("a field missing in a report has its default on every page and in every script", async (t) => {
  const names = Object.keys(infDefaults);
  const reports = [
    oldReport,
    ...names.flatMap((name) => [withInf(without(inf, name)), withInf({ ...inf, [name]: infDefaults[name] })]),
    ...Object.keys(report).map((name) => without(report, name)),
    withInf(without(inf, "path")),
  ];
  const app = await startWithOldRows(t, { reports });

  const ids = reports.map((_, i) => i + 1);
  const failed = await visitAll(app, [1], ids);

  assert.deepEqual(failed, []);
  assert.deepEqual(["path", ...names], Object.keys(inf));
  names.forEach((name, i) => {
    assert.equal(revision(app.app.store, 1, 2 * i + 2), revision(app.app.store, 1, 2 * i + 3), name);
  });
});

test("a field with a wrong type or value gets its default", () => {
  const wrong = [null, 42.5, -1, {}, [], [7, {}], "neither", true];

  for (const name of Object.keys(settings)) {
    for (const value of wrong) {
      const read = printerSettingsFrom(JSON.stringify({ ...settings, [name]: value })) as unknown as Fields;
      const kept = typeof value === typeof settingDefaults[name] && !Array.isArray(settingDefaults[name]);
      const isFree = kept && !["number"].includes(typeof value) && !isChoice(name);
      assert.deepEqual(read[name], isFree ? value : settingDefaults[name], `${name} is ${value}`);
    }
  }
});

function isChoice(name: string): boolean {
  return ["protocol", "duplex", "color", "collate", "paper_size"].includes(name);
}

test("architectures keep their saved order, because revisions depend on it", () => {
  const architectures = ["arm64", "x86", "amd64"];

  const read = reportFrom(withInf({ ...inf, architectures }));

  assert.deepEqual(read.infs[0]?.architectures, architectures);
});

const ownVersion = migrations.findIndex((migration) => String(migration).includes("keepTitles"));

/** Takes the names of drivers back to what earlier versions of Platen stored, with the names that people gave. */
async function forgetNames(dataDir: string, given: Readonly<Record<number, string>>, listed?: string) {
  await editDatabase(join(dataDir, "platen.sqlite"), (db) => {
    dropLaterColumns(db, ["", "deleted_"]);
    for (const table of ["preferences", "deleted_preferences"]) db.run(`DROP TABLE ${table}`);
    for (const table of ["clients", "drivers", "reports", "printers", "icons", "downloads"])
      db.run(`DROP INDEX deleted_${table}_by_deletion`);
    for (const table of ["drivers", "deleted_drivers"])
      db.run(`UPDATE ${table} SET name = '' WHERE origin = 'upload'`);
    for (const [id, name] of Object.entries(given))
      db.run("UPDATE drivers SET name = ? WHERE id = ?", [name, id]);
    if (listed !== undefined) db.run("UPDATE drivers SET listed = ? WHERE id = 2", [listed]);
    db.run(`PRAGMA user_version = ${ownVersion}`);
  });
}

/** A shop of four drivers whose names are as earlier versions stored them. The first has a printer. */
async function startAsBefore(t: TestContext) {
  const { folder: dataDir, value: revision } = await makeOnce(t, makeAsBefore);
  return { ...(await startApp(t, { dataDir })), revision };
}

async function makeAsBefore(t: TestContext, dataDir: string): Promise<string | undefined> {
  const before = await startApp(t, { dataDir });
  await before.addPrinter();
  for (const version of ["1.2.9.9", "2.0.0.0", "3.0.0.0", "4.0.0.0"])
    await before.addDriver(driverZip({ version, models: ["Papyrus 100 PCL6", "Papyrus 100 PS"] }));
  await before.fetch("/drivers/5", { method: "DELETE" });
  const revision = revisionIn(await (await before.fetch("/drivers/1/scripts/install")).text());
  await before.stop();
  await forgetNames(dataDir, { 3: "Front desk", 4: "FRONT DESK" });
  return revision;
}

function revisionIn(script: string): string | undefined {
  return /Revision = '(\w+)'/.exec(script)?.[1];
}

test("stored drivers get names of their own, and those that people gave stay", async (t) => {
  const { app, fetch } = await startAsBefore(t);

  const names = app.store.drivers.list().map(({ name }) => name);
  const windows = app.store.drivers.windowsDrivers().map(({ name }) => name);
  const list = await (await fetch("/drivers")).text();

  assert.deepEqual(names, [
    "FRONT DESK (2)",
    "Front desk",
    "Papyrus 100 PCL6/PS 1.2",
    "Papyrus 100 PCL6 1.2",
  ]);
  assert.equal(windows[0], "Microsoft IPP Class Driver");
  assert.match(list, /<bdi>Papyrus 100 PCL6\/PS 1\.2<\/bdi>/);
});

test("packages, scripts and apps of stored drivers keep their title until a person renames the driver", async (t) => {
  const { app, fetch, post, revision } = await startAsBefore(t);
  const facts = async (id: number) => {
    const script = await (await fetch(`/drivers/${id}/scripts/install`)).text();
    const publish = await (await fetch(`/drivers/${id}/publish`)).text();
    const zip = await fetch(`/drivers/${id}/packages/rmm`, { method: "HEAD" });
    return {
      log: /LogName = '([^']+)'/.exec(script)?.[1],
      title: /\sName = '([^']+)'/.exec(script)?.[1],
      app: /displayName = '([^']+)'/.exec(publish)?.[1],
      file: /filename="([^"]+)"/.exec(zip.headers.get("content-disposition") ?? "")?.[1],
      isSame: revisionIn(script) === revision,
    };
  };

  const before = await facts(1);
  await post("/drivers/1", { name: "Papyrus 100 PCL6 1.2", comment: "the same name" });
  const same = await facts(1);
  await post("/drivers/1", { name: "Cellar" });
  const renamed = await facts(1);
  const second = await facts(4);

  assert.deepEqual(before, {
    log: "Platen-driver-papyrus-papyrus-inf-1-2-3-4",
    title: "Papyrus papyrus.inf 1.2.3.4",
    app: "Printer driver Papyrus papyrus.inf 1.2.3.4",
    file: "papyrus-papyrus-inf-1-2-3-4.zip",
    isSame: true,
  });
  assert.deepEqual(same, before);
  assert.deepEqual(renamed, {
    log: "Platen-driver-cellar",
    title: "Cellar",
    app: "Printer driver Cellar 1.2",
    file: "cellar.zip",
    isSame: true,
  });
  assert.deepEqual([second.title, second.app], ["FRONT DESK", "Printer driver FRONT DESK 3.0.0.0"]);
  assert.equal(app.store.drivers.get(1).former_title, "");
});

test("a driver deleted before it had a name gets one when it is restored, and keeps its title in packages", async (t) => {
  const { app, post } = await startAsBefore(t);
  const { id } = app.undo.list()[0] ?? { id: 0 };

  const answer = await post(`/deletions/${id}/undo`, {}, navigation);

  const { name, former_title } = app.store.drivers.get(5);
  assert.equal(answer.status, 303);
  assert.deepEqual([name, former_title], ["Papyrus 100 PCL6/PS 4.0", "Papyrus papyrus.inf 4.0.0.0"]);
});

test("hundreds of drivers that would have the same name get different ones", async (t) => {
  const dataDir = await temporaryFolder(t);
  await makeOldDatabase(dataDir, { reports: Array.from({ length: 300 }, () => oldReport) });

  const { app } = await startApp(t, { dataDir });

  const drivers = app.store.drivers.list();
  assert.equal(new Set(drivers.map(({ name }) => name.toLowerCase())).size, 300);
  assert.deepEqual(new Set(drivers.map(({ former_title }) => former_title)).size, 1);
  assert.equal(drivers[0]?.name, "Papyrus 100 PCL6 1.2 (297)");
});

test("a driver whose row cannot be read stops the start, which names the row", async (t) => {
  const dataDir = await temporaryFolder(t);
  const before = await startApp(t, { dataDir });
  await before.addDriver();
  await before.addDriver(driverZip({ version: "2.0.0.0" }));
  await before.stop();
  await forgetNames(dataDir, {}, "{damaged");

  await assert.rejects(startApp(t, { dataDir }), /the driver 2 cannot be read/);
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
