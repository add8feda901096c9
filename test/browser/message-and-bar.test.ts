import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { drawn, overflows, picture, withoutBrowser } from "../support/browser.ts";
import { isDeep, some } from "../support/depth.ts";
import { open, rows, shop } from "../support/printers/shop-lists.ts";

/** What of the bar, of its open sheet and of the message cannot be pressed or read where it stands. */
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
  for (const [width, height] of some(windows, 1)) {
    test(`are both in reach at ${width} px, wherever the list is scrolled to and however short it is`, async (t) => {
      const service = await shop(t);
      const page = await open(t, service, "/printers", { viewport: { width, height } });
      const found: string[] = [];
      const look = async (where: string) => {
        await drawn(page);
        for (const text of await covered(page)) found.push(`${where}: ${text}`);
        if (await overflows(page)) found.push(`${where}: scrolls sideways`);
        await picture(page, `${width}-message-and-bar-${where.replaceAll(" ", "-")}`);
      };

      for (const [path, moved] of [
        [isDeep ? "/printers" : "/printers?client_id=1", 2],
        ["/printers?q=B%C3%BCro+11", 1],
      ] as const) {
        await page.goto(service.url + path);
        for (let i = 0; i < moved; i++) await rows(page).nth(i).check();
        await page.locator(".bulk summary").getByText("Client", { exact: true }).click();
        await page.getByLabel("Move to").selectOption("Zeta");
        await page.getByRole("button", { name: "Move" }).click();
        await page.locator("#message").getByText("moved to Zeta").waitFor();
        await rows(page).first().check();
        await look(`top of ${moved}`);
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight / 2)");
        await look(`middle of ${moved}`);
        await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
        await look(`end of ${moved}`);
        await page.locator(".bulk summary").getByText("Download", { exact: true }).click();
        await look(`sheet of ${moved}`);
      }

      assert.deepEqual(found, []);
    });
  }
});
