import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  overflows,
  saveScreenshot,
  waitUntilDrawn,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, selectCases, windowVariants } from "../support/depth.ts";
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
  deepTest("narrow while the user types: the URL and the count follow, and the focus stays", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/clients");
    const problems = watchProblems(page, service.url);

    await page.getByPlaceholder("Filter").fill("kunde m");
    await page.keyboard.press("U");
    await page.waitForURL("**/clients?q=kunde+mU");
    await page.getByText("1 of 4 clients").waitFor();

    assert.equal(await focusedName(page), "narrow-q");
    assert.deepEqual(problems, []);
  });

  deepTest("the key / focuses the search except in fields, and arrows and Escape work there", async (t) => {
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

    assert.equal(inField, "/");
    assert.deepEqual(inSearch, ["find", "vellum"]);
    assert.match(first, /^Vellum/);
    assert.deepEqual(closed, ["find", ""]);
  });

  deepTest("Enter in the search opens its page, and a list is narrowed by words and by client", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/clients");

    await page.keyboard.press("/");
    await page.keyboard.type("vellum");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/search?q=vellum");
    await page.getByText("0 clients, 1 driver, 5 printers").waitFor();
    await page.goto(`${service.url}/printers?q=haus`);
    await page.getByRole("search").getByLabel("Client").selectOption("Alpha");
    await page.getByText("1 of 12 printers").waitFor();
    const both = new URL(page.url()).search;
    await page.getByPlaceholder("Filter").fill("nothing at all");
    await page.getByText("Nothing matches “nothing at all”.").waitFor();
    await page.getByRole("link", { name: "Show all 12 printers" }).click();

    assert.equal(both, "?q=haus&client_id=1");
    assert.equal(page.url(), `${service.url}/printers`);
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

  deepTest("deleting chosen printers asks first, and Enter on a checkbox deletes nothing", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const button = page.getByRole("button", { name: "Delete 1 printer" });
    const count = () => service.app.store.printers.list().length;

    await rowBoxes(page).nth(0).press("Space");
    await page.keyboard.press("Enter");
    await page.locator(".bulk summary").getByText("Delete…", { exact: true }).click();
    await page.getByText("Deleting does not remove the printers from PCs.").waitFor();
    const untouched = count();
    await saveScreenshot(page, "1440-printers-delete");
    await page.keyboard.press("Escape");
    const isOpen = await button.isVisible();
    await page.locator(".bulk summary").getByText("Delete…", { exact: true }).click();
    await button.click();
    await page.getByText("Deleted: 1 printer").waitFor();

    assert.deepEqual([untouched, isOpen, count()], [12, false, 11]);
  });

  test("without a chosen row there is no bar, and Enter on a checkbox deletes nothing", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?client_id=1");
    const bar = page.locator(".bulk");

    await rowBoxes(page).nth(0).press("Space");
    await page.keyboard.press("Enter");
    const isShown = await bar.isVisible();
    await rowBoxes(page).nth(0).press("Space");

    assert.deepEqual([isShown, await bar.isVisible()], [true, false]);
    assert.equal(service.app.store.printers.list().length, 12);
  });

  test("the client of the visible printers stays visible below the table head", async (t) => {
    const viewport = { width: 1440, height: 400 };
    const page = await openPage(t, await startShop(t), "/printers", { viewport });

    await page.evaluate("document.querySelector('tbody tr:nth-child(2)').scrollIntoView()");
    await waitUntilDrawn(page);
    const [head, first] =
      (await page.evaluate(`[...document.querySelectorAll(".printers thead, .printers .client")]
      .map((row) => [row.getBoundingClientRect().top, row.textContent.trim().slice(0, 5)])`)) as [
        number,
        string,
      ][];

    assert.equal(head?.[0], 0);
    assert.ok(first && first[0] > 20 && first[0] < 60, `${first}`);
    assert.equal(first[1], "Alpha");
  });

  for (const { colorScheme, width } of windowVariants([1440, 1100, 700, 360, 320]))
    test(`are usable at ${width} px, ${colorScheme}`, async (t) => {
      const service = await startShop(t);
      const found: string[] = [];
      const page = await openPage(t, service, "/printers", { viewport: { width, height: 800 }, colorScheme });
      const inspect = async (what: string) => {
        // The quick tier inspects pages with axe in look.test.ts.
        found.push(...(isDeep ? await accessibilityProblems(page) : []));
        if (await overflows(page)) found.push("scrolls sideways");
        found.push(...(await brokenAddresses(page)).map((text) => `${text} is broken or cut`));
        await saveScreenshot(page, `${width}-${colorScheme}-${what}`);
      };

      if (isDeep) await inspect("printers-list");
      await rowBoxes(page).nth(1).check();
      await page.locator(".why summary").first().click();
      await inspect("printers-chosen");
      const others = [
        "/printers?q=long",
        "/packages",
        "/clients",
        "/search?q=papyrus",
        "/printers?q=nothing",
      ];
      for (const path of isDeep ? others : []) {
        await page.goto(service.url + path);
        await inspect(path.slice(1).replace("?q=", "-"));
      }

      assert.deepEqual(found, []);
    });

  deepTest(
    "of drivers, clients and printers have the same button for a new one, at the same place",
    async (t) => {
      const service = await startShop(t);
      const places: [number, number][] = [];

      for (const [path, form] of selectCases(
        [
          ["/printers", "#printer-form"],
          ["/drivers", "#upload-form"],
          ["/clients", "#client-form"],
        ] as const,
        2,
      )) {
        const page = await openPage(t, service, path);
        const [right, top, isOpen, width, formTop] = (await page.evaluate(`(() => {
        const [button, form] = [".top .fold > summary", "${form}"].map((one) => document.querySelector(one));
        const { right, top } = button.getBoundingClientRect();
        const isOpen = form.checkVisibility();
        button.click();
        const box = form.getBoundingClientRect();
        return [Math.round(right), Math.round(top), isOpen, box.width, box.top];
      })()`)) as [number, number, boolean, number, number];
        places.push([right, top]);
        assert.equal(isOpen, false);
        assert.ok(width > 0 && width <= 560 && formTop > top, path);
      }

      assert.deepEqual(new Set(places.map(String)).size, 1);
    },
  );
});

/** The generated text before the title of the first card, and the title's distance from the left in pixels. */
function firstTitle(page: Page): Promise<[string, number]> {
  return page.evaluate(`(() => {
    const title = document.querySelector("tbody tr:not(.client) :is(th, td) bdi");
    const before = getComputedStyle(title.closest("th, td"), "::before").content;
    return [before, Math.round(title.getBoundingClientRect().left)];
  })()`) as Promise<[string, number]>;
}

describe("cards at 360 px", inBrowser, () => {
  test("begin with their title at the left on every page, and printers keep their table head", async (t) => {
    const service = await startShop(t);
    const titles: [string, number][] = [];

    for (const path of selectCases(["/packages", "/drivers", "/clients"], 2)) {
      const page = await openPage(t, service, path, narrow);
      titles.push(await firstTitle(page));
      await saveScreenshot(page, `360-cards-of-${path.slice(1)}`);
    }

    assert.equal(titles[0]?.[0], "none");
    assert.deepEqual(titles, Array(titles.length).fill(titles[0]));
  });

  test("of printers have a head but no space for checkboxes and menus without scripts", async (t) => {
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
