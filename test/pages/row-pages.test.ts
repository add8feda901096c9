import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  isFocusIn,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, selectCases } from "../support/depth.ts";
import { focusedName, openPage, rowBoxes, startShop } from "../support/printers/shop-lists.ts";

const narrow = { viewport: { width: 360, height: 640 } };
const inBrowser = { skip: withoutBrowser, timeout: 300_000 };

const menuOf = (page: Page, name: string) =>
  page.getByRole("button", { name: `Actions for ${name}`, exact: true });

describe("the menu of a row in a browser", inBrowser, () => {
  deepTest("is used by the arrow and Tab keys, and Escape or a click elsewhere closes it", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const problems = watchProblems(page, service.url);
    const focused: string[] = [];

    await menuOf(page, "Büro 8").focus();
    for (const key of ["Enter", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "Tab"]) {
      await page.keyboard.press(key);
      focused.push(await focusedName(page));
    }
    const isOpen = await page.getByRole("dialog", { name: "Actions for Büro 8" }).isVisible();
    const axe = await accessibilityProblems(page);
    await saveScreenshot(page, "1440-row-menu");
    await page.keyboard.press("Escape");
    focused.push(await focusedName(page));
    await menuOf(page, "Büro 4").click();
    const moved = await page.getByRole("link", { name: "Edit", exact: true }).getAttribute("href");
    await page.mouse.click(300, 30);
    await page.getByRole("dialog").waitFor({ state: "hidden" });

    assert.deepEqual(focused.slice(0, 6), ["Edit", "Duplicate", "Edit", "Delete", "Edit", "Duplicate"]);
    assert.equal(focused[6], "⋯", "the button has the focus again");
    assert.deepEqual([isOpen, moved], [true, "/printers/5/edit"]);
    assert.deepEqual([...axe, ...problems], []);
  });

  deepTest("offers packages only where there are any, leads to the form, and fits 360 px", async (t) => {
    const page = await openPage(t, await startShop(t), "/printers", narrow);
    const visible = () => page.locator("dialog.row-menu > :not([hidden])").allTextContents();

    await menuOf(page, "Büro 9").click();
    const blocked = await visible();
    await page.keyboard.press("Escape");
    await menuOf(page, "Büro 4").click();
    const ready = await visible();
    const isWide = await overflows(page);
    await saveScreenshot(page, "360-row-menu");
    const linkOf = (action: string) =>
      page.locator("dialog.row-menu").getByText(action, { exact: true }).getAttribute("href");

    const packages = ["Download Intune package", "Download RMM package"];
    assert.deepEqual(blocked, ["Edit", "Duplicate", "Delete"]);
    assert.deepEqual(ready, ["Edit", "Duplicate", ...packages, "Make an IPP twin", "Delete"]);
    assert.equal(isWide, false);
    assert.match((await linkOf("Duplicate")) ?? "", /^\/printers\?copy=5/);
    assert.match((await linkOf("Make an IPP twin")) ?? "", /^\/printers\?twin=5/);
  });
});

/** The heights of rows in pixels. */
function heights(page: Page, selector = ".printers tbody tr:not(.client)"): Promise<number[]> {
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((row) => Math.round(row.getBoundingClientRect().height))`) as Promise<number[]>;
}

describe("rows of printers in a browser", inBrowser, () => {
  deepTest(
    "have two lines below one head at 360 px, the same height with and without a reason, and a long address costs only its own row a line",
    async (t) => {
      const service = await startShop(t);
      const address = "fd00:1234:5678:9abc:def0:1234:5678:9abc";
      await service.post("/printers", { name: "Six", client_id: "1", driver_id: "1", address });
      const page = await openPage(t, service, "/printers?client_id=1", narrow);

      const [, four = 99, eight, six = 0] = await heights(page);
      const [head = 99] = await heights(page, ".printers thead");
      await page.setViewportSize({ width: 1440, height: 900 });
      const [, wideFour = 99, wideEight, wideSix = 0] = await heights(page);
      await page.goto(`${service.url}/printers?client_id=2`);
      const [ready, blocked] = await heights(page);
      const reasons = await page.locator(".why").count();
      const states = await page.evaluate(`["Büro 5", "Büro 9"].map((name) => {
      const row = [...document.querySelectorAll("tbody tr")].find(({ textContent }) => textContent.includes(name));
      return Math.round(row.querySelector(".badge").getBoundingClientRect().y - row.getBoundingClientRect().y);
    })`);

      assert.ok(four === eight && four < 66 && six > four && head < 50, `${[four, eight, six, head]}`);
      assert.ok(wideFour === wideEight && wideFour < 45 && wideSix > wideFour, `${[wideFour, wideSix]}`);
      assert.deepEqual([reasons, ready], [1, blocked]);
      const [one = 0, two = 9] = states as number[];
      assert.ok(Math.abs(one - two) <= 1, `both states are at the same height: ${states}`);
    },
  );

  deepTest("are sorted by a click on a heading, and stay sorted while the list is narrowed", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?client_id=2");
    const problems = watchProblems(page, service.url);
    const sorted = () => page.locator("[aria-sort]").textContent();

    await page.getByRole("columnheader", { name: "State" }).getByRole("link").click();
    await page.waitForURL("**/printers?client_id=2&sort=state");
    const worst = await page.locator("tbody tr").first().textContent();
    const before = await sorted();
    await page.getByPlaceholder("Filter").fill("hau");
    await page.keyboard.press("S");
    await page.waitForURL("**/printers?q=hauS&client_id=2&sort=state");
    await page.getByText("1 of 12 printers").waitFor();
    const narrowed = [await focusedName(page), await sorted()];
    await page.getByRole("search").getByLabel("Client").selectOption("Alpha");
    await page.waitForURL("**/printers?q=hauS&client_id=1&sort=state");
    await page.getByPlaceholder("Filter").fill("nothing at all");
    await page.getByText("Nothing matches “nothing at all”.").waitFor();
    await page.getByRole("link", { name: "Show all 12 printers" }).click();
    await page.getByText("Büro 11", { exact: true }).waitFor();

    assert.match(worst ?? "", /Büro 9[\s\S]*Blocked/);
    assert.deepEqual(narrowed, ["narrow-q", before]);
    assert.match(before ?? "", /^State/);
    assert.match(page.url(), /\/printers(?:\?sort=state)?$/);
    assert.deepEqual(problems, []);
  });

  deepTest("show one reason at a time, and Escape or a click elsewhere closes it", async (t) => {
    const service = await startShop(t);
    await service.post("/printers", { name: "Bare", client_id: "2", address: "10.0.0.1" });
    const page = await openPage(t, service, "/printers?client_id=2");
    const summary = page.locator("details.why > summary");
    const open: number[] = [];
    const note = async () => open.push(await page.locator("details.why[open]").count());

    await summary.nth(0).click();
    await summary.nth(1).click();
    await note();
    await page.keyboard.press("Escape");
    await note();
    const isKept = await isFocusIn(page, "details.why");
    await summary.nth(0).click();
    await page.locator("details.why[open] > p").click();
    await note();
    await page.locator("h1").click();
    await note();

    assert.deepEqual(open, [1, 0, 1, 0]);
    assert.equal(isKept, true);
  });

  test("show names without underlines until the pointer is on them, and have a link from a ticked checkbox to the bulk changes one Tab away, also in heads", async (t) => {
    const page = await openPage(t, await startShop(t), "/printers?client_id=1");
    const link = page.locator(".to-chosen");
    const line = () =>
      page.evaluate(`getComputedStyle(document.querySelector('a[href="/printers/5"]')).textDecorationLine`);
    const counts: number[] = [];

    const lines = [await line()];
    await page.getByRole("link", { name: "Büro 4", exact: true }).hover();
    lines.push(await line());
    await rowBoxes(page).nth(2).press("Space");
    await page.keyboard.press("Tab");
    await saveScreenshot(page, "1440-to-what-is-chosen");
    const isSeen = await page.getByRole("button", { name: "Go to the actions" }).isVisible();
    await page.keyboard.press("Enter");
    const isInBar = await isFocusIn(page, ".bulk");
    await rowBoxes(page).nth(2).press("Space");
    counts.push(await link.count());
    for (const label of selectCases(["Choose all that are shown", "Choose all of Alpha"], 1)) {
      await page.getByLabel(label).press("Space");
      await page.keyboard.press("Tab");
      counts.push(await page.locator(".to-chosen:focus").count());
      counts.push(await page.getByRole("columnheader", { name: "Choose", exact: true }).count());
      counts.push(await page.getByRole("rowheader", { name: "Alpha", exact: true }).count());
      await page.getByLabel(label).uncheck();
    }

    assert.deepEqual(lines, ["none", "underline"]);
    assert.deepEqual([isSeen, isInBar], [true, true]);
    assert.deepEqual(counts, [0, 1, 1, 1, ...(isDeep ? [1, 1, 1] : [])]);
  });
});
