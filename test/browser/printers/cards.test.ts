import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { saveScreenshot, withoutBrowser } from "../../support/browser.ts";
import { openPage, startShop } from "../../support/printers/shop-lists.ts";

/** The generated text before the title of the first card, and the title's distance from the left in pixels. */
function firstTitle(page: Page): Promise<[string, number]> {
  return page.evaluate(`(() => {
    const title = document.querySelector("tbody tr:not(.client) :is(th, td) bdi");
    const before = getComputedStyle(title.closest("th, td"), "::before").content;
    return [before, Math.round(title.getBoundingClientRect().left)];
  })()`) as Promise<[string, number]>;
}

describe("cards at 360 px", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("begin with their title at the left on every page, and printers keep their table head", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/packages", { viewport: { width: 360, height: 640 } });

    const packages = await firstTitle(page);
    const others: [string, number][] = [];
    for (const path of ["/drivers", "/clients"]) {
      await page.goto(service.url + path);
      others.push(await firstTitle(page));
      await saveScreenshot(page, `360-cards-of-${path.slice(1)}`);
    }
    await page.goto(`${service.url}/printers`);
    const hasHead = await page.locator(".printers thead").isVisible();

    assert.equal(packages[0], "none");
    assert.deepEqual(others, [packages, packages]);
    assert.equal(hasHead, true);
  });

  test("of printers have a head but no space for checkboxes and menus without scripts", async (t) => {
    const service = await startShop(t);
    const viewport = { width: 360, height: 640 };
    const page = await openPage(t, service, "/printers", { viewport, javaScriptEnabled: false });

    const isVisible = await page.locator(".printers thead").isVisible();
    const menus = await page.locator(".printers td.menu").first().isVisible();
    const client = await page.locator(".printers .client a").first().boundingBox();
    await saveScreenshot(page, "360-printers-without-scripts");

    assert.deepEqual([isVisible, menus], [true, false]);
    assert.equal(client?.x, 16);
  });
});
