import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  openWide,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { isDeep, windowVariants } from "../../support/depth.ts";
import { driverZip, sixtyModels, twoInfs } from "../../support/drivers/driver-zip.ts";

async function problemsOf(page: Page): Promise<string[]> {
  const found = await accessibilityProblems(page);
  return (await overflows(page)) ? [...found, "scrolls sideways"] : found;
}

describe("pages of drivers", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("every model of a list is visible at 360 px without scrolling sideways or within the list", async (t) => {
    const { url, addDriver } = await startApp(t);
    const names = Array.from(
      { length: 40 },
      (_, i) => `Papyrus ${i} with quite a long name for PCL 6 and PostScript`,
    );
    await addDriver(driverZip({ models: names }));
    const page = await openWide(t, { viewport: { width: 360, height: 740 } });
    await page.goto(`${url}/drivers/1?tab=model`);

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
    const { url, addDriver } = await startApp(t);
    await addDriver(driverZip({ models: ["Papyrus A", "Papyrus B"], catalog: null }));
    const page = await openWide(t);
    await page.goto(`${url}/drivers/1?tab=deploy`);
    await page.evaluate(`document.querySelector("h1").innerHTML = '<a href="#models-found">models</a>'`);

    await page.getByRole("link", { name: "models" }).click();
    await page.locator("#models-found").waitFor();
    await page.locator("label[for=tab-what]").click();
    await page.locator("#models-found").waitFor({ state: "hidden" });
    await page.getByRole("link", { name: "models" }).click();

    await page.locator("#models-found").waitFor();
    assert.equal(await page.getByRole("radio", { name: "INF and model" }).isChecked(), true);
  });

  test("the page offers a newer version and moves the printers after showing each pair", async (t) => {
    const { url, app, addDriver, addPrinter } = await startApp(t);
    await addDriver(driverZip({ models: ["Papyrus A", "Papyrus B"] }));
    for (const name of ["One", "Two"]) await addPrinter({ driver_id: "1", name, driver_desc: "Papyrus B" });
    await addPrinter({ driver_id: "1", name: "Three", driver_desc: "Papyrus A" });
    await addDriver(driverZip({ models: ["Papyrus A", "Papyrus X"], version: "2.0.0.0" }));
    const page = await openWide(t);
    const problems = watchProblems(page, url);

    await page.goto(`${url}/drivers/1?tab=model`);
    await page.getByText("Newer version:").waitFor();
    await page.getByRole("link", { name: "Move 3 printers…", exact: true }).click();
    await page.getByText("same model").waitFor();
    await saveScreenshot(page, "1440-move");
    assert.deepEqual(await accessibilityProblems(page), []);
    await page.getByRole("button", { name: "Move 3 printers" }).click();
    await page.getByRole("link", { name: "Choose a model for these printers." }).waitFor();
    await page.getByLabel("New model for Papyrus B").fill("Papyrus X");
    await page.getByRole("button", { name: "Move 3 printers" }).click();
    await page.getByText("3 printers moved to").waitFor();

    const models = app.store.printers
      .list()
      .map(({ printer, driver }) => `${printer.name} ${driver?.id} ${printer.driver_desc}`);
    assert.deepEqual(models, ["One 2 Papyrus X", "Three 2 Papyrus A", "Two 2 Papyrus X"]);
    assert.deepEqual(problems, []);
  });

  test("pages of drivers are accessible, light and dark, wide and narrow", async (t) => {
    const { url, addDriver, addPrinter } = await startApp(t);
    await addDriver(twoInfs);
    await addDriver(driverZip({ models: ["Papyrus 100 PCL6"], version: "4.0.0.0", className: "Net" }));
    await addPrinter({ driver_id: "1", name: "One", driver_desc: "Papyrus 150 PCL6" });
    await addDriver(driverZip({ models: sixtyModels, version: "5.0.0.0" }));
    // The quick tier checks moving printers above, and the list of printers in the tests of lists.
    const others = isDeep ? ["/drivers/1/move", "/printers?driver_id=1"] : [];
    const paths = ["/drivers", "/drivers/1?q=777", "/drivers/2", ...others];
    const found: string[] = [];

    for (const { colorScheme, width } of windowVariants([1440, 320])) {
      const page = await openWide(t, {
        colorScheme,
        viewport: { width, height: 800 },
        reducedMotion: "reduce",
      });
      for (const path of paths) {
        await page.goto(url + path);
        for (const fault of await problemsOf(page)) found.push(`${colorScheme} ${width} ${path}: ${fault}`);
        await saveScreenshot(page, `${width}-${colorScheme}${path.replaceAll(/[/?=]/g, "-")}`);
      }
    }

    assert.deepEqual(found, []);
  });
});
