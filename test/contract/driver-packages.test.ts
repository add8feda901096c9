import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { navigation, startApp, type TestApp } from "../support/app.ts";
import { download, downloadCounts } from "../support/audit/counted.ts";
import { driverZip, twoInfs } from "../support/drivers/driver-zip.ts";
import { everyUnpacker } from "../support/drivers/every-unpacker.ts";
import { type Tree, unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import {
  appWithMixedDriver,
  bytesOf,
  expectedTree,
  withoutScripts,
} from "../support/drivers/mixed-driver.ts";

/** Starts a service with a driver of three models and two printers, each with one of them. */
async function appWithShared(t: TestContext, fields: Record<string, string> = {}): Promise<TestApp> {
  const app = await startApp(t);
  const driver = String(await app.addDriver(driverZip({ models: ["Two", "One", "Three"] })));
  await app.addPrinter({ name: "A", driver_id: driver, driver_desc: "Two" });
  await app.addPrinter({ name: "B", driver_id: driver, driver_desc: "One", ...fields });
  return app;
}

function text(tree: Tree, name: string): string {
  return tree[name]?.toString() ?? "";
}

/** The driver names in a script of a driver's own package. */
function namesIn(script: string): string | undefined {
  return /DriverNames = @\((.*)\)/.exec(script)?.[1];
}

test("a driver’s own package contains its files and scripts that install the models in use", async (t) => {
  const { fetch } = await appWithMixedDriver(t);

  const answer = await fetch("/drivers/1/packages/rmm");
  const tree = unpackers.fflate(await bytesOf(answer));

  assert.match(answer.headers.get("content-disposition") ?? "", /"papyrus-100-pcl6-1-2\.zip"/);
  assert.deepEqual(withoutScripts(tree), expectedTree);
  for (const kind of ["install", "uninstall", "detect"]) {
    const script = text(tree, `${kind}.ps1`);
    assert.equal(namesIn(script), "'Papyrus 100 PCL6'", kind);
    assert.match(script, /Id = 'driver-1'/);
    assert.doesNotMatch(script, /http:|Add-PrinterPort|Get-PrintJob/);
  }
});

for (const [name, unpack] of everyUnpacker) {
  const skips: Record<string, string | false> = without;
  test(`${name} opens it, and a printer's package without its driver`, {
    skip: skips[name] ?? false,
  }, async (t) => {
    const { fetch, printer } = await appWithMixedDriver(t);

    const driver = unpack(await bytesOf(fetch("/drivers/1/packages/rmm")));
    const apart = unpack(await bytesOf(fetch(`/printers/${printer}/packages/rmm?driver=apart`)));

    assert.deepEqual(withoutScripts(driver), expectedTree);
    assert.deepEqual(Object.keys(apart).sort(), ["detect.ps1", "install.ps1", "uninstall.ps1"]);
  });
}

test("the verifier accepts the Intune packages, which have the same contents as the ZIPs", {
  skip: without.verifier,
}, async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);

  for (const path of [
    (format: string) => `/drivers/1/packages/${format}`,
    (format: string) => `/printers/${printer}/packages/${format}?driver=apart`,
  ]) {
    const tree = verifyIntunewin(await bytesOf(fetch(path("mdm"))));
    const zip = unpackers.fflate(await bytesOf(fetch(path("rmm"))));
    assert.deepEqual(tree, zip);
  }
});

test("it installs the models in use, sorted, also for ARM64 machines; without any, the driver’s own model", async (t) => {
  const { fetch, post, addDriver, addPrinter } = await appWithShared(t);
  const pair = driverZip({ models: ["Arm A", "Arm B"], version: "2.0.0.0", decoration: "NTarm64" });
  const arm64 = String(await addDriver(pair));
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

test("it leaves out a printer’s model that the INF lacks, and the page says so", async (t) => {
  const { fetch, post, addDriver, addPrinter } = await startApp(t);
  const driver = String(await addDriver(twoInfs));
  await addPrinter({ name: "A", driver_id: driver, driver_desc: "Papyrus 100 PCL6" });
  await addPrinter({ name: "B", driver_id: driver, driver_desc: "Papyrus 159 PCL6" });
  await post(`/drivers/${driver}`, { inf_path: "sub/second.inf", driver_desc: "Papyrus 777 PCL6" });

  const script = await (await fetch(`/drivers/${driver}/scripts/install`)).text();
  const page = await (await fetch(`/drivers/${driver}`)).text();

  assert.equal(namesIn(script), "'Papyrus 159 PCL6'");
  assert.match(
    page,
    /The package leaves out models that the INF does not contain: <bdi>Papyrus 100 PCL6<\/bdi>/,
  );
});

test("it supports HEAD, ranges and If-None-Match, with the same bytes each time", async (t) => {
  const { fetch } = await appWithShared(t);
  for (const path of [
    "packages/rmm",
    "packages/mdm",
    "scripts/install",
    "scripts/uninstall",
    "scripts/detect",
  ]) {
    const address = `/drivers/1/${path}`;
    const whole = await fetch(address);
    const bytes = await bytesOf(whole);
    const etag = whole.headers.get("etag") ?? "";

    const head = await fetch(address, { method: "HEAD" });
    const part = await fetch(address, { headers: { range: "bytes=100-" } });
    const same = await fetch(address, { headers: { "if-none-match": etag } });

    assert.equal(whole.status, 200, path);
    assert.match(whole.headers.get("content-disposition") ?? "", /^attachment; filename="[a-z0-9.-]+"/);
    assert.equal(head.headers.get("content-length"), String(bytes.length));
    assert.deepEqual([part.status, same.status], [206, 304]);
    assert.ok((await bytesOf(part)).equals(bytes.subarray(100)));
  }
});

test("it changes with the models in use and the trusted publisher; its revision does not depend on models", async (t) => {
  const { fetch, post } = await appWithShared(t);
  const seen = async () => {
    const script = await (await fetch("/drivers/1/scripts/detect")).text();
    const etag = (await fetch("/drivers/1/packages/rmm", { method: "HEAD" })).headers.get("etag");
    return { etag, revision: /Revision = '([0-9a-f]{12})'/.exec(script)?.[1] };
  };

  const first = await seen();
  await post("/printers/2", { name: "B", address: "10.0.0.9", driver_id: "1", driver_desc: "Three" });
  const other = await seen();
  await post("/drivers/1", { trust_publisher: "on" });
  const trusted = await seen();

  assert.ok(first.revision && first.etag);
  assert.equal(other.revision, first.revision);
  assert.notEqual(trusted.revision, first.revision);
  assert.equal(new Set([first.etag, other.etag, trusted.etag]).size, 3);
});

test("a script fetched alone contains the URL of the files; scripts in packages contain none", async (t) => {
  const { fetch, url } = await appWithShared(t);

  const alone = await (await fetch("/drivers/1/scripts/install")).text();
  const detect = await (await fetch("/drivers/1/scripts/detect")).text();
  const page = await (await fetch("/drivers/1/read/install")).text();

  assert.ok(alone.includes(`Download = '${url}/drivers/1/files'`));
  assert.doesNotMatch(detect, /http:/);
  assert.match(page, /install-papyrus-two-one-three-1-2\.ps1/);
  assert.match(page, /href="\/drivers\/1\/scripts\/install"/);
});

test("an impossible package is refused with 404, 405 or 422, with the reason and the remedy", async (t) => {
  const { app, fetch, addDriver } = await appWithShared(t);
  const empty = await addDriver(driverZip({ models: [], version: "2.0.0.0" }));
  const request = async (path: string, method = "GET") => {
    const answer = await fetch(path, { method });
    return [answer.status, (await answer.text()).trim()] as const;
  };

  for (const path of [
    "99/packages/rmm",
    "x/packages/rmm",
    "1/packages/zip",
    "99/scripts/install",
    "1/scripts/other",
  ])
    assert.equal((await request(`/drivers/${path}`))[0], 404, path);
  for (const kind of ["requirement", "diagnose"])
    assert.equal((await request(`/drivers/1/scripts/${kind}`))[0], 404, kind);
  assert.equal((await request("/drivers/1/packages/rmm", "POST"))[0], 405);
  for (const path of ["packages/rmm", "packages/mdm", "scripts/install"]) {
    const [status, why] = await request(`/drivers/${empty}/${path}`);
    assert.deepEqual([status, /has no model\. Choose one on the driver/.test(why)], [422, true], why);
  }
  for (const path of ["packages/rmm", "packages/mdm", "scripts/detect"]) {
    const [status, why] = await request(`/drivers/1000002/${path}`);
    assert.deepEqual(
      [status, /^“.*” comes with Windows and has no package of its own\./.test(why)],
      [422, true],
      why,
    );
  }
  await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
  const [status, why] = await request("/drivers/1/packages/rmm");
  assert.deepEqual([status, /Upload driver\.zip again/.test(why)], [422, true], why);
});

test("it counts as a download of no printer", async (t) => {
  const app = await appWithShared(t);

  for (const path of ["packages/rmm", "packages/mdm", "scripts/install"])
    await bytesOf(app.fetch(`/drivers/1/${path}`));
  // Downloads are counted in order, so this one ends the wait for the earlier ones.
  await download(app, "/printers/2/scripts/install");

  assert.deepEqual([(await downloadCounts(app, 1)).length, (await downloadCounts(app, 2)).length], [0, 1]);
  assert.equal(app.app.deployments.lastDeployed(1), undefined);
});
