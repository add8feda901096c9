import assert from "node:assert/strict";
import { test } from "node:test";
import type { InfSummary } from "../../src/domain/drivers/driver.ts";
import { listedInf } from "../../src/domain/drivers/report.ts";
import { type FindingKind, printerFindings } from "../../src/domain/printers/findings.ts";
import type { ListedPrinter } from "../../src/domain/printers/listings.ts";
import { architecturesOf, driversOf } from "../../src/domain/printers/printer-drivers.ts";
import { remedyOf } from "../../src/html/remedies.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

const sound = {
  architectures: ["arm64"],
  descriptions: ["Papyrus ARM"],
} as const satisfies Partial<InfSummary>;

/** The findings of a printer whose second driver has this INF. */
function findingsOf(
  inf: Partial<InfSummary>,
  printer: Record<string, string> = {},
  first: Partial<InfSummary> = {},
) {
  const second = makeDriver({ id: 2, inf: { ...sound, ...inf } });
  const arm64 = { driver: second, archive: "sound" } as const;
  const found = printerFindings(makePrinter(printer), makeDriver({ inf: first }), "sound", arm64);
  return found.map(
    ({ kind, state, driver, isArm64 }) => `${kind} ${state} ${driver?.id} ${isArm64 === true}`,
  );
}

test("problems of the second driver are reported for ARM64 machines only", () => {
  const cases: [Partial<InfSummary>, string[]][] = [
    [{}, []],
    [{ signed: false }, ["unsigned attention 2 true"]],
    [{ missing: ["a.dll"], missingFor: ["arm64"] }, ["missing-files attention 2 true"]],
    [{ architectures: ["amd64", "arm64"], missing: ["a.dll"], missingFor: ["amd64"] }, []],
    [{ architectures: ["amd64"] }, ["not-for-arm64 attention 2 true"]],
    [{ architectures: ["amd64", "arm64"], notShipped: ["arm64"] }, ["not-for-arm64 attention 2 true"]],
    [{ descriptions: ["A", "B"] }, ["unchosen-model attention 2 true"]],
    [{ descriptions: [] }, ["incomplete blocked 2 true"]],
  ];

  for (const [inf, expected] of cases) assert.deepEqual(findingsOf(inf), expected, JSON.stringify(inf));
  assert.deepEqual(findingsOf({ descriptions: ["A", "B"] }, withSecond({ arm64_driver_desc: "B" })), []);
});

function withSecond(fields: Record<string, string>) {
  return { arm64_driver_id: "2", ...fields };
}

test("a model missing in the second driver is reported, and missing ARM64 files of the first are not", () => {
  const second = makeDriver({ id: 2, inf: { ...sound, descriptions: ["New"] } });
  const listed = listedInf(second, ["Old"]);
  const printer = makePrinter(withSecond({ arm64_driver_desc: "Old" }));
  const arm64 = { driver: { ...second, listed }, archive: "sound" } as const;
  const lacking = { architectures: ["amd64", "arm64"], missing: ["a.dll"], missingFor: ["arm64"] } as const;

  const lost = printerFindings(printer, makeDriver(), "sound", arm64);
  const alone = printerFindings(makePrinter(), makeDriver({ inf: lacking }), "sound");

  assert.deepEqual(
    lost.map(({ kind, text }) => [kind, text]),
    [
      [
        "lost-model",
        "The INF of the driver for ARM64 does not contain the model “Old”. Installation fails on ARM64 PCs. Choose another model.",
      ],
    ],
  );
  assert.deepEqual(
    alone.map(({ kind }) => kind),
    ["missing-files"],
  );
  assert.deepEqual(findingsOf({}, {}, lacking), []);
});

test("findings of the second driver link to its form fields or its page", () => {
  const printer = makePrinter(withSecond({ driver_desc: "First", arm64_driver_desc: "Second" }));
  const drivers = { driver: makeDriver(), arm64Driver: makeDriver({ id: 2 }) };
  const pathOf = (kind: FindingKind, row: Partial<ListedPrinter>) =>
    remedyOf({ kind, isArm64: true }, { printer, ...drivers, ...row }).path;

  const paths = [
    pathOf("not-for-arm64", {}),
    pathOf("lost-model", {}),
    pathOf("lost-model", { printer: { ...printer, arm64_driver_desc: "" } }),
    pathOf("incomplete", { arm64Driver: undefined }),
  ];

  const edit = `/printers/${printer.id}/edit`;
  assert.deepEqual(paths, [
    `${edit}#f-arm64_driver_id`,
    `${edit}#f-arm64_driver_desc`,
    "/drivers/2?tab=model#models-found",
    `${edit}#f-arm64_driver_id`,
  ]);
});

test("an archive shared by both drivers is reported once, and a printer without a first driver has no findings of the second", () => {
  const driver = makeDriver({ inf: { architectures: ["amd64", "arm64"] } });
  const arm64 = { driver, archive: "damaged" } as const;

  const both = printerFindings(makePrinter(), driver, "damaged", arm64);
  const none = printerFindings(makePrinter(), undefined, "sound", arm64);

  assert.deepEqual(
    both.map(({ kind, isArm64 }) => [kind, isArm64]),
    [["archive", undefined]],
  );
  assert.deepEqual(
    none.map(({ kind }) => kind),
    ["no-driver"],
  );
});

test("the machines of a printer are those with program files in the drivers, not those that the INFs declare", () => {
  const driver = (architectures: InfSummary["architectures"], notShipped: InfSummary["notShipped"] = []) =>
    makeDriver({ inf: { architectures, notShipped } });
  const second = driver(["arm64"]);
  const cases = [
    [driver(["amd64"]), undefined, "amd64"],
    [driver(["amd64", "arm64"]), undefined, "amd64 arm64"],
    [driver(["amd64", "arm64"], ["arm64"]), undefined, "amd64"],
    [driver(["x86", "amd64"]), second, "x86 amd64 arm64"],
    [driver(["amd64", "arm64"]), driver(["amd64"]), "amd64"],
    [driver(["amd64"]), driver(["amd64", "arm64"], ["arm64"]), "amd64"],
    [driver(["x86", "amd64"], ["amd64"]), second, "x86 arm64"],
  ] as const;

  const found = cases.map(([first, arm64Driver]) =>
    architecturesOf({ driver: first, arm64Driver }).join(" "),
  );

  assert.deepEqual(
    found,
    cases.map(([, , expected]) => expected),
  );
  assert.deepEqual(driversOf({ driver: { id: 1 }, arm64Driver: { id: 1 } }), [{ id: 1 }]);
  assert.deepEqual(driversOf({ driver: { id: 1 }, arm64Driver: { id: 2 } }), [{ id: 1 }, { id: 2 }]);
});
