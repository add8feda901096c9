import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../support/app.ts";
import { driverZip, twoInfs } from "../support/drivers/driver-zip.ts";
import { makeZip } from "../support/drivers/zip.ts";

/** The titles in a list, in order. */
function titlesIn(page: string): string[] {
  return [...page.matchAll(/<a href="\/drivers\/\d+"><bdi>([^<]*)<\/bdi><\/a>/g)].map(
    ([, title = ""]) => title,
  );
}

test("every list of drivers tells versions apart and sorts by title, the newest version first", async (t) => {
  const { addDriver, fetch } = await startApp(t);
  await addDriver(driverZip({ version: "9.0.0.0", date: "01/31/2026" }));
  await addDriver(driverZip({ version: "10.0.0.0", date: "01/31/2026" }));
  await addDriver(driverZip({ version: "1.0.0.0", provider: "Acme" }));

  const list = await (await fetch("/drivers")).text();
  const form = await (await fetch("/printers")).text();

  assert.deepEqual(titlesIn(list), [
    "Acme Papyrus 100 PCL6 1.0",
    "Papyrus 100 PCL6 10.0",
    "Papyrus 100 PCL6 9.0",
  ]);
  const labels = [
    "Acme Papyrus 100 PCL6 1.0 · x64",
    "Papyrus 100 PCL6 10.0 · x64",
    "Papyrus 100 PCL6 9.0 · x64",
    "Microsoft IPP Class Driver · x64, ARM64",
    "Microsoft PCL6 and PS Class Drivers · x64, ARM64, x86",
    "Generic / Text Only · x64, ARM64, x86",
  ];
  const select = /<select id="f-driver_id".*?<\/select>/s.exec(form)?.[0] ?? "";
  assert.match(select, /<optgroup label="Included in Windows">/);
  const found = [...select.matchAll(/<option value="\d+"[^>]*>([^<]*)<\/option>/g)];
  assert.deepEqual(
    found.map(([, label]) => label),
    labels,
  );
  assert.match(list, /<time datetime="2026-01-31">31 Jan 2026<\/time>/);
});

test("the list is narrowed by words and state, and shows the total", async (t) => {
  const { addDriver, addPrinter, fetch } = await startApp(t);
  const first = await addDriver(driverZip({ provider: "Acme" }));
  await addDriver(driverZip({ models: ["A", "B"] }));
  await addDriver(driverZip({ catalog: null, version: "2.0.0.0" }));
  await addPrinter({ driver_id: String(first) });
  await addPrinter({ driver_id: "2", name: "Second" });
  const titles = async (query: string) => titlesIn(await (await fetch(`/drivers?${query}`)).text());

  const found = {
    words: await titles("q=ACME+papyrus.inf"),
    attention: await titles("state=attention"),
    kind: await titles("state=unsigned"),
    unused: await titles("state=unused"),
    both: await titles("q=acme&state=blocked"),
    version: await titles("q=2.0.0"),
    unknown: (await titles("state=nonsense")).length,
  };
  const page = await (await fetch("/drivers?q=acme")).text();
  const nothing = await (await fetch(`/drivers?q=${encodeURIComponent("<b>")}`)).text();

  assert.deepEqual(found, {
    words: ["Acme Papyrus 100 PCL6 1.2"],
    attention: ["Papyrus A/B 1.2"],
    kind: ["Papyrus 100 PCL6 2.0"],
    unused: ["Papyrus 100 PCL6 2.0"],
    both: [],
    version: ["Papyrus 100 PCL6 2.0"],
    unknown: 3,
  });
  assert.match(page, /1 of 3 drivers/);
  assert.match(nothing, /Nothing matches “<bdi>&lt;b&gt;<\/bdi>”\.[\s\S]*Show all 3 drivers/);
  assert.match(nothing, /value="&lt;b&gt;"/);
});

test("a driver is found by any model in its archive, and the list shows the model", async (t) => {
  const { addDriver, fetch } = await startApp(t);
  await addDriver(twoInfs);
  await addDriver(
    driverZip({ models: ["Vellum 300", "Vellum 400", "Vellum 410", "Vellum Ärmel 500"], provider: "Vellum" }),
  );
  const get = async (path: string) => (await fetch(path)).text();

  const found = await get("/search?q=PAPYRUS+777");
  const both = await get("/search?q=vellum+armel");
  const apart = await get("/search?q=150+777");
  const list = await get("/drivers?q=159+PCL6");
  const narrowed = await get("/drivers?q=500&state=ready");

  assert.match(found, /Papyrus PCL6 3\.0<\/bdi>[\s\S]*<bdi>Papyrus 777 PCL6<\/bdi>/);
  assert.match(both, /<bdi>Vellum Ärmel 500<\/bdi>/);
  assert.match(apart, /No client, driver or printer matches/, "no model has the words of two models");
  assert.match(list, /1 of 2 drivers/);
  assert.match(list, /has <bdi>Papyrus 159 PCL6<\/bdi>/);
  assert.deepEqual(titlesIn(narrowed), ["Vellum papyrus 1.2"]);
});

test("files that are missing only for x86 do not block a driver on x64", async (t) => {
  const { addDriver, fetch, app } = await startApp(t);
  const inf = [
    ...["[Version]", 'Signature="$Windows NT$"', "Class=Printer", 'Provider="Papyrus"'],
    ...["ClassGuid={4D36E979-E325-11CE-BFC1-08002BE10318}", "DriverVer=06/21/2025,1.2.3.4"],
    ...["CatalogFile=papyrus.cat", "[Manufacturer]", '"Papyrus"=Models,NTamd64,NTx86'],
    ...[
      "[Models.NTamd64]",
      '"Papyrus 100"=New,USBPRINT\\P',
      "[Models.NTx86]",
      '"Papyrus 100"=Old,USBPRINT\\P',
    ],
    ...["[New]", "CopyFiles=@new.dll", "[Old]", "CopyFiles=@old.dll"],
    ...["[SourceDisksNames]", '1="Disk"', "[SourceDisksFiles]", "new.dll=1", "old.dll=1", ""],
  ].join("\r\n");
  const parts = { "papyrus.inf": inf, "papyrus.cat": "catalog", "new.dll": "new" };
  const id = await addDriver(makeZip(Object.entries(parts).map(([name, bytes]) => ({ name, bytes }))));

  const { driver } = await app.overview.driver(id);
  const page = await (await fetch(`/drivers/${id}`)).text();

  assert.equal(driver.state, "attention");
  assert.equal(
    driver.findings[0]?.text,
    "A file that the INF needs is missing for x86. Installation fails there.",
  );
  assert.match(page, /<li class="warn">Missing: <code><bdi>old\.dll</);
});
