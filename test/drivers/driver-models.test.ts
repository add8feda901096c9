import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { InfSummary } from "../../src/domain/drivers/driver.ts";
import { newerVersions, olderVersions, sortedByTitle } from "../../src/domain/drivers/driver-version.ts";
import { findModels, isUniversal, modelFinder, preselectedModel } from "../../src/domain/drivers/models.ts";
import { driverLabel } from "../../src/html/drivers/driver-label.ts";
import { makeDriver, makeInf } from "../support/records.ts";
import { shared, withoutShared } from "../support/shared.ts";

test("a name with certain words is universal unless it names a device", () => {
  const universal = [
    "Papyrus Universal PCL 6 (v7.0.1)",
    "PAPYRUS PCL6 UniversalDriver V4.38",
    "Papyrus Global Print Driver PS",
    "Papyrus GPD PCL6 V5.887.3.0",
    "Papyrus Generic Plus PCL6",
    "Papyrus IPP Class Driver",
  ];
  const others = [
    "Papyrus 100 PCL6",
    "Generic 55BW-5eSeriesPCL",
    "Papyrus Global 200",
    "Papyrus diversal",
    "Driver",
    "",
  ];

  const found = [...universal, ...others].filter(isUniversal);

  assert.deepEqual(found, universal);
});

test("a name for all devices is preselected before a name for one kind of device, and that before a device's name", () => {
  const names = ["Papyrus 1", "Papyrus Generic mono", "Universal Printing (Papyrus)", "Papyrus 2"];

  const broadest = preselectedModel({ descriptions: names, manufacturers: ["Papyrus"] });
  const kind = preselectedModel({ descriptions: names.slice(0, 2), manufacturers: ["Papyrus"] });
  const device = preselectedModel({ descriptions: ["B 1", "Papyrus 1"], manufacturers: ["Papyrus"] });
  const none = preselectedModel({ descriptions: [], manufacturers: [] });

  assert.deepEqual(
    [broadest, kind, device, none],
    ["Universal Printing (Papyrus)", "Papyrus Generic mono", "Papyrus 1", ""],
  );
});

/** The printer INFs in ../shared/inf with several names, one of them universal. */
const withUniversalName: readonly string[] = [
  "canon-ricoh-mixed/oemsetup.inf",
  "hp-upd-pcl6-701/hpcu255u.inf",
  "konica-c257i/KOAX5J__.inf",
  "kyocera-kx-merged/OEMSETUP (2).INF",
  "ricoh-universal-huz/oemsetup.inf",
  "ricoh-universal-old/oemsetup.inf",
  "triumphadler-3207ci/OEMSETUP.INF",
  "xerox-gpd-ps/x3UNIVP.inf",
  "xerox-gpd-x64-5759/x3UNIVX.inf",
  "xerox-gpd-x64/x3UNIVX.inf",
];

test("real drivers with several names need a choice unless they are universal", {
  skip: withoutShared,
}, () => {
  const folder = join(shared, "inf");
  const files = readdirSync(folder).filter((name) => existsSync(join(folder, name, "expected.json")));
  const several = files.flatMap((name) => {
    const { infs } = JSON.parse(readFileSync(join(folder, name, "expected.json"), "utf8"));
    const all = Object.entries(infs as Record<string, InfSummary>);
    return all
      .filter(([, inf]) => inf.isPrinter && inf.descriptions.length > 1)
      .map(([path, inf]) => [`${name}/${path}`, inf] as const);
  });

  const found = several.filter(([, inf]) => isUniversal(preselectedModel(inf))).map(([path]) => path);

  assert.deepEqual(found.sort(), [...withUniversalName].sort());
  assert.ok(several.length > found.length + 20, "most are of devices");
});

test("a model is found by its name, else without regard to case, else with another version in its name", () => {
  const find = modelFinder({
    descriptions: ["Papyrus 100", "Papyrus v4.41", "PAPYRUS GPD (v7.0.1)", "papyrus 100"],
  });

  const found = [
    "Papyrus 100",
    "PAPYRUS 100",
    "Papyrus V4.24",
    "Papyrus GPD (v6.8)",
    "Papyrus GPD",
    "Other",
  ].map(find);

  assert.deepEqual(found, [
    "Papyrus 100",
    "Papyrus 100",
    "Papyrus v4.41",
    "PAPYRUS GPD (v7.0.1)",
    undefined,
    undefined,
  ]);
});

test("a search over many INFs finds the INF that has the model", () => {
  const infs = [
    makeInf({ path: "a.inf", descriptions: ["Papyrus 1", "Papyrus 2"] }),
    makeInf({ path: "b/b.inf", descriptions: ["Papyrus 22", "Other"] }),
  ];

  const { visible, count } = findModels(infs, "PAPYRUS 2", 10);
  const few = findModels(infs, "", 1);

  assert.deepEqual(
    visible.map(({ model, inf }) => [model, inf.path]),
    [
      ["Papyrus 2", "a.inf"],
      ["Papyrus 22", "b/b.inf"],
    ],
  );
  assert.deepEqual([count, few.visible.length, few.count], [2, 1, 4]);
});

function versionOf(id: number, version: string, date: string, more: Parameters<typeof makeDriver>[0] = {}) {
  return makeDriver({ id, ...more, inf: { driverVer: { date, version }, ...more.inf } });
}

test("drivers are sorted by title without regard to their texts; the newest version of a title comes first", () => {
  const drivers = [
    versionOf(1, "9.0", "01/01/2020"),
    versionOf(2, "10.0", "01/01/2020"),
    versionOf(3, "1.0", "06/01/2025"),
    versionOf(4, "1.0", "06/01/2025", { name: "Älteste" }),
    versionOf(5, "1.0", "01/01/2020", { name: "Acme 7" }),
  ];

  const order = sortedByTitle(drivers).map(({ id }) => id);

  assert.deepEqual(order, [5, 3, 2, 1, 4]);
});

test("a newer version has the same known provider and the same INF", () => {
  const own = versionOf(1, "2.0", "01/01/2024");
  const drivers = [
    own,
    versionOf(2, "3.0", "01/01/2025"),
    versionOf(3, "2.5", "06/01/2024", { inf: { provider: "PAPYRUS", path: "x64/Papyrus.INF" } }),
    versionOf(4, "1.0", "01/01/2023"),
    versionOf(5, "9.0", "01/01/2026", { inf: { path: "other.inf" } }),
    versionOf(6, "9.0", "01/01/2026", { inf: { provider: "%P%" } }),
    versionOf(7, "9.0", "01/01/2026", { inf: { provider: "Acme" } }),
  ];
  const unknown = versionOf(8, "1.0", "01/01/2020", { inf: { provider: "%P%" } });

  const found = [newerVersions(own, drivers), olderVersions(own, drivers), newerVersions(unknown, drivers)];
  const ids = found.map((some) => some.map(({ id }) => id));

  assert.deepEqual(ids, [[2, 3], [4], []]);
});

test("a label consists of name, version if the name has none, and machines with files", () => {
  const plain = makeDriver({ inf: { architectures: ["amd64", "arm64"], notShipped: ["arm64"] } });
  const named = makeDriver({ name: "Ground floor" });
  const unversioned = makeDriver({ name: "Cellar", inf: { driverVer: null } });
  const unread = makeDriver({ name: "Unread", inf_path: "" });

  const labels = [plain, named, unversioned, unread].map(driverLabel);

  assert.deepEqual(labels, [
    "Papyrus 100 PCL6 1.2 · x64",
    "Ground floor 1.2 · x64",
    "Cellar · x64",
    "Unread",
  ]);
});
