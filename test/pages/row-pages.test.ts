import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  assertFocus,
  isFocusIn,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, selectCases } from "../support/depth.ts";
import { chooseAction, focusedName, openPage, rowBoxes, startShop } from "../support/printers/shop-lists.ts";

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
    const axe = isDeep ? await accessibilityProblems(page) : [];
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

  deepTest(
    "offers packages only where there are any, leads to the form like this printer, and fits 360 px",
    async (t) => {
      const page = await openPage(t, await startShop(t), "/printers", narrow);
      const visible = () => page.locator("dialog.row-menu > :not([hidden])").allTextContents();

      await menuOf(page, "Büro 9").click();
      const blocked = await visible();
      await page.keyboard.press("Escape");
      await menuOf(page, "Büro 4").click();
      const ready = await visible();
      const isWide = await overflows(page);
      await saveScreenshot(page, "360-row-menu");
      const copy = page.locator("dialog.row-menu").getByText("Duplicate", { exact: true });

      const packages = ["Download Intune package", "Download RMM package"];
      assert.deepEqual(blocked, ["Edit", "Duplicate", "Delete"]);
      assert.deepEqual(ready, ["Edit", "Duplicate", ...packages, "Make an IPP twin", "Delete"]);
      assert.equal(isWide, false);
      assert.match((await copy.getAttribute("href")) ?? "", /^\/printers\?copy=5/);
    },
  );

  deepTest("makes an IPP twin, which takes the place of its printer", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?q=B%C3%BCro+4&state=vendor-driver");

    await page.getByText("Windows protected print mode removes queues").waitFor();
    await chooseAction(page, "Büro 4", "Make an IPP twin");
    await page.getByRole("heading", { name: "IPP twin of Büro 4" }).waitFor();
    await page.getByRole("link", { name: "diagnose.ps1" }).waitFor();
    await saveScreenshot(page, "1440-ipp-twin");
    if (!isDeep) return;
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.locator("#message").getByText("Saved: Büro 4 (IPP)").waitFor();

    const { protocol, driver_id, replaces } = service.app.store.printers.get(13).printer;
    assert.deepEqual([protocol, driver_id, replaces], ["ipp", 1_000_001, ["Büro 4"]]);
  });

  deepTest("deletes its printer, and the message takes the focus", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?client_id=1");

    await chooseAction(page, "Büro 4", "Delete");
    await page.locator("#message").getByText("Deleted: Büro 4").waitFor();

    await assertFocus(page, /Deleted: Büro 4/);
    assert.equal(service.app.store.printers.find(5), undefined);
  });
});

/** The heights of rows in pixels. */
function heights(page: Page, selector = ".printers tbody tr:not(.client)"): Promise<number[]> {
  return page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((row) => Math.round(row.getBoundingClientRect().height))`) as Promise<number[]>;
}

describe("rows of printers in a browser", inBrowser, () => {
  test("have two lines below one head at 360 px, and a long address costs only its own row a line", async (t) => {
    const service = await startShop(t);
    const address = "fd00:1234:5678:9abc:def0:1234:5678:9abc";
    await service.post("/printers", { name: "Six", client_id: "1", driver_id: "1", address });
    const page = await openPage(t, service, "/printers?client_id=1", narrow);

    const [, four = 99, eight, six = 0] = await heights(page);
    const [head = 99] = await heights(page, ".printers thead");
    await page.setViewportSize({ width: 1440, height: 900 });
    const [, wideFour = 99, wideEight, wideSix = 0] = await heights(page);

    assert.ok(four === eight && four < 66 && six > four && head < 50, `${[four, eight, six, head]}`);
    assert.ok(wideFour === wideEight && wideFour < 45 && wideSix > wideFour, `${[wideFour, wideSix]}`);
  });

  deepTest("are sorted by a click on a heading, and stay sorted while the list is filtered", async (t) => {
    const page = await openPage(t, await startShop(t), "/printers?client_id=2");

    await page.getByRole("columnheader", { name: "State" }).getByRole("link").click();
    await page.waitForURL("**/printers?client_id=2&sort=state");
    const worst = await page.locator("tbody tr").first().textContent();
    const sorted = await page.locator("[aria-sort]").textContent();

    assert.match(worst ?? "", /Büro 9[\s\S]*Blocked/);
    assert.match(sorted ?? "", /^State/);
    if (!isDeep) return;
    await page.getByPlaceholder("Filter").fill("haus");
    await page.waitForURL("**/printers?q=haus&client_id=2&sort=state");
    await page.getByText("1 of 12 printers").waitFor();
    assert.match((await page.locator("[aria-sort]").textContent()) ?? "", /^State/);
  });

  test("show names without underlines until they are hovered or focused", async (t) => {
    const page = await openPage(t, await startShop(t), "/printers?client_id=1");
    const link = page.getByRole("link", { name: "Büro 4", exact: true });
    const line = () =>
      page.evaluate(`getComputedStyle(document.querySelector('a[href="/printers/5"]')).textDecorationLine`);

    const usual = await line();
    await link.hover();

    assert.deepEqual([usual, await line()], ["none", "underline"]);
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

  test("have the same height with and without a reason, and their states too", async (t) => {
    const page = await openPage(t, await startShop(t), "/printers?client_id=2");

    const [ready, blocked] = await heights(page);
    const words = (await page.evaluate(`["Büro 5", "Büro 9"].map((name) => {
      const row = [...document.querySelectorAll("tbody tr")].find(({ textContent }) => textContent.includes(name));
      return row.querySelector(".badge").getBoundingClientRect().y - row.getBoundingClientRect().y;
    })`)) as [number, number];

    assert.equal(await page.locator(".why").count(), 1);
    assert.equal(ready, blocked);
    assert.ok(Math.abs(words[0] - words[1]) <= 1, `both states are at the same height: ${words}`);
  });

  test("of a move are left-aligned and not bold at 360 px", async (t) => {
    const page = await openPage(t, await startShop(t), "/drivers/1/move?to=2", narrow);

    const cell = page.locator(".pairs td").first();
    const style = await page.evaluate(`(() => {
      const { textAlign, fontWeight } = getComputedStyle(document.querySelector(".pairs td"));
      return [textAlign, fontWeight];
    })()`);
    await saveScreenshot(page, "360-move");

    assert.match((await cell.textContent()) ?? "", /Büro/);
    assert.deepEqual(style, ["left", "400"]);
  });

  test("have a link from a ticked checkbox to the bulk changes one Tab away, also in heads, whose accessible names stay unchanged", async (t) => {
    const page = await openPage(t, await startShop(t), "/printers?client_id=1");
    const link = page.locator(".to-chosen");
    const counts: number[] = [];

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

    assert.deepEqual([isSeen, isInBar], [true, true]);
    assert.deepEqual(counts, [0, ...(isDeep ? [1, 1, 1, 1, 1, 1] : [1, 1, 1])]);
  });
});
