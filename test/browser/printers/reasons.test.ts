import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { isFocusIn, openWide, picture, withoutBrowser } from "../../support/browser.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";
import { open, rows, shop } from "../../support/printers/shop-lists.ts";

const openReasons = (page: Page) => page.locator("details.why[open]");

/** How high each row is, in pixels. */
function heights(page: Page, selector: string): Promise<number[]> {
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((row) => Math.round(row.getBoundingClientRect().height))`) as Promise<number[]>;
}

describe("rows of a list in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("show one reason at a time, which Escape and a click elsewhere close", async (t) => {
    const service = await shop(t);
    const page = await open(t, service, "/printers?state=blocked");
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

  test("are as high with a reason as without one; those that move printers have their names on the left at 360 px, and not all of them bold", async (t) => {
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
    await picture(page, "360-move");
    const look = await page.evaluate(`(() => {
      const { textAlign, fontWeight } = getComputedStyle(document.querySelector(".pairs td"));
      return [textAlign, fontWeight];
    })()`);

    assert.equal(reasons, 1);
    assert.equal(ready, blocked);
    assert.ok(Math.abs((words[0] ?? 0) - (words[1] ?? 9)) <= 1, `both words are at one height: ${words}`);
    assert.match((await name.textContent()) ?? "", /Office/);
    assert.deepEqual(look, ["left", "400"]);
  });

  test("lead with one press of the Tab key from the box that was ticked to what is done with it, heads too, whose names are theirs alone", async (t) => {
    const service = await shop(t);
    const page = await open(t, service, "/printers?client_id=1");
    const names: number[] = [];
    const ways: number[] = [];

    await rows(page).nth(2).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await picture(page, "1440-to-what-is-chosen");
    const isSeen = await page.getByRole("button", { name: "To what is chosen" }).isVisible();
    await page.keyboard.press("Enter");
    const isThere = await isFocusIn(page, ".bulk");
    await rows(page).nth(2).focus();
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
      ways.push(await page.locator(".to-chosen:focus").count());
      await page.getByLabel(label).uncheck();
    }

    assert.deepEqual([isSeen, isThere, left], [true, true, 0]);
    assert.deepEqual(names, [1, 1, 1, 1]);
    assert.deepEqual(ways, [1, 1]);
  });
});
