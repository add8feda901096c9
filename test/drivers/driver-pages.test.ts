import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  assertFocus,
  openWide,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep } from "../support/depth.ts";
import { narrow, openPage } from "../support/drivers/driver-pages.ts";
import { driverZip, twoInfs } from "../support/drivers/driver-zip.ts";
import { startWithUnusedFiles } from "../support/drivers/unused-files.ts";

/** Tries to leave a page with unsaved changes and cancels. @returns the type of the dialog */
async function dialogOnLeaving(page: Page): Promise<string> {
  const asked = page.waitForEvent("dialog").then(async (dialog) => {
    await dialog.dismiss();
    return dialog.type();
  });
  await Promise.all([asked, page.locator("nav a").first().click()]);
  return asked;
}

describe("pages of drivers", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("an INF and a model are chosen from the list or a search, and a save shows its effects before it happens", async (t) => {
    const { app, page, problems, see, press } = await openPage(t, "/drivers/1?tab=model", {
      drivers: [twoInfs],
      prepare: ({ addPrinter }) => addPrinter({ driver_id: "1" }),
    });
    const first = page.getByLabel("papyrus.inf", { exact: true });
    const second = page.getByLabel("sub/second.inf");
    const model = page.getByRole("radio", { name: "Papyrus 777 PCL6" });

    await page.getByLabel("Papyrus 139 PCL6").waitFor();
    assert.equal(await page.locator(".models li").count(), 40);
    await second.check();
    await model.waitFor();
    assert.equal(await page.locator(".models input").count(), 2);
    await assertFocus(page, /^sub.second.inf$/);
    await first.check();
    await page.getByLabel("Papyrus 139 PCL6").waitFor();
    await page.getByLabel("Search the models").fill("777");
    await page.getByRole("button", { name: "Papyrus 777 PCL6" }).waitFor();
    await page.keyboard.press("Enter");
    await saveScreenshot(page, "1440-driver-search");
    await press("Papyrus 777 PCL6");
    await page.locator("#inf-and-model:focus").waitFor();
    assert.deepEqual([await second.isChecked(), await model.isChecked()], [true, true]);
    assert.equal(await dialogOnLeaving(page), "beforeunload", "what was chosen is not saved yet");
    await page.getByLabel("Comment").fill("kept");
    await press("Save driver");
    await see("1 printer must be deployed again");
    await assertFocus(page, /^Check before you save/);
    assert.equal(app.store.drivers.get(1).inf_path, "papyrus.inf");
    await saveScreenshot(page, "1440-driver-confirm");
    if (isDeep) assert.deepEqual(await accessibilityProblems(page), []);
    await press("Back to the form");
    await see("Nothing is saved yet.");
    assert.equal(await page.getByLabel("Comment").inputValue(), "kept");
    assert.ok(await model.isChecked());
    await press("Save driver");
    await press("Save and change 1 printer");
    await see("Download and deploy its printers again.");

    const { inf_path, driver_desc, model_chosen, comment } = app.store.drivers.get(1);
    const saved = [inf_path, driver_desc, model_chosen, comment];
    assert.deepEqual(saved, ["sub/second.inf", "Papyrus 777 PCL6", true, "kept"]);
    assert.deepEqual(problems, []);
  });

  deepTest("every model of a list is visible at 360 px, and a link into another tab opens it", async (t) => {
    const models = Array.from({ length: 40 }, (_, i) => `Papyrus ${i} with a long name for PCL 6 and PS`);
    const drivers = [driverZip({ models })];
    const { page } = await openPage(t, "/drivers/1?tab=deploy", { drivers, ...narrow });
    await page.evaluate(`document.querySelector("h1").innerHTML = '<a href="#models-found">models</a>'`);
    const [link, found] = [page.getByRole("link", { name: "models" }), page.locator("#models-found")];

    await link.click();
    await found.waitFor();
    if (isDeep) {
      await page.locator("label[for=tab-what]").click();
      await found.waitFor({ state: "hidden" });
      await link.click();
      await found.waitFor();
    }
    const hidden = await page.evaluate(`(() => {
      const list = document.querySelector(".models");
      const { left, right, top, bottom } = list.getBoundingClientRect();
      return [...list.children].filter((item) => {
        const box = item.getBoundingClientRect();
        return box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1;
      }).length;
    })()`);

    assert.equal(await page.getByRole("radio", { name: "INF and model" }).isChecked(), true);
    assert.deepEqual(
      [await page.locator(".models li").count(), hidden],
      [40, 0],
      "neither sideways nor below",
    );
    assert.equal(await overflows(page), false);
    await saveScreenshot(page, "360-driver-models");
  });

  deepTest("the page offers a newer version and moves the printers after showing each pair", async (t) => {
    const older = driverZip({ models: ["Papyrus A", "Papyrus B"] });
    const newer = driverZip({ models: ["Papyrus A", "Papyrus X"], version: "2.0.0.0" });
    const { app, page, problems, see, press } = await openPage(t, "/drivers/1?tab=model", {
      drivers: [older, newer],
      prepare: async ({ addPrinter }) => {
        for (const [name, model] of Object.entries({ One: "B", Two: "B", Three: "A" }))
          await addPrinter({ driver_id: "1", name, driver_desc: `Papyrus ${model}` });
      },
    });

    await see("Newer version:");
    await page.getByRole("link", { name: "Move 3 printers…", exact: true }).click();
    await see("same model");
    await saveScreenshot(page, "1440-move");
    assert.deepEqual(await accessibilityProblems(page), []);
    await press("Move 3 printers");
    await page.getByRole("link", { name: "Choose a model for these printers." }).waitFor();
    await page.getByLabel("New model for Papyrus B").fill("Papyrus X");
    await press("Move 3 printers");
    await see("3 printers moved to");

    const models = app.store.printers
      .list()
      .map(({ printer, driver }) => `${printer.name} ${driver?.id} ${printer.driver_desc}`);
    assert.deepEqual(models, ["One 2 Papyrus X", "Three 2 Papyrus A", "Two 2 Papyrus X"]);
    assert.deepEqual(problems, []);
  });

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? "with scripts" : "without scripts";

    deepTest(`a checkbox leaves unused files out and restores them, ${how}`, async (t) => {
      const { url, app } = await startWithUnusedFiles(t);
      const viewport = { width: javaScriptEnabled ? 1440 : 320, height: 800 };
      const page = await openWide(t, { viewport, javaScriptEnabled });
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
