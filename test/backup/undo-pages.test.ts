import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { recordsOf, remove } from "../support/backup/deletions.ts";
import {
  accessibilityProblems,
  openWide,
  overflows,
  saveScreenshot,
  smallTargets,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, windowVariants } from "../support/depth.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { chooseAction } from "../support/printers/shop-lists.ts";

async function lookProblems(page: Page, url: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const { colorScheme, width } of windowVariants([320, 360, 1440])) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await page.goto(url);
    await saveScreenshot(page, `${width}-${colorScheme}-undo`);
    const small = await smallTargets(page, width < 640 ? 40 : 24);
    wrong.push(...(await accessibilityProblems(page)), ...small);
    if (await overflows(page)) wrong.push(`at ${width} pixels it is wider than the window`);
  }
  return wrong;
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

  deepTest(
    "the dashboard is accessible from 320 to 1440 pixels, and a permanent deletion removes its entry",
    async (t) => {
      const app = await withOnePrinter(t);
      await app.addPrinter({ name: "Unused-room-with-a-name-that-does-not-end-".repeat(4), driver_id: "" });
      for (const name of ["Kanzlei مرحبا & Söhne", "Gone"]) await app.post("/clients", { name });
      for (const path of ["/printers/2", "/clients/2"]) await remove(app, path);
      const page = await openWide(t);

      const wrong = await lookProblems(page, app.url);
      await page.locator("summary", { hasText: "Delete permanently: Gone" }).focus();
      for (const key of ["Enter", "Tab", "Enter"]) await page.keyboard.press(key);
      await page.getByText("Permanently deleted: Gone").waitFor();

      assert.deepEqual(wrong, []);
      assert.equal(await page.locator("summary", { hasText: "Delete permanently" }).count(), 1);
      assert.equal(app.app.undo.list().length, 1);
    },
  );
});
