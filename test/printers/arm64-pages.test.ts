import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { navigation } from "../support/app.ts";
import { openBrowser, watchProblems, withoutBrowser } from "../support/browser.ts";
import { textOf } from "../support/deploy/answers.ts";
import { appWithPair, armZip, misdeclaredZip } from "../support/drivers/arm64-pair.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";

const ps = { arm64_driver_desc: "Papyrus ARM PS" };
const office = { name: "Office", address: "10.0.0.9" };

test("a printer’s second driver is saved with its model, and pages, searches and counts include it", async (t) => {
  const { fetch, app, main, arm } = await appWithPair(t, ps);
  const page = (path: string) => textOf(fetch(path));

  const { driver_id, arm64_driver_id, arm64_driver_desc } = app.store.printers.get(1).printer;
  const own = await page("/printers/1");
  const counts = app.store.drivers.list().map(({ id, printer_count }) => `${id} ${printer_count}`);

  assert.deepEqual([driver_id, arm64_driver_id, arm64_driver_desc], [main, arm, "Papyrus ARM PS"]);
  assert.match(own, /<h3>On ARM64 PCs<\/h3>.*Papyrus ARM PS/s);
  assert.match(own, />x64, ARM64</, "what Intune is told");
  assert.match(own, /the drivers are in the package/);
  assert.match(await page("/packages?q=arm+ps"), /ARM64: <bdi>Papyrus ARM PS<\/bdi>/);
  assert.match(await page("/printers?q=papyrus+arm+ps"), /\/printers\/1"/);
  assert.match(await page(`/drivers/${arm}`), /id="driver-printers".*Office/s);
  assert.deepEqual(counts, [`${arm} 1`, `${main} 1`]);
});

test("an unsuitable second driver is refused at its field, and nothing is changed; the form asks for its model if it has several", async (t) => {
  const { post, addDriver, app } = await appWithPair(t);
  const x64 = String(await addDriver(driverZip({ version: "7.0.0.0" })));
  const lying = String(await addDriver(misdeclaredZip()));
  const before = app.store.printers.get(1);
  const [id, desc] = ["arm64_driver_id", "arm64_driver_desc"];
  const ipp = { protocol: "ipp", driver_id: "1000001" };
  const noModel = /^The driver for ARM64 does not contain the model “Papyrus 100”\./;
  const noDriver = /Choose the driver for ARM64 that has the model “Papyrus ARM”/;
  const wrong: [fields: Record<string, string>, field: string, message: RegExp][] = [
    [{ arm64_driver_id: "99" }, id, /^Driver 99 for ARM64 does not exist\./],
    [{ arm64_driver_id: "x" }, id, /Driver for ARM64 “x” does not exist\./],
    [{ arm64_driver_id: x64 }, id, /has no ARM64 files\. Choose another driver\./],
    [{ arm64_driver_id: lying }, id, /has no ARM64 files/],
    [{ arm64_driver_id: "1000001" }, id, /works only with IPP/],
    [{ arm64_driver_id: "1000002", ...ipp }, id, /IPP requires no driver for ARM64/],
    [{ arm64_driver_id: "2", arm64_driver_desc: "Papyrus 100" }, desc, noModel],
    [{ arm64_driver_desc: "Papyrus ARM" }, id, noDriver],
    [{ arm64_driver_id: "2", from_form: "1" }, desc, /^Choose one of 2 models\./],
  ];

  for (const [fields, field, message] of wrong) {
    const refused = await post("/printers", { ...office, driver_id: "1", ...fields }, navigation);
    const page = await refused.text();

    const [, at, text = ""] = /id="f-(arm64_driver_(?:id|desc))-problem">([^<]*)/.exec(page) ?? [];
    assert.deepEqual([refused.status, at], [422, field], JSON.stringify(fields));
    assert.match(text, message);
    assert.match(page, /<details class="more" data-fold open>\s*<summary>ARM64 PCs/);
  }
  const changed = await post("/printers/1", { ...office, driver_id: "1", arm64_driver_id: lying });
  assert.equal(changed.status, 422);
  assert.deepEqual(app.store.printers.get(1), before);
  assert.equal(app.store.printers.list().length, 1);
  const form = { ...office, name: "New", driver_id: "1", arm64_driver_id: "2", from_form: "1", ...ps };
  assert.equal((await post("/printers", form, navigation)).status, 303);
});

test("scripts name each driver’s files and digest once and no second driver if there is none, and their revision changes with it and its model", async (t) => {
  const { fetch, post, url, main, arm } = await appWithPair(t);
  const script = (kind: string) => textOf(fetch(`/printers/1/scripts/${kind}`));
  const revision = async () => /Revision = '(\w{12})'/.exec(await script("detect"))?.[1];
  const save = async (fields: Record<string, string>) => {
    await post("/printers/1", { ...office, driver_id: String(main), ...fields });
    return revision();
  };

  const install = await script("install");
  const others = [await script("uninstall"), await script("detect")];
  const both = await revision();
  const other = await save({ arm64_driver_id: String(arm), ...ps });
  const back = await save({ arm64_driver_id: String(arm) });
  await post(`/drivers/${arm}`, { trust_publisher: "on" });
  const trusted = await revision();
  const alone = await save({});
  await post(`/drivers/${arm}`, { name: "Another name" });
  const aloneStill = await revision();
  const without = await script("install");
  const model = "Microsoft PS Class Driver";
  await save({ arm64_driver_id: "1000002", arm64_driver_desc: model });
  const [ofWindows, page] = [await script("install"), await textOf(fetch("/printers/1"))];

  const digests = [...install.matchAll(/FilesSha256 = '([0-9A-F]{64})'/g)].map((match) => match[1]);
  const downloads = [...install.matchAll(/\sDownload = '([^']*)'/g)].map((match) => match[1]);
  assert.deepEqual(downloads, [`${url}/drivers/${main}/files`, `${url}/drivers/${arm}/files`]);
  assert.equal(new Set(digests).size, 2);
  for (const text of [install, ...others]) assert.match(text, /function Resolve-Driver/);
  for (const text of others) assert.doesNotMatch(text, /https?:\/\//);
  assert.doesNotMatch(without, /Resolve-Driver|driver-arm64/);
  assert.match(ofWindows, /Arm64DriverKey = 'driver-1000002'/);
  assert.match(ofWindows, /Arm64DriverName = 'Microsoft PS Class Driver'/);
  assert.equal(ofWindows.match(/\sDownload = 'http/g)?.length, 1, "only the vendor’s driver is downloaded");
  assert.match(page, /Microsoft PS Class Driver/);
  assert.equal(new Set([both, other, trusted, alone]).size, 4);
  assert.deepEqual([back, aloneStill], [both, alone]);
});

test("without scripts, the form lists only drivers for ARM64, keeps the chosen one, and says whether one is needed", async (t) => {
  const { fetch, arm, addDriver, addPrinter } = await appWithPair(t);
  const both = await addDriver(driverZip({ decoration: "NTamd64,NTarm64", version: "5.0.0.0" }));
  const single = await addPrinter({ driver_id: String(both), name: "Both" });

  const page = await textOf(fetch("/printers/1/edit"));
  const nothingToChoose = await textOf(fetch(`/printers/${single}/edit`));

  const select = /<select id="f-arm64_driver_id".*?<\/select>/s.exec(page)?.[0] ?? "";
  const values = [...select.matchAll(/<option value="(\d*)"/g)].map((match) => match[1]);
  assert.deepEqual(values, ["", String(both), String(arm), "1000002", "1000003"]);
  assert.match(select, new RegExp(`value="${arm}" selected`));
  assert.match(select, /<optgroup label="Included in Windows">/);
  assert.match(page, /the driver above has no ARM64 files/);
  assert.match(page, /<datalist id="arm64-models"[^>]*><option value="Papyrus ARM"><\/option>/s);
  assert.match(page, /<summary>ARM64 PCs <span class="soft count">1 set/);
  assert.match(nothingToChoose, /Optional: the driver above has ARM64 files too/);
});

test("a client’s page names the architectures for all of its printers, by the files shipped, not by those declared", async (t) => {
  const { fetch, post, addDriver, addPrinter, main, arm } = await appWithPair(t);
  await post("/clients", { name: "Alpha" });
  const machines = async () => {
    const page = await textOf(fetch("/clients/1"));
    return /Operating system architecture<\/dt><dd><bdi[^>]*>([^<]*)/.exec(page)?.[1];
  };
  const second = { client_id: "1", arm64_driver_id: String(arm), arm64_driver_desc: "Papyrus ARM" };

  await addPrinter({ ...second, driver_id: String(main), name: "Pair" });
  const pairAlone = await machines();
  const declared = { client_id: "1", driver_id: String(await addDriver(misdeclaredZip())), name: "Declared" };
  const id = await addPrinter(declared);
  const withLying = await machines();
  const mended = await post(`/printers/${id}`, { ...declared, ...second });

  assert.equal(mended.status, 200);
  assert.deepEqual([pairAlone, withLying, await machines()], ["x64, ARM64", "x64", "x64, ARM64"]);
});

describe("a driver for ARM64 in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  const valuesOf = (page: Page, options: string) =>
    page.locator(options).evaluateAll((all) => all.map((one) => one.getAttribute("value")));

  test("the printer's page links to the ARM64 field, which says whether it is needed and suggests models", async (t) => {
    const { url, addDriver, app } = await withOnePrinter(t);
    const both = String(await addDriver(driverZip({ decoration: "NTamd64,NTarm64", version: "5.0.0.0" })));
    const arm = await addDriver(armZip());
    const page = await (await openBrowser(t)).newPage();
    const problems = watchProblems(page, url);
    const hint = page.locator("#f-arm64_driver_id-hint");
    const driver = page.getByLabel("Driver", { exact: true });

    await page.goto(`${url}/printers/1`);
    await page.getByRole("link", { name: "Choose a driver for ARM64" }).click();
    await page.waitForURL(/#f-arm64_driver_id$/);
    await page.locator("#f-arm64_driver_id").waitFor();
    const needed = await hint.textContent();
    await driver.selectOption(both);
    await hint.getByText("Optional").waitFor();
    await driver.selectOption("1");
    await hint.getByText("has no ARM64 files").waitFor();
    await page.getByLabel("Driver for ARM64").selectOption(String(arm));
    await page.locator("#arm64-models option").nth(1).waitFor({ state: "attached" });
    const models = await valuesOf(page, "#arm64-models option");
    const ofFirst = await page.locator("#models option").count();
    await page.getByLabel("Model for ARM64").fill("Papyrus ARM PS");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByRole("heading", { name: "On ARM64 PCs" }).waitFor();

    const { driver_id, arm64_driver_id, arm64_driver_desc } = app.store.printers.get(1).printer;
    assert.match(needed ?? "", /the driver above has no ARM64 files/);
    assert.deepEqual([models, ofFirst], [["Papyrus ARM", "Papyrus ARM PS"], 1]);
    assert.deepEqual([driver_id, arm64_driver_id, arm64_driver_desc], [1, arm, "Papyrus ARM PS"]);
    assert.deepEqual(problems, []);
  });

  test("of drivers that are uploaded from the form, only one for ARM64 can be chosen as the ARM64 driver", async (t) => {
    const { url } = await withOnePrinter(t);
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${url}/printers/1/edit`);
    const choices = [await valuesOf(page, "#f-arm64_driver_id > option")];

    for (const [id, decoration] of [
      [2, "NTamd64"],
      [3, "NTarm64"],
    ] as const) {
      await page.getByRole("link", { name: "Upload driver…" }).click();
      const buffer = driverZip({ version: "9.0.0.0", decoration });
      const file = { name: "driver.zip", mimeType: "application/zip", buffer };
      await page.getByLabel("Driver ZIP").setInputFiles(file);
      await page.locator(`#f-driver_id option[value="${id}"]`).waitFor({ state: "attached" });
      await page.locator("#upload-dialog").waitFor({ state: "hidden" });
      choices.push(await valuesOf(page, "#f-arm64_driver_id > option"));
    }

    const [before = []] = choices;
    assert.deepEqual(choices, [before, before, ["", "3", ...before.slice(1)]]);
  });
});
