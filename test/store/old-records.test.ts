import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Driver } from "../../src/domain/drivers/driver.ts";
import { reportFrom } from "../../src/domain/drivers/report.ts";
import { printerSettingsFrom } from "../../src/domain/printers/printer-fields.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import type { Store } from "../../src/store/store.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { editDatabase, makeOldDatabase, oldReport, oldSettings } from "../support/database.ts";
import { selectCases } from "../support/depth.ts";
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
