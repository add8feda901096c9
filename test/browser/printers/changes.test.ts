import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  assertFocus,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { fourPrinters } from "../../support/printers/four-printers.ts";
import { openPage, rowBoxes } from "../../support/printers/shop-lists.ts";

/** Four printers of client Alpha with driver 1; driver 3 is unsigned. */
async function startWithUnsigned(t: TestContext): Promise<TestApp> {
  const service = await startApp(t);
  await fourPrinters(service);
  await service.addDriver(driverZip({ models: ["Both", "Only old"], version: "3.0.0.0", catalog: null }));
  return service;
}

/** The drivers or clients of all printers. */
function idsOf({ app }: TestApp, what: "driver" | "client"): (number | undefined)[] {
  return app.store.printers.list().map((row) => row[what]?.id);
}

async function chooseTwo(page: Page, fold: string): Promise<void> {
  await rowBoxes(page).nth(0).check();
  await rowBoxes(page).nth(1).check();
  await page.locator(".bulk summary").getByText(fold, { exact: true }).click();
}

describe("changes of printers in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a bulk change of driver shows what becomes blocked, changes nothing before it is confirmed, and can be undone", async (t) => {
    const service = await startWithUnsigned(t);
    const page = await openPage(t, service, "/printers");
    const problems = watchProblems(page, service.url);

    await chooseTwo(page, "Driver");
    await page.getByLabel("Change to").selectOption("3");
    await page.getByRole("button", { name: "Show preview" }).click();
    await page.getByText("2 printers will be blocked").waitFor();
    await assertFocus(page, /Check before you change/);
    const between = idsOf(service, "driver");
    const faults = await accessibilityProblems(page);
    await saveScreenshot(page, "1440-bulk-preview");
    await page.getByRole("button", { name: "Change 2 printers" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("#message .warn").getByText("2 printers are now blocked").waitFor();
    await assertFocus(page, /2 printers now use/);
    const changed = idsOf(service, "driver");
    await page.locator("#message").getByRole("button", { name: "Undo" }).click();
    await page.getByText("Restored: 2 printers").waitFor();

    assert.deepEqual(between, [1, 1, 1, 1]);
    assert.deepEqual(changed, [3, 3, 1, 1]);
    assert.deepEqual(idsOf(service, "driver"), [1, 1, 1, 1]);
    assert.deepEqual(faults, []);
    assert.deepEqual(problems, []);
  });

  test("a bulk change of client works without scripts at 360 px, with preview and undo", async (t) => {
    const service = await startWithUnsigned(t);
    const options = { javaScriptEnabled: false, viewport: { width: 360, height: 800 } };
    const page = await openPage(t, service, "/printers", options);

    await chooseTwo(page, "Client");
    await page.getByLabel("Move to").selectOption("Kunde Müller");
    await page.getByRole("button", { name: "Show preview" }).click();
    const preview = await page.locator(".pairs tbody").textContent();
    const isWide = await overflows(page);
    await saveScreenshot(page, "360-bulk-preview");
    const between = idsOf(service, "client");
    await page.getByRole("button", { name: "Change 2 printers" }).click();
    const changed = idsOf(service, "client");
    await page.locator("#message").getByRole("button", { name: "Undo" }).click();

    assert.match(preview ?? "", /A \(Alpha\), B \(Alpha\).*Alpha.*Kunde Müller/s);
    assert.equal(isWide, false);
    assert.deepEqual(between, [1, 1, 1, 1]);
    assert.deepEqual(changed.sort(), [1, 1, 2, 2]);
    assert.deepEqual(idsOf(service, "client"), [1, 1, 1, 1]);
    assert.match((await page.locator("#message").textContent()) ?? "", /Restored: 2 printers/);
  });

  test("a move to a blocked driver says so first, and can be undone from its message", async (t) => {
    const service = await startWithUnsigned(t);
    const page = await openPage(t, service, "/drivers/1/move?to=3");

    const preview = await page.locator("#move-plan .notice.bad").textContent();
    await page.getByRole("button", { name: "Move 4 printers" }).click();
    await page.locator("#message .warn").getByText("4 printers are now blocked").waitFor();
    const moved = idsOf(service, "driver");
    await page.locator("#message").getByRole("button", { name: "Undo" }).click();
    await page.getByText("Restored: 4 printers").waitFor();

    assert.match(
      preview ?? "",
      /4 printers will be blocked\. Unsigned: 64-bit Windows will refuse this driver/,
    );
    assert.deepEqual(moved, [3, 3, 3, 3]);
    assert.deepEqual(idsOf(service, "driver"), [1, 1, 1, 1]);
  });

  test("an edit can be undone from its message, and later from the dashboard", async (t) => {
    const service = await startWithUnsigned(t);
    const page = await openPage(t, service, "/printers/2/edit");
    const locationOf = () => service.app.store.printers.get(2).printer.location;
    const edit = async (text: string) => {
      await page.goto(`${service.url}/printers/2/edit`);
      await page.locator("summary", { hasText: "Location, sharing" }).click();
      await page.getByLabel("Location", { exact: true }).fill(text);
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator("#message").getByText("Saved: B").waitFor();
    };

    await edit("Floor 1");
    const first = locationOf();
    await page.locator("#message").getByRole("button", { name: "Undo" }).click();
    await page.getByText("Restored: B").waitFor();
    const undone = locationOf();
    await edit("Floor 2");
    await page.goto(service.url);
    const section = page.locator("#deleted");
    const listed = await section.locator("h2").textContent();
    await section.getByRole("button", { name: "Undo the change of B" }).first().click();
    await page.getByText("Restored: B").waitFor();

    assert.deepEqual([first, undone, locationOf()], ["Floor 1", "", ""]);
    assert.equal(listed, "Changed or deleted in the last ten minutes");
  });

  test("in two tabs, each keeps what only the other changed, and only a field of both asks", async (t) => {
    const service = await startWithUnsigned(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 } });
    const [one, two] = [await browser.newPage(), await browser.newPage()];
    for (const page of [one, two]) {
      await page.goto(`${service.url}/printers/2/edit`);
      await page.locator("summary", { hasText: "Location, sharing" }).click();
    }
    const fill = (page: Page, label: "Name" | "Location" | "Comment", text: string) =>
      page.locator(`#f-${label.toLowerCase()}`).fill(text);
    const save = (page: Page) => page.getByRole("button", { name: "Save printer" }).click();

    await fill(one, "Location", "Floor 2");
    await fill(one, "Comment", "from one");
    await save(one);
    await one.locator("#message").getByText("Saved: B").waitFor();
    await fill(two, "Name", "Renamed");
    await fill(two, "Comment", "from two");
    await save(two);
    await two.getByText("Another user changed the same fields").waitFor();
    const asked = await two.locator(".problems li").allTextContents();
    const shown = await two.getByLabel("Location", { exact: true }).inputValue();
    await two.getByRole("button", { name: "Save my version" }).click();
    await two.locator("#message").getByText("Saved: Renamed").waitFor();
    await one.goto(`${service.url}/printers/2/edit`);
    await two.goto(`${service.url}/printers/2/edit`);
    await one.locator("summary", { hasText: "Location, sharing" }).click();
    await fill(one, "Location", "Floor 3");
    await save(one);
    await one.locator("#message").getByText("Saved: Renamed").waitFor();
    await fill(two, "Name", "Last");
    await save(two);
    await two
      .locator("#message")
      .getByText("Another user changed “Location” to “Floor 3”. Platen kept that value.")
      .waitFor();
    const { name, location, comment } = service.app.store.printers.get(2).printer;

    assert.deepEqual(asked, ["Comment"]);
    assert.equal(shown, "Floor 2");
    assert.deepEqual([name, location, comment], ["Last", "Floor 3", "from two"]);
  });
});
