import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  accessibilityProblems,
  openBrowser,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";
import { makePreferences } from "../../support/printers/preferences-files.ts";

describe("vendor preferences in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("are refused, uploaded and deleted, and the page shows the new revision each time", async (t) => {
    const service = await withOnePrinter(t);
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    const problems = watchProblems(page, service.url);
    const upload = async (buffer: Buffer) => {
      const file = { name: "preferences.dat", mimeType: "application/octet-stream", buffer };
      await page.getByLabel("Preferences file").setInputFiles(file);
      await page.getByRole("button", { name: "Upload preferences" }).click();
    };
    const revision = () =>
      page.locator("#printer-settings div", { hasText: "Revision" }).locator("code").textContent();

    await page.goto(`${service.url}/printers/1`);
    const before = await revision();
    await upload(Buffer.from("a text"));
    await page.getByText("This file is a text file, not preferences.").waitFor();
    await upload(makePreferences());
    await page.getByText("Saved: vendor preferences of").waitFor();
    const after = await revision();
    await saveScreenshot(page, "vendor-preferences");
    const accessibility = await accessibilityProblems(page);
    await page.getByRole("button", { name: "Delete preferences" }).click();
    await page.getByText("Deleted: ").waitFor();

    assert.notEqual(after, before);
    assert.equal(await revision(), before);
    assert.deepEqual(accessibility, []);
    assert.deepEqual(problems, []);
  });
});
