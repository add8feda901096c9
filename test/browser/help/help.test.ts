import assert from "node:assert/strict";
import { test } from "node:test";
import { startApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  openWide,
  overflows,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";

const paths = ["/help", "/help/limits", "/help/drivers", "/help/intune", "/help/licences", "/help?q=subnets"];

test("the help fits 360 px and 1440 px, light and dark, without an accessibility problem", {
  skip: withoutBrowser,
}, async (t) => {
  const app = await startApp(t);
  const found: string[] = [];

  for (const [width, colorScheme] of [
    [360, "dark"],
    [1440, "light"],
  ] as const) {
    const page = await (await openBrowser(t, { viewport: { width, height: 800 }, colorScheme })).newPage();
    const problems = watchProblems(page, app.url);
    for (const path of paths) {
      await page.goto(app.url + path);
      for (const problem of await accessibilityProblems(page)) found.push(`${width} ${path}: ${problem}`);
      if (await overflows(page)) found.push(`${width} ${path}: scrolls sideways`);
    }
    found.push(...problems);
  }

  assert.deepEqual(found, []);
});

test("without JavaScript, the keyboard leads from the navigation to a message's explanation", {
  skip: withoutBrowser,
}, async (t) => {
  const app = await startApp(t);
  const page = await openWide(t, { javaScriptEnabled: false });
  await page.goto(app.url);

  await page.getByRole("link", { name: "Help", exact: true }).press("Enter");
  await page
    .getByLabel("Search words or an error message")
    .fill("Skipped: not at this site (Lobby belongs in 10.9.9.0/24)");
  await page.keyboard.press("Enter");
  const first = page.locator(".results a").first();
  const name = await first.textContent();
  await first.press("Enter");
  const target = page.locator(":target");
  const text = await target.textContent();

  assert.match(name ?? "", /Only in its subnets/);
  assert.match(text ?? "", /Skipped: not at this site/);
  assert.ok(await target.isVisible());
});

test("a link to the help beside a field opens a tab, and the form keeps what was typed", {
  skip: withoutBrowser,
}, async (t) => {
  const app = await startApp(t);
  const page = await openWide(t);
  await page.goto(`${app.url}/printers?new=1`);
  await page.getByLabel("Name").first().fill("Half typed");

  await page.getByText("Old queues and uninstall").press("Enter");
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "What is removed" }).press("Enter");
  const help = await opened;
  const title = await help.locator(":target h2").textContent();

  assert.equal(title, "Remove what the printer replaces");
  assert.equal(await page.getByLabel("Name").first().inputValue(), "Half typed");
});

test("a table of the help is one card a row at 360 px, with the column's name above each cell", {
  skip: withoutBrowser,
}, async (t) => {
  const app = await startApp(t);
  const page = await (await openBrowser(t, { viewport: { width: 360, height: 740 } })).newPage();

  await page.goto(`${app.url}/help/rmm#exit-codes`);
  const label = await page.evaluate(
    `getComputedStyle(document.querySelector("#exit-codes td:last-child"), "::before").content`,
  );
  const isHeadVisible = await page.locator("#exit-codes thead").isVisible();

  assert.match(String(label), /^"meaning ?"$/);
  assert.equal(isHeadVisible, false);
});

test("on paper, a page of the help has its text without the search and the list of its sections", {
  skip: withoutBrowser,
}, async (t) => {
  const app = await startApp(t);
  const page = await openWide(t);
  await page.goto(`${app.url}/help/intune`);

  await page.emulateMedia({ media: "print" });
  const shown = await Promise.all(
    ["#by-hand", "main form", "nav"].map((selector) => page.locator(selector).first().isVisible()),
  );

  assert.deepEqual(shown, [true, false, false]);
});
