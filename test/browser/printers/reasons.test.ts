import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { isFocusIn, openWide, saveScreenshot, withoutBrowser } from "../../support/browser.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";
import { openPage, rowBoxes, startShop } from "../../support/printers/shop-lists.ts";

const openReasons = (page: Page) => page.locator("details.why[open]");

/** Pixels. */
function heights(page: Page, selector: string): Promise<number[]> {
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((row) => Math.round(row.getBoundingClientRect().height))`) as Promise<number[]>;
}

describe("rows of a list in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("show one reason at a time, and Escape or a click elsewhere closes it", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const summary = page.locator("details.why > summary");

    await summary.nth(0).click();
    await summary.nth(4).click();
    const both = await openReasons(page).count();
    await page.keyboard.press("Escape");
    const escaped = await openReasons(page).count();
    const isKept = await isFocusIn(page, "details.why");
    await summary.nth(0).click();
    await page.locator("details.why[open] > p").click();
    const inside = await openReasons(page).count();
    await page.locator("h1").click();
    const outside = await openReasons(page).count();

    assert.deepEqual([both, escaped, inside, outside], [1, 0, 1, 0]);
    assert.equal(isKept, true);
  });

  test("have the same height with and without a reason; rows of a move are left-aligned and not bold at 360 px", async (t) => {
    const service = await withOnePrinter(t);
    await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
    const page = await openWide(t);

    await page.goto(`${service.url}/printers`);
    const [ready, blocked] = await heights(page, ".printers tbody tr:not(.client)");
    const words = await Promise.all(
      ["Bare", "Office"].map(async (name) => {
        const row = page.locator("tr", { hasText: name });
        const [cell, word] = [await row.boundingBox(), await row.locator(".badge").boundingBox()];
        return Math.round((word?.y ?? 0) - (cell?.y ?? 0));
      }),
    );
    const reasons = await page.locator(".why").count();
    await service.addDriver(driverZip({ version: "2.0.0.0", models: ["Other"] }));
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(`${service.url}/drivers/1/move?to=2`);
    const name = page.locator(".pairs td").first();
    await saveScreenshot(page, "360-move");
    const style = await page.evaluate(`(() => {
      const { textAlign, fontWeight } = getComputedStyle(document.querySelector(".pairs td"));
      return [textAlign, fontWeight];
    })()`);

    assert.equal(reasons, 1);
    assert.equal(ready, blocked);
    assert.ok(
      Math.abs((words[0] ?? 0) - (words[1] ?? 9)) <= 1,
      `both states are at the same height: ${words}`,
    );
    assert.match((await name.textContent()) ?? "", /Office/);
    assert.deepEqual(style, ["left", "400"]);
  });

  test("have a link from a ticked checkbox to the bulk changes one Tab away, also in heads, whose accessible names stay unchanged", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?client_id=1");
    const names: number[] = [];
    const linksFocused: number[] = [];

    await rowBoxes(page).nth(2).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await saveScreenshot(page, "1440-to-what-is-chosen");
    const isSeen = await page.getByRole("button", { name: "Go to the actions" }).isVisible();
    await page.keyboard.press("Enter");
    const isInBar = await isFocusIn(page, ".bulk");
    await rowBoxes(page).nth(2).focus();
    await page.keyboard.press("Space");
    const left = await page.locator(".to-chosen").count();
    for (const label of ["Choose all that are shown", "Choose all of Alpha"]) {
      await page.getByLabel(label).check();
      names.push(
        await page.getByRole("columnheader", { name: "Choose", exact: true }).count(),
        await page.getByRole("rowheader", { name: "Alpha", exact: true }).count(),
      );
      await page.getByLabel(label).focus();
      await page.keyboard.press("Tab");
      linksFocused.push(await page.locator(".to-chosen:focus").count());
      await page.getByLabel(label).uncheck();
    }

    assert.deepEqual([isSeen, isInBar, left], [true, true, 0]);
    assert.deepEqual(names, [1, 1, 1, 1]);
    assert.deepEqual(linksFocused, [1, 1]);
  });
});
