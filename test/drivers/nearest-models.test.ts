import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestInWords, nearestModels } from "../../src/domain/drivers/nearest-models.ts";
import { deepTest } from "../support/depth.ts";

const kyocera = [
  "Kyocera NW-FAX",
  "Kyocera TASKalfa 2553ci KX",
  "Kyocera TASKalfa 2554ci KX",
  "Kyocera TASKalfa 3253ci KX",
  "Kyocera ECOSYS M5526cdw KX",
  "Kyocera ECOSYS P2040dn KX",
];

test("the nearest names come first: a slip of the pen, another order, a part of the name", () => {
  const cases = [
    ["Kyocera TASKalfa 2554ci", "Kyocera TASKalfa 2554ci KX"],
    ["kyocera taskalpha 2553 ci kx", "Kyocera TASKalfa 2553ci KX"],
    ["KX ECOSYS M5526cdw", "Kyocera ECOSYS M5526cdw KX"],
    ["P2040", "Kyocera ECOSYS P2040dn KX"],
    ["NWFAX", "Kyocera NW-FAX"],
  ] as const;

  const found = cases.map(([typed]) => nearestModels(kyocera, typed)[0]);

  assert.deepEqual(
    found,
    cases.map(([, name]) => name),
  );
});

test("no more names than asked for, none twice, and none that is unlike", () => {
  const same = ["Papyrus 1", "Papyrus 1 ", "Papyrus 2"];

  const three = nearestModels(kyocera, "Kyocera TASKalfa", 3);

  assert.equal(three.length, 3);
  assert.deepEqual(nearestModels(same, "Papyrus 1"), ["Papyrus 1", "Papyrus 2"]);
  for (const typed of ["", "  ", "!", "Xerox Phaser"]) assert.deepEqual(nearestModels(kyocera, typed), []);
  assert.deepEqual(nearestModels([], "Papyrus"), []);
});

test("a message names the nearest three, or nothing", () => {
  assert.equal(
    nearestInWords(["Papyrus A", "Papyrus B"], "Papyrus Z"),
    " Similar models: “Papyrus A”, “Papyrus B”.",
  );
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
