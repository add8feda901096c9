import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { download, downloadCounts } from "../support/audit/counted.ts";
import { driverZip, twoInfs } from "../support/drivers/driver-zip.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import {
  appWithMixedDriver,
  bytesOf,
  expectedTree,
  withoutScripts,
} from "../support/drivers/mixed-driver.ts";

/** Starts a service with a driver of three models and two printers, each with one of them. */
async function appWithShared(t: TestContext): Promise<TestApp> {
  const app = await startApp(t);
  const driver_id = String(await app.addDriver(driverZip({ models: ["Two", "One", "Three"] })));
  await app.addPrinter({ name: "A", driver_id, driver_desc: "Two" });
  await app.addPrinter({ name: "B", driver_id, driver_desc: "One" });
  return app;
}

/** The driver names in a script of a driver's own package. */
const namesIn = (script: string) => /DriverNames = @\((.*)\)/.exec(script)?.[1];

const scripts = ["detect.ps1", "install.ps1", "uninstall.ps1"];

test("a driver’s own package contains its files and scripts that install the models in use; other tools accept all formats", {
  skip: without.verifier || without.unzip,
}, async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);
  const get = (path: string) => bytesOf(fetch(path));

  const { headers } = await fetch("/drivers/1/packages/rmm");
  const zip = await get("/drivers/1/packages/rmm");
  const apart = await get(`/printers/${printer}/packages/rmm?driver=apart`);
  const trees = [zip, apart].map(unpackers.unzip);
  const verified = [
    verifyIntunewin(await get("/drivers/1/packages/mdm")),
    verifyIntunewin(await get(`/printers/${printer}/packages/mdm?driver=apart`)),
  ];

  assert.match(headers.get("content-disposition") ?? "", /"papyrus-100-pcl6-1-2\.zip"/);
  assert.deepEqual(verified, trees);
  const [tree = {}, small = {}] = trees;
  assert.deepEqual(withoutScripts(tree), expectedTree);
  assert.deepEqual(Object.keys(small).sort(), scripts);
  for (const name of scripts) {
    const script = String(tree[name]);
    assert.equal(namesIn(script), "'Papyrus 100 PCL6'", name);
    assert.match(script, /Id = 'driver-1'/);
    assert.doesNotMatch(script, /http:|Add-PrinterPort|Get-PrintJob/);
  }
});

test("a driver’s own package installs the models in use, sorted, also for ARM64 machines; without any, the driver’s own model", async (t) => {
  const { fetch, post, addDriver, addPrinter } = await appWithShared(t);
  const forArm64 = { models: ["Arm A", "Arm B"], version: "2.0.0.0", decoration: "NTarm64" };
  const arm64 = String(await addDriver(driverZip(forArm64)));
  const unused = await addDriver(driverZip({ models: ["Nobody's"], version: "3.0.0.0" }));
  await addPrinter({ name: "C", driver_id: "1", arm64_driver_id: arm64, arm64_driver_desc: "Arm B" });
  const names = async (id: number | string) =>
    namesIn(await (await fetch(`/drivers/${id}/scripts/detect`)).text());

  const before = [await names(1), await names(arm64), await names(unused)];
  await post("/printers/1/delete", {}, navigation);
  const after = await names(1);

  assert.deepEqual(before, ["'One', 'Two'", "'Arm B'", "'Nobody''s'"]);
  assert.equal(after, "'One', 'Two'");
});

test("scripts name a model as the INF spells it, with blanks at its ends, also where a form dropped them", async (t) => {
  const { fetch, post, addDriver, addPrinter, app } = await startApp(t);
  const models = ["Papyrus ", " Papyrus 2", "Plain", "Plain "];
  const driver = String(await addDriver(driverZip({ models })));
  for (const driver_desc of ["", "Papyrus 2", "Plain"])
    await addPrinter({ name: `P${driver_desc}`, driver_id: driver, driver_desc });
  const text = async (path: string) => (await fetch(path)).text();
  const scripts = () => Promise.all([1, 2, 3].map((id) => text(`/printers/${id}/scripts/detect`)));

  const before = await scripts();
  await post(`/drivers/${driver}`, { driver_desc: "Papyrus" });
  const after = await scripts();
  const own = namesIn(await text(`/drivers/${driver}/scripts/install`));

  const names = before.map((script) => /DriverName = ('[^']*')/.exec(script)?.[1]);
  assert.deepEqual(names, ["'Papyrus '", "' Papyrus 2'", "'Plain'"]);
  assert.deepEqual([app.store.drivers.get(1).driver_desc, after], ["Papyrus", before]);
  assert.equal(own, "' Papyrus 2', 'Papyrus ', 'Plain'");
});

test("a driver’s own package leaves out a printer’s model that the INF lacks, and the page says so", async (t) => {
  const { fetch, post, addDriver, addPrinter } = await startApp(t);
  const driver = String(await addDriver(twoInfs));
  await addPrinter({ name: "A", driver_id: driver, driver_desc: "Papyrus 100 PCL6" });
  await addPrinter({ name: "B", driver_id: driver, driver_desc: "Papyrus 159 PCL6" });
  await post(`/drivers/${driver}`, { inf_path: "sub/second.inf", driver_desc: "Papyrus 777 PCL6" });

  const script = await (await fetch(`/drivers/${driver}/scripts/install`)).text();
  const page = await (await fetch(`/drivers/${driver}`)).text();

  assert.equal(namesIn(script), "'Papyrus 159 PCL6'");
  assert.match(page, /leaves out models that the INF does not contain: <bdi>Papyrus 100 PCL6<\/bdi>/);
  assert.doesNotMatch(page, /diagnose\.ps1/);
});

test("a driver’s own package changes with the models in use and the trusted publisher; its revision does not depend on models", async (t) => {
  const { fetch, post, url } = await appWithShared(t);
  const text = async (path: string) => (await fetch(path)).text();
  const seen = async () => {
    const script = await text("/drivers/1/scripts/detect");
    const etag = (await fetch("/drivers/1/packages/rmm", { method: "HEAD" })).headers.get("etag");
    return { script, etag, revision: /Revision = '([0-9a-f]{12})'/.exec(script)?.[1] };
  };

  const first = await seen();
  const [alone, page] = [await text("/drivers/1/scripts/install"), await text("/drivers/1/read/install")];
  await post("/printers/2", { name: "B", address: "10.0.0.9", driver_id: "1", driver_desc: "Three" });
  const other = await seen();
  await post("/drivers/1", { trust_publisher: "on" });
  const trusted = await seen();

  assert.ok(first.revision && first.etag);
  assert.equal(other.revision, first.revision);
  assert.notEqual(trusted.revision, first.revision);
  assert.equal(new Set([first.etag, other.etag, trusted.etag]).size, 3);
  assert.ok(alone.includes(`Download = '${url}/drivers/1/files'`), "only this script needs an address");
  assert.doesNotMatch(first.script, /http:/);
  assert.match(page, /install-papyrus-two-one-three-1-2\.ps1/);
  assert.match(page, /href="\/drivers\/1\/scripts\/install"/);
});

/** Starts a service with a client that has two printers with an uploaded driver and one with a Windows driver. */
async function appWithClient(t: TestContext): Promise<TestApp> {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  await app.addPrinter({ client_id: "1" });
  await app.addPrinter({ name: "Hall", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  await app.addPrinter({ name: "Label", client_id: "1", driver_id: "1000003", address: "10.0.0.7" });
  return app;
}

const origins = (script: string) => [...script.matchAll(/Origin = '(\w+)'/g)].map(([, origin]) => origin);
const revisions = (script: string) => [...script.matchAll(/Revision = '(\w{12})'/g)].map(([, text]) => text);

test("a package without its driver contains only scripts, which look for the driver, and has its own name and ETag", async (t) => {
  const { fetch } = await appWithClient(t);
  const names: Record<string, string> = {
    "/printers/1/packages/rmm?": "alpha-office-without-driver.zip",
    "/printers/1/packages/mdm?": "alpha-office-without-driver.intunewin",
    "/clients/1/packages/rmm?": "alpha-without-driver.zip",
    "/packages/rmm?ids=1,2&": "alpha-2-printers-without-driver.zip",
  };
  const tree = async (query: string) =>
    unpackers.fflate(await bytesOf(fetch(`/clients/1/packages/rmm${query}`)));

  const [whole, apart] = [await tree(""), await tree("?driver=apart")];

  assert.deepEqual(Object.keys(apart).sort(), scripts);
  for (const name of scripts) {
    const [before, after] = [String(whole[name]), String(apart[name])];
    assert.deepEqual(origins(before), ["package", "windows"]);
    assert.deepEqual(origins(after), ["apart", "windows"]);
    assert.equal(revisions(after).length, name === "uninstall.ps1" ? 0 : 3);
    assert.deepEqual(revisions(after), revisions(before));
    if (name === "install.ps1") assert.match(after, /Package = 'Printer driver Papyrus 100 PCL6 1\.2'/);
    assert.doesNotMatch(after, /pnputil|Invoke-WebRequest/);
  }
  const vectors = [1, 2].map(async (id) => {
    const bytes = await bytesOf(fetch(`/printers/${id}/packages/mdm?driver=apart`));
    return /<InitializationVector>(.*?)</.exec(bytes.toString("latin1"))?.[1];
  });
  assert.equal(new Set(await Promise.all(vectors)).size, 2, "each package has keys of its own");
  for (const [path, name] of Object.entries(names)) {
    const full = await fetch(path, { method: "HEAD" });
    const { headers } = await fetch(`${path}driver=apart`, { method: "HEAD" });
    assert.ok(headers.get("content-disposition")?.includes(`"${name}"`), path);
    assert.notEqual(headers.get("etag"), full.headers.get("etag"));
    assert.ok(Number(headers.get("content-length")) < 45_000, path);
  }
});

test("scripts fetched alone also look for the driver, contain no URL, and can be viewed", async (t) => {
  const { fetch } = await appWithClient(t);

  for (const owner of ["/printers/1", "/clients/1"]) {
    const answer = await fetch(`${owner}/scripts/install?driver=apart`);
    const page = await (await fetch(`${owner}/read/uninstall?driver=apart`)).text();

    assert.match(answer.headers.get("content-disposition") ?? "", /"install-\w+-without-driver\.ps1"/);
    assert.doesNotMatch(await answer.text(), /https?:\/\/127|Invoke-WebRequest/);
    assert.match(page, new RegExp(`href="${owner}/scripts/uninstall\\?driver=apart"`));
    assert.match(page, /its own package removes it/);
  }
});

test("any other value of driver is refused; packages of Windows’ drivers and drivers’ own packages do not depend on it", async (t) => {
  const { fetch } = await appWithClient(t);
  const packages = ["/printers/1/packages/rmm?", "/clients/1/packages/rmm?", "/packages/rmm?ids=1&"];
  const refused = [
    ...[...packages, "/printers/1/scripts/install?"].map((path) => `${path}driver=none`),
    ...["driver=", "driver=Apart", "driver=apart&driver=with"].map((query) => `${packages[0]}${query}`),
  ];

  for (const path of refused) {
    const answer = await fetch(path);
    assert.equal(answer.status, 422, path);
    assert.match(await answer.text(), /is not valid\. Use “driver=apart”, or remove the parameter\.\n$/);
  }
  assert.equal((await fetch("/drivers/1/packages/rmm?driver=none")).status, 200);
  for (const format of ["rmm", "mdm"]) {
    const whole = await fetch(`/printers/3/packages/${format}`);
    const apart = await fetch(`/printers/3/packages/${format}?driver=apart`);

    assert.equal(apart.headers.get("etag"), whole.headers.get("etag"));
    assert.ok((await bytesOf(apart)).equals(await bytesOf(whole)));
  }
});

test("an impossible package is refused with 404, 405 or 422, with the reason and the remedy, or with another choice", async (t) => {
  const { app, fetch, post, addDriver, addPrinter } = await appWithClient(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1", client_id: "1" });
  const empty = await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  await addPrinter({ name: "Incomplete", driver_id: String(empty) });
  const other = /href="\/packages\/rmm\?ids=1&amp;driver=apart">Download the other one</;
  const refused: [status: number, why: RegExp, ...paths: string[]][] = [
    [404, /./, "drivers/99/packages/rmm", "drivers/x/packages/rmm", "drivers/1/packages/zip"],
    [404, /./, "drivers/99/scripts/install", "drivers/1/scripts/other"],
    [404, /./, "drivers/1/scripts/requirement", "drivers/1/scripts/diagnose"],
    [404, /./, "printers/99/packages/rmm?driver=apart", "clients/99/packages/rmm?driver=apart"],
    [422, /./, "printers/4/packages/rmm?driver=apart"],
    [422, /has no model/, "printers/5/packages/rmm?driver=apart", "printers/5/scripts/install"],
    [422, other, "packages/rmm?ids=1,4&driver=apart"],
    ...["packages/rmm", "packages/mdm", "scripts/install"].flatMap((end): typeof refused => [
      [422, /has no model\. Choose one on the driver/, `drivers/${empty}/${end}`],
      [422, /^“.*” comes with Windows and has no package of its own\./, `drivers/1000002/${end}`],
    ]),
  ];
  const check = async (status: number, why: RegExp, ...paths: string[]) => {
    const headers: Record<string, string> = why === other ? { "hx-request": "true" } : {};
    for (const path of paths) {
      const answer = await fetch(`/${path}`, { headers });
      assert.equal(answer.status, status, path);
      assert.match(await answer.text(), why);
    }
  };

  const posted = await fetch("/drivers/1/packages/rmm", { method: "POST" });

  assert.equal(posted.status, 405);
  for (const row of refused) await check(...row);
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
  const again = /Upload driver\.zip again/;
  await check(422, again, "drivers/1/packages/rmm", "printers/1/packages/rmm?driver=apart");
});

test("a package without the driver counts as a download of each printer, and a driver’s own package of none", async (t) => {
  const app = await appWithClient(t);

  for (const path of ["packages/rmm", "packages/mdm", "scripts/install"])
    await bytesOf(app.fetch(`/drivers/1/${path}`));
  await download(app, "/printers/1/packages/mdm?driver=apart");
  await download(app, "/printers/1/packages/rmm");
  await download(app, "/clients/1/packages/rmm?driver=apart");

  assert.deepEqual(await downloadCounts(app, 1), ["mdm script 1", "rmm script 2"]);
  assert.deepEqual(await downloadCounts(app, 2), ["rmm script 1"]);
  const revisionsOf1 = app.app.deployments.ofPrinter(1).map(({ revision }) => revision);
  assert.equal(new Set(revisionsOf1).size, 1);
});
