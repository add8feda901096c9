import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { overflows, saveScreenshot, waitUntilDrawn, withoutBrowser } from "../support/browser.ts";
import { isDeep, selectCases } from "../support/depth.ts";
import { openPage, rowBoxes, startShop } from "../support/printers/shop-lists.ts";

/** Elements of the bar, its open sheet and the message that something else covers. */
function covered(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll(".bulk > .chosen, .bulk summary, .bulk .sheet > *, #message p, #message button")]
    .filter((element) => element.checkVisibility())
    .filter((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const seen = document.elementFromPoint(left + width / 2, top + height / 2);
      return !seen || !(element.contains(seen) || seen.contains(element)) || seen === document.body;
    })
    .map((element) => element.outerHTML.slice(0, 80))`) as Promise<string[]>;
}

describe("a message and the bar of chosen rows", { skip: withoutBrowser, timeout: 300_000 }, () => {
  const windows = [
    [320, 568],
    [360, 640],
    [1440, 900],
  ] as const;
  for (const [width, height] of selectCases(windows, 1)) {
    test(`are both uncovered at ${width} px, at every scroll position and for short lists`, async (t) => {
      const service = await startShop(t);
      const page = await openPage(t, service, "/printers", { viewport: { width, height } });
      const found: string[] = [];
      const inspect = async (where: string) => {
        await waitUntilDrawn(page);
        for (const text of await covered(page)) found.push(`${where}: ${text}`);
        if (await overflows(page)) found.push(`${where}: scrolls sideways`);
        await saveScreenshot(page, `${width}-message-and-bar-${where.replaceAll(" ", "-")}`);
      };

      for (const [path, moved] of [
        [isDeep ? "/printers" : "/printers?client_id=1", 2],
        ["/printers?q=B%C3%BCro+11", 1],
      ] as const) {
        await page.goto(service.url + path);
        for (let i = 0; i < moved; i++) await rowBoxes(page).nth(i).check();
        await page.locator(".bulk summary").getByText("Client", { exact: true }).click();
        await page.getByLabel("Move to").selectOption("Zeta");
        await page.getByRole("button", { name: "Show preview" }).click();
        await page.getByRole("button", { name: /^Change \d+ printers?$/ }).click();
        await page.locator("#message").getByText("moved to Zeta").waitFor();
        await rowBoxes(page).first().check();
        await inspect(`top of ${moved}`);
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight / 2)");
        await inspect(`middle of ${moved}`);
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
        await inspect(`end of ${moved}`);
        await page.locator(".bulk summary").getByText("Download", { exact: true }).click();
        await inspect(`sheet of ${moved}`);
      }

      assert.deepEqual(found, []);
    });
  }
});
