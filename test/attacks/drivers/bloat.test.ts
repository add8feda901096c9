import assert from "node:assert/strict";
import { test } from "node:test";
import { missingCountOf } from "../../../src/domain/drivers/driver.ts";
import { inspectArchive } from "../../../src/services/drivers/inspect.ts";
import { reportOf } from "../../../src/services/drivers/inspect-report.ts";
import { startApp } from "../../support/app.ts";
import { deepTest, isDeep, selectCases } from "../../support/depth.ts";
import { driverZip, printerInf } from "../../support/drivers/driver-zip.ts";
import { makeZip, sourceOf, type ZipPart } from "../../support/drivers/zip.ts";

const named = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));
const reportFor = async (zip: Buffer) => reportOf(await inspectArchive(sourceOf(zip)));
const infs = (count: number, text: (i: number) => string) =>
  makeZip(
    Array.from({ length: count }, (_, i): ZipPart => ({ name: `${i}/a.inf`, bytes: text(i), method: 0 })),
  );

const longNames = (i: number) =>
  printerInf({
    models: named(200, (k) => `${i} ${k} ${"m".repeat(240)}`),
    files: named(200, (k) => `${k}${"f".repeat(200)}`),
  });

/** Small ZIPs that made large pages in the past. */
const bloated: Record<string, () => Buffer> = {
  "a model name of 15 MB": () => driverZip({ models: ["A".repeat(15 << 20), "Papyrus"] }),
  "100,000 models": () => driverZip({ models: named(100_000, (i) => `Papyrus number ${i}`) }),
  "60,000 missing files": () =>
    makeZip([{ name: "a.inf", bytes: printerInf({ files: named(60_000, (i) => `gone${i}.dll`) }) }]),
  "1,000 INFs": () => infs(1000, () => printerInf()),
  "200 INFs of 200 long names": () => infs(200, longNames),
  "a provider of 4,000 characters": () => driverZip({ provider: "P".repeat(4000) }),
};

for (const [name, make] of selectCases(Object.entries(bloated), 2)) {
  test(`${name}: the report and the pages stay small`, { timeout: 120_000 }, async (t) => {
    const service = await startApp(t);
    const id = await service.addDriver(make());
    const pages: { path: string; bytes: number; ms: number }[] = [];

    for (const path of ["/drivers", `/drivers/${id}`, "/printers", `/drivers/${id}?q=a`]) {
      const since = performance.now();
      const bytes = (await (await service.fetch(path)).text()).length;
      pages.push({ path, bytes, ms: performance.now() - since });
    }

    const reportBytes = JSON.stringify(service.app.store.drivers.get(id).report).length;
    t.diagnostic(
      `${reportBytes} bytes kept; ${pages.map((page) => `${page.bytes} bytes in ${Math.round(page.ms)} ms`)}`,
    );
    assert.ok(reportBytes <= 2 << 20, `${reportBytes} bytes kept`);
    for (const { path, bytes, ms } of pages) {
      assert.ok(bytes < 200_000, `${path} has ${bytes} bytes`);
      if (isDeep) assert.ok(ms < 2000, `${path} took ${ms} ms`);
    }
  });
}

test("more than a thousand INFs are refused with the remedy", { timeout: 60_000 }, async () => {
  for (const count of [1001, 3000, 10_000]) {
    await assert.rejects(inspectArchive(sourceOf(infs(count, () => ""))), {
      name: "UserError",
      message: /The limit is 1000\. Zip and upload only one driver’s folder/,
    });
  }
});

test("models with impossible names are left out, and the report says how many", async () => {
  const models = [
    "A".repeat(261),
    `e${"\u0301".repeat(31)}`,
    "bell \u0007",
    "Papyrus\t100",
    `e${"\u0301".repeat(30)}`,
  ];

  const {
    infs: [inf],
    warnings,
  } = await reportFor(driverZip({ models }));

  assert.deepEqual(inf?.descriptions, models.slice(3));
  assert.equal(inf?.modelLines, 5);
  assert.match(warnings.join(), /^3 models are left out/);
});

test("the lists of a report are cut and its counts are not, and the printer's INF gets its names first", {
  timeout: 60_000,
}, async () => {
  const whole = printerInf({ models: named(10_001, (i) => `Papyrus ${i}`), files: ["a.dll"] });
  const others = Array.from(
    { length: 100 },
    (_, i): ZipPart => ({ name: `0/${i}.inf`, bytes: longNames(i) }),
  );

  const report = await reportFor(
    makeZip([...others, { name: "z.inf", bytes: whole }, { name: "papyrus.cat" }, { name: "a.dll" }]),
  );

  const last = report.infs.at(-1);
  assert.equal(report.printerInf, "z.inf");
  assert.equal(last?.descriptions.length, 10_000);
  assert.equal(last?.unused.count, 100);
  assert.ok(JSON.stringify(report).length <= 2 << 20);
  assert.match(report.warnings.join(), /models are not listed\. You can type them/);
  assert.equal(report.infs[0] && missingCountOf(report.infs[0]), 201);
});

deepTest("50,000 names that differ only by case make few warnings", { timeout: 60_000 }, async () => {
  const duplicates = ["A", "a"]
    .flatMap((letter) => named(25_000, (i) => `${letter}${i}`))
    .map((name) => ({ name, method: 0 }));

  const { warnings } = await reportFor(makeZip([{ name: "x.inf", bytes: printerInf() }, ...duplicates]));

  assert.ok(warnings.length < 10, `${warnings.length} warnings`);
  assert.match(warnings.at(-1) ?? "", /\b25000\b/, "the others are counted");
});
