import assert from "node:assert/strict";
import { test } from "node:test";
import { missingCountOf } from "../../src/domain/drivers/driver.ts";
import { infRemarks } from "../../src/html/drivers/driver-remarks.ts";
import { inspectArchive } from "../../src/services/drivers/inspect.ts";
import { reportOf } from "../../src/services/drivers/inspect-report.ts";
import { startApp } from "../support/app.ts";
import { deepTest, isDeep, rounds, selectCases } from "../support/depth.ts";
import { driverZip, printerInf } from "../support/drivers/driver-zip.ts";
import { makeZip, sourceOf } from "../support/drivers/zip.ts";
import { makeDriver } from "../support/records.ts";

const named = (count: number, name: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => name(i));
const reportFor = async (zip: Buffer) => reportOf(await inspectArchive(sourceOf(zip)));
const infs = (count: number, text: (i: number) => string) =>
  makeZip(named(count, (i) => `${i}/a.inf`).map((name, i) => ({ name, bytes: text(i), method: 0 })));
const longNames = (i: number) =>
  printerInf({
    models: named(200, (k) => `${i} ${k} ${"m".repeat(240)}`),
    files: named(200, (k) => `${k}${"f".repeat(200)}`),
  });

/** Small ZIPs that made large pages in the past. */
const bloated: Record<string, () => Buffer> = {
  "a provider of 4,000 characters": () => driverZip({ provider: "P".repeat(4000) }),
  "a model name of 15 MB": () => driverZip({ models: ["A".repeat(15 << 20), "Papyrus"] }),
  "100,000 models": () => driverZip({ models: named(100_000, (i) => `Papyrus number ${i}`) }),
  "1,000 INFs": () => infs(1000, () => printerInf()),
  "200 INFs of 200 long names": () => infs(200, longNames),
  "many missing files": () =>
    infs(1, () => printerInf({ files: named(rounds(4000, 60_000), (i) => `gone${i}.dll`) })),
};

for (const [name, make] of selectCases(Object.entries(bloated), 2)) {
  test(`${name}: the report and the pages stay small`, async (t) => {
    const service = await startApp(t);
    const id = await service.addDriver(make());

    for (const path of ["/drivers", `/drivers/${id}`, "/printers", `/drivers/${id}?q=a`]) {
      const since = performance.now();
      const answer = await service.fetch(path);
      const { length } = await answer.text();
      assert.ok(answer.ok && length < 200_000, `${path}: ${answer.status}, ${length} characters`);
      if (isDeep) assert.ok(performance.now() - since < 2000, `${path} took too long`);
    }
    const kept = JSON.stringify(service.app.store.drivers.get(id).report).length;
    assert.ok(kept <= 2 << 20, `${kept} bytes kept`);
  });
}

test("more than a thousand INFs are refused with the remedy", async () => {
  for (const count of selectCases([1001, 3000, 10_000], 1))
    await assert.rejects(inspectArchive(sourceOf(infs(count, () => ""))), {
      name: "UserError",
      message: /The limit is 1000\. Zip and upload only one driver’s folder/,
    });
});

test("models with impossible names are left out, and the report says how many", async () => {
  const accents = (count: number) => `e${"\u0301".repeat(count)}`;
  const models = ["A".repeat(261), accents(31), "bell \u0007", "Papyrus\t100", accents(30)];
  const hidden = ["\u202e001 surypaP", "Papyrus\u2028HP 100", "Papyrus \u2066100", "Papyrus 100"];

  const one = await reportFor(driverZip({ models }));
  const other = await reportFor(driverZip({ models: hidden }));

  assert.deepEqual(one.infs[0]?.descriptions, models.slice(3));
  assert.equal(one.infs[0]?.modelLines, 5);
  assert.deepEqual(other.infs[0]?.descriptions, ["Papyrus 100"]);
  for (const { warnings } of [one, other]) assert.match(warnings.join(), /^3 models are left out/);
});

deepTest(
  "the lists of a report are cut and its counts are not; the printer's INF has all its names",
  async () => {
    const whole = printerInf({ models: named(10_001, (i) => `Papyrus ${i}`), files: ["a.dll"] });
    const others = Array.from({ length: 100 }, (_, i) => ({ name: `0/${i}.inf`, bytes: longNames(i) }));
    const files = [{ name: "papyrus.cat" }, { name: "a.dll" }];

    const report = await reportFor(makeZip([...others, { name: "z.inf", bytes: whole }, ...files]));

    const last = report.infs.at(-1);
    assert.equal(report.printerInf, "z.inf");
    assert.deepEqual([last?.descriptions.length, last?.unused.count], [10_000, 100]);
    assert.ok(JSON.stringify(report).length <= 2 << 20);
    assert.match(report.warnings.join(), /models are not listed\. You can type them/);
    assert.equal(report.infs[0] && missingCountOf(report.infs[0]), 201);
  },
);

deepTest("50,000 names that differ only by case make few warnings", async () => {
  const names = ["A", "a"].flatMap((letter) => named(25_000, (i) => `${letter}${i}`));
  const duplicates = names.map((name) => ({ name, method: 0 }));

  const { warnings } = await reportFor(makeZip([{ name: "x.inf", bytes: printerInf() }, ...duplicates]));

  assert.ok(warnings.length < 10, `${warnings.length} warnings`);
  assert.match(warnings.at(-1) ?? "", /\b25000\b/, "the others are counted");
});

test("a warning about very many vendors stays short", async () => {
  const long = "x".repeat(180);
  const extra = Array.from({ length: 60 }, (_, i) => ({
    name: `${long}/${i}.inf`,
    bytes: printerInf({ provider: `${i}${long}`, files: [] }),
  }));

  const report = await reportFor(driverZip({ extra }));

  const [warning = ""] = report.warnings;
  assert.match(warning, /several vendors/);
  assert.ok(warning.length < 2500, `${warning.length} characters`);
  assert.ok(infRemarks(makeDriver({ report })).toString().length < 20_000);
});

test("hostile names of INFs and models are escaped on every page", async (t) => {
  const { addDriver, fetch, upload } = await startApp(t);
  const evil = '"><script>alert(1)</script>\u202e';
  const encoded = encodeURIComponent(evil);
  const other = printerInf({ models: ["In <other>"], provider: "</bdi>" });
  await addDriver(
    driverZip({
      models: ["Papyrus <img src=x>", `Papyrus ' onfocus='x`],
      provider: "<b>Acme</b>",
      extra: [{ name: "x' &amp; i.inf", bytes: other }],
    }),
  );
  const pages = [
    "",
    "/1",
    `/1?q=${encoded}`,
    `/1/models?q=in&inf_path=${encoded}`,
    "/1/models?suggest=1&q=papyrus",
    `/1/models?pick=${encodeURIComponent(`0:${evil}`)}`,
    "/1/models?pick=-1:x",
    "/1/models?pick=__proto__:x",
    `/1?uploaded=new&moved=${encoded}`,
  ];

  const texts = await Promise.all(pages.map(async (path) => (await fetch(`/drivers${path}`)).text()));
  const notice = await upload(
    "/drivers/upload",
    driverZip({ provider: "<b>Acme</b>", models: ["<x>", "<y>"] }),
  );

  for (const text of [...texts, await notice.text()]) {
    assert.doesNotMatch(text, /<script>alert|<img src=x|<i>\.inf|<b>Acme|In <other>|<x>|<y>| onfocus='/);
    assert.doesNotMatch(text, /error in Platen/i);
  }
});

test("invisible characters in texts of an INF are shown as codes on every page", async (t) => {
  const { fetch, addDriver } = await startApp(t);
  const files = ["gone\u202efni.dll"];
  const inf = { provider: "HP\u202etfos\u0007", maker: "\u2067M", version: "1.2\u200e.3", files };

  await addDriver(makeZip([{ name: "a.inf", bytes: printerInf(inf) }]));
  const [page = "", ...others] = await Promise.all(
    ["/drivers/1", "/drivers", "/printers?driver=1"].map(async (path) => (await fetch(path)).text()),
  );

  assert.match(page, /<title>HPtfos Papyrus 100 PCL6/);
  assert.match(page, /<bdi>HP\[U\+202E\]tfos\[U\+0007\]/);
  assert.match(page, /Missing: .*gone\[U\+202E\]fni\.dll/);
  assert.doesNotMatch([page, ...others].join(), /[\u202a-\u202e\u2066-\u2069\u200e\u0007]/);
});

test("the name of an uploaded file is kept with visible, whole characters", async (t) => {
  const { fetch, upload, app } = await startApp(t);
  const names = ["a\u202egpj.zip", `${"a".repeat(254)}\u{1f600}.zip`, "\u2028.zip", "a\u009b31m\u0085.zip"];

  for (const [i, name] of names.entries())
    await upload("/drivers/upload", driverZip({ version: `1.${i}` }), name);

  const kept = ["a[U+202E]gpj.zip", `${"a".repeat(254)}\ufffd`, ".zip", "a31m.zip"];
  for (const [i, name] of kept.entries()) {
    const { status, headers } = await fetch(`/drivers/${i + 1}/archive`);
    assert.deepEqual([app.store.drivers.get(i + 1).file_name, status], [name, 200]);
    assert.doesNotMatch(headers.get("content-disposition") ?? "", /%E2%80%A|%C2%9B|%0/);
  }
});
