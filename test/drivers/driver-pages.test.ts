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
import { choose, narrow, openPage, zipFile } from "../support/drivers/driver-pages.ts";
import { driverZip, twoInfs } from "../support/drivers/driver-zip.ts";
import { startWithUnusedFiles } from "../support/drivers/unused-files.ts";

const several = driverZip({ models: ["Papyrus A", "Papyrus B", "Papyrus C"] });
const universal = driverZip({ models: ["Papyrus Universal"] });
const network = driverZip({ className: "Net", provider: "Acme", models: ["Acme Network Adapter"] });

/** Tries to leave a page with unsaved changes and cancels. @returns the type of the dialog */
async function dialogOnLeaving(page: Page): Promise<string> {
  const asked = page.waitForEvent("dialog").then(async (dialog) => {
    await dialog.dismiss();
    return dialog.type();
  });
  await Promise.all([asked, page.locator("nav a").first().click()]);
  return asked;
}

/** The groups and options of the driver's select, without those of Windows. */
async function offeredIn(page: Page): Promise<string[]> {
  const texts = (await page.locator("#f-driver_id > *").evaluateAll(`nodes => nodes.map((node) =>
    (node.getAttribute("label") ?? "") + " " + node.textContent.trim())`)) as string[];
  return texts.filter((text) => !text.startsWith("Included in Windows"));
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
    assert.deepEqual(
      [inf_path, driver_desc, model_chosen, comment],
      ["sub/second.inf", "Papyrus 777 PCL6", true, "kept"],
    );
    assert.deepEqual(problems, []);
  });

  deepTest("the printer's form says for each driver whether a model is required", async (t) => {
    const { page, problems, see } = await openPage(t, "/printers?driver_id=2", {
      drivers: [universal, several],
    });

    await see("Required. Type to search 3 models.");
    await page.getByLabel("Driver", { exact: true }).selectOption("1");
    await see("Leave empty for the driver’s model (Papyrus Universal)");

    assert.deepEqual(problems, []);
  });

  test("every model of a list is visible at 360 px without scrolling sideways or within the list", async (t) => {
    const models = Array.from(
      { length: 40 },
      (_, i) => `Papyrus ${i} with a long name for PCL 6 and PostScript`,
    );
    const { page } = await openPage(t, "/drivers/1?tab=model", {
      drivers: [driverZip({ models })],
      ...narrow,
    });

    const hidden = await page.evaluate(`(() => {
      const list = document.querySelector(".models");
      const { left, right, top, bottom } = list.getBoundingClientRect();
      return [...list.children].filter((item) => {
        const box = item.getBoundingClientRect();
        return box.left < left - 1 || box.right > right + 1 || box.top < top - 1 || box.bottom > bottom + 1;
      }).length;
    })()`);

    assert.equal(await page.locator(".models li").count(), 40);
    assert.equal(hidden, 0);
    assert.equal(await overflows(page), false);
    await saveScreenshot(page, "360-driver-models");
  });

  test("a link into another tab opens it, also when the address stays the same", async (t) => {
    const { page } = await openPage(t, "/drivers/1?tab=deploy", { drivers: [several] });
    await page.evaluate(`document.querySelector("h1").innerHTML = '<a href="#models-found">models</a>'`);
    const [link, models] = [page.getByRole("link", { name: "models" }), page.locator("#models-found")];

    await link.click();
    await models.waitFor();
    if (isDeep) {
      await page.locator("label[for=tab-what]").click();
      await models.waitFor({ state: "hidden" });
      await link.click();
      await models.waitFor();
    }

    assert.equal(await page.getByRole("radio", { name: "INF and model" }).isChecked(), true);
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

  deepTest("selects do not offer what was uploaded from the form if it is for no printer", async (t) => {
    const { page, see } = await openPage(t, "/printers?driver_id=1", { drivers: [driverZip()] });

    await page.getByRole("link", { name: "Upload driver…" }).click();
    await choose(page, zipFile("net.zip", network));
    await see("It is for network adapters");

    assert.equal(await page.locator("#f-driver_id").inputValue(), "1");
    assert.deepEqual(await offeredIn(page), [" No driver", " Papyrus 100 PCL6 1.2 · x64"]);
  });
});
