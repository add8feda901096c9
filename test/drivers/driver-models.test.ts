import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver } from "../../src/domain/drivers/driver.ts";
import { newerVersions, olderVersions } from "../../src/domain/drivers/driver-version.ts";
import { findModels, isUniversal, modelFinder, preselectedModel } from "../../src/domain/drivers/models.ts";
import { nearestInWords, nearestModels } from "../../src/domain/drivers/nearest-models.ts";
import { narrowDrivers } from "../../src/domain/printers/search.ts";
import { driverLabel } from "../../src/html/drivers/driver-label.ts";
import { ModelSearch } from "../../src/services/drivers/model-search.ts";
import { deepTest } from "../support/depth.ts";
import { makeDriver, makeInf } from "../support/records.ts";

test("a name with certain words is universal unless it names a device", () => {
  const universal = [
    "Papyrus Universal PCL 6 (v7.0.1)",
    "PAPYRUS PCL6 UniversalDriver V4.38",
    "Papyrus Global Print Driver PS",
    "Papyrus GPD PCL6 V5.887.3.0",
    "Papyrus Generic Plus PCL6",
    "Papyrus IPP Class Driver",
  ];
  const others = ["Papyrus 100 PCL6", "Generic 55BW-5eSeriesPCL", "Papyrus Global 200", "Papyrus diversal"];

  const found = [...universal, ...others, "Driver", ""].filter(isUniversal);

  assert.deepEqual(found, universal);
});

test("a name for all devices is preselected before a name for one kind of device, and that before a device's name", () => {
  const names = ["Papyrus 1", "Papyrus Generic mono", "Universal Printing (Papyrus)", "Papyrus 2"];
  const preselected = (...descriptions: string[]) =>
    preselectedModel({ descriptions, manufacturers: ["Papyrus"] });

  const found = [preselected(...names), preselected(...names.slice(0, 2)), preselected("B 1", "Papyrus 1")];

  assert.deepEqual(found, ["Universal Printing (Papyrus)", "Papyrus Generic mono", "Papyrus 1"]);
  const [plain, versioned] = ["Quill Vellum Universal PCL", "Quill Vellum Universal PCL v3.9.2"];
  const manufacturers = ["Quill Vellum"];
  const descriptions = ["Universal PCL", versioned, plain];
  assert.equal(preselectedModel({ descriptions, manufacturers }), plain, "the maker's, without a version");
  assert.equal(preselectedModel({ descriptions: [versioned], manufacturers }), versioned);
  assert.equal(preselectedModel({ descriptions: [], manufacturers: [] }), "");
});

test("a model is found by its name, else without regard to case, else with another version in its name", () => {
  const find = modelFinder({
    descriptions: ["Papyrus 100", "Papyrus v4.41", "PAPYRUS GPD (v7.0.1)", "papyrus 100"],
  });
  const expected: Record<string, string | undefined> = {
    "Papyrus 100": "Papyrus 100",
    "PAPYRUS 100": "Papyrus 100",
    "Papyrus V4.24": "Papyrus v4.41",
    "Papyrus GPD (v6.8)": "PAPYRUS GPD (v7.0.1)",
    "Papyrus GPD": undefined,
    Other: undefined,
  };

  const found = Object.keys(expected).map((name) => [name, find(name)]);

  assert.deepEqual(Object.fromEntries(found), expected);
});

test("a search over many INFs finds the INF that has the model", () => {
  const second = makeInf({ path: "b/b.inf", descriptions: ["Papyrus 22", "Other"] });
  const infs = [makeInf({ path: "a.inf", descriptions: ["Papyrus 1", "Papyrus 2"] }), second];

  const { visible, count } = findModels(infs, "PAPYRUS 2", 10);
  const few = findModels(infs, "", 1);

  const found = visible.map(({ model, inf }) => `${model} in ${inf.path}`);
  assert.deepEqual(found, ["Papyrus 2 in a.inf", "Papyrus 22 in b/b.inf"]);
  assert.deepEqual([count, few.visible.length, few.count], [2, 1, 4]);
});

function versionOf(id: number, version: string, date: string, more: Parameters<typeof makeDriver>[0] = {}) {
  return makeDriver({ id, ...more, inf: { driverVer: { date, version }, ...more.inf } });
}

test("a newer version has the same known provider, the same INF, and files for the same machines", () => {
  const own = versionOf(1, "2.0", "01/01/2024");
  const drivers = [
    own,
    versionOf(2, "3.0", "01/01/2025"),
    versionOf(3, "2.5", "06/01/2024", { inf: { provider: "PAPYRUS", path: "x64/Papyrus.INF" } }),
    versionOf(4, "1.0", "01/01/2023"),
    versionOf(5, "9.0", "01/01/2026", { inf: { path: "other.inf" } }),
    versionOf(6, "9.0", "01/01/2026", { inf: { provider: "%P%" } }),
    versionOf(7, "9.0", "01/01/2026", { inf: { provider: "Acme" } }),
    versionOf(9, "2.9", "12/01/2024", { inf: { architectures: ["amd64", "arm64"] } }),
    versionOf(10, "9.0", "01/01/2026", { inf: { architectures: ["arm64"] } }),
  ];
  const unknown = versionOf(8, "1.0", "01/01/2020", { inf: { provider: "%P%" } });

  const found = [newerVersions(own, drivers), olderVersions(own, drivers), newerVersions(unknown, drivers)];
  const ids = found.map((some) => some.map(({ id }) => id));

  assert.deepEqual(ids, [[2, 9, 3], [4], []]);
});

test("a label consists of name, version if the name has none, and machines with files", () => {
  const cellar = { name: "Cellar", inf: { driverVer: null } };
  const both = { inf: { architectures: ["amd64", "arm64"], notShipped: ["arm64"] } } as const;
  const drivers = [both, { name: "Ground floor" }, cellar, { name: "Unread", inf_path: "" }].map(makeDriver);

  const labels = drivers.map(driverLabel);

  const own = "Papyrus 100 PCL6 1.2 · x64";
  assert.deepEqual(labels, [own, "Ground floor 1.2 · x64", "Cellar · x64", "Unread"]);
});

test("the nearest names come first: a slip of the pen, another order, a part; no more than asked for, and none that is unlike", () => {
  const models = ["NW-FAX", "TASKalfa 2553ci KX", "TASKalfa 2554ci KX", "TASKalfa 3253ci KX"];
  const kyocera = [...models, "ECOSYS M5526cdw KX", "ECOSYS P2040dn KX"].map((name) => `Kyocera ${name}`);
  const same = ["Papyrus 1", "Papyrus 1 ", "Papyrus 2"];
  const expected = {
    "Kyocera TASKalfa 2554ci": "Kyocera TASKalfa 2554ci KX",
    "kyocera taskalpha 2553 ci kx": "Kyocera TASKalfa 2553ci KX",
    "KX ECOSYS M5526cdw": "Kyocera ECOSYS M5526cdw KX",
    P2040: "Kyocera ECOSYS P2040dn KX",
    NWFAX: "Kyocera NW-FAX",
  };

  const found = Object.keys(expected).map((typed) => [typed, nearestModels(kyocera, typed)[0]]);
  const three = nearestModels(kyocera, "Kyocera TASKalfa", 3);
  const message = nearestInWords(["Papyrus A", "Papyrus B"], "Papyrus Z");

  assert.deepEqual(Object.fromEntries(found), expected);
  assert.equal(three.length, 3);
  assert.deepEqual(nearestModels(same, "Papyrus 1"), ["Papyrus 1", "Papyrus 2"]);
  for (const typed of ["", "  ", "!", "Xerox Phaser"]) assert.deepEqual(nearestModels(kyocera, typed), []);
  assert.deepEqual(nearestModels([], "Papyrus"), []);
  assert.equal(message, " Similar models: “Papyrus A”, “Papyrus B”.");
  assert.equal(nearestInWords(["Papyrus A"], "Xerox"), "");
});

deepTest("five thousand long names are compared in less than 50 ms of this thread", () => {
  const names = Array.from({ length: 5000 }, (_, i) => `Papyrus ${i} ${"Überlänge PCL-6 ".repeat(30)}`);
  const typed = "Papyrus 4711 Überlänge ".repeat(20);
  nearestModels(names, typed);

  const before = process.cpuUsage();
  const [nearest = ""] = nearestModels(names, typed);
  const { user } = process.cpuUsage(before);

  assert.match(nearest, /^Papyrus 4711 /);
  assert.ok(user / 1000 < 50, `${user / 1000} ms`);
});

/** A driver as in lists, with these models. */
function listed(descriptions: readonly string[], more: Partial<Driver> = {}) {
  const row = { state: "ready", findings: [], printer_count: 0, clients: new Set<number>() } as const;
  return { ...makeDriver({ name: "Kalamos", inf: { descriptions }, ...more }), ...row, newer: undefined };
}

test("a driver that is deleted during a search is found after it is restored, and its names are then read once", async () => {
  const driver = listed(["Papyrus 100", "Papyrus 777"]);
  let isRestored = false;
  let reads = 0;
  const find = () => {
    reads++;
    return isRestored ? driver : undefined;
  };
  const search = new ModelSearch({ drivers: { find } });

  const gone = await search.find([driver], "777");
  isRestored = true;
  const back = await search.find([driver], "777");
  for (const q of ["nothing", "100"]) await search.find([driver], q);

  assert.deepEqual([...gone], []);
  assert.deepEqual([...back], [[driver.id, "Papyrus 777"]]);
  assert.equal(reads, 2);
});

test("some words of a search may match the driver and the others one of its models", async () => {
  const driver = listed(["Papyrus 100", "Vellum A3 color", "Vellum B4 color", "Vellum C5"]);
  const search = new ModelSearch({ drivers: { find: () => driver } });
  const expected: Record<string, [model: string | undefined, listed: number]> = {
    "kalamos c5": ["Vellum C5", 1],
    "vellum b4 KALAMOS": ["Vellum B4 color", 1],
    "vellum color b4": ["Vellum B4 color", 1],
    "c5 vellum": ["Vellum C5", 1],
    "kalamos nothing": [undefined, 0],
    "kalamos b4 c5": [undefined, 0],
    kalamos: [undefined, 1],
  };

  for (const [q, found] of Object.entries(expected)) {
    const models = await search.find([driver], q);
    const rows = narrowDrivers([driver], { q, client: undefined, state: undefined }, models);
    assert.deepEqual([models.get(1), rows.length], found, q);
  }
});

test("a search ignores models in INFs of other device classes", async () => {
  const { report } = makeDriver();
  const scanner = makeInf({ path: "s.inf", class: "Image", isPrinter: false, descriptions: ["Papyrus 777"] });
  const second = makeInf({ path: "second.inf", descriptions: ["Papyrus 888"] });
  const driver = listed([], { report: { ...report, infs: [...report.infs, scanner, second] } });
  const search = new ModelSearch({ drivers: { find: () => driver } });

  const found = [...(await search.find([driver], "777")), ...(await search.find([driver], "888"))];

  assert.deepEqual(found, [[1, "Papyrus 888"]]);
});
