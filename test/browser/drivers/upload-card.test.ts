import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  isFocusIn,
  openWide,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { driverZip, sixtyModels } from "../../support/drivers/driver-zip.ts";
import { dropFiles } from "../../support/drivers/dropped-files.ts";
import { makeZip } from "../../support/drivers/zip.ts";

const narrow = { viewport: { width: 360, height: 740 } };

function large(): Buffer {
  const extra = [{ name: "setup.bin", bytes: randomBytes(1_200_000), method: 0 as const }];
  return driverZip({ models: sixtyModels, extra });
}

/** The card of the last upload. */
function cardOf(page: Page) {
  return page.locator("#upload-lines .notice");
}

describe("the card of an upload in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a ZIP that is dropped on any page opens the dialog, whose form ends at the printer's package", async (t) => {
    const { url, app, post } = await startApp(t);
    await post("/clients", { name: "Acme" });
    await post("/clients", { name: "Beta" });
    const page = await openWide(t, narrow);
    const problems = watchProblems(page, url);

    for (const path of ["/", "/clients/1", "/packages", "/audit", "/search?q=x"]) {
      await page.goto(url + path);
      assert.equal(await page.locator("#upload-dialog").isVisible(), false, path);
    }
    await page.goto(`${url}/clients/1`);
    await dropFiles(page, "h1", [large()]);
    await cardOf(page).getByText("was uploaded").waitFor();
    await saveScreenshot(page, "360-upload-card");
    const [isWide, faults] = [await overflows(page), await accessibilityProblems(page)];
    await cardOf(page).getByLabel("Name", { exact: true }).fill("Office");
    await page.getByLabel("Address").fill("10.0.0.9");
    assert.equal(await cardOf(page).getByLabel("Client").inputValue(), "1", "the client of the page");
    await cardOf(page).getByLabel("Client").selectOption("Beta");
    const model = page.getByLabel("Model, one of 60");
    await model.fill("papyrus 15");
    await page.locator("#upload-lines option").nth(10).waitFor({ state: "attached" });
    await page.locator('#upload-lines option[value="Papyrus 100 PCL6"]').waitFor({ state: "detached" });
    await model.fill("Papyrus 150");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Similar models:").waitFor();
    const typed = await page.getByRole("textbox", { name: "Name" }).inputValue();
    await page.getByRole("button", { name: "Papyrus 150 PCL6" }).click();
    assert.ok(await isFocusIn(page, "#f-driver_desc"));
    assert.equal(await page.locator("#f-driver_desc-problem, #f-driver_desc[aria-invalid]").count(), 0);
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Saved: Office. Your first package is ready.").waitFor();

    const { printer, client } = app.store.printers.get(1);
    assert.deepEqual([isWide, faults], [false, []]);
    assert.deepEqual([typed, printer.driver_desc, client?.name], ["Office", "Papyrus 150 PCL6", "Beta"]);
    assert.deepEqual(problems, []);
  });

  test("the proposed name of the driver can be changed on the card, and must be unique", async (t) => {
    const { url, app, addDriver } = await startApp(t);
    await addDriver();
    const page = await openWide(t, narrow);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/clients`);
    await dropFiles(page, "h1", [driverZip({ version: "3.0.0.0" })]);
    const card = cardOf(page);

    await card.getByText("Rename", { exact: true }).click();
    await card.getByLabel("Driver name").fill("Papyrus 100 PCL6 1.2");
    await card.getByRole("button", { name: "Rename driver" }).click();
    await card.getByText("is already the name of another driver").waitFor();
    assert.equal(app.store.drivers.get(2).name, "Papyrus 100 PCL6 3.0");
    await saveScreenshot(page, "360-rename");
    await card.getByLabel("Driver name").fill("Copiers 2026");
    await card.getByRole("button", { name: "Rename driver" }).click();
    // A refused name has the same sentence, with the old name.
    await card.getByText("Copiers 2026 is the driver’s name.").waitFor();

    assert.equal(app.store.drivers.get(2).name, "Copiers 2026");
    assert.equal(await card.getByRole("button", { name: "Save printer" }).count(), 1, "the next step stays");
    assert.deepEqual(problems, []);
  });

  test("one button leaves out the unused files at once, says so, and takes them back", async (t) => {
    const { url, app } = await startApp(t);
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/drivers`);
    await dropFiles(page, "body", [large()]);
    const isDropping = () => app.store.drivers.get(1).drop_unused;

    await page.getByRole("button", { name: "Leave out 1 unused file (1.1 MB smaller)" }).click();
    await cardOf(page).getByText("Packages leave out 1 unused file (1.1 MB)").waitFor();
    const left = isDropping();
    assert.ok(await isFocusIn(page, "#drop-unused-1"), "the button that takes them back");
    await page.getByRole("button", { name: "Include unused files" }).click();
    await page.getByRole("button", { name: "Leave out 1 unused file" }).waitFor();

    assert.deepEqual([left, isDropping()], [true, false]);
    assert.equal(new URL(page.url()).pathname, "/drivers");
    assert.deepEqual(problems, []);
  });

  test("without scripts the driver's page has the button", async (t) => {
    const { url, app, upload } = await startApp(t);
    await upload("/drivers/upload", large());
    const page = await openWide(t, { javaScriptEnabled: false, ...narrow });
    await page.goto(`${url}/drivers/1`);

    await page.getByRole("button", { name: "Leave out 1 unused file (1.1 MB smaller)" }).click();
    await page.getByText("Packages leave out 1 unused file").waitFor();

    assert.match(page.url(), /\/drivers\/1\?done=saved(?:&change=[\w-]{12})?$/);
    assert.equal(app.store.drivers.get(1).drop_unused, true);
  });

  test("another ZIP can be chosen from the card, and a driver that is no printer's can be deleted there", async (t) => {
    const { url, app } = await startApp(t);
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/`);
    await dropFiles(page, "h1", [makeZip([{ name: "Driver/inner.zip", bytes: "PK" }])]);
    await cardOf(page).getByText("The driver is probably in “Driver/inner.zip”").waitFor();

    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("link", { name: "Choose another ZIP" }).click();
    const buffer = driverZip({ className: "Net", provider: "Acme" });
    await (await chooser).setFiles({ name: "net.zip", mimeType: "application/zip", buffer });
    await cardOf(page).getByText("It is for network adapters").waitFor();
    await saveScreenshot(page, "1440-upload-of-no-printer");
    await page.getByRole("button", { name: "Delete driver" }).click();
    await page.locator("#message").getByText("Deleted: ").waitFor();

    assert.equal(app.store.drivers.list().length, 0);
    assert.deepEqual(problems, []);
  });
});
