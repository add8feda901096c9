import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  overflows,
  saveScreenshot,
  waitUntilDrawn,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, selectCases, windowVariants } from "../support/depth.ts";
import { focusedName, openPage, rowBoxes, shopClients, startShop } from "../support/printers/shop-lists.ts";

const narrow = { viewport: { width: 360, height: 640 } };
const inBrowser = { skip: withoutBrowser, timeout: 300_000 };

/** Addresses that take more than one line or are cut off. */
function brokenAddresses(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(".printers code")]
    .filter((code) => code.checkVisibility({ contentVisibilityAuto: true }))
    .filter((code) => code.getClientRects().length > 1 || code.offsetHeight > 30 || code.scrollWidth > code.clientWidth)
    .map((code) => code.textContent)`) as Promise<string[]>;
}

describe("lists in a browser", inBrowser, () => {
  test("the client of the visible printers stays visible below the table head", async (t) => {
    const viewport = { width: 1440, height: 400 };
    const page = await openPage(t, await startShop(t), "/printers", { viewport });

    await page.evaluate("document.querySelector('tbody tr:nth-child(2)').scrollIntoView()");
    await waitUntilDrawn(page);
    const rows = await page.evaluate(`[...document.querySelectorAll(".printers thead, .printers .client")]
      .map((row) => [row.getBoundingClientRect().top, row.textContent.trim().slice(0, 5)])`);
    const [head, first] = rows as [number, string][];

    assert.equal(head?.[0], 0);
    assert.ok(first && first[0] > 20 && first[0] < 60, `${first}`);
    assert.equal(first[1], "Alpha");
  });

  deepTest("the key / focuses the search except in fields; arrows, Escape and Enter work", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/clients");

    await page.getByPlaceholder("Filter").press("/");
    const inField = await page.getByPlaceholder("Filter").inputValue();
    await page.locator("h1").click();
    await page.keyboard.press("/");
    await page.keyboard.type("vellum");
    await page.locator("#find-results").getByText("0 clients, 1 driver, 5 printers").waitFor();
    await saveScreenshot(page, "1440-search-panel");
    const inSearch = [await focusedName(page), await page.locator("#find").inputValue()];
    await page.keyboard.press("ArrowDown");
    const first = await focusedName(page);
    await page.keyboard.press("Escape");
    const closed = [await focusedName(page), await page.locator("#find-results").innerHTML()];
    await page.keyboard.press("Enter");
    await page.waitForURL("**/search?q=vellum");
    await page.locator("main").getByText("0 clients, 1 driver, 5 printers").waitFor();

    assert.equal(inField, "/");
    assert.deepEqual(inSearch, ["find", "vellum"]);
    assert.match(first, /^Vellum/);
    assert.deepEqual(closed, ["find", ""]);
  });

  deepTest("rows are chosen with the shift key, by client or all", async (t) => {
    const page = await openPage(t, await startShop(t), "/printers?q=b%C3%BCro");
    const bar = page.locator(".bulk");
    const chosen: (string | null)[] = [];
    const note = async () => chosen.push(await bar.locator(".chosen").textContent());

    await rowBoxes(page).nth(1).check();
    await rowBoxes(page)
      .nth(4)
      .click({ modifiers: ["Shift"] });
    await note();
    await page.getByLabel(`Choose all of ${shopClients[3]}`).check();
    await note();
    await page.getByLabel("Choose all that are shown").check();
    await note();

    assert.deepEqual(chosen, ["4 chosen", "6 chosen", "11 chosen"]);
  });

  test("without a chosen row there is no bar, Enter on a checkbox deletes nothing, and deleting asks first", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?client_id=1");
    const [box, bar] = [rowBoxes(page).nth(0), page.locator(".bulk")];
    const fold = bar.locator("summary").getByText("Delete…", { exact: true });
    const button = page.getByRole("button", { name: "Delete 1 printer" });
    const count = () => service.app.store.printers.list().length;

    await box.press("Space");
    const isShown = await bar.isVisible();
    await box.press("Space");
    const isLeft = await bar.isVisible();
    await box.press("Space");
    await page.keyboard.press("Enter");
    await fold.click();
    await page.getByText("Deleting does not remove the printers from PCs.").waitFor();
    await saveScreenshot(page, "1440-printers-delete");
    const before = count();
    await page.keyboard.press("Escape");
    const isOpen = await button.isVisible();
    await fold.click();
    await button.click();
    await page.getByText("Deleted: 1 printer").waitFor();

    assert.deepEqual([isShown, isLeft, isOpen], [true, false, false]);
    assert.deepEqual([before, count()], [12, 11]);
  });

  for (const { colorScheme, width } of windowVariants([1440, 1100, 700, 360, 320]))
    test(`are usable at ${width} px, ${colorScheme}`, async (t) => {
      const service = await startShop(t);
      const found: string[] = [];
      const page = await openPage(t, service, "/printers", { viewport: { width, height: 800 }, colorScheme });
      await rowBoxes(page).nth(1).check();
      await page.locator(".why summary").first().click();
      found.push(...(await accessibilityProblems(page)));
      if (await overflows(page)) found.push("scrolls sideways");
      found.push(...(await brokenAddresses(page)).map((text) => `${text} is broken or cut`));
      await saveScreenshot(page, `${width}-${colorScheme}-printers-chosen`);

      assert.deepEqual(found, []);
    });

  deepTest("have the same button for a new record at the same place, and focus its form", async (t) => {
    const service = await startShop(t);
    const places = new Set<string>();

    for (const [path, form] of Object.entries({
      printers: "printer",
      drivers: "upload",
      clients: "client",
    })) {
      const page = await openPage(t, service, `/${path}`);
      const [place, isOpen, width, gap] = (await page.evaluate(`(() => {
      const [button, form] = [".top .fold > summary", "#${form}-form"].map((one) => document.querySelector(one));
      const { right, top } = button.getBoundingClientRect();
      const isOpen = form.checkVisibility();
      button.click();
      const box = form.getBoundingClientRect();
      return [[right, top].map(Math.round).join(), isOpen, box.width, box.top - top];
    })()`)) as [string, boolean, number, number];
      places.add(place);
      assert.ok(!isOpen && width > 0 && width <= 560 && gap > 0, path);
      if (path !== "drivers") await page.locator("#f-name:focus").waitFor();
    }

    assert.equal(places.size, 1);
  });
});

describe("cards at 360 px", inBrowser, () => {
  deepTest(
    "begin with their title at the left on every page, and those of a move are not bold",
    async (t) => {
      const service = await startShop(t);
      const page = await openPage(t, service, "/health", narrow);
      const titles = new Set<unknown>();

      for (const path of selectCases(["/packages", "/drivers", "/clients"], 2)) {
        await page.goto(service.url + path);
        const title = await page.evaluate(`(() => {
        const title = document.querySelector("tbody tr:not(.client) :is(th, td) bdi");
        const { content } = getComputedStyle(title.closest("th, td"), "::before");
        return content + " " + Math.round(title.getBoundingClientRect().left);
      })()`);
        titles.add(title);
        await saveScreenshot(page, `360-cards-of-${path.slice(1)}`);
      }

      await page.goto(`${service.url}/drivers/1/move?to=2`);
      const move = await page.evaluate(`(() => {
      const { textAlign, fontWeight } = getComputedStyle(document.querySelector(".pairs td"));
      return [textAlign, fontWeight];
    })()`);
      await saveScreenshot(page, "360-move");

      assert.match([...titles].join(), /^none \d+$/);
      assert.deepEqual(move, ["left", "400"]);
    },
  );

  deepTest("of printers have a head but no space for checkboxes and menus without scripts", async (t) => {
    const options = { ...narrow, javaScriptEnabled: false };
    const page = await openPage(t, await startShop(t), "/printers", options);

    const isVisible = await page.locator(".printers thead").isVisible();
    const menus = await page.locator(".printers td.menu").first().isVisible();
    const client = await page.locator(".printers .client a").first().boundingBox();
    await saveScreenshot(page, "360-printers-without-scripts");

    assert.deepEqual([isVisible, menus], [true, false]);
    assert.equal(client?.x, 16);
  });
});
