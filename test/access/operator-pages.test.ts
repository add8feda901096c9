import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { startApp, temporaryFolder } from "../support/app.ts";
import { openBrowser, pasteText, saveScreenshot, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip, sixtyModels as models } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { chooseAction } from "../support/printers/shop-lists.ts";

async function driverFile(t: TestContext): Promise<string> {
  const path = join(await temporaryFolder(t), "papyrus.zip");
  await writeFile(path, driverZip({ models, extra: [{ name: "readme.txt", bytes: "x".repeat(3000) }] }));
  return path;
}

describe("an operator in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("goes from an empty service to a package, with scripts", async (t) => {
    const { url, app } = await startApp(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 }, acceptDownloads: true });
    const page = await browser.newPage();
    const problems = watchProblems(page, url);

    await page.goto(url);
    await saveScreenshot(page, "1440-dashboard-empty");
    await page.getByRole("link", { name: "New client" }).click();
    await page.getByRole("textbox", { name: "Name required" }).fill("Kunde Müller");
    await page.getByRole("button", { name: "Save client" }).click();
    await page.getByText("Saved: Kunde Müller").waitFor();
    await page.locator("#client-list").getByRole("link", { name: "Kunde Müller" }).waitFor();
    assert.equal(
      await page.getByRole("textbox", { name: "Name required" }).inputValue(),
      "",
      "the form is fresh again",
    );
    await page.getByRole("textbox", { name: "Name required" }).fill("KUNDE müller");
    await page.getByRole("button", { name: "Save client" }).click();
    await page.getByRole("alert").waitFor();
    assert.equal(
      await page.getByRole("textbox", { name: "Name required" }).inputValue(),
      "KUNDE müller",
      "what was typed is kept",
    );
    await page.locator(".problems:focus").waitFor();
    await saveScreenshot(page, "1440-client-refused");

    await page.goto(`${url}/drivers`);
    await page.getByLabel("Driver ZIP").setInputFiles(await driverFile(t));
    await page.getByText("was uploaded").waitFor();
    await page.getByText(/Packages contain 1 unused file/).waitFor();
    await saveScreenshot(page, "1440-drivers");
    await page.getByRole("link", { name: "All settings" }).click();

    await page.getByRole("textbox", { name: "Name" }).fill("Büro “1”");
    await page.locator("#printer-form").getByLabel("Client").selectOption("Kunde Müller");
    await page.getByLabel("Address").fill("10.0.0.9");
    assert.equal(
      await page.getByLabel("Port", { exact: true }).inputValue(),
      "IP_10.0.0.9",
      "the port follows the address",
    );
    await page.getByLabel("Port", { exact: true }).fill("OWN");
    await page.getByLabel("Address").fill("10.0.0.10");
    assert.equal(await page.getByLabel("Port", { exact: true }).inputValue(), "OWN", "a typed port is kept");
    await page.getByLabel("Model", { exact: true }).fill("papyrus 15");
    await page.locator("#models option").nth(9).waitFor({ state: "attached" });
    await page.locator('#models option[value="Papyrus 100 PCL6"]').waitFor({ state: "detached" });
    assert.equal(await page.locator("#models option").count(), 11, "150 to 159, and 115");
    await page.getByLabel("Model", { exact: true }).fill("Papyrus 150 PCL6");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Saved: Büro “1”. Your first package is ready.").waitFor();

    await browser.grantPermissions(["clipboard-write"]);
    await page.getByText("Fields for Intune").click();
    await page.locator("button[data-copy=install_cmd]").click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.match(await pasteText(page), /-File \.\\install\.ps1$/);
    await page
      .getByLabel("Icon file")
      .setInputFiles({ name: "icon.png", mimeType: "image/png", buffer: Buffer.from("GIF89a") });
    await page.getByText("This browser cannot read").waitFor();
    await page
      .getByLabel("Icon file")
      .setInputFiles({ name: "icon.png", mimeType: "image/png", buffer: makePng() });
    await page.getByRole("button", { name: "Upload icon" }).click();
    await page.getByAltText("The printer’s icon").waitFor();
    await saveScreenshot(page, "1440-printer");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download .intunewin" }).click();
    assert.equal((await download).suggestedFilename(), "kunde-muller-buro-1.intunewin");
    await page.getByText("Guides, commands and scripts").click();
    await page.getByRole("link", { name: "uninstall.ps1" }).first().waitFor();

    await page.goto(`${url}/drivers/1?tab=model`);
    await page.getByLabel("Search the models").fill("159");
    await page.getByLabel("Papyrus 159 PCL6").waitFor();
    await page.getByLabel("Papyrus 158 PCL6").waitFor({ state: "detached" });
    assert.equal(await page.locator(".models li").count(), 2, "the chosen one is always among them");
    await saveScreenshot(page, "1440-driver");
    await page.goto(`${url}/printers`);
    await chooseAction(page, "Büro “1”", "Delete");
    await page.getByText("Deleted: Büro “1”").waitFor();

    assert.equal(app.store.printers.list().length, 0);
    assert.deepEqual(problems, []);
  });

  deepTest(
    "does the same without scripts, with one ZIP at a time, whose page lists its content",
    async (t) => {
      const { url, app } = await startApp(t);
      const browser = await openBrowser(t, {
        javaScriptEnabled: false,
        viewport: { width: 360, height: 740 },
      });
      const page = await browser.newPage();

      await page.goto(`${url}/clients`);
      await page.getByRole("textbox", { name: "Name required" }).fill("Alpha");
      await page.getByRole("button", { name: "Save client" }).click();
      assert.equal(page.url(), `${url}/clients?saved=1`);
      await page.goto(`${url}/printers`);
      await page.locator(".upload-link .hint").first().waitFor();
      await page.getByRole("link", { name: "Upload driver…" }).click();
      assert.equal(await page.getByLabel("Driver ZIP").getAttribute("multiple"), null);
      await page.getByLabel("Driver ZIP").setInputFiles(await driverFile(t));
      await page.getByRole("button", { name: "Upload driver" }).click();
      assert.equal(page.url(), `${url}/drivers/1?uploaded=new`);
      await page.getByText("was uploaded.").waitFor();
      await page.locator("label[for=tab-model]").click();
      await page.getByRole("radio", { name: "Papyrus 101 PCL6" }).check();
      await page.getByRole("button", { name: "Save driver" }).click();
      assert.match(page.url(), /\/drivers\/1\?done=saved(?:&change=[\w-]{12})?$/);
      await saveScreenshot(page, "360-driver-without-scripts");
      await page.getByRole("link", { name: "New printer" }).first().click();
      await page.getByRole("textbox", { name: "Name" }).fill("A, B");
      await page.getByLabel("Address").fill("10.0.0.9");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.getByText("cannot contain “,”").first().waitFor();
      assert.equal(await page.getByLabel("Address").inputValue(), "10.0.0.9");
      await page.getByRole("textbox", { name: "Name" }).fill("Office");
      await page.getByLabel("Model", { exact: true }).fill("Papyrus 150 PCL6");
      await page.getByRole("button", { name: "Save printer" }).click();
      assert.equal(page.url(), `${url}/printers/1?done=first`);
      await saveScreenshot(page, "360-printer-without-scripts");
      await page.getByRole("link", { name: "Download ZIP" }).waitFor();
      assert.equal(
        await page.getByRole("button", { name: "Copy" }).count(),
        0,
        "no button that does nothing",
      );
      await page
        .getByLabel("Icon file")
        .setInputFiles({ name: "i.png", mimeType: "image/png", buffer: makePng() });
      await page.getByRole("button", { name: "Upload icon" }).click();
      await page.getByAltText("The printer’s icon").waitFor();
      await page.getByRole("link", { name: "Edit", exact: true }).click();
      await page.getByLabel("Address").fill("10.0.0.10");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.getByText("Delete…").click();
      await page.getByRole("button", { name: "Delete printer" }).click();

      assert.equal(new URL(page.url()).pathname, "/printers");
      assert.equal(app.store.printers.list().length, 0);
    },
  );
});
