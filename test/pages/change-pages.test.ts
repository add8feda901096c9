import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  assertFocus,
  isFocusIn,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep } from "../support/depth.ts";
import { bulkFieldsOf, startWithUnsigned } from "../support/printers/four-printers.ts";
import { openPage, rowBoxes } from "../support/printers/shop-lists.ts";

const driversOf = (service: TestApp) => bulkFieldsOf(service).map(({ driver }) => driver);

async function chooseTwo(page: Page, fold: string): Promise<void> {
  await rowBoxes(page).nth(0).check();
  await rowBoxes(page).nth(1).check();
  await page.locator(".bulk summary").getByText(fold, { exact: true }).click();
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const undo = (page: Page) => page.locator("#message").getByRole("button", { name: "Undo" }).click();

describe("changes of printers in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a bulk change of driver shows what becomes blocked, changes nothing before it is confirmed, and can be undone", async (t) => {
    const service = await startWithUnsigned(t);
    const page = await openPage(t, service, "/printers");

    await chooseTwo(page, "Driver");
    await page.getByLabel("Change to").selectOption("3");
    await press(page, "Show preview");
    await page.getByText("2 printers will be blocked").waitFor();
    await assertFocus(page, /Check before you change/);
    const faults = isDeep ? await accessibilityProblems(page) : [];
    await saveScreenshot(page, "1440-bulk-preview");
    const between = driversOf(service);
    await page.getByRole("button", { name: "Change 2 printers" }).press("Enter");
    await page.locator("#message .warn").getByText("2 printers are now blocked").waitFor();
    await assertFocus(page, /2 printers now use/);
    const isBarSeen = await page.locator(".bulk").isVisible();
    const changed = driversOf(service);
    await undo(page);
    await page.getByText("Restored: 2 printers").waitFor();

    assert.deepEqual(between, [1, 1, 1, 1]);
    assert.deepEqual(changed, [3, 3, 1, 1]);
    assert.deepEqual([isBarSeen, ...faults], [false]);
    assert.deepEqual(driversOf(service), [1, 1, 1, 1]);
  });

  deepTest("bulk changes, deletions and their undo work without scripts", async (t) => {
    const service = await startWithUnsigned(t);
    const options = { javaScriptEnabled: false, viewport: { width: 360, height: 800 } };
    const page = await openPage(t, service, "/printers?client_id=1", options);
    const message = async () => (await page.locator("#message").textContent()) ?? "";

    await chooseTwo(page, "Driver");
    await page.getByLabel("Change to").selectOption("3");
    await press(page, "Show preview");
    const preview = await page.locator(".pairs tbody").textContent();
    const isWide = await overflows(page);
    await saveScreenshot(page, "360-bulk-preview");
    const between = driversOf(service);
    await press(page, "Change 2 printers");
    const changed = await message();
    const narrowed = await rowBoxes(page).count();
    await undo(page);
    const restored = await message();
    await rowBoxes(page).nth(0).check();
    await page.locator(".bulk summary").getByText("Delete…", { exact: true }).click();
    await press(page, "Delete the chosen printers");

    assert.match(preview ?? "", /A \(Alpha\), B \(Alpha\)/);
    assert.deepEqual([isWide, between], [false, [1, 1, 1, 1]]);
    assert.match(changed, /2 printers now use/);
    assert.equal(narrowed, 4);
    assert.match(restored, /Restored: 2 printers/);
    assert.deepEqual(driversOf(service), [1, 1, 1]);
    assert.match(await message(), /Deleted: 1 printer/);
    assert.match(page.url(), /\/printers\?client_id=1&undo=\d+$/);
  });

  deepTest("in two tabs, each keeps what only the other changed, and a field of both asks", async (t) => {
    const service = await startWithUnsigned(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 } });
    const [one, two] = [await browser.newPage(), await browser.newPage()];
    const problems = watchProblems(two, service.url);
    two.on("dialog", (dialog) => {
      problems.push(dialog.type());
      void dialog.dismiss();
    });
    const open = async () => {
      for (const page of [one, two]) {
        await page.goto(`${service.url}/printers/2/edit`);
        await page.locator("summary", { hasText: "Location, sharing" }).click();
      }
    };
    const save = async (page: Page, fields: Record<string, string>, message: string) => {
      for (const [name, text] of Object.entries(fields)) await page.locator(`#f-${name}`).fill(text);
      await press(page, "Save printer");
      await page.getByText(message).waitFor();
    };

    await open();
    await save(one, { location: "Floor 2", comment: "from one" }, "Saved: B");
    await save(two, { name: "Renamed", comment: "from two" }, "Another user changed the same fields");
    const isFocused = await isFocusIn(two, ".problems");
    const asked = await two.locator(".problems li").allTextContents();
    await saveScreenshot(two, "form-stale");
    await two.getByRole("link", { name: "Comment", exact: true }).click();
    const isAtField = await isFocusIn(two, "#f-comment");
    const shown = await two.getByLabel("Location", { exact: true }).inputValue();
    await press(two, "Save my version");
    await two.locator("#message").getByText("Saved: Renamed").waitFor();
    await open();
    await save(one, { location: "Floor 3" }, "Saved: Renamed");
    const told = "Another user changed “Location” to “Floor 3”. Platen kept that value.";
    await save(two, { name: "Last" }, told);

    const { name, location, comment } = service.app.store.printers.get(2).printer;
    assert.deepEqual([isFocused, asked, isAtField, shown], [true, ["Comment"], true, "Floor 2"]);
    assert.deepEqual([name, location, comment], ["Last", "Floor 3", "from two"]);
    assert.deepEqual(problems, []);
  });
});
