import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { fetchAll, statusesOf, textOf, textsOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";

/**
 * Adds a client “Müller” with three printers on two drivers, and four that are left out: one without a driver, one with
 * an unsigned driver, one whose driver has no model, and a second “A”.
 */
async function addClient({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Müller" });
  await addDriver(driverZip({ models: ["One A", "One B"] }));
  await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" }));
  await addDriver(driverZip({ models: ["Three"], version: "3.0.0.0", catalog: null }));
  await addDriver(driverZip({ models: [], version: "4.0.0.0" }));
  const add = (name: string, driver_id: string, more = {}) =>
    addPrinter({ name, client_id: "1", driver_id, ...more });
  await add("A", "1");
  await add("B", "1", { driver_desc: "One B" });
  await add("C", "2");
  await post("/printers", { name: "Without driver", client_id: "1", address: "10.0.0.1" });
  await add("Unsigned", "3");
  await add("Incomplete", "4");
  await add("a", "1", { address: "10.0.0.77" });
}

const appWithClient = (t: TestContext) => startFilled(t, addClient);

/** The names of the printers in a script's settings. */
function namesIn(script: string): string[] {
  return [...script.matchAll(/^\t{3}Name = '(.*)'\r$/gm)].map((match) => match[1] ?? "");
}

async function scriptIn(answer: Response | Promise<Response>): Promise<string> {
  return unpackers.fflate(await bytesOf(answer))["install.ps1"]?.toString() ?? "";
}

const fileNameOf = ({ headers }: Response) =>
  /filename="(.*?)"/.exec(headers.get("content-disposition") ?? "")?.[1];

test("a package for all printers of a client contains each driver once", async (t) => {
  const { fetch } = await appWithClient(t);

  const answer = await fetch("/clients/1/packages/rmm");
  const tree = unpackers.fflate(await bytesOf(answer));

  assert.equal(fileNameOf(answer), "muller.zip");
  assert.equal(Object.keys(tree).filter((name) => name.endsWith("papyrus.inf")).length, 2);
  const install = tree["install.ps1"]?.toString() ?? "";
  assert.deepEqual(namesIn(install), ["A", "B", "C"]);
  assert.equal(install.match(/Folder = 'driver\\[0-9a-f]{12}'/g)?.length, 2);
});

test("the verifier accepts a client's Intune package, which has the same contents as the ZIP for RMM tools", {
  skip: without.verifier,
}, async (t) => {
  const { fetch } = await appWithClient(t);

  const answer = await fetch("/clients/1/packages/mdm");
  const tree = verifyIntunewin(await bytesOf(answer));
  const zip = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));

  assert.equal(fileNameOf(answer), "muller.intunewin");
  assert.deepEqual(tree, zip);
});

test("a client's package contains deployable printers, and printers that will fail only with `all=1`", async (t) => {
  const { fetch, app } = await appWithClient(t);
  const printersOf = async (path: string) => namesIn(await scriptIn(fetch(path)));

  const careful = await printersOf("/clients/1/packages/rmm");
  const all = await printersOf("/clients/1/packages/rmm?all=1");
  await app.store.blobs.remove("drivers", app.store.drivers.get(2).sha256);
  const withoutArchive = await printersOf("/clients/1/packages/rmm");

  assert.deepEqual(careful, ["A", "B", "C"]);
  assert.deepEqual(all, ["A", "B", "C", "Unsigned"]);
  assert.deepEqual(withoutArchive, ["A", "B"]);
});

test("a client's page lists the printers that are left out, each with the reason and the remedy", async (t) => {
  const { fetch } = await appWithClient(t);

  const text = await textOf(fetch("/clients/1"));

  const said = text.replaceAll(/<\/?(?:bdi|strong)>/g, "").replaceAll(/\s+/g, " ");
  assert.match(said, /4 of 7 printers are left out/);
  for (const [printer, reason, remedy] of [
    [4, "No driver assigned", "/printers/4/edit#f-driver_id"],
    [5, "Unsigned: 64-bit Windows will refuse this driver.", "/drivers/3"],
    [6, "This driver has no model", "/drivers/4"],
    [7, "Another printer with this name is in the package: “A” at 10.0.0.9.", "/printers/7/edit#f-name"],
  ]) {
    const item = said.split("<li").find((part) => part.includes(`href="/printers/${printer}"`)) ?? "";
    assert.ok(item.includes(String(reason)), item);
    assert.ok(item.includes(`href="${remedy}"`), item);
  }
  const scripts = ["install", "uninstall", "detect"].map((kind) => `scripts/${kind}`);
  for (const path of ["packages/mdm", "packages/rmm", ...scripts])
    for (const query of ["", "?all=1"]) assert.ok(said.includes(`href="/clients/1/${path}${query}"`), path);
});

test("a client without a deployable printer has no package, and the refusal names the first reasons", async (t) => {
  const service = await startApp(t);
  const { fetch, post } = service;
  for (const name of ["Empty", "Bare"]) await post("/clients", { name });
  for (let i = 1; i <= 5; i++)
    await post("/printers", { name: `P${i}`, client_id: "2", address: "10.0.0.1" });

  const none = await fetchAll(service, ["/clients/1/packages/rmm", "/clients/1/scripts/install"]);
  const unknown = await fetchAll(service, [
    ...["/clients/9/packages/rmm", "/clients/1/packages/xyz"],
    ...["/clients/2/scripts/other", "/clients/9/scripts/install"],
  ]);
  const bare = await fetch("/clients/2/packages/mdm?all=1");
  const page = await textOf(fetch("/clients/2"));

  assert.deepEqual(statusesOf([...none, bare]), [422, 422, 422]);
  assert.deepEqual(statusesOf(unknown), [404, 404, 404, 404]);
  assert.match(await bare.text(), /“Bare” can be deployed: “P1”: No driver.* “P3”: .* And 2 more\./);
  assert.doesNotMatch(page, /packages\/mdm|scripts\/install/);
});

test("chosen printers make one package, which is named after their client if all have the same one", async (t) => {
  const { fetch, addPrinter } = await appWithClient(t);
  const other = await addPrinter({ name: "Other", driver_id: "2" });

  const ofOne = await fetch("/packages/rmm?ids=3&ids=1&ids=3");
  const mixed = await fetch(`/packages/rmm?ids=1,${other}`);
  const wrapped = await fetch("/packages/mdm?ids=2");

  const names = [ofOne, mixed, wrapped].map(fileNameOf);
  assert.deepEqual(names, ["muller-2-printers.zip", "2-printers.zip", "muller-1-printer.intunewin"]);
  assert.deepEqual(namesIn(await scriptIn(ofOne)), ["C", "A"]);
  assert.match(await scriptIn(mixed), /LogName = 'Platen-printers'/);
});

test("a choice with a printer that cannot be included is refused with the first reasons", async (t) => {
  const { fetch } = await appWithClient(t);
  const many = Array.from({ length: 1001 }, (_, i) => i + 1).join();
  const two = /^2 of these 3 printers cannot go into one package: “Without driver”: No/;
  const unsigned = /^1 of these 2 printers cannot go into one package: “Unsigned”: [^\n]*driver\.$/;

  for (const [query, status, why] of [
    ["?ids=1,4,5", 422, two],
    ["?ids=1,7", 422, /“a”: Another printer with this name is in the package/],
    ["?ids=1,5", 422, unsigned],
    ["?ids=1,5&all=1", 200, /^PK/],
    ["", 422, /./],
    ["?ids=1,99", 404, /./],
    ["?ids=1,x", 404, /./],
    [`?ids=${many}`, 422, /./],
  ] as const) {
    const answer = await fetch(`/packages/rmm${query}`);
    assert.equal(answer.status, status, query);
    assert.match((await answer.text()).trim(), why);
  }
  assert.equal((await fetch("/packages/other?ids=1")).status, 404);
});

test("the pages of a client and a printer name the maker as the publisher if the provider is an unresolved token", async (t) => {
  const service = await startApp(t);
  await service.post("/clients", { name: "Alpha" });
  const odd = driverZip({ provider: "%POS%", maker: "Zyx", models: ["Zyx 100"] });
  await service.addPrinter({ client_id: "1", driver_id: String(await service.addDriver(odd)) });

  const pages = await textsOf(service, ["/printers/1", "/clients/1"]);

  for (const page of pages) assert.match(page, /Publisher<\/dt><dd><bdi id="[\w-]+"[^>]*>Zyx</);
});
