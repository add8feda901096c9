import assert from "node:assert/strict";
import { test } from "node:test";
import type { InfSummary } from "../../src/domain/drivers/driver.ts";
import { listedInf } from "../../src/domain/drivers/report.ts";
import { type FindingKind, printerFindings } from "../../src/domain/printers/findings.ts";
import type { ListedPrinter } from "../../src/domain/printers/listings.ts";
import { architecturesOf, driversOf as driversIn } from "../../src/domain/printers/printer-drivers.ts";
import { remedyOf } from "../../src/html/remedies.ts";
import { navigation } from "../support/app.ts";
import { recordsOf, remove, undo, undoLast } from "../support/backup/deletions.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { appWithPair, armZip, driversOf, type Pair } from "../support/drivers/arm64-pair.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

const ps = { arm64_driver_desc: "Papyrus ARM PS" };
const office = (driver: number) => ({ name: "Office", address: "10.0.0.9", driver_id: String(driver) });

test("a driver that is only a printer’s second driver is in use and cannot be deleted", async (t) => {
  const service = await appWithPair(t);
  const { post, main, arm, printer } = service;

  const refused = await remove(service, `/drivers/${arm}`);
  await post(`/printers/${printer}`, office(main));
  const done = await remove(service, `/drivers/${arm}`);

  assert.deepEqual(statusesOf([refused, done]), [409, 200]);
  assert.match(await refused.text(), /the printers that use it first: “Office”/);
  assert.deepEqual(driversOf(service), [["Office", main, "", null, ""]]);
});

test("undoing a printer’s deletion restores both drivers, or the printer without its second driver and says so", async (t) => {
  const service = await appWithPair(t, ps);
  const { post, app, main, arm, printer } = service;
  const before = recordsOf(service);
  await remove(service, `/printers/${printer}`);
  await undoLast(service);
  const restored = recordsOf(service);
  await remove(service, `/printers/${printer}`);
  await remove(service, `/drivers/${arm}`);

  const [ofDriver = 0, ofPrinter] = app.undo.list().map(({ id }) => id);
  const needs = await undo(service, ofPrinter);
  await app.undo.makeFinal(ofDriver);
  const { page } = await undo(service, ofPrinter);
  const { arm64_driver_desc } = app.store.printers.get(printer).printer;
  const saved = await post(`/printers/${printer}`, { ...office(main), location: "Hall", arm64_driver_desc });

  assert.deepEqual(restored, before);
  assert.deepEqual([needs.status, saved.status], [409, 200]);
  assert.match(needs.page, /“Office” needs “Papyrus ARM 3\.0”, which was deleted later/);
  assert.match(page, /The driver for ARM64 “Papyrus ARM 3\.0” is deleted\. Choose another driver\./);
  assert.deepEqual(driversOf(service), [["Office", main, "", null, ""]]);
});

test("a restored printer gets its second driver from a new upload of the same ZIP", async (t) => {
  const service = await appWithPair(t);
  const { app, addDriver, main, arm, printer } = service;
  await remove(service, `/printers/${printer}`);
  await remove(service, `/drivers/${arm}`);
  const reuploaded = await addDriver(armZip());
  await app.undo.makeFinal(2);

  const { page } = await undo(service, 1);

  assert.notEqual(reuploaded, arm);
  assert.match(page, /the same ZIP uploaded again/);
  assert.deepEqual(driversOf(service), [["Office", main, "", reuploaded, ""]]);
});

test("bulk changes of driver and client keep the second drivers", async (t) => {
  const service = await appWithPair(t, ps);
  const { post, addDriver, arm } = service;
  const next = await addDriver(driverZip({ version: "9.0.0.0" }));
  await post("/clients", { name: "Alpha" });
  const change = { ids: "1", confirmed: "1" };

  await post("/printers/bulk", { ...change, action: "driver", driver_id: String(next) });
  const changed = driversOf(service);
  await post("/printers/bulk", { ...change, action: "driver", driver_id: "" });
  const moved = await post("/printers/bulk", { ...change, action: "client", client_id: "1" });

  assert.equal(moved.status, 200);
  assert.deepEqual(changed, [["Office", next, "", arm, "Papyrus ARM PS"]]);
  assert.deepEqual(driversOf(service), [["Office", null, "", arm, "Papyrus ARM PS"]]);
});

/** Moves the printers of the second driver, which is also both drivers of another printer, to a new driver. */
async function move(service: Pair, zip: Buffer) {
  const { fetch, post, addDriver, addPrinter, arm: from } = service;
  await addPrinter({ driver_id: String(from), arm64_driver_id: String(from), name: "Twice" });
  const to = await addDriver(zip);
  const page = await textOf(fetch(`/drivers/${from}/move?to=${to}`));
  const preview = /name="preview" value="([0-9a-f]+)"/.exec(page)?.[1] ?? "";
  const confirm = () => post(`/drivers/${from}/move`, { to: String(to), preview }, navigation);
  return { page, to, confirm };
}

test("moving a driver’s printers also replaces it as their second driver, so that it can be deleted", async (t) => {
  const service = await appWithPair(t, ps);
  const { post, main, arm } = service;

  const { page, to, confirm } = await move(service, armZip({ version: "4.0.0.0" }));
  await post("/printers/1", { ...office(arm), driver_desc: "Papyrus ARM PS" });
  const outdated = await confirm();
  const both = { ...office(main), arm64_driver_id: String(arm), ...ps };
  await post("/printers/1", both);
  const before = driversOf(service);
  const used = service.app.store.drivers.list().find(({ id }) => id === arm)?.printer_count;
  await confirm();
  await undoLast(service);
  const undone = driversOf(service);
  const moved = await confirm();
  const left = await remove(service, `/drivers/${arm}`);

  assert.match(page, /The packages of 2 printers change/);
  assert.match(page, /Papyrus ARM PS<\/bdi> <span class="soft">on ARM64 PCs/);
  assert.equal(outdated.status, 409, "the driver was the main driver, no longer the second");
  assert.equal(used, 2, "a printer that has it twice counts once");
  assert.deepEqual(undone, before);
  assert.deepEqual(statusesOf([moved, left]), [303, 200]);
  assert.deepEqual(driversOf(service), [
    ["Office", main, "", to, "Papyrus ARM PS"],
    ["Twice", to, "Papyrus ARM", to, "Papyrus ARM"],
  ]);
});

test("a move keeps the second driver if the new driver has no files for ARM64, and the page says so", async (t) => {
  const service = await appWithPair(t);
  const { fetch, main, arm } = service;

  const x64 = driverZip({ models: ["Papyrus ARM"], version: "9.0.0.0" });
  const { page, to, confirm } = await move(service, x64);
  const { status } = await confirm();
  const again = await textOf(fetch(`/drivers/${arm}/move?to=${to}`));

  const kept =
    /2 printers keep their ARM64 driver, because the new driver\s+does not support ARM64: .*Office.*Twice/s;
  assert.match(page, kept);
  assert.equal(status, 303);
  assert.deepEqual(driversOf(service), [
    ["Office", main, "", arm, ""],
    ["Twice", to, "", arm, ""],
  ]);
  assert.doesNotMatch(again, /<button class="primary">Move/, "there is nothing left to move");
});

test("before a second driver changes, the page names the printers that reinstall and those that would fail on ARM64", async (t) => {
  const { post, app, addDriver, addPrinter, main } = await appWithPair(t, ps);
  const inf = (model: string, decoration: string) =>
    printerInf({ models: [model], decoration, version: "7.0.0.0", files: ["arm.dll"] });
  const extra = [
    { name: "b/other.inf", bytes: inf("Papyrus Other", "NTarm64") },
    { name: "b/x64.inf", bytes: inf("Papyrus ARM", "NTamd64") },
    { name: "b/arm.dll", bytes: "other bytes" },
    { name: "b/papyrus.cat", bytes: "catalog" },
  ];
  const two = await addDriver(armZip({ version: "6.0.0.0", extra }));
  const choose = (inf_path: string, driver_desc: string, more = {}, headers = {}) =>
    post(`/drivers/${two}`, { inf_path, driver_desc, ...more }, headers);
  await choose("papyrus.inf", "Papyrus ARM");
  const fields = { driver_id: String(main), arm64_driver_id: String(two), arm64_driver_desc: "Papyrus ARM" };
  const printer = await addPrinter({ ...fields, name: "Second" });
  const findings = async () =>
    (await app.overview.printer(printer)).row.findings.map((each) => [each.kind, each.state, each.isArm64]);

  const preview = await textOf(choose("b/other.inf", "Papyrus Other", { from_form: "1" }, navigation));
  await choose("b/other.inf", "Papyrus Other");
  const lost = await findings();
  await choose("b/x64.inf", "Papyrus ARM");
  const foreign = await findings();

  const fails =
    "1 printer will fail on ARM64 PCs. The INF does not contain the model “<bdi>Papyrus ARM</bdi>”: ";
  assert.ok(preview.includes(fails));
  assert.match(preview, />Save anyway</);
  assert.match(preview, /on ARM64 PCs.*Second.*1 printer must be deployed again: .*Second/s);
  assert.deepEqual(lost, [["lost-model", "attention", true]]);
  assert.deepEqual(foreign, [["not-for-arm64", "attention", true]]);
});

test("a driver’s save shows a printer whose model changes on ARM64 PCs only, beside one that it leaves alone", async (t) => {
  const { post, addPrinter, arm } = await appWithPair(t, ps);
  const own = { driver_id: String(arm), driver_desc: "Papyrus ARM" };
  await addPrinter({ ...own, name: "Left alone" });
  await addPrinter({ ...own, name: "Both", arm64_driver_id: String(arm) });

  const changed = { inf_path: "papyrus.inf", driver_desc: "Papyrus ARM PS", from_form: "1" };
  const preview = await textOf(post(`/drivers/${arm}`, changed, navigation));

  assert.match(preview, /1 printer must be deployed again: .*Both/s);
});

const sound = { architectures: ["arm64"], descriptions: ["Papyrus ARM"] } as const;
const bothMachines = ["amd64", "arm64"] as const;

/** The findings of a printer whose second driver has this INF. */
function findingsOf(inf: Partial<InfSummary>, printer: Record<string, string> = {}, first = {}) {
  const arm64 = { driver: makeDriver({ id: 2, inf: { ...sound, ...inf } }), archive: "sound" } as const;
  const found = printerFindings(makePrinter(printer), makeDriver({ inf: first }), "sound", arm64);
  return found.map((each) => `${each.kind} ${each.state} ${each.driver?.id} ${each.isArm64 === true}`);
}

test("problems of the second driver are reported for ARM64 machines only, and missing ARM64 files of the first are not", () => {
  const lacking = (machine: "amd64" | "arm64") => ({ missing: ["a.dll"], missingFor: [machine] });
  const cases: [Partial<InfSummary>, ...findings: string[]][] = [
    [{}],
    [{ signed: false }, "unsigned attention 2 true"],
    [lacking("arm64"), "missing-files attention 2 true"],
    [{ architectures: bothMachines, ...lacking("amd64") }],
    [{ architectures: ["amd64"] }, "not-for-arm64 attention 2 true"],
    [{ architectures: bothMachines, notShipped: ["arm64"] }, "not-for-arm64 attention 2 true"],
    [{ descriptions: ["A", "B"] }, "unchosen-model attention 2 true"],
    [{ descriptions: [] }, "incomplete blocked 2 true"],
  ];
  const chosen = { arm64_driver_id: "2", arm64_driver_desc: "B" };
  const first = { architectures: bothMachines, ...lacking("arm64") };

  for (const [inf, ...expected] of cases) assert.deepEqual(findingsOf(inf), expected, JSON.stringify(inf));
  assert.deepEqual(findingsOf({ descriptions: ["A", "B"] }, chosen), []);
  assert.deepEqual(findingsOf({}, {}, first), []);
  const alone = printerFindings(makePrinter(), makeDriver({ inf: first }), "sound");
  assert.equal(alone.map(({ kind }) => kind).join(), "missing-files");
});

test("a model missing in the second driver, and an archive of both drivers, are reported once; without a first driver there is only that", () => {
  const second = makeDriver({ id: 2, inf: { ...sound, descriptions: ["New"] } });
  const printer = makePrinter({ arm64_driver_id: "2", arm64_driver_desc: "Old" });
  const driver = makeDriver({ inf: { architectures: bothMachines } });
  const listed = { ...second, listed: listedInf(second, ["Old"]) };

  const found = [
    printerFindings(printer, makeDriver(), "sound", { driver: listed, archive: "sound" }),
    printerFindings(makePrinter(), driver, "damaged", { driver, archive: "damaged" }),
    printerFindings(makePrinter(), undefined, "sound", { driver, archive: "damaged" }),
  ];

  const kinds = found.map((findings) => findings.map(({ kind, isArm64 }) => `${kind} ${isArm64}`).join());
  assert.deepEqual(kinds, ["lost-model true", "archive undefined", "no-driver undefined"]);
  const text =
    "The INF of the driver for ARM64 does not contain the model “Old”. Installation fails on ARM64 PCs.";
  assert.equal(found[0]?.[0]?.text, `${text} Choose another model.`);
});

test("findings of the second driver link to its form fields or its page", () => {
  const printer = makePrinter({ arm64_driver_id: "2", driver_desc: "First", arm64_driver_desc: "Second" });
  const row = { printer, driver: makeDriver(), arm64Driver: makeDriver({ id: 2 }) };
  const edit = `/printers/${printer.id}/edit`;
  const cases: [FindingKind, Partial<ListedPrinter>, path: string][] = [
    ["not-for-arm64", {}, `${edit}#f-arm64_driver_id`],
    ["lost-model", {}, `${edit}#f-arm64_driver_desc`],
    ["lost-model", { printer: { ...printer, arm64_driver_desc: "" } }, "/drivers/2?tab=model#models-found"],
    ["incomplete", { arm64Driver: undefined }, `${edit}#f-arm64_driver_id`],
  ];

  for (const [kind, more, path] of cases)
    assert.equal(remedyOf({ kind, isArm64: true }, { ...row, ...more }).path, path);
});

test("the machines of a printer are those with program files in the drivers, not those that the INFs declare", () => {
  const driver = (architectures: InfSummary["architectures"], notShipped: InfSummary["notShipped"] = []) =>
    makeDriver({ inf: { architectures, notShipped } });
  const second = driver(["arm64"]);
  for (const [first, arm64Driver, expected] of [
    [driver(["amd64"]), undefined, "amd64"],
    [driver(bothMachines), undefined, "amd64 arm64"],
    [driver(bothMachines, ["arm64"]), undefined, "amd64"],
    [driver(["x86", "amd64"]), second, "x86 amd64 arm64"],
    [driver(bothMachines), driver(["amd64"]), "amd64"],
    [driver(["amd64"]), driver(bothMachines, ["arm64"]), "amd64"],
    [driver(["x86", "amd64"], ["amd64"]), second, "x86 arm64"],
  ] as const)
    assert.equal(architecturesOf({ driver: first, arm64Driver }).join(" "), expected);

  assert.deepEqual(driversIn({ driver: { id: 1 }, arm64Driver: { id: 1 } }), [{ id: 1 }]);
  assert.deepEqual(driversIn({ driver: { id: 1 }, arm64Driver: { id: 2 } }), [{ id: 1 }, { id: 2 }]);
});
