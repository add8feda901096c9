import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  assertFocus,
  overflows,
  saveScreenshot,
  waitUntilDrawn,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { isDeep, windowVariants } from "../../support/depth.ts";
import {
  chooseAction,
  focusedName,
  openPage,
  rowBoxes,
  shopClients,
  startShop,
} from "../../support/printers/shop-lists.ts";

describe("lists in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("narrow while the user types: the URL and the count follow, and the focus stays", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const problems = watchProblems(page, service.url);

    await page.getByPlaceholder("Filter").pressSequentially("HAUS og", { delay: 20 });
    // “HAUS” alone has the same count.
    await page.waitForURL("**/printers?q=HAUS+og");
    await page.getByText("20 of 60 printers").waitFor();
    const typed = [await focusedName(page), new URL(page.url()).search, await rowBoxes(page).count()];
    await page.getByRole("search").getByLabel("Client").selectOption("Alpha");
    await page.getByText("5 of 60 printers").waitFor();
    const both = new URL(page.url()).search;
    await page.reload();
    const kept = await rowBoxes(page).count();
    await page.getByPlaceholder("Filter").fill("nothing at all");
    await page.getByText("Nothing matches “nothing at all”.").waitFor();
    await page.getByRole("link", { name: "Show all 60 printers" }).click();

    assert.deepEqual(typed, ["narrow-q", "?q=HAUS+og", 20]);
    assert.equal(both, "?q=HAUS+og&client_id=1");
    assert.equal(kept, 5);
    assert.equal(page.url(), `${service.url}/printers`);
    assert.deepEqual(problems, []);
  });

  test("the key / focuses the search except in fields, and arrows and Escape work there", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/clients");
    const problems = watchProblems(page, service.url);

    await page.locator(".fold > summary").click();
    await page.getByRole("textbox", { name: "Name required" }).fill("a/b");
    await page.keyboard.press("/");
    const inField = [
      await focusedName(page),
      await page.getByRole("textbox", { name: "Name required" }).inputValue(),
    ];
    await page.locator("h1").click();
    await page.keyboard.press("/");
    await page.keyboard.type("vellum");
    await page.locator("#find-results").getByText("0 clients, 1 driver, 24 printers").waitFor();
    await saveScreenshot(page, "1440-search-panel");
    const inSearch = [await focusedName(page), await page.locator("#find").inputValue()];
    await page.keyboard.press("ArrowDown");
    const first = await focusedName(page);
    await page.keyboard.press("Escape");
    const closed = [await focusedName(page), await page.locator("#find-results").innerHTML()];
    await page.keyboard.press("Enter");
    await page.waitForURL("**/search?q=vellum");
    await page.getByRole("link", { name: "All 24 printers" }).click();

    assert.deepEqual(inField, ["f-name", "a/b/"]);
    assert.deepEqual(inSearch, ["find", "vellum"]);
    assert.match(first, /^Vellum/);
    assert.deepEqual(closed, ["find", ""]);
    assert.equal(page.url(), `${service.url}/printers?q=vellum`);
    assert.deepEqual(problems, []);
  });

  test("rows are chosen with the shift key, by client or all, and moved together", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?q=b%C3%BCro");
    const problems = watchProblems(page, service.url);
    const bar = page.locator(".bulk");
    const hidden = await bar.isVisible();

    await rowBoxes(page).nth(1).check();
    await rowBoxes(page)
      .nth(4)
      .click({ modifiers: ["Shift"] });
    const range = await bar.locator(".chosen").textContent();
    await rowBoxes(page).nth(2).uncheck();
    await page.getByLabel(`Choose all of ${shopClients[3]}`).check();
    const group = await bar.locator(".chosen").textContent();
    await page.getByLabel("Choose all that are shown").check();
    const all = await bar.locator(".chosen").textContent();
    await page.getByLabel("Choose all that are shown").uncheck();
    const none = await bar.isVisible();
    await rowBoxes(page).nth(0).check();
    await rowBoxes(page).nth(1).check();
    await bar.locator("summary").getByText("Client", { exact: true }).click();
    await bar.getByRole("button", { name: "Show preview" }).click();
    await page.locator("#message").getByText("Choose a client.").waitFor();
    await bar.getByLabel("Move to").selectOption("Zeta");
    await bar.getByRole("button", { name: "Show preview" }).click();
    await page.getByRole("button", { name: "Change 2 printers" }).click();
    await page.getByText("2 printers moved to Zeta").waitFor();

    assert.deepEqual([hidden, none], [false, false]);
    assert.deepEqual([range, group, all], ["4 chosen", "17 chosen", "59 chosen"]);
    await assertFocus(page, /2 printers moved to Zeta/);
    const moved = service.app.store.printers.list().filter(({ client }) => client?.id === 4);
    assert.equal(moved.length, 17);
    assert.equal(await rowBoxes(page).count(), 59, "the list is narrowed as before");
    assert.equal(await bar.isVisible(), false);
    assert.deepEqual(problems, []);
  });

  test("deleting chosen printers asks first, and Enter on a checkbox deletes nothing", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const ask = page.locator(".bulk summary").getByText("Delete…", { exact: true });
    const button = page.getByRole("button", { name: "Delete 2 printers" });

    await rowBoxes(page).nth(0).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await rowBoxes(page).nth(1).check();
    await ask.click();
    await page.getByText("Deleting does not remove the printers from PCs.").waitFor();
    const untouched = service.app.store.printers.list().length;
    await saveScreenshot(page, "1440-printers-delete");
    await page.keyboard.press("Escape");
    const closed = await button.isVisible();
    await ask.click();
    await button.click();
    await page.getByText("Deleted: 2 printers").waitFor();
    const left = service.app.store.printers.list().length;
    await chooseAction(page, "Büro 16", "Delete");
    await page.locator("#message").getByText("Deleted: Büro 16").waitFor();

    assert.deepEqual([untouched, closed, left], [60, false, 58]);
    assert.equal(service.app.store.printers.list().length, 57);
    await assertFocus(page, /Deleted: Büro 16/);
  });

  test("bulk changes work without scripts", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?client_id=1", { javaScriptEnabled: false });

    await rowBoxes(page).nth(0).check();
    await rowBoxes(page).nth(1).check();
    await page.locator(".bulk summary").getByText("Driver", { exact: true }).click();
    await page.getByLabel("Change to").selectOption("2");
    await page.getByRole("button", { name: "Show preview" }).click();
    await page.getByRole("button", { name: /^Change \d printers?$/ }).click();
    const changed = await page.locator("#message").textContent();
    const narrowed = await rowBoxes(page).count();
    await rowBoxes(page).nth(0).check();
    await page.locator(".bulk summary").getByText("Delete…", { exact: true }).click();
    await page.getByRole("button", { name: "Delete the chosen printers" }).click();

    assert.match(changed ?? "", /2 printers now use/);
    assert.equal(narrowed, 15);
    assert.match((await page.locator("#message").textContent()) ?? "", /Deleted: 1 printer/);
    assert.equal(service.app.store.printers.list().length, 59);
    assert.match(page.url(), /\/printers\?client_id=1&undo=2$/);
  });

  test("the client of the visible printers stays visible below the table head", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");

    await page.evaluate("window.scrollTo(0, 500)");
    await waitUntilDrawn(page);
    const places = (await page.evaluate(`[...document.querySelectorAll(".printers thead, .printers .client")]
      .map((row) => [row.getBoundingClientRect().top, row.textContent.trim().slice(0, 5)])`)) as [
      number,
      string,
    ][];
    const [head, first] = places;

    assert.equal(head?.[0], 0);
    assert.ok(first && first[0] > 20 && first[0] < 60, `${first}`);
    assert.equal(first[1], "Alpha");
  });
});

/** Further pages. The quick tier checks packages and clients in narrow.test.ts and pages.test.ts. */
const otherPaths = [
  ...(isDeep ? ["/printers?q=long", "/packages", "/clients"] : []),
  "/search?q=papyrus",
  "/printers?q=nothing",
];

for (const { colorScheme, width } of windowVariants([1440, 1100, 700, 360, 320])) {
  const skip = { skip: withoutBrowser, timeout: 300_000 };
  test(`lists are usable at ${width} px, ${colorScheme}`, skip, async (t) => {
    const service = await startShop(t);
    const found: string[] = [];
    const path = isDeep ? "/printers" : "/printers?client_id=4";
    const page = await openPage(t, service, path, { viewport: { width, height: 800 }, colorScheme });
    const inspect = async (what: string) => {
      const where = `${colorScheme} ${width} ${what}`;
      for (const problem of await accessibilityProblems(page)) found.push(`${where}: ${problem}`);
      if (await overflows(page)) found.push(`${where}: scrolls sideways`);
      found.push(...(await brokenAddresses(page)).map((text) => `${where}: ${text} is broken or cut`));
      await saveScreenshot(page, `${width}-${colorScheme}-${what}`);
    };
    if (isDeep) await inspect("printers-list");
    await rowBoxes(page).nth(1).check();
    await page.locator(".why summary").first().click();
    await inspect("printers-chosen");
    for (const path of otherPaths) {
      await page.goto(service.url + path);
      await inspect(path.slice(1).replace("?q=", "-"));
    }

    assert.deepEqual(found, []);
  });
}

/** Addresses that take more than one line or are cut off. */
function brokenAddresses(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(".printers code")]
    .filter((code) => code.checkVisibility({ contentVisibilityAuto: true }))
    .filter((code) => code.getClientRects().length > 1 || code.offsetHeight > 30 || code.scrollWidth > code.clientWidth)
    .map((code) => code.textContent)`) as Promise<string[]>;
}
