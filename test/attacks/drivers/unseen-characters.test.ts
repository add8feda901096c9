import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../../support/app.ts";
import { driverZip, printerInf } from "../../support/drivers/driver-zip.ts";
import { makeZip } from "../../support/drivers/zip.ts";

test("a model with direction controls or several lines is left out, and the report says so", async (t) => {
  const { app, addDriver } = await startApp(t);
  const models = ["\u202e001 surypaP", "Papyrus\u2028HP 100", "Papyrus \u2066100", "Papyrus 100"];

  await addDriver(driverZip({ models }));

  const { report, driver_desc } = app.store.drivers.get(1);
  assert.equal(driver_desc, "Papyrus 100");
  assert.deepEqual(report.infs[0]?.descriptions, ["Papyrus 100"]);
  assert.match(report.warnings.join(), /3 models are left out/);
});

test("invisible characters in texts of an INF are shown as codes on every page", async (t) => {
  const { fetch, addDriver } = await startApp(t);
  const inf = printerInf({
    provider: "HP\u202etfos\u0007",
    maker: "\u2067M",
    version: "1.2\u200e.3",
    files: ["gone\u202efni.dll"],
  });

  const id = await addDriver(makeZip([{ name: "a.inf", bytes: inf }]));
  const pages = await Promise.all(
    [`/drivers/${id}`, "/drivers", `/printers?driver=${id}`, "/packages"].map(async (path) =>
      (await fetch(path)).text(),
    ),
  );

  assert.match(pages[0] ?? "", /<title>HPtfos Papyrus 100 PCL6/);
  assert.match(pages[0] ?? "", /<bdi>HP\[U\+202E\]tfos\[U\+0007\]/);
  assert.match(pages[0] ?? "", /Missing: .*gone\[U\+202E\]fni\.dll/);
  assert.doesNotMatch(pages.join(), /[\u202a-\u202e\u2066-\u2069\u200e\u0007]/);
});

test("the name of an uploaded file is kept with visible, whole characters", async (t) => {
  const { fetch, upload, app } = await startApp(t);
  const names = ["a\u202egpj.zip", `${"a".repeat(254)}\u{1f600}.zip`, "\u2028.zip", "a\u009b31m\u0085.zip"];

  for (const [i, name] of names.entries())
    await upload("/drivers/upload", driverZip({ version: `1.${i}` }), name);
  const kept = [1, 2, 3, 4].map((id) => app.store.drivers.get(id).file_name);
  const answers = await Promise.all([1, 2, 3, 4].map((id) => fetch(`/drivers/${id}/archive`)));

  assert.deepEqual(kept, ["a[U+202E]gpj.zip", `${"a".repeat(254)}\ufffd`, ".zip", "a31m.zip"]);
  for (const { status, headers } of answers) {
    assert.equal(status, 200);
    assert.doesNotMatch(headers.get("content-disposition") ?? "", /%E2%80%A|%C2%9B|%0/);
  }
});
