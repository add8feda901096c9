import assert from "node:assert/strict";
import { test } from "node:test";
import { instanceOf } from "../../src/services/deploy/package-facts.ts";
import { startApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const appName = "Printer driver Papyrus One/Two 1.2";

/** A page's text between two strings, on one line. */
function textBetween(page: string, from: string, to: string): string {
  const start = page.indexOf(from);
  assert.ok(start >= 0, from);
  return page.slice(start, page.indexOf(to, start)).replaceAll(/\s+/g, " ");
}

/** The value of the field with this label. */
function fieldValue(page: string, label: string): string | undefined {
  return new RegExp(`<dt[^>]*>${label}</dt><dd>(?:<(?:code|bdi)[^>]*>)?([^<]*)`).exec(page)?.[1];
}

test("a driver's page offers its packages, scripts and the fields of Intune's form", async (t) => {
  const { app, fetch, addDriver, addPrinter } = await startApp(t);
  const driver = String(await addDriver(driverZip({ models: ["One", "Two"] })));
  await addPrinter({ driver_id: driver, driver_desc: "Two" });

  const page = await (await fetch("/drivers/1")).text();
  const section = textBetween(page, 'id="deploy"', 'id="tab-model"');

  const script = await (await fetch("/drivers/1/scripts/detect")).text();
  const revision = /Revision = '(\w+)'/.exec(script)?.[1];
  for (const path of [
    "packages/mdm",
    "packages/rmm",
    "scripts/install",
    "scripts/uninstall",
    "scripts/detect",
    "read/install",
  ])
    assert.ok(section.includes(`href="/drivers/1/${path}"`), path);
  assert.match(section, /This package installs the models that printers use: <bdi>Two<\/bdi>\./);
  assert.equal(fieldValue(section, "Name"), appName);
  assert.equal(fieldValue(section, "Description"), `${appName}: Two`);
  assert.equal(fieldValue(section, "Publisher"), "Papyrus");
  assert.equal(fieldValue(section, "App Version"), "1.2.3.4");
  assert.equal(fieldValue(section, "Notes"), `platen:${instanceOf(app.store)}:driver:1 revision:${revision}`);
  assert.equal(fieldValue(section, "Operating system architecture"), "x64");
  assert.equal(fieldValue(section, "Script file"), "detect-papyrus-one-two-1-2.ps1");
  assert.doesNotMatch(section, /Without the driver|driver=apart/);
  assert.match(section, /href="\/help\/drivers#a-driver-without-printers"/);
});

test("the pages of a printer and a client offer packages without drivers, and name the same apps as the drivers' pages", async (t) => {
  const { fetch, post, addDriver, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  await addPrinter({ client_id: "1" });
  await addPrinter({ name: "Hall", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  const other = await addDriver(driverZip({ version: "2.0.0.0" }));
  await addPrinter({ name: "Desk", client_id: "1", driver_id: String(other), address: "10.0.0.7" });
  await addPrinter({ name: "Label", client_id: "1", driver_id: "1000003", address: "10.0.0.6" });

  const [printer, client, label] = await Promise.all(
    ["/printers/1", "/clients/1", "/printers/4"].map(async (path) => (await fetch(path)).text()),
  );
  const driverPages = await Promise.all([1, other].map(async (id) => (await fetch(`/drivers/${id}`)).text()));

  const apps = driverPages.map((page) => fieldValue(page, "Name"));
  for (const format of ["mdm", "rmm"]) {
    assert.ok(printer?.includes(`href="/printers/1/packages/${format}?driver=apart"`));
    assert.ok(client?.includes(`href="/clients/1/packages/${format}?driver=apart"`));
  }
  const fold = textBetween(printer ?? "", '<details class="more apart">', "</details>");
  assert.match(fold, /<summary>Without the driver<\/summary>/);
  assert.ok(
    fold.includes(
      `<a href="/drivers/1?tab=deploy#deploy"><bdi>Printer driver Papyrus 100 PCL6 1.2</bdi></a>`,
    ),
    fold,
  );
  assert.equal(fieldValue(fold, "Add"), apps[0]);
  assert.equal(fieldValue(fold, "Automatically install"), "Yes");
  const ofClient = textBetween(client ?? "", '<details class="more apart">', "</details>");
  const added = [...ofClient.matchAll(/<dt[^>]*>Add<\/dt><dd><code[^>]*>([^<]*)/g)].map(([, name]) => name);
  assert.deepEqual(added.sort(), [...apps].sort());
  assert.doesNotMatch(ofClient, /Not tested in Intune/);
  assert.doesNotMatch(label ?? "", /driver=apart|Without the driver/);
});

test("a page warns if the drivers of a printer are for different architectures", async (t) => {
  const { fetch, addDriver, addPrinter } = await startApp(t);
  await addDriver();
  const arm64 = await addDriver(driverZip({ version: "2.0.0.0", decoration: "NTarm64" }));
  await addPrinter({ driver_id: "1", arm64_driver_id: String(arm64) });

  const page = await (await fetch("/printers/1")).text();

  const fold = textBetween(page, '<details class="more apart">', "</details>");
  assert.match(fold, /<summary>Without the drivers<\/summary>/);
  assert.match(fold, /These drivers are for different architectures\. .* try one PC of each kind first\./);
});

test("the app's name contains the driver's version, even if an operator has named the driver", async (t) => {
  const { fetch, post, addDriver } = await startApp(t);
  await addDriver();
  await post("/drivers/1", { name: "Papyrus, all floors" });

  const page = await (await fetch("/drivers/1")).text();

  assert.equal(fieldValue(page, "Name"), "Printer driver Papyrus, all floors 1.2");
  assert.match(page, /papyrus-all-floors\.intunewin/);
});

test("a driver's page says why it cannot be deployed, and folds downloads that will fail", async (t) => {
  const { app, fetch, addDriver } = await startApp(t);
  await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  await addDriver(driverZip({ catalog: null, version: "3.0.0.0" }));
  await addDriver();
  const sectionOf = async (id: number) =>
    textBetween(await (await fetch(`/drivers/${id}`)).text(), 'id="deploy"', 'id="tab-model"');

  const incomplete = await sectionOf(1);
  const unsigned = await sectionOf(2);
  await app.store.blobs.remove("drivers", app.store.drivers.get(3).sha256);
  const gone = await sectionOf(3);
  const windows = await (await fetch("/drivers/1000002")).text();

  assert.match(incomplete, /has no model\. Choose one on the driver/);
  assert.match(unsigned, /<summary>Download anyway<\/summary>.*packages\/mdm/);
  assert.match(gone, /The driver ZIP is missing on the server\. Upload driver\.zip again/);
  for (const page of [incomplete, gone, windows]) assert.doesNotMatch(page, /packages\/(?:mdm|rmm)/);
});

test("a driver that no printer uses installs its own model", async (t) => {
  const { fetch, addDriver } = await startApp(t);
  await addDriver(driverZip({ models: ["Papyrus Universal", "Papyrus 7"] }));

  const page = await (await fetch("/drivers/1")).text();

  assert.match(
    page,
    /This package installs <bdi>Papyrus Universal<\/bdi>\. No printer uses this driver yet\./,
  );
});
