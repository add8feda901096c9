import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startApp } from "../../support/app.ts";
import { openBrowser, watchProblems, withoutBrowser } from "../../support/browser.ts";
import { appWithPair, armZip } from "../../support/drivers/arm64-pair.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";

const hint = "#f-arm64_driver_id-hint";
const suggested = "#arm64-models option";

describe("a driver for ARM64 in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("the printer's page links to the ARM64 field, which says whether it is needed and suggests models", async (t) => {
    const { url, addDriver, addPrinter, app } = await startApp(t);
    const main = String(await addDriver());
    const both = String(await addDriver(driverZip({ decoration: "NTamd64,NTarm64", version: "5.0.0.0" })));
    const arm = String(await addDriver(armZip()));
    const printer = await addPrinter({ driver_id: main });
    const context = await openBrowser(t);
    const page = await context.newPage();
    const problems = watchProblems(page, url);
    await page.goto(`${url}/printers/${printer}`);

    await page.getByRole("link", { name: "Choose a driver for ARM64" }).click();
    await page.waitForURL(/#f-arm64_driver_id$/);
    await page.locator("#f-arm64_driver_id").waitFor();
    const needed = await page.locator(hint).textContent();
    await page.getByLabel("Driver", { exact: true }).selectOption(both);
    await page.locator(hint).getByText("Optional").waitFor();
    await page.getByLabel("Driver", { exact: true }).selectOption(main);
    await page.locator(hint).getByText("has no ARM64 files").waitFor();
    await page.getByLabel("Driver for ARM64").selectOption(arm);
    await page.locator(suggested).nth(1).waitFor({ state: "attached" });
    const models = await page
      .locator(suggested)
      .evaluateAll((options) => options.map((one) => one.getAttribute("value")));
    const ofFirst = await page.locator("#models option").count();
    await page.getByLabel("Model for ARM64").fill("Papyrus ARM PS");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByRole("heading", { name: "On ARM64 PCs" }).waitFor();

    const { printer: kept } = app.store.printers.get(printer);
    assert.match(needed ?? "", /the driver above has no ARM64 files/);
    assert.deepEqual([models, ofFirst], [["Papyrus ARM", "Papyrus ARM PS"], 1]);
    assert.deepEqual(
      [kept.driver_id, kept.arm64_driver_id, kept.arm64_driver_desc],
      [Number(main), Number(arm), "Papyrus ARM PS"],
    );
    assert.deepEqual(problems, []);
  });

  test("the printer's page links to the ARM64 field without scripts, and IPP hides the field", async (t) => {
    const { url } = await withOnePrinter(t);
    const page = await (await openBrowser(t, { javaScriptEnabled: false })).newPage();
    await page.goto(`${url}/printers/1`);

    await page.getByRole("link", { name: "Choose a driver for ARM64" }).click();
    await page.waitForURL(/#f-arm64_driver_id$/);
    if (!(await page.locator("#f-arm64_driver_id").isVisible()))
      await page.locator("summary").getByText("ARM64 PCs", { exact: true }).click();
    await page.locator("#f-arm64_driver_id").waitFor();
    await page.getByText("Port and status").click();
    await page.getByLabel("Protocol").selectOption("ipp");

    assert.deepEqual(
      await Promise.all(["id", "desc"].map((name) => page.locator(`#f-arm64_driver_${name}`).isVisible())),
      [false, false],
    );
  });

  test("an ARM64 driver that is uploaded from the form can be chosen as the ARM64 driver", async (t) => {
    const { url, main, printer } = await appWithPair(t);
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${url}/printers/${printer}/edit`);
    const values = () =>
      page
        .locator("#f-arm64_driver_id > option")
        .evaluateAll((options) => options.map((one) => one.getAttribute("value")));
    const upload = async (buffer: Buffer) => {
      await page.getByRole("link", { name: "Upload driver…" }).click();
      const name = "driver.zip";
      await page.getByLabel("Driver ZIP").setInputFiles({ name, mimeType: "application/zip", buffer });
      await page.getByText("uploaded and chosen").waitFor();
      await page.locator("#upload-dialog").waitFor({ state: "hidden" });
    };

    const before = await values();
    await upload(driverZip({ version: "8.0.0.0" }));
    const afterX64 = await values();
    await upload(driverZip({ version: "9.0.0.0", decoration: "NTarm64" }));
    const afterArm = await values();

    assert.deepEqual(afterX64, before);
    assert.deepEqual(afterArm, ["", "4", ...before.slice(1)]);
    assert.equal(main, 1);
  });
});
