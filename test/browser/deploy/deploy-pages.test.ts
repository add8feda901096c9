import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { isDeep, windowVariants } from "../../support/depth.ts";
import { startShop } from "../../support/printers/shop.ts";

/** The deep tier also opens the longest page. */
const paths = [
  "/printers/1",
  "/printers/2",
  "/printers/4",
  "/clients/1",
  "/drivers/2",
  "/printers/1/read/detect",
  ...(isDeep ? ["/printers/1/read/publish"] : []),
];

describe("pages about deployment in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const { colorScheme, width } of windowVariants([1440, 320])) {
    test(`are accessible, ${colorScheme}, at ${width} px`, async (t) => {
      const { url } = await startShop(t);
      const viewport = { width, height: 900 };
      const page = await (await openBrowser(t, { colorScheme, viewport, reducedMotion: "reduce" })).newPage();
      const problems = watchProblems(page, url);

      const found: string[] = [];
      for (const path of paths) {
        await page.goto(url + path);
        await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
        for (const fault of await faultsOfTabs(page)) found.push(`${path}: ${fault}`);
        await saveScreenshot(page, `${width}-${colorScheme}-deploy${path.replaceAll("/", "-")}`);
      }

      assert.deepEqual([...found, ...problems], []);
    });
  }
});

/** Problems of a page with each of its tabs open. In the quick tier, axe checks all tabs open at once. */
async function faultsOfTabs(page: Page): Promise<string[]> {
  const tabs = await page.locator(".tabs > label").all();
  const found: string[] = [];
  for (let i = 0; i < Math.max(1, tabs.length); i++) {
    await tabs[i]?.click();
    if (isDeep) found.push(...(await accessibilityProblems(page)));
    found.push(...(await smallTargets(page)));
    if (await overflows(page)) found.push(`tab ${i} scrolls sideways`);
  }
  if (isDeep) return found;
  await page.evaluate("for (const tab of document.querySelectorAll('.tab')) tab.style.display = 'block'");
  return [...found, ...(await accessibilityProblems(page))];
}

/** Buttons that are too low: below 40 px in a narrow window, below 24 px in others. */
function smallTargets(page: Page): Promise<string[]> {
  const least = (page.viewportSize()?.width ?? 0) < 640 ? 40 : 24;
  return page.evaluate(`[...document.querySelectorAll("main button.copy, .deploy .button")]
    .map((button) => [button.textContent, button.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && height > 0 && height < ${least})
    .map(([text, { height }]) => text + " is " + height + " px high")`) as Promise<string[]>;
}
