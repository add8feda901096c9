import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp } from "../support/app.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers, verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { startFilled } from "../support/filled.ts";

/** Adds a client “Müller” with three printers on two drivers, and one printer without a driver. */
async function addClient({ post, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Müller" });
  const one = await addDriver(driverZip({ models: ["One A", "One B"] }));
  const two = await addDriver(driverZip({ models: ["Two"], version: "2.0.0.0" }));
  await addPrinter({ name: "A", client_id: "1", driver_id: String(one) });
  await addPrinter({ name: "B", client_id: "1", driver_id: String(one), driver_desc: "One B" });
  await addPrinter({ name: "C", client_id: "1", driver_id: String(two) });
  await post("/printers", { name: "Without driver", client_id: "1", address: "10.0.0.1" });
}

/** Adds the same client, plus a printer with an unsigned driver, one whose driver has no model, and a second “A”. */
async function addTrouble(app: TestApp): Promise<void> {
  await addClient(app);
  const { addDriver, addPrinter } = app;
  const unsigned = await addDriver(driverZip({ models: ["Three"], version: "3.0.0.0", catalog: null }));
  const empty = await addDriver(driverZip({ models: [], version: "4.0.0.0" }));
  await addPrinter({ name: "Unsigned", client_id: "1", driver_id: String(unsigned) });
  await addPrinter({ name: "Incomplete", client_id: "1", driver_id: String(empty) });
  await addPrinter({ name: "a", client_id: "1", driver_id: "1", address: "10.0.0.77" });
}

const appWithClient = (t: TestContext) => startFilled(t, addClient);
const appWithTrouble = (t: TestContext) => startFilled(t, addTrouble);

/** The names of the printers in a script's settings. */
function namesIn(script: string): string[] {
  return [...script.matchAll(/^\t{3}Name = '(.*)'\r$/gm)].map((match) => match[1] ?? "");
}

async function printersOf(answer: Response | Promise<Response>): Promise<string[]> {
  return namesIn(unpackers.fflate(await bytesOf(answer))["install.ps1"]?.toString() ?? "");
}

test("a package for all printers of a client contains each driver once", async (t) => {
  const { fetch } = await appWithClient(t);

  const answer = await fetch("/clients/1/packages/rmm");
  const tree = unpackers.fflate(await bytesOf(answer));

  assert.match(answer.headers.get("content-disposition") ?? "", /filename="muller\.zip"/);
  assert.equal(Object.keys(tree).filter((name) => name.endsWith("papyrus.inf")).length, 2);
  const install = tree["install.ps1"]?.toString() ?? "";
  assert.deepEqual(namesIn(install), ["A", "B", "C"]);
  assert.equal(install.match(/Folder = 'driver\\[0-9a-f]{12}'/g)?.length, 2);
});

test("the verifier accepts a client's Intune package, which has the same contents as the ZIP for RMM tools", {
  skip: without.verifier,
}, async (t) => {
  const { fetch } = await appWithTrouble(t);

  const answer = await fetch("/clients/1/packages/mdm");
  const tree = verifyIntunewin(await bytesOf(answer));
  const zip = unpackers.fflate(await bytesOf(fetch("/clients/1/packages/rmm")));

  assert.match(answer.headers.get("content-disposition") ?? "", /filename="muller\.intunewin"/);
  assert.deepEqual(tree, zip);
});

test("a client's package contains deployable printers, and printers that will fail only with `all=1`", async (t) => {
  const { fetch, app } = await appWithTrouble(t);

  const careful = await printersOf(fetch("/clients/1/packages/rmm"));
  const all = await printersOf(fetch("/clients/1/packages/rmm?all=1"));
  await app.store.blobs.remove("drivers", app.store.drivers.get(2).sha256);
  const withoutArchive = await printersOf(fetch("/clients/1/packages/rmm"));

  assert.deepEqual(careful, ["A", "B", "C"]);
  assert.deepEqual(all, ["A", "B", "C", "Unsigned"]);
  assert.deepEqual(withoutArchive, ["A", "B"]);
});

test("a client's page lists the printers that are left out, each with the reason and the remedy", async (t) => {
  const { fetch } = await appWithTrouble(t);

  const text = await (await fetch("/clients/1")).text();

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
  for (const path of [
    "packages/mdm",
    "packages/rmm",
    "scripts/install",
    "scripts/uninstall",
    "scripts/detect",
  ]) {
    assert.ok(said.includes(`href="/clients/1/${path}"`), path);
    assert.ok(said.includes(`href="/clients/1/${path}?all=1"`), path);
  }
});

test("a client without a deployable printer has no package, and the refusal names the first reasons", async (t) => {
  const { fetch, post } = await startApp(t);
  await post("/clients", { name: "Empty" });
  await post("/clients", { name: "Bare" });
  for (let i = 1; i <= 5; i++)
    await post("/printers", { name: `P${i}`, client_id: "2", address: "10.0.0.1" });

  const answers = [
    await fetch("/clients/1/packages/rmm"),
    await fetch("/clients/9/packages/rmm"),
    await fetch("/clients/1/packages/xyz"),
    await fetch("/clients/1/scripts/install"),
    await fetch("/clients/2/scripts/other"),
    await fetch("/clients/9/scripts/install"),
  ];
  const bare = await fetch("/clients/2/packages/mdm?all=1");
  const page = await (await fetch("/clients/2")).text();

  assert.deepEqual(
    answers.map(({ status }) => status),
    [422, 404, 404, 422, 404, 404],
  );
  assert.equal(bare.status, 422);
  assert.match(await bare.text(), /“Bare” can be deployed: “P1”: No driver.* “P3”: .* And 2 more\./);
  assert.doesNotMatch(page, /packages\/mdm|scripts\/install/);
});

test("chosen printers make one package, which is named after their client if all have the same one", async (t) => {
  const { fetch, addPrinter } = await appWithClient(t);
  const other = await addPrinter({ name: "Other", driver_id: "2" });

  const ofOne = await fetch("/packages/rmm?ids=3&ids=1&ids=3");
  const mixed = await fetch(`/packages/rmm?ids=1,${other}`);
  const wrapped = await fetch("/packages/mdm?ids=2");

  assert.match(ofOne.headers.get("content-disposition") ?? "", /filename="muller-2-printers\.zip"/);
  assert.match(mixed.headers.get("content-disposition") ?? "", /filename="2-printers\.zip"/);
  assert.match(wrapped.headers.get("content-disposition") ?? "", /filename="muller-1-printer\.intunewin"/);
  assert.deepEqual(await printersOf(ofOne), ["C", "A"]);
  const scripts = unpackers.fflate(await bytesOf(mixed));
  assert.match(scripts["install.ps1"]?.toString() ?? "", /LogName = 'Platen-printers'/);
});

test("a choice with a printer that cannot be included is refused with the first reasons", async (t) => {
  const { fetch } = await appWithTrouble(t);
  const many = Array.from({ length: 1001 }, (_, i) => i + 1).join();
  const ask = async (query: string) => {
    const answer = await fetch(`/packages/rmm${query}`);
    return [answer.status, answer.status === 200 ? "" : (await answer.text()).trim()] as const;
  };

  const answers = [
    await ask("?ids=1,4,5"),
    await ask("?ids=1,7"),
    await ask("?ids=1,5"),
    await ask("?ids=1,5&all=1"),
    await ask(""),
    await ask("?ids=1,99"),
    await ask("?ids=1,x"),
    await ask(`?ids=${many}`),
  ];

  assert.deepEqual(
    answers.map(([status]) => status),
    [422, 422, 422, 200, 422, 404, 404, 422],
  );
  assert.match(
    answers[0]?.[1] ?? "",
    /^2 of these 3 printers cannot go into one package: “Without driver”: No/,
  );
  assert.match(
    answers[2]?.[1] ?? "",
    /^1 of these 2 printers cannot go into one package: “Unsigned”: [^\n]*driver\.$/,
  );
  assert.match(answers[1]?.[1] ?? "", /“a”: Another printer with this name is in the package/);
  assert.equal((await fetch("/packages/other?ids=1")).status, 404);
});

test("the pages of a client and a printer name the maker as the publisher if the provider is an unresolved token", async (t) => {
  const { post, fetch, addDriver, addPrinter } = await startApp(t);
  await post("/clients", { name: "Alpha" });
  const odd = driverZip({ provider: "%POS%", maker: "Zyx", models: ["Zyx 100"] });
  const driver = await addDriver(odd);
  await addPrinter({ client_id: "1", driver_id: String(driver) });

  const pages = await Promise.all(
    ["/printers/1", "/clients/1"].map(async (path) => (await fetch(path)).text()),
  );

  for (const page of pages) assert.match(page, /Publisher<\/dt><dd><bdi id="[\w-]+"[^>]*>Zyx</);
});
