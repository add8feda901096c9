import assert from "node:assert/strict";
import { test } from "node:test";
import type { Driver, InfSummary } from "../../src/domain/drivers/driver.ts";
import { unusedHint, unusedRemark } from "../../src/html/drivers/unused-files.ts";
import { makeDriver } from "../support/records.ts";

/** A driver with several printer INFs, each with ten unused files. */
function driverOf(printers: number, report: Partial<Driver["report"]> = {}, count = 10): Driver {
  const driver = makeDriver();
  const [first] = driver.report.infs;
  assert.ok(first);
  const infs = Array.from({ length: printers }, (_, i): InfSummary => {
    const unused = { count, bytes: 2048, paths: ["<a>.dll"] };
    return { ...first, path: `${i}.inf`, unused };
  });
  return { ...driver, report: { ...driver.report, fileCount: 1200, infs, ...report } };
}

function remarkOf(driver: Driver): string {
  const [inf] = driver.report.infs;
  assert.ok(inf);
  return String(unusedRemark(inf, driver));
}

test("files that another printer INF uses are not called unused", () => {
  const unused = { count: 3, bytes: 1024, paths: [] };
  const remarks = [driverOf(2, { unused }), driverOf(2, { unused: { ...unused, count: 10 } })].map(remarkOf);

  assert.match(remarks[0] ?? "", /Packages contain 10 files that this INF does not use \(2\.0 KB\)\./);
  assert.match(remarks[0] ?? "", /&lt;a&gt;\.dll and 9 more/);
  assert.match(remarks[1] ?? "", /Packages contain 10 unused files \(2\.0 KB\)\./);
});

test("a report without totals names the unused files of the chosen INF", () => {
  const [one, two] = [remarkOf(driverOf(1)), remarkOf(driverOf(2))];

  assert.match(one, /contain 10 unused files \(2\.0 KB\)\./);
  assert.match(two, /contain 10 files that this INF does not use \(2\.0 KB\)\./);
});

test("packages leave out the files that the chosen INF does not use", () => {
  const unused = { count: 3, bytes: 1024, paths: [] };

  const remark = remarkOf({ ...driverOf(2, { unused }), drop_unused: true });

  assert.match(remark, /Packages leave out 10 files that this INF does not use \(2\.0 KB\)\./);
});

test("the button says how many files it leaves out, and whose they are", () => {
  const many = { count: 30, bytes: 292 << 20, paths: [] };
  const buttonOf = (driver: Driver, unused = many) => {
    const [inf] = driver.report.infs;
    assert.ok(inf);
    return /<button [^>]*>([^<]*)</.exec(String(unusedRemark({ ...inf, unused }, driver, "page")))?.[1];
  };

  const labels = [
    buttonOf(driverOf(1, { unused: many })),
    buttonOf(driverOf(2, { unused: { ...many, count: 3 } })),
    buttonOf({ ...driverOf(1, { unused: many }), drop_unused: true }),
    buttonOf(driverOf(1), { ...many, bytes: 999_999 }),
  ];

  assert.deepEqual(labels, [
    "Leave out 30 unused files (292 MB smaller)",
    "Leave out 30 files that this INF does not use (292 MB smaller)",
    "Include unused files",
    undefined,
  ]);
});

test("a driver without unused files says so", () => {
  const none = { unused: { count: 0, bytes: 0, paths: [] } };

  assert.match(remarkOf(driverOf(1, none, 0)), /^The driver uses all files of the ZIP\.$/);
  assert.match(unusedHint(none), /This INF uses all files of the ZIP/);
  assert.match(unusedHint(undefined), /only the files that the chosen INF uses/);
});

test("one file is written in the singular", () => {
  const unused = { count: 1, bytes: 2048, paths: [] };

  const remarks = [driverOf(1, { unused }, 1), driverOf(2, {}, 1)].map(remarkOf);

  assert.match(remarks[0] ?? "", /Packages contain 1 unused file \(2\.0 KB\)\./);
  assert.match(remarks[1] ?? "", /Packages contain 1 file that this INF does not use/);
});
