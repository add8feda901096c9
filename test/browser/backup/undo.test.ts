import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../../support/app.ts";
import { recordsOf } from "../../support/backup/deletions.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { windowVariants } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { startFilled } from "../../support/filled.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";
import { chooseAction } from "../../support/printers/shop-lists.ts";

/** Fills a service with records for each part of the dashboard. */
async function fill({ post, fetch, addDriver, addPrinter }: TestApp): Promise<void> {
  await post("/clients", { name: "Kanzlei مرحبا & Söhne" });
  await post("/clients", { name: "Gone" });
  const driver = String(await addDriver());
  await addDriver(driverZip({ version: "2.0.0.0", date: "06/21/2026" }));
  for (const name of ["Office", "office", "Hall"])
    await addPrinter({ name, client_id: "1", driver_id: driver, address: "10.0.0.9" });
  await addPrinter({ name: "Unused-room-with-a-name-that-does-not-end-".repeat(4), driver_id: "" });
  await fetch("/printers/3", { method: "DELETE" });
  await fetch("/clients/2", { method: "DELETE" });
}

const isOnBody = (page: Page) => page.evaluate("document.activeElement === document.body");

/** Problems of the dashboard, and of a list with the message of a deletion. */
async function dashboardProblems(page: Page, url: string, name: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const path of ["/", "/printers?undo=1"]) {
    await page.goto(url + path);
    await saveScreenshot(page, `${name}-undo${path.replace(/\W/g, "-")}`);
    wrong.push(...(await accessibilityProblems(page)).map((problem) => `${path}: ${problem}`));
  }
  await page.goto(url);
  if (await overflows(page)) wrong.push("it is wider than the window");
  const small = await page.evaluate(`[...document.querySelectorAll(".needs a, .deleted button")]
    .map((element) => element.getBoundingClientRect())
    .filter(({ height }) => height < (innerWidth < 640 ? 40 : 24)).length`);
  if (small !== 0) wrong.push(`${small} targets are too small`);
  return wrong;
}

describe("undo and the dashboard in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a deletion is undone from its message with scripts, and a narrowed list stays narrowed", async (t) => {
    const app = await withOnePrinter(t);
    const before = recordsOf(app);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 } });
    const page = await browser.newPage();
    const problems = watchProblems(page, app.url);
    await page.goto(`${app.url}/printers`);
    await chooseAction(page, "Office", "Delete");
    await page.getByText("Deleted: Office").waitFor();
    const focused = await isOnBody(page);
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

    assert.equal(focused, false);
    assert.equal(reached, "Undo");
    assert.equal(restored, "/printers/1");
    assert.deepEqual(after, before);
    assert.match(page.url(), /\/printers\?q=off$/);
    assert.deepEqual(await page.locator("tbody th bdi a").allTextContents(), ["Office"]);
    assert.deepEqual(problems, []);
  });

  test("a deletion is undone without scripts, also after the deletion that it depends on", async (t) => {
    const app = await startApp(t);
    await app.post("/clients", { name: "Alpha" });
    await app.addPrinter({ name: "Office", client_id: "1" });
    const before = recordsOf(app);
    const browser = await openBrowser(t, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const page = await browser.newPage();
    const remove = async (path: string, what: string) => {
      await page.goto(app.url + path);
      await page.getByText("Delete…", { exact: true }).click();
      await page.getByRole("button", { name: `Delete ${what}` }).click();
    };

    await remove("/printers/1", "printer");
    assert.equal(page.url(), `${app.url}/printers?undo=1`);
    await remove("/clients/1", "client");
    await saveScreenshot(page, "360-client-deleted");
    await page.goto(app.url);
    await page.getByRole("button", { name: "Undo the deletion of Office" }).click();
    await page
      .getByText("“Office” needs “Alpha”, which was deleted later. Undo that deletion first.")
      .waitFor();
    await saveScreenshot(page, "360-not-restored");
    await page.getByRole("button", { name: "Undo: Alpha" }).click();
    assert.equal(page.url(), `${app.url}/clients/1?restored=2`);
    await page.goto(app.url);
    await page.getByRole("button", { name: "Undo the deletion of Office" }).click();

    assert.equal(page.url(), `${app.url}/printers/1?restored=1`);
    assert.deepEqual(recordsOf(app), before);
  });

  test("a permanent deletion removes the entry from the dashboard", async (t) => {
    const app = await startFilled(t, fill);
    const browser = await openBrowser(t);
    const page = await browser.newPage();

    await page.goto(app.url);
    await page.locator("summary", { hasText: "Delete permanently: Gone" }).focus();
    await page.keyboard.press("Enter");
    await saveScreenshot(page, "1280-delete-for-good");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Permanently deleted: Gone").waitFor();

    assert.equal(await page.locator("summary", { hasText: "Delete permanently" }).count(), 1);
    assert.equal(app.app.undo.list().length, 1);
  });

  test("the dashboard is accessible, light and dark, from 320 to 1440 pixels", async (t) => {
    const app = await startFilled(t, fill);
    const wrong: string[] = [];

    for (const { colorScheme, width } of windowVariants([320, 360, 1440])) {
      const browser = await openBrowser(t, { colorScheme, viewport: { width, height: 900 } });
      const page = await browser.newPage();
      const found = await dashboardProblems(page, app.url, `${width}-${colorScheme}`);
      wrong.push(...found.map((problem) => `${colorScheme}, ${width}: ${problem}`));
      await browser.close();
    }

    assert.deepEqual(wrong, []);
  });
});
