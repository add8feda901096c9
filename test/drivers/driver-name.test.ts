import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { InfSummary } from "../../src/domain/drivers/driver.ts";
import { makerName } from "../../src/domain/drivers/driver-maker.ts";
import { DriverNames, maxDriverName, proposedNames } from "../../src/domain/drivers/driver-name.ts";
import { inspectFile } from "../../src/services/drivers/inspection-child.ts";
import { temporaryFolder } from "../support/app.ts";
import { makeDriver } from "../support/records.ts";
import { makeSharedZip, shared, withoutShared } from "../support/shared.ts";

/** The first name for a driver whose INF has these values. */
function nameOf(inf: Partial<InfSummary>, file_name = "driver.zip"): string {
  return proposedNames(makeDriver({ inf, file_name }))[0];
}

const numbered = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));

test("a name is the maker, the family and the first two numbers of the version", () => {
  const names = {
    one: nameOf({ descriptions: ["Papyrus 100 PCL6"] }),
    universal: nameOf({ descriptions: ["Papyrus 7", "Papyrus Universal Printing PCL 6"] }),
    named: nameOf({ descriptions: ["Papyrus Universal PS (v7.0.1)", "Papyrus Universal PS"] }),
    kinds: nameOf({ descriptions: ["Papyrus Universal Printer (PCL)", "Papyrus Universal Printer (PS)"] }),
    few: nameOf({ descriptions: ["Papyrus IM C300 PCL 6", "Papyrus IM C350 PCL 6"] }),
    line: nameOf({ descriptions: numbered(40, (i) => `Papyrus ${"ABCD"[i % 4]}${i} KX`) }),
    lineAndUniversal: nameOf({
      descriptions: ["Papyrus Universal System", ...numbered(40, (i) => `Papyrus ${"ABCD"[i % 4]}${i} KX`)],
    }),
    start: nameOf({ descriptions: numbered(9, (i) => `Papyrus TASK ${i}0i KX`) }),
    series: nameOf({ descriptions: numbered(12, (i) => `Papyrus ${i % 2 ? "HL" : "MFC"}-${i}0 series`) }),
    prefixed: nameOf({ descriptions: ["Papyrus ARM", "Papyrus ARM PS"] }),
    v4: nameOf({ driverModel: "v4", descriptions: ["Papyrus Universal v4 XL"] }),
  };

  assert.deepEqual(names, {
    one: "Papyrus 100 PCL6 1.2",
    universal: "Papyrus Universal PCL 6 1.2",
    named: "Papyrus Universal PS 7.0",
    kinds: "Papyrus Universal Printer 1.2",
    few: "Papyrus IM C300/C350 PCL 6 1.2",
    line: "Papyrus KX 1.2",
    lineAndUniversal: "Papyrus KX 1.2",
    start: "Papyrus TASK KX 1.2",
    series: "Papyrus MFC/HL series 1.2",
    prefixed: "Papyrus ARM 1.2",
    v4: "Papyrus Universal v4 XL 1.2",
  });
});

test("the maker has its usual spelling and no legal form, and is not named twice", () => {
  const names = {
    company: nameOf({ provider: "KYOCERA Document Solutions Inc.", descriptions: ["Kyocera KX"] }),
    unlike: nameOf({ provider: "Vellum Printing GmbH", manufacturers: [], descriptions: ["Laser 7"] }),
    rebranded: nameOf({
      provider: "Ricoh",
      manufacturers: ["Savin", "Ricoh"],
      descriptions: ["SAVIN IM 300", "RICOH IM 300"],
    }),
    ofModels: nameOf({
      provider: "Some Company Ltd.",
      manufacturers: ["Vellum"],
      descriptions: ["Vellum 7"],
    }),
    token: nameOf({
      provider: "%MFG%",
      manufacturers: ["POS"],
      descriptions: numbered(7, (i) => `POS-${i}`),
    }),
    none: nameOf({ provider: null, manufacturers: [], descriptions: ["Laser 7"] }),
    known: nameOf({ provider: null, manufacturers: [], descriptions: ["EPSON Laser 7"] }),
    sample: nameOf({ provider: "TODO-Set-Provider", manufacturers: ["TODO-Set"], descriptions: ["Laser 7"] }),
    long: nameOf({ provider: "The Company of Many Words", manufacturers: [], descriptions: ["Laser 7"] }),
    alone: nameOf(
      { provider: "Vellum", manufacturers: ["Vellum"], descriptions: ["Vellum"] },
      "v7_setup.zip",
    ),
  };
  const makers = ["Hewlett-Packard Company", "Seiko Epson Corporation", "Vellum Co., Ltd.", "NRG", "VELLUM"];

  assert.deepEqual(names, {
    company: "Kyocera KX 1.2",
    unlike: "Vellum Printing Laser 7 1.2",
    rebranded: "Ricoh IM 300 1.2",
    ofModels: "Vellum 7 1.2",
    token: "POS series 1.2",
    none: "Laser 7 1.2",
    known: "Epson Laser 7 1.2",
    sample: "Laser 7 1.2",
    long: "Laser 7 1.2",
    alone: "Vellum papyrus 1.2",
  });
  assert.deepEqual(makers.map(makerName), ["HP", "Epson", "Vellum", "NRG", "Vellum"]);
});

test("without models, version or INF, a name says what is known", () => {
  const none = { descriptions: [], driverVer: null };
  const version = (text: string) => ({ driverVer: { date: "", version: text } });
  const report = { fileCount: 1, totalBytes: 1, infs: [], printerInf: null, warnings: [] };

  const names = {
    noModels: nameOf({ descriptions: [], path: "drv/vellum7.INF" }),
    generalInf: nameOf({ ...none, path: "OEMSETUP.INF" }, "Vellum_KX_x64.zip"),
    noVersion: nameOf({ driverVer: null }),
    oneNumber: nameOf(version("7")),
    words: nameOf(version("%VERSION%")),
    noInf: proposedNames(makeDriver({ report, inf_path: "", file_name: "net_card.zip" })),
    noFileName: proposedNames(makeDriver({ report, inf_path: "", file_name: ".zip" })),
    notChosen: proposedNames(makeDriver({ inf_path: "" }))[0],
  };

  assert.deepEqual(names, {
    noModels: "Papyrus vellum7 1.2",
    generalInf: "Papyrus Vellum KX x64",
    noVersion: "Papyrus 100 PCL6",
    oneNumber: "Papyrus 100 PCL6 7",
    words: "Papyrus 100 PCL6",
    noInf: ["net card"],
    noFileName: ["Driver"],
    notChosen: "Papyrus 100 PCL6 1.2",
  });
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

  assert.deepEqual(
    names.slice(0, 3).map(([first]) => first),
    ["Принтер Лазер 7 1.2", "打印机公司 激光 7 1.2", "Papyrus 100 PS 1.2"],
  );
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

  assert.deepEqual(taken, [
    "Papyrus KX 7.2.2114",
    "Papyrus KX 7.2.2114 x64",
    "Papyrus KX 7.2 (2)",
    "Papyrus KX 7.2 (3)",
  ]);
  assert.deepEqual(
    long.map(({ length }) => length),
    [maxDriverName, maxDriverName],
  );
});

/** Names of real drivers, by folder of the corpus. */
const realNames = {
  "brother-hl-17a": "Brother HL series 1.9",
  "canon-mf810-pcl6": "Canon PCL6 21.75",
  "hp-upd-pcl6-701": "HP Universal PCL 6 7.0",
  "konica-c257i": "Konica Minolta Universal PCL 3.9",
  "kyocera-kx-merged": "Kyocera KX 8.5",
  "ricoh-imc3500": "Ricoh IM C3000/C3500 PCL 6 1.5",
  "triumphadler-3207ci": "TA/UTAX KX 8.6",
  "xerox-gpd-x64-5759": "Xerox Global Print Driver PCL6 5.759",
};

test("names of real drivers are short, and none has an INF's name or a legal form", {
  skip: withoutShared,
}, async (t) => {
  const folders = readdirSync(join(shared, "inf")).filter((name) =>
    existsSync(join(shared, "inf", name, "files.txt")),
  );
  const out = await temporaryFolder(t);
  const names = new Map<string, string>();

  for (const folder of folders) {
    const zip = join(out, "driver.zip");
    await makeSharedZip(folder, zip);
    const answer = await inspectFile(zip);
    assert.equal(answer.kind, "report");
    const { report } = answer as Extract<typeof answer, { kind: "report" }>;
    const driver = { report, inf_path: report.printerInf ?? "", file_name: `${folder}.zip` };
    names.set(folder, proposedNames(driver)[0]);
  }

  for (const [folder, name] of Object.entries(realNames)) assert.equal(names.get(folder), name);
  for (const name of names.values()) {
    assert.ok(name.length <= 60, name);
    assert.doesNotMatch(name, /\.inf|oemsetup|%|todo| (?:inc|corp|ltd|gmbh|co)\b/i);
  }
});
