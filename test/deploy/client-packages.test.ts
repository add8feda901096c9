import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { TestApp } from "../support/app.ts";
import { textOf } from "../support/deploy/answers.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";

/**
 * Adds a client “Müller” with three printers on two drivers, and four that are left out: one without a driver, one with
 * an unsigned driver, one whose driver has no model, and a second “A”.
 */
async function addTwoDrivers({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Müller" });
  await addDriver(driverZip({ models: ["One A", "One B"] }));
  await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" }));
  await addDriver(driverZip({ models: ["Three"], version: "3.0.0.0", catalog: null }));
  await addDriver(driverZip({ models: [], version: "4.0.0.0" }));
  const add = (name: string, driver_id: string, more = {}) =>
    addPrinter({ name, client_id: "1", driver_id, ...more });
  await add("A", "1");
  await add("Büro “B”", "1", { driver_desc: "One B" });
  await add("C", "2");
  await post("/printers", { name: "Without driver", client_id: "1", address: "10.0.0.1" });
  await add("Unsigned", "3");
  await add("Incomplete", "4");
  await add("a", "1", { address: "10.0.0.77" });
}

const appWithClient = (t: TestContext) => startFilled(t, addTwoDrivers);

/** The names of the printers in a script's settings. */
function namesIn(script: string): string[] {
  return [...script.matchAll(/^\t{3}Name = '(.*)'\r$/gm)].map((match) => match[1] ?? "");
}

const filesIn = async (answer: Response | Promise<Response>) => unpackers.fflate(await bytesOf(answer));

async function installIn(answer: Response | Promise<Response>): Promise<string> {
  return String((await filesIn(answer))["install.ps1"]);
}

const fileNameOf = ({ headers }: Response) =>
  /filename="(.*?)"/.exec(headers.get("content-disposition") ?? "")?.[1];

/** A script's settings without the download addresses, which only a script downloaded alone has. */
function settingsAlone(script: Buffer | undefined): string {
  const [settings = ""] = /^\$Settings = @\{[\s\S]*?^\}/m.exec(String(script)) ?? [];
  return settings.replace(/^\t+(?:Download|FilesSha256|Folder) = .*\r\n/gm, "");
}

const sha256Of = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex").toUpperCase();

test("a client's packages contain each driver once, and the same files in both formats", {
  skip: without.verifier,
}, async (t) => {
  const { fetch } = await appWithClient(t);

  const [zip, app] = [await fetch("/clients/1/packages/rmm"), await fetch("/clients/1/packages/mdm")];
  const tree = await filesIn(zip);
  const inner = verifyIntunewin(await bytesOf(app));

  const install = String(tree["install.ps1"]);
  assert.deepEqual([zip, app].map(fileNameOf), ["muller.zip", "muller.intunewin"]);
  assert.equal(Object.keys(tree).filter((name) => name.endsWith("papyrus.inf")).length, 2);
  assert.deepEqual(namesIn(install), ["A", "Büro “B”", "C"]);
  const folders = [...install.matchAll(/Folder = '(driver\\[0-9a-f]{12})'/g)];
  assert.equal(folders.length, 2);
  for (const [, folder = ""] of folders) assert.ok(tree[`${folder.replace("\\", "/")}/papyrus.inf`], folder);
  assert.deepEqual(inner, tree);
});

test("a client's scripts match those of its package, and install names each driver's download and digest", async (t) => {
  const { fetch, url } = await appWithClient(t);
  const tree = await filesIn(fetch("/clients/1/packages/rmm"));

  for (const kind of ["install", "uninstall", "detect"]) {
    const answer = await fetch(`/clients/1/scripts/${kind}`);
    const alone = await bytesOf(answer);
    assert.equal(fileNameOf(answer), `${kind}-muller.ps1`);
    assert.equal(settingsAlone(alone), settingsAlone(tree[`${kind}.ps1`]), kind);
    assert.match(settingsAlone(alone), /Name = 'C'/);
    if (kind !== "install") assert.deepEqual(alone, tree[`${kind}.ps1`]);
    if (kind !== "install") assert.doesNotMatch(alone.toString(), /https?:\/\/127/);
  }
  const install = await textOf(fetch("/clients/1/scripts/install"));
  for (const driver of [1, 2]) {
    const files = await bytesOf(fetch(`/drivers/${driver}/files`));
    assert.ok(install.includes(`Download = '${url}/drivers/${driver}/files'`));
    assert.ok(install.includes(`FilesSha256 = '${sha256Of(files)}'`));
    assert.ok(files.equals(await bytesOf(fetch(`/drivers/${driver}/files`))), "the same bytes again");
  }
});

test("a client's package and scripts contain deployable printers, and printers that will fail only with `all=1`", async (t) => {
  const { fetch, app } = await appWithClient(t);
  const ready = ["A", "Büro “B”", "C"];

  for (const [query, names] of [
    ["", ready],
    ["?all=1", [...ready, "Unsigned"]],
  ] as const) {
    const packed = await installIn(fetch(`/clients/1/packages/rmm${query}`));
    const alone = await textOf(fetch(`/clients/1/scripts/uninstall${query}`));
    assert.deepEqual([packed, alone].map(namesIn), [names, names]);
  }
  await app.store.blobs.remove("drivers", app.store.drivers.get(2).sha256);
  const withoutArchive = await installIn(fetch("/clients/1/packages/rmm"));
  assert.deepEqual(namesIn(withoutArchive), ready.slice(0, 2));
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
  assert.match(said, /id="card-mdm"[\s\S]*?<dd>(?:<[^>]*>)*Printers \(Müller\)</);
  assert.match(said, /Publisher<\/dt><dd><bdi id="[\w-]+"[^>]*>Papyrus</);
  assert.match(said, /Expand-Archive -LiteralPath \.\\muller\.zip/);
});

test("chosen printers of one client, or without one, make one package, which is named after the client", async (t) => {
  const { fetch, addPrinter } = await appWithClient(t);
  const other = await addPrinter({ name: "Other", driver_id: "2" });

  const ofOne = await fetch("/packages/rmm?ids=3&ids=1&ids=3");
  const without = await fetch(`/packages/rmm?ids=${other}`);
  const wrapped = await fetch("/packages/mdm?ids=2");

  const names = [ofOne, without, wrapped].map(fileNameOf);
  assert.deepEqual(names, ["muller-2-printers.zip", "1-printer.zip", "muller-1-printer.intunewin"]);
  assert.deepEqual(namesIn(await installIn(ofOne)), ["C", "A"]);
  assert.match(await installIn(without), /LogName = 'Platen-printers'/);
});

test("printers of several clients are refused with the clients’ names, and with a download for each", async (t) => {
  const { fetch, post, addPrinter } = await appWithClient(t);
  await post("/clients", { name: "no client" });
  const other = await addPrinter({ name: "Other", client_id: "2", driver_id: "2" });
  const without = await addPrinter({ name: "Without", driver_id: "2" });
  const path = `/packages/mdm?ids=1,${other},2,${without}&driver=apart`;

  const answers = await Promise.all([fetch(path), fetch(path, { headers: { "hx-request": "true" } })]);

  const [line = "", fragment = ""] = await Promise.all(answers.map((answer) => answer.text()));
  assert.deepEqual([answers[0]?.status, answers[1]?.status], [422, 422]);
  assert.match(line, /several: “Müller”, “no client”, no client\. Download a package for each\.\n$/);
  const links = [...fragment.matchAll(/<li><a href="([^"]*)">(.*?)<\/a>/g)];
  assert.deepEqual(
    links.map(([, href, label]) => [href, label?.replace(/<[^>]*>/g, "")]),
    [
      ["/packages/mdm?ids=1,2&amp;driver=apart", "Download 2 printers of “Müller”"],
      [`/packages/mdm?ids=${other}&amp;driver=apart`, "Download 1 printer of “no client”"],
      [`/packages/mdm?ids=${without}&amp;driver=apart`, "Download 1 printer of no client"],
    ],
  );
});

test("a choice with a printer that cannot be included is refused with the first reasons", async (t) => {
  const { fetch } = await appWithClient(t);
  const many = Array.from({ length: 1001 }, (_, i) => i + 1).join();
  const two = /^2 of these 3 printers cannot go into one package: “Without driver”: No/;
  const unsigned = /^1 of these 2 printers cannot go into one package: “Unsigned”: [^\n]*driver\.$/;

  for (const [query, status, why] of [
    ["rmm?ids=1,4,5", 422, two],
    ["rmm?ids=1,7", 422, /“a”: Another printer with this name is in the package/],
    ["rmm?ids=1,5", 422, unsigned],
    ["rmm?ids=1,5&all=1", 200, /^PK/],
    ["rmm", 422, /./],
    ["rmm?ids=1,99", 404, /./],
    ["rmm?ids=1,x", 404, /./],
    [`rmm?ids=${many}`, 422, /./],
    ["other?ids=1", 404, /./],
  ] as const) {
    const answer = await fetch(`/packages/${query}`);
    assert.equal(answer.status, status, query);
    assert.match((await answer.text()).trim(), why);
  }
});
