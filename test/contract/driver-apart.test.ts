import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { download, downloadCounts } from "../support/audit/counted.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makePng } from "../support/printers/png.ts";

/** Starts a service with a client that has two printers with an uploaded driver and one with a Windows driver. */
async function appWithClient(t: TestContext): Promise<TestApp> {
  const app = await startApp(t);
  await app.post("/clients", { name: "Alpha" });
  await app.addPrinter({ client_id: "1" });
  await app.addPrinter({ name: "Hall", client_id: "1", driver_id: "1", address: "10.0.0.8" });
  await app.addPrinter({ name: "Label", client_id: "1", driver_id: "1000003", address: "10.0.0.7" });
  return app;
}

const scripts = ["detect.ps1", "install.ps1", "uninstall.ps1"];
const origins = (script: string) => [...script.matchAll(/Origin = '(\w+)'/g)].map(([, origin]) => origin);
const revisions = (script: string) => [...script.matchAll(/Revision = '(\w{12})'/g)].map(([, text]) => text);

test("a package without its driver contains only scripts, about 30 KB, and has its own name and ETag", async (t) => {
  const { fetch } = await appWithClient(t);
  const names: Record<string, string> = {
    "/printers/1/packages/rmm": "alpha-office-without-driver.zip",
    "/printers/1/packages/mdm": "alpha-office-without-driver.intunewin",
    "/clients/1/packages/rmm": "alpha-without-driver.zip",
    "/packages/rmm?ids=1,2": "alpha-2-printers-without-driver.zip",
  };

  for (const [path, name] of Object.entries(names)) {
    const whole = await fetch(path, { method: "HEAD" });
    const apart = await fetch(`${path}${path.includes("?") ? "&" : "?"}driver=apart`);
    const bytes = await bytesOf(apart);

    assert.ok(apart.headers.get("content-disposition")?.includes(`"${name}"`), path);
    assert.notEqual(apart.headers.get("etag"), whole.headers.get("etag"));
    assert.ok(bytes.length < 45_000, `${bytes.length} bytes`);
    assert.equal(Number(apart.headers.get("content-length")), bytes.length);
    if (name.endsWith(".zip")) assert.deepEqual(Object.keys(unpackers.fflate(bytes)).sort(), scripts);
  }
});

test("its scripts look for the driver and name its package; revisions are those of the full package", async (t) => {
  const { fetch } = await appWithClient(t);
  const tree = async (query: string) =>
    unpackers.fflate(await bytesOf(fetch(`/clients/1/packages/rmm${query}`)));

  const [whole, apart] = [await tree(""), await tree("?driver=apart")];

  for (const name of scripts) {
    const [before, after] = [whole[name]?.toString() ?? "", apart[name]?.toString() ?? ""];
    assert.deepEqual(origins(before), ["package", "windows"]);
    assert.deepEqual(origins(after), ["apart", "windows"]);
    assert.equal(revisions(after).length, name === "uninstall.ps1" ? 0 : 3);
    assert.deepEqual(revisions(after), revisions(before));
    if (name === "install.ps1") assert.match(after, /Package = 'Printer driver Papyrus 100 PCL6 1\.2'/);
    assert.doesNotMatch(after, /pnputil|Invoke-WebRequest/);
  }
});

test("an Intune package without the driver also has the printer’s icon", {
  skip: without.verifier,
}, async (t) => {
  const { fetch, upload } = await appWithClient(t);
  await upload("/printers/1/icon", makePng(), "icon.png");

  const tree = verifyIntunewin(await bytesOf(fetch("/printers/1/packages/mdm?driver=apart")));

  assert.deepEqual(Object.keys(tree).sort(), [...scripts.slice(0, 1), "icon.png", ...scripts.slice(1)]);
});

test("packages of two printers without drivers have different keys", {
  skip: without.verifier,
}, async (t) => {
  const { fetch } = await appWithClient(t);
  const ivOf = async (id: number) => {
    const bytes = await bytesOf(fetch(`/printers/${id}/packages/mdm?driver=apart`));
    return /<InitializationVector>(.*?)</.exec(bytes.toString("latin1"))?.[1];
  };

  assert.notEqual(await ivOf(1), await ivOf(2));
});

test("scripts fetched alone also look for the driver, contain no URL, and can be viewed", async (t) => {
  const { fetch } = await appWithClient(t);

  for (const owner of ["/printers/1", "/clients/1"]) {
    const answer = await fetch(`${owner}/scripts/install?driver=apart`);
    const script = await answer.text();
    const page = await (await fetch(`${owner}/read/uninstall?driver=apart`)).text();

    assert.match(answer.headers.get("content-disposition") ?? "", /"install-\w+-without-driver\.ps1"/);
    assert.doesNotMatch(script, /https?:\/\/127|Invoke-WebRequest/);
    assert.match(page, new RegExp(`href="${owner}/scripts/uninstall\\?driver=apart"`));
    assert.match(page, /its own package removes it/);
  }
});

test("a package with a Windows driver has the same bytes with and without driver=apart", async (t) => {
  const { fetch } = await appWithClient(t);
  for (const format of ["rmm", "mdm"]) {
    const whole = await fetch(`/printers/3/packages/${format}`);
    const apart = await fetch(`/printers/3/packages/${format}?driver=apart`);

    assert.equal(apart.headers.get("etag"), whole.headers.get("etag"));
    assert.ok((await bytesOf(apart)).equals(await bytesOf(whole)));
  }
});

test("any other value of driver is refused with the allowed ones; a driver’s own package ignores it", async (t) => {
  const { fetch } = await appWithClient(t);
  const paths = [
    "/printers/1/packages/rmm",
    "/printers/1/packages/mdm",
    "/clients/1/packages/rmm",
    "/printers/1/scripts/install",
    "/clients/1/scripts/detect",
  ];
  for (const path of paths) {
    for (const query of ["driver=none", "driver=", "driver=Apart", "driver=apart&driver=with"]) {
      const answer = await fetch(`${path}?${query}`);
      assert.equal(answer.status, 422, `${path}?${query}`);
      assert.match(await answer.text(), /is not valid\. Use “driver=apart”, or remove the parameter\.\n$/);
    }
  }
  assert.equal((await fetch("/packages/rmm?ids=1&driver=x")).status, 422);
  assert.equal((await fetch("/drivers/1/packages/rmm?driver=none")).status, 200);
});

test("a package without the driver is refused for the same reasons: no printer, driver, model or archive", async (t) => {
  const { app, fetch, post, addDriver, addPrinter } = await appWithClient(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1", client_id: "1" });
  const empty = await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  await addPrinter({ name: "Incomplete", driver_id: String(empty) });
  const statusOf = async (path: string) => (await fetch(`${path}driver=apart`)).status;

  assert.equal(await statusOf("/printers/99/packages/rmm?"), 404);
  assert.equal(await statusOf("/clients/99/packages/rmm?"), 404);
  for (const id of [4, 5]) assert.equal(await statusOf(`/printers/${id}/packages/rmm?`), 422);
  assert.equal(await statusOf("/packages/rmm?ids=1,4&"), 422);
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
  const gone = await fetch("/printers/1/packages/rmm?driver=apart");
  assert.equal(gone.status, 422);
  assert.match(await gone.text(), /Upload driver\.zip again/);
});

test("a refused package offers a package of the other printers, also without their drivers", async (t) => {
  const { fetch, post } = await appWithClient(t);
  await post("/printers", { name: "Bare", address: "10.0.0.1", client_id: "1" });

  const answer = await fetch("/packages/rmm?ids=1,4&driver=apart", { headers: { "hx-request": "true" } });

  assert.match(await answer.text(), /href="\/packages\/rmm\?ids=1&amp;driver=apart">Download the other one</);
});

test("it counts as a download of its format for each printer, with the printer’s revision", async (t) => {
  const app = await appWithClient(t);

  await download(app, "/printers/1/packages/mdm?driver=apart");
  await download(app, "/printers/1/packages/rmm");
  await download(app, "/clients/1/packages/rmm?driver=apart");

  assert.deepEqual(await downloadCounts(app, 1), ["mdm script 1", "rmm script 2"]);
  assert.deepEqual(await downloadCounts(app, 2), ["rmm script 1"]);
  const revisionsOf1 = app.app.deployments.ofPrinter(1).map(({ revision }) => revision);
  assert.equal(new Set(revisionsOf1).size, 1);
});
