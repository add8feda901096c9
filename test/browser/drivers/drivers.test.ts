import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  assertFocus,
  openWide,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { driverZip, twoInfs } from "../../support/drivers/driver-zip.ts";

const several = driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] });

/** Tries to leave a page with unsaved changes and cancels. @returns the type of the dialog */
async function dialogOnLeaving(page: Page): Promise<string> {
  const asked = page.waitForEvent("dialog").then(async (dialog) => {
    await dialog.dismiss();
    return dialog.type();
  });
  await Promise.all([asked, page.locator("nav a").first().click()]);
  return asked;
}

describe("drivers in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("the printer's form and the form of the upload ask for the model of a driver with several names", async (t) => {
    const { url, app, addDriver } = await startApp(t);
    await addDriver(driverZip({ models: ["Papyrus Universal"] }));
    const page = await openWide(t);
    const problems = watchProblems(page, url);

    await page.goto(`${url}/drivers`);
    await page.locator(".fold > summary").click();
    await page
      .getByLabel("Driver ZIP")
      .setInputFiles({ name: "p.zip", mimeType: "application/zip", buffer: several });
    await page.getByLabel("Model, one of 3").waitFor();
    assert.equal(await page.locator("#upload-lines input[type=radio]").count(), 0);
    await saveScreenshot(page, "1440-upload-asks");
    await page.goto(`${url}/printers?driver_id=2`);
    await page.getByText("Required. Type to search 3 models.").waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill("Office");
    await page.getByLabel("Address").fill("10.0.0.9");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.locator(".problems:focus").getByText("Choose one of 3 models").waitFor();
    await page.getByLabel("Driver", { exact: true }).selectOption({ index: 2 });
    await page.getByText("Leave empty for the driver’s model (Papyrus Universal)").waitFor();
    await page.getByLabel("Driver", { exact: true }).selectOption("2");
    await page.getByText("Required. Type to search 3 models.").waitFor();
    await page.getByLabel("Model", { exact: true }).fill("Papyrus B");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Saved: Office. Your first package is ready.").waitFor();

    assert.equal(app.store.printers.get(1).printer.driver_desc, "Papyrus B");
    assert.deepEqual(problems, []);
  });

  test("a change of the INF lists its models at once, and a search finds models in all INFs", async (t) => {
    const { url, app, addDriver } = await startApp(t);
    await addDriver(twoInfs);
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/drivers/1?tab=model`);

    await page.getByLabel("Papyrus 139 PCL6").waitFor();
    assert.equal(await page.locator(".models li").count(), 40);
    await page.getByLabel("sub/second.inf").check();
    await page.getByLabel("Papyrus 777 PCL6").waitFor();
    assert.equal(await page.locator(".models input").count(), 2);
    await assertFocus(page, /^sub.second.inf$/);
    await page.getByLabel("papyrus.inf", { exact: true }).check();
    await page.getByLabel("Papyrus 139 PCL6").waitFor();
    await page.getByLabel("Search the models").fill("777");
    await page.getByRole("button", { name: "Papyrus 777 PCL6" }).waitFor();
    await page.keyboard.press("Enter");
    await saveScreenshot(page, "1440-driver-search");
    await page.getByRole("button", { name: "Papyrus 777 PCL6" }).click();
    await page.locator("#inf-and-model:focus").waitFor();
    assert.ok(await page.getByLabel("sub/second.inf").isChecked());
    assert.ok(await page.getByRole("radio", { name: "Papyrus 777 PCL6" }).isChecked());
    assert.equal(await dialogOnLeaving(page), "beforeunload", "what was chosen is not saved yet");
    await page.getByRole("button", { name: "Save driver" }).click();
    await page.getByText("Saved: Papyrus PCL6 3.0").waitFor();

    const { inf_path, driver_desc, model_chosen } = app.store.drivers.get(1);
    assert.deepEqual([inf_path, driver_desc, model_chosen], ["sub/second.inf", "Papyrus 777 PCL6", true]);
    assert.deepEqual(problems, []);
  });

  test("the list is narrowed during typing, and the URL follows", async (t) => {
    const { url, addDriver } = await startApp(t);
    await addDriver(twoInfs);
    await addDriver(driverZip({ provider: "Acme" }));
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/drivers`);

    await page.getByRole("searchbox", { name: "Filter the list" }).fill("acme");
    await page.getByText("1 of 2 drivers").waitFor();
    assert.equal(await page.locator("#driver-table tbody tr").count(), 1);
    assert.match(page.url(), /\/drivers\?q=acme/);
    await assertFocus(page, /^Filter the list/);
    await page.getByRole("combobox", { name: "State" }).selectOption("blocked");
    await page.getByText("Nothing matches “acme”.").waitFor();
    await page.getByRole("link", { name: "Show all 2 drivers" }).click();
    await page.locator("#driver-table tbody tr").nth(1).waitFor();

    assert.deepEqual(problems, []);
  });

  test("the confirmation of a save replaces the form, and the way back keeps typed values", async (t) => {
    const { url, app, addDriver, addPrinter } = await startApp(t);
    await addDriver(twoInfs);
    for (const name of ["One", "Two", "Three"]) await addPrinter({ driver_id: "1", name });
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/drivers/1?tab=model`);

    await page.getByLabel("sub/second.inf").check();
    await page.getByRole("radio", { name: "Papyrus 777 PCL6" }).check();
    await page.getByLabel("Comment").fill("kept");
    await page.getByRole("button", { name: "Save driver" }).click();
    await page.getByText("3 printers must be deployed again").waitFor();
    await assertFocus(page, /^Check before you save/);
    assert.equal(app.store.drivers.get(1).inf_path, "papyrus.inf");
    await saveScreenshot(page, "1440-driver-confirm");
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.getByRole("button", { name: "Back to the form" }).click();
    await page.getByText("Nothing is saved yet.").waitFor();
    assert.equal(await page.getByLabel("Comment").inputValue(), "kept");
    assert.ok(await page.getByRole("radio", { name: "Papyrus 777 PCL6" }).isChecked());
    await page.getByRole("button", { name: "Save driver" }).click();
    await page.getByRole("button", { name: "Save and change 3 printers" }).click();
    await page.getByText("Download and deploy its printers again.").waitFor();

    assert.equal(app.store.drivers.get(1).driver_desc, "Papyrus 777 PCL6");
    assert.equal(app.store.drivers.get(1).comment, "kept");
    assert.deepEqual(problems, []);
  });

  test("buttons offer the same choices without scripts", async (t) => {
    const { url, app, addDriver, addPrinter } = await startApp(t);
    await addDriver(twoInfs);
    await addPrinter({ driver_id: "1", name: "One" });
    const page = await openWide(t, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });

    await page.goto(`${url}/drivers/1?tab=model`);
    await page.getByLabel("sub/second.inf").check();
    await page.getByLabel("Comment").fill("kept");
    await page.getByRole("button", { name: "Show models" }).click();
    assert.equal(await page.locator(".models input").count(), 2);
    await page.getByLabel("Search the models").fill("158");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("button", { name: "Papyrus 158 PCL6" }).click();
    assert.ok(await page.getByRole("radio", { name: "Papyrus 158 PCL6" }).isChecked());
    assert.ok(await page.getByLabel("papyrus.inf", { exact: true }).isChecked());
    await page.getByRole("button", { name: "Save driver" }).click();
    await page.getByText("1 printer must be deployed again").waitFor();
    await saveScreenshot(page, "360-driver-confirm-without-scripts");
    await page.getByRole("button", { name: "Save and change 1 printer" }).click();

    assert.match(page.url(), /\/drivers\/1\?done=redeploy(?:&change=[\w-]{12})?$/);
    assert.deepEqual(
      [app.store.drivers.get(1).driver_desc, app.store.drivers.get(1).comment],
      ["Papyrus 158 PCL6", "kept"],
    );
    assert.equal(await overflows(page), false);
  });
});
