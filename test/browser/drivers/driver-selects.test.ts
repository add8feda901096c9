import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../../support/app.ts";
import { openBrowser, saveScreenshot, watchProblems, withoutBrowser } from "../../support/browser.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";

const network = driverZip({ className: "Net", provider: "Acme", models: ["Acme Network Adapter"] });
const unsigned = driverZip({ provider: "Acme", models: ["Acme 7"], catalog: null });

/** The groups and options of the driver's select, without those of Windows. */
async function offeredIn(page: Page): Promise<string[]> {
  const texts = await page
    .locator("#f-driver_id > *")
    .evaluateAll((nodes) =>
      nodes.map((node) => `${node.getAttribute("label") ?? ""} ${node.textContent?.trim()}`),
    );
  return texts.filter((text) => !text.startsWith("Included in Windows"));
}

describe("selects of drivers in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`show names, and blocked drivers last, ${javaScriptEnabled ? "with" : "without"} scripts`, async (t) => {
      const { url, addDriver } = await startApp(t);
      await addDriver(unsigned);
      await addDriver();
      await addDriver(network);
      const page = await (await openBrowser(t, { javaScriptEnabled })).newPage();
      const problems = watchProblems(page, url);

      await page.goto(`${url}/printers?driver_id=3`);
      const [offered, chosen] = [await offeredIn(page), await page.locator("#f-driver_id").inputValue()];
      await page.goto(`${url}/printers?driver_id=2`);
      await saveScreenshot(page, `selects-${javaScriptEnabled}`);

      assert.deepEqual(offered, [" No driver", " Papyrus 100 PCL6 1.2 · x64", "Blocked Acme 7 1.2 · x64"]);
      assert.equal(chosen, "");
      assert.equal(await page.locator("#f-driver_id").inputValue(), "2");
      assert.deepEqual(problems, []);
    });
  }

  test("do not offer what was uploaded from the form if it is for no printer", async (t) => {
    const { url, addDriver } = await startApp(t);
    await addDriver();
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${url}/printers?driver_id=1`);

    await page.getByRole("link", { name: "Upload driver…" }).click();
    const file = { name: "net.zip", mimeType: "application/zip", buffer: network };
    await page.getByLabel("Driver ZIP").setInputFiles(file);
    await page.getByText("It is for network adapters").waitFor();

    assert.equal(await page.locator("#f-driver_id").inputValue(), "1");
    assert.deepEqual(await offeredIn(page), [" No driver", " Papyrus 100 PCL6 1.2 · x64"]);
  });
});
