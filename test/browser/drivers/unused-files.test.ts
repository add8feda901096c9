import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { startWithUnusedFiles } from "../../support/drivers/unused-files.ts";

describe("unused files in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`a checkbox leaves unused files out and restores them, ${javaScriptEnabled ? "with" : "without"} scripts`, async (t) => {
      const { url, app } = await startWithUnusedFiles(t);
      const viewport = { width: javaScriptEnabled ? 1440 : 320, height: 800 };
      const browser = await openBrowser(t, { viewport, javaScriptEnabled });
      const page = await browser.newPage();
      const problems = watchProblems(page, url);
      const box = page.getByLabel("Leave out unused files");
      const isDropping = () => app.store.drivers.get(1).drop_unused;

      await page.goto(`${url}/drivers/1?tab=model`);
      await page.getByText("Packages become 1.4 MB smaller.").waitFor();
      await box.check();
      await page.getByRole("button", { name: "Save driver" }).click();
      await page.getByText("Packages leave out 4 files that this INF does not use (1.4 MB)").waitFor();
      await page.locator("label[for=tab-model]").click();
      const [ticked, saved] = [await box.isChecked(), isDropping()];
      await saveScreenshot(page, `${viewport.width}-driver-without-dead-weight`);
      assert.equal(await overflows(page), false);
      if (javaScriptEnabled) assert.deepEqual(await accessibilityProblems(page), []);
      await box.uncheck();
      await page.getByRole("button", { name: "Save driver" }).click();
      await page.getByText("Packages contain 4 files that this INF does not use").waitFor();

      assert.deepEqual([ticked, saved, isDropping()], [true, true, false]);
      assert.deepEqual(problems, []);
    });
  }
});
