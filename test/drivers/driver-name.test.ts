import assert from "node:assert/strict";
import { test } from "node:test";
import { type InfSummary, packageTitle } from "../../src/domain/drivers/driver.ts";
import { makerName } from "../../src/domain/drivers/driver-maker.ts";
import { DriverNames, maxDriverName, proposedNames } from "../../src/domain/drivers/driver-name.ts";
import { navigation, startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { planOf, rowStatuses } from "../support/printers/lists.ts";
import { makeDriver } from "../support/records.ts";

type NamedInf = [name: string, inf: Partial<InfSummary>, file_name?: string];

/** Asserts the first name that is proposed for each INF. */
function assertNames(cases: readonly NamedInf[]): void {
  for (const [name, inf, file_name = "driver.zip"] of cases)
    assert.equal(proposedNames(makeDriver({ inf, file_name }))[0], name);
}

const numbered = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));
const line = numbered(40, (i) => `Papyrus ${"ABCD"[i % 4]}${i} KX`);

test("a name is the maker, the family and the first two numbers of the version", () => {
  const cases: [name: string, models: string[]][] = [
    ["Papyrus 100 PCL6 1.2", ["Papyrus 100 PCL6"]],
    ["Papyrus Universal PCL 6 1.2", ["Papyrus 7", "Papyrus Universal Printing PCL 6"]],
    ["Papyrus Universal PS 7.0", ["Papyrus Universal PS (v7.0.1)", "Papyrus Universal PS"]],
    ["Papyrus Universal Printer 1.2", ["Papyrus Universal Printer (PCL)", "Papyrus Universal Printer (PS)"]],
    ["Papyrus IM C300/C350 PCL 6 1.2", ["Papyrus IM C300 PCL 6", "Papyrus IM C350 PCL 6"]],
    ["Papyrus KX 1.2", line],
    ["Papyrus KX 1.2", ["Papyrus Universal System", ...line]],
    ["Papyrus TASK KX 1.2", numbered(9, (i) => `Papyrus TASK ${i}0i KX`)],
    ["Papyrus MFC/HL series 1.2", numbered(12, (i) => `Papyrus ${i % 2 ? "HL" : "MFC"}-${i}0 series`)],
    ["Papyrus ARM 1.2", ["Papyrus ARM", "Papyrus ARM PS"]],
  ];

  assertNames(cases.map(([name, descriptions]) => [name, { descriptions }]));
  assertNames([["Papyrus Any v4 XL 1.2", { driverModel: "v4", descriptions: ["Papyrus Any v4 XL"] }]]);
});

test("the maker has its usual spelling and no legal form, and is not named twice", () => {
  const made = (
    name: string,
    provider: string | null,
    manufacturers: string[],
    ...descriptions: string[]
  ): NamedInf => [name, { provider, manufacturers, descriptions }];
  const makers = ["Hewlett-Packard Company", "Seiko Epson Corporation", "Vellum Co., Ltd.", "NRG", "VELLUM"];

  assertNames([
    made("Kyocera KX 1.2", "KYOCERA Document Solutions Inc.", ["Papyrus"], "Kyocera KX"),
    made("Vellum Printing Laser 7 1.2", "Vellum Printing GmbH", [], "Laser 7"),
    made("Ricoh IM 300 1.2", "Ricoh", ["Savin", "Ricoh"], "SAVIN IM 300", "RICOH IM 300"),
    made("Vellum 7 1.2", "Some Company Ltd.", ["Vellum"], "Vellum 7"),
    made("POS series 1.2", "%MFG%", ["POS"], ...numbered(7, (i) => `POS-${i}`)),
    made("Laser 7 1.2", null, [], "Laser 7"),
    made("Epson Laser 7 1.2", null, [], "EPSON Laser 7"),
    made("Laser 7 1.2", "TODO-Set-Provider", ["TODO-Set"], "Laser 7"),
    made("Laser 7 1.2", "The Company of Many Words", [], "Laser 7"),
    [
      "Vellum papyrus 1.2",
      { provider: "Vellum", manufacturers: ["Vellum"], descriptions: ["Vellum"] },
      "v7_setup.zip",
    ],
  ]);
  assert.deepEqual(makers.map(makerName), ["HP", "Epson", "Vellum", "NRG", "Vellum"]);
});

test("without models, version or INF, a name says what is known", () => {
  const none = { descriptions: [], driverVer: null };
  const version = (text: string) => ({ driverVer: { date: "", version: text } });
  const report = { fileCount: 1, totalBytes: 1, infs: [], printerInf: null, warnings: [] };

  const withoutInf = ["net_card.zip", ".zip"].map((file_name) =>
    proposedNames(makeDriver({ report, inf_path: "", file_name })),
  );

  assertNames([
    ["Papyrus vellum7 1.2", { descriptions: [], path: "drv/vellum7.INF" }],
    ["Papyrus Vellum KX x64", { ...none, path: "OEMSETUP.INF" }, "Vellum_KX_x64.zip"],
    ["Papyrus 100 PCL6", { driverVer: null }],
    ["Papyrus 100 PCL6 7", version("7")],
    ["Papyrus 100 PCL6", version("%VERSION%")],
  ]);
  assert.deepEqual(withoutInf, [["net card"], ["Driver"]]);
  assert.equal(proposedNames(makeDriver({ inf_path: "" }))[0], "Papyrus 100 PCL6 1.2", "no INF is chosen");
});

test("names in any script are clean and at most 120 characters long", () => {
  const long = "Laser ".repeat(90);
  const texts = [
    { provider: "Принтер", manufacturers: ["Принтер"], descriptions: ["Принтер Лазер 7"] },
    { provider: "打印机公司", manufacturers: [], descriptions: ["打印机公司 激光 7"] },
    { descriptions: ["Papyrus \u202e100\u0007 [U+202E]PS"] },
    { provider: long, manufacturers: [long], descriptions: [long, `${long}2`] },
    { provider: "𝒱".repeat(80), descriptions: ["𝒱".repeat(300)] },
    { descriptions: [" ", ""], driverVer: { date: "", version: "9".repeat(99) } },
  ];

  const names = texts.map((inf) => proposedNames(makeDriver({ inf })));

  const firsts = names.slice(0, 3).map(([first]) => first);
  assert.deepEqual(firsts, ["Принтер Лазер 7 1.2", "打印机公司 激光 7 1.2", "Papyrus 100 PS 1.2"]);
  for (const name of names.flat()) {
    assert.ok(name.length > 0 && name.length <= maxDriverName, name);
    assert.ok(name.isWellFormed() && name === name.trim() && !/\p{C}/u.test(name), name);
  }
});

test("a second driver with a name gets more of its version, then its machines, then a number", () => {
  const names = new DriverNames(["papyrus kx 7.2"]);
  const inf = { descriptions: ["Papyrus KX"], driverVer: { date: "", version: "7.2.2114.0" } };
  const proposed = proposedNames(makeDriver({ inf }));

  const taken = numbered(4, () => names.take(proposed));
  const long = numbered(2, () => names.take(["x".repeat(maxDriverName)]));

  const added = ["7.2.2114", "7.2.2114 x64", "7.2 (2)", "7.2 (3)"];
  assert.equal(taken.join(), added.map((end) => `Papyrus KX ${end}`).join());
  for (const { length } of long) assert.equal(length, maxDriverName);
});

test("a name that another driver has in any case or look is refused with 409 beside the field, and nothing is saved", async (t) => {
  const { addDriver, app, fetch, post } = await startApp(t);
  await addDriver();
  await addDriver(driverZip({ version: "1.2.9.0" }));
  const form = { name: "PAPYRUS 100 pcl6 1.2", comment: "typed" };
  const alike = ["\u200bPapyrus 100 PCL6 1.2", "Papyrus 100 PCL\u00ad6 1.2", "Papyrus  100 PCL6 1.2"];

  const page = await (await fetch("/drivers/2")).text();
  const refused = [await post("/drivers/2", form), await post("/drivers/2", form, navigation)];
  const others = await Promise.all(alike.map((name) => post("/drivers/2", { name })));
  const ofWindows = await post("/drivers/2", { name: "generic / text only" });
  const own = await post("/drivers/2", { name: "papyrus 100 PCL6 1.2.9" });

  assert.match(page, /<h1><bdi>Papyrus 100 PCL6 1\.2\.9<\/bdi><\/h1>/);
  assert.match(page, /name="name"[^>]*\n?\s*value="Papyrus 100 PCL6 1\.2\.9"/);
  for (const answer of refused) {
    const text = await answer.text();
    assert.match(text, /“Papyrus 100 PCL6 1\.2” is already the name of another driver \(driver\.zip\)\. Ch/);
    assert.match(text, /id="f-name-problem"/);
    assert.match(text, /value="PAPYRUS 100 pcl6 1\.2"/);
  }
  assert.match(await ofWindows.text(), /“Generic \/ Text Only” is already the name of a driver that comes/);
  const statuses = [...refused, ...others, ofWindows, own].map(({ status }) => status);
  assert.deepEqual(statuses, [409, 409, 409, 409, 409, 409, 200]);
  const { name, comment } = app.store.drivers.get(2);
  assert.deepEqual([name, comment], ["papyrus 100 PCL6 1.2.9", ""]);
});

test("an empty or invisible name becomes the proposed one again, and a form without the field keeps the name", async (t) => {
  const { addDriver, app, post } = await startApp(t);
  await addDriver();
  const names: string[] = [];

  for (const name of ["Cellar", undefined, " ", "Roof", "\u2060\ufeff"]) {
    await post("/drivers/1", name === undefined ? { comment: "By the door" } : { name });
    names.push(app.store.drivers.get(1).name);
  }

  const proposed = "Papyrus 100 PCL6 1.2";
  assert.deepEqual(names, ["Cellar", "Cellar", proposed, "Roof", proposed]);
});

for (const change of ["deletion", "rename"])
  test(`after the undo of a ${change}, a driver whose name is taken meanwhile gets a number, also in packages`, async (t) => {
    const { addDriver, app, fetch, post } = await startApp(t);
    await addDriver();
    if (change === "deletion") await fetch("/drivers/1", { method: "DELETE" });
    else await post("/drivers/1", { name: "Cellar" });
    await addDriver(driverZip({ version: "1.2.9.0" }));

    const answer = await post("/deletions/1/undo", {}, navigation);
    const page = await (await fetch(answer.headers.get("location") ?? "")).text();

    const driver = app.store.drivers.get(1);
    assert.deepEqual([driver.name, packageTitle(driver)], Array(2).fill("Papyrus 100 PCL6 1.2 (2)"));
    const said = "The driver is now called “Papyrus 100 PCL6 1.2 (2)”. Another driver has the old name.";
    assert.ok(change === "rename" || page.includes(said));
  });

test("an exported list finds its drivers by their names, and another driver’s name in a cell chooses that driver", async (t) => {
  const service = await startApp(t);
  await service.addPrinter({ driver_id: String(await service.addDriver(driverZip({ version: "1.2.0.0" }))) });
  const second = await service.addDriver(driverZip({ version: "1.2.9.0" }));
  await service.addPrinter({ name: "Second", driver_id: String(second), address: "10.0.0.8" });
  const exported = await (await service.fetch("/export/printers.csv")).text();
  await service.post("/drivers/1", { name: "Cellar" });
  await service.post(`/drivers/${second}`, { name: "Roof" });

  const renamed = await planOf(service, exported);
  const edited = await planOf(service, exported.replace(",Papyrus 100 PCL6 1.2.9,", ",cellar,"));
  const byName = await planOf(service, "name,driver\nNew,ROOF\nOther,Papyrus papyrus.inf 1.2.0.0\n");

  assert.match(exported, /,Papyrus 100 PCL6 1\.2,/);
  assert.match(exported, /,Papyrus 100 PCL6 1\.2\.9,/);
  assert.deepEqual(rowStatuses(renamed), ["same: Office", "same: Second"]);
  assert.deepEqual(rowStatuses(edited), ["same: Office", "changes: Second"]);
  const found = [edited, byName].flatMap(({ rows }) => rows.map(({ driver }) => driver?.id));
  assert.deepEqual(found, [1, 1, second, 1]);
});
