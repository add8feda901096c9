import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, temporaryFolder } from "../support/app.ts";
import { openBrowser, openWide, saveScreenshot, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip, sixtyModels as models } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { chooseAction } from "../support/printers/shop-lists.ts";

async function driverFile(t: TestContext): Promise<string> {
  const path = join(await temporaryFolder(t), "papyrus.zip");
  await writeFile(path, driverZip({ models, extra: [{ name: "readme.txt", bytes: "x".repeat(3000) }] }));
  return path;
}

async function uploadIcon(page: Page): Promise<void> {
  const file = { name: "icon.png", mimeType: "image/png", buffer: makePng() };
  await page.getByLabel("Icon file").setInputFiles(file);
  await page.getByRole("button", { name: "Upload icon" }).click();
  await page.getByAltText("The printer’s icon").waitFor();
}

describe("an operator in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("goes from an empty service to a package, with scripts", async (t) => {
    const { url, app } = await startApp(t);
    const page = await openWide(t, { acceptDownloads: true });
    const problems = watchProblems(page, url);
    const field = (label: string) => page.getByLabel(label, { exact: true });

    await page.goto(url);
    await saveScreenshot(page, "1440-dashboard-empty");
    await page.getByRole("link", { name: "New client" }).click();
    const name = page.getByRole("textbox", { name: "Name required" });
    const saveClient = page.getByRole("button", { name: "Save client" });
    await name.fill("Kunde Müller");
    await saveClient.click();
    await page.getByText("Saved: Kunde Müller").waitFor();
    await page.locator("#client-list").getByRole("link", { name: "Kunde Müller" }).waitFor();
    assert.equal(await name.inputValue(), "", "the form is fresh again");
    await name.fill("KUNDE müller");
    await saveClient.click();
    await page.getByRole("alert").waitFor();
    assert.equal(await name.inputValue(), "KUNDE müller", "what was typed is kept");
    await page.locator(".problems:focus").waitFor();
    await saveScreenshot(page, "1440-client-refused");

    await page.goto(`${url}/drivers`);
    await page.getByLabel("Driver ZIP").setInputFiles(await driverFile(t));
    await page.getByText("was uploaded").waitFor();
    await page.getByText(/Packages contain 1 unused file/).waitFor();
    await page.getByRole("link", { name: "All settings" }).click();

    await page.getByRole("textbox", { name: "Name" }).fill("Büro “1”");
    await page.locator("#printer-form").getByLabel("Client").selectOption("Kunde Müller");
    await page.getByLabel("Address").fill("10.0.0.9");
    assert.equal(await field("Port").inputValue(), "IP_10.0.0.9", "the port follows the address");
    await field("Port").fill("OWN");
    await page.getByLabel("Address").fill("10.0.0.10");
    assert.equal(await field("Port").inputValue(), "OWN", "a typed port is kept");
    await field("Model").fill("papyrus 15");
    await page.locator("#models option").nth(9).waitFor({ state: "attached" });
    await page.locator('#models option[value="Papyrus 100 PCL6"]').waitFor({ state: "detached" });
    assert.equal(await page.locator("#models option").count(), 11, "150 to 159, and 115");
    await field("Model").fill("Papyrus 150 PCL6");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Saved: Büro “1”. Your first package is ready.").waitFor();

    await uploadIcon(page);
    await saveScreenshot(page, "1440-printer");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download .intunewin" }).click();
    assert.equal((await download).suggestedFilename(), "kunde-muller-buro-1.intunewin");
    await page.goto(`${url}/printers`);
    await chooseAction(page, "Büro “1”", "Delete");
    await page.getByText("Deleted: Büro “1”").waitFor();

    assert.equal(app.store.printers.list().length, 0);
    assert.deepEqual(problems, []);
  });

  deepTest("does the same without scripts, with one ZIP at a time", async (t) => {
    const { url, app } = await startApp(t);
    const narrow = { javaScriptEnabled: false, viewport: { width: 360, height: 740 } };
    const page = await (await openBrowser(t, narrow)).newPage();
    const savePrinter = () => page.getByRole("button", { name: "Save printer" }).click();

    await page.goto(`${url}/printers`);
    await page.locator(".upload-link .hint").first().waitFor();
    await page.getByRole("link", { name: "Upload driver…" }).click();
    assert.equal(await page.getByLabel("Driver ZIP").getAttribute("multiple"), null);
    await page.getByLabel("Driver ZIP").setInputFiles(await driverFile(t));
    await page.getByRole("button", { name: "Upload driver" }).click();
    assert.equal(page.url(), `${url}/drivers/1?uploaded=new`);
    await page.getByText("was uploaded.").waitFor();
    await page.getByRole("link", { name: "New printer" }).first().click();
    await page.getByRole("textbox", { name: "Name" }).fill("A, B");
    await page.getByLabel("Address").fill("10.0.0.9");
    await savePrinter();
    await page.getByText("cannot contain “,”").first().waitFor();
    assert.equal(await page.getByLabel("Address").inputValue(), "10.0.0.9");
    await page.getByRole("textbox", { name: "Name" }).fill("Office");
    await page.getByLabel("Model", { exact: true }).fill("Papyrus 150 PCL6");
    await savePrinter();
    assert.equal(page.url(), `${url}/printers/1?done=first`);
    await saveScreenshot(page, "360-printer-without-scripts");
    await page.getByRole("link", { name: "Download ZIP" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0, "it would do nothing");
    await uploadIcon(page);
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByLabel("Address").fill("10.0.0.10");
    await savePrinter();

    assert.equal(app.store.printers.get(1).printer.address, "10.0.0.10");
  });
});
