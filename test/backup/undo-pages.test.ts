import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import { recordsOf, remove } from "../support/backup/deletions.ts";
import {
  accessibilityProblems,
  openBrowser,
  openWide,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, windowVariants } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { chooseAction } from "../support/printers/shop-lists.ts";

/** Fills a service with records for each part of the dashboard. */
async function fill(service: TestApp): Promise<void> {
  const { post, addDriver, addPrinter } = service;
  for (const name of ["Kanzlei مرحبا & Söhne", "Gone"]) await post("/clients", { name });
  const driver = String(await addDriver());
  await addDriver(driverZip({ version: "2.0.0.0", date: "06/21/2026" }));
  for (const name of ["Office", "office", "Hall"])
    await addPrinter({ name, client_id: "1", driver_id: driver, address: "10.0.0.9" });
  await addPrinter({ name: "Unused-room-with-a-name-that-does-not-end-".repeat(4), driver_id: "" });
  for (const path of ["/printers/3", "/clients/2"]) await remove(service, path);
}

/** Problems of the dashboard, and in the deep tier also of a list with the message of a deletion. */
async function dashboardProblems(page: Page, url: string, name: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const path of isDeep ? ["/printers?undo=1", "/"] : ["/"]) {
    await page.goto(url + path);
    await saveScreenshot(page, `${name}-undo${path.replace(/\W/g, "-")}`);
    wrong.push(...(await accessibilityProblems(page)).map((problem) => `${path}: ${problem}`));
  }
  if (await overflows(page)) wrong.push("it is wider than the window");
  const small = await page.evaluate(`[...document.querySelectorAll(".needs a, .deleted button")]
    .map((element) => element.getBoundingClientRect())
    .filter(({ height }) => height < (innerWidth < 640 ? 40 : 24)).length`);
  if (small !== 0) wrong.push(`${small} targets are too small`);
  return wrong;
}

/** Deletes a record on its page without scripts. */
async function deleteOn(page: Page, url: string, what: string): Promise<void> {
  await page.goto(url);
  await page.getByText("Delete…", { exact: true }).click();
  await page.getByRole("button", { name: `Delete ${what}` }).click();
}

describe("undo and the dashboard in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a deletion is undone from its message with scripts, and a narrowed list stays narrowed", async (t) => {
    const app = await withOnePrinter(t);
    const before = recordsOf(app);
    const page = await openWide(t);
    const problems = watchProblems(page, app.url);
    await page.goto(`${app.url}/printers`);
    await chooseAction(page, "Office", "Delete");
    await page.getByText("Deleted: Office").waitFor();
    const isOnBody = await page.evaluate("document.activeElement === document.body");
    await saveScreenshot(page, "1440-deleted");
    await page.keyboard.press("Tab");
    const reached = await page.evaluate("document.activeElement?.textContent");
    await page.keyboard.press("Enter");
    await page.getByText("Restored: Office").waitFor();
    await saveScreenshot(page, "1440-restored");
    const restored = new URL(page.url()).pathname;
    const after = recordsOf(app);
    await app.addPrinter({ name: "Hall", driver_id: "1" });
    await page.goto(`${app.url}/printers`);
    await page.getByPlaceholder("Filter").fill("off");
    await page.getByRole("link", { name: "Hall" }).waitFor({ state: "detached" });
    await chooseAction(page, "Office", "Delete");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Restored: Office").waitFor();

    assert.deepEqual([isOnBody, reached, restored], [false, "Undo", "/printers/1"]);
    assert.deepEqual(after, before);
    assert.match(page.url(), /\/printers\?q=off$/);
    assert.deepEqual(await page.locator("tbody th bdi a").allTextContents(), ["Office"]);
    assert.deepEqual(problems, []);
  });

  deepTest("a deletion is undone without scripts, also after the deletion that it depends on", async (t) => {
    const app = await withOnePrinter(t);
    await app.post("/clients", { name: "Alpha" });
    await app.addPrinter({ name: "Desk", client_id: "1", driver_id: "1" });
    const before = recordsOf(app);
    const page = await openWide(t, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const undoOnDashboard = async () => {
      await page.goto(app.url);
      await page.getByRole("button", { name: "Undo the deletion of Desk" }).click();
    };

    await deleteOn(page, `${app.url}/printers/2`, "printer");
    assert.equal(page.url(), `${app.url}/printers?undo=1`);
    await deleteOn(page, `${app.url}/clients/1`, "client");
    await saveScreenshot(page, "360-client-deleted");
    await undoOnDashboard();
    await page
      .getByText("“Desk” needs “Alpha”, which was deleted later. Undo that deletion first.")
      .waitFor();
    await saveScreenshot(page, "360-not-restored");
    await page.getByRole("button", { name: "Undo: Alpha" }).click();
    assert.equal(page.url(), `${app.url}/clients/1?restored=2`);
    await undoOnDashboard();

    assert.equal(page.url(), `${app.url}/printers/2?restored=1`);
    assert.deepEqual(recordsOf(app), before);
  });

  deepTest("a permanent deletion removes the entry from the dashboard", async (t) => {
    const app = await startFilled(t, fill);
    const page = await openWide(t);

    await page.goto(app.url);
    await page.locator("summary", { hasText: "Delete permanently: Gone" }).focus();
    await page.keyboard.press("Enter");
    await saveScreenshot(page, "1440-delete-for-good");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Permanently deleted: Gone").waitFor();

    assert.equal(await page.locator("summary", { hasText: "Delete permanently" }).count(), 1);
    assert.equal(app.app.undo.list().length, 1);
  });

  deepTest("the dashboard is accessible, light and dark, from 320 to 1440 pixels", async (t) => {
    const app = await startFilled(t, fill);
    const wrong: string[] = [];

    for (const { colorScheme, width } of windowVariants([320, 360, 1440])) {
      const browser = await openBrowser(t, { colorScheme, viewport: { width, height: 900 } });
      const found = await dashboardProblems(await browser.newPage(), app.url, `${width}-${colorScheme}`);
      wrong.push(...found.map((problem) => `${colorScheme}, ${width}: ${problem}`));
    }

    assert.deepEqual(wrong, []);
  });
});
