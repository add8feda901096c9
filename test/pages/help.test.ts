import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startApp } from "../support/app.ts";
import { accessibilityProblems, overflows, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest, windowVariants } from "../support/depth.ts";
import { openPage } from "../support/printers/shop-lists.ts";

const paths = ["/help", "/help?q=subnets", "/help/limits", "/help/drivers", "/help/intune", "/help/licences"];

describe("the help in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const path of paths)
    deepTest(
      `has no accessibility problem and fits the window, light and dark, wide and at 360 px: ${path}`,
      async (t) => {
        const service = await startApp(t);

        for (const { width, colorScheme } of windowVariants([360, 1440])) {
          const page = await openPage(t, service, path, { viewport: { width, height: 800 }, colorScheme });
          const problems = watchProblems(page, service.url);
          const found = [...(await accessibilityProblems(page)), ...problems];
          assert.deepEqual([found, await overflows(page)], [[], false], `${width} ${colorScheme}`);
        }
      },
    );

  deepTest(
    "without JavaScript, the keyboard leads from the help’s search to a message's explanation",
    async (t) => {
      const page = await openPage(t, await startApp(t), "/help", { javaScriptEnabled: false });

      await page
        .getByLabel("Search words or an error message")
        .fill("Skipped: not at this site (Lobby belongs in 10.9.9.0/24)");
      await page.keyboard.press("Enter");
      const first = page.locator(".results a").first();
      assert.match((await first.textContent()) ?? "", /Only in its subnets/);
      await first.press("Enter");
      const target = page.locator(":target");
      const text = await target.textContent();

      assert.match(text ?? "", /Skipped: not at this site/);
      assert.ok(await target.isVisible());
    },
  );

  deepTest("a link to the help beside a field opens a tab, and the form keeps what was typed", async (t) => {
    const page = await openPage(t, await startApp(t), "/printers?new=1");
    await page.getByLabel("Name").first().fill("Half typed");

    await page.getByText("Old queues and uninstall").press("Enter");
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "What is removed" }).press("Enter");
    const help = await opened;
    const title = await help.locator(":target h2").textContent();
    await help.close();

    assert.equal(title, "Remove what the printer replaces");
    assert.equal(await page.getByLabel("Name").first().inputValue(), "Half typed");
  });

  deepTest(
    "a table of the help is one card a row at 360 px, with the column's name above each cell",
    async (t) => {
      const viewport = { width: 360, height: 740 };
      const page = await openPage(t, await startApp(t), "/help/rmm#exit-codes", { viewport });

      const label = await page.evaluate(
        `getComputedStyle(document.querySelector("#exit-codes td:last-child"), "::before").content`,
      );
      const isHeadVisible = await page.locator("#exit-codes thead").isVisible();

      assert.match(String(label), /^"meaning ?"$/);
      assert.equal(isHeadVisible, false);
    },
  );

  test("on paper, a page of the help has its text without the search and the list of its sections", async (t) => {
    const page = await openPage(t, await startApp(t), "/help/intune", { media: "print" });

    const shown = await Promise.all(
      ["#by-hand", "main form", "nav"].map((selector) => page.locator(selector).first().isVisible()),
    );

    assert.deepEqual(shown, [true, false, false]);
  });
});
