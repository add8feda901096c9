import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { navigation, type TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  assertFocus,
  isFocusIn,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep } from "../support/depth.ts";
import { bulkFieldsOf, startWithUnsigned } from "../support/printers/four-printers.ts";
import { openPage, rowBoxes } from "../support/printers/shop-lists.ts";

/** The drivers or clients of all printers. */
const idsOf = (service: TestApp, what: "driver" | "client") => bulkFieldsOf(service).map((row) => row[what]);

async function chooseTwo(page: Page, fold: string): Promise<void> {
  await rowBoxes(page).nth(0).check();
  await rowBoxes(page).nth(1).check();
  await page.locator(".bulk summary").getByText(fold, { exact: true }).click();
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const undo = (page: Page) => page.locator("#message").getByRole("button", { name: "Undo" }).click();

describe("changes of printers in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a bulk change of driver shows what becomes blocked, changes nothing before it is confirmed, and can be undone", async (t) => {
    const service = await startWithUnsigned(t);
    const page = await openPage(t, service, "/printers");

    await chooseTwo(page, "Driver");
    await page.getByLabel("Change to").selectOption("3");
    await press(page, "Show preview");
    await page.getByText("2 printers will be blocked").waitFor();
    await assertFocus(page, /Check before you change/);
    const between = idsOf(service, "driver");
    await page.getByRole("button", { name: "Change 2 printers" }).press("Enter");
    await page.locator("#message .warn").getByText("2 printers are now blocked").waitFor();
    await assertFocus(page, /2 printers now use/);
    const changed = idsOf(service, "driver");
    await undo(page);
    await page.getByText("Restored: 2 printers").waitFor();

    assert.deepEqual(between, [1, 1, 1, 1]);
    assert.deepEqual(changed, [3, 3, 1, 1]);
    assert.deepEqual(idsOf(service, "driver"), [1, 1, 1, 1]);
  });

  deepTest(
    "a bulk change is refused without a client, then confirmed with Enter, in a list that stays narrowed",
    async (t) => {
      const service = await startWithUnsigned(t);
      const page = await openPage(t, service, "/printers?client_id=1");
      const problems = watchProblems(page, service.url);

      await chooseTwo(page, "Client");
      await press(page, "Show preview");
      await page.locator("#message").getByText("Choose a client.").waitFor();
      await page.locator(".bulk").getByLabel("Move to").selectOption("Kunde Müller");
      await press(page, "Show preview");
      await page.getByText("Check before you change").waitFor();
      const faults = await accessibilityProblems(page);
      await saveScreenshot(page, "1440-bulk-preview");
      await page.getByRole("button", { name: "Change 2 printers" }).press("Enter");
      await page.getByText("2 printers moved to Kunde Müller").waitFor();

      await assertFocus(page, /2 printers moved to Kunde Müller/);
      assert.deepEqual(idsOf(service, "client"), [2, 2, 1, 1].toSorted());
      assert.equal(await rowBoxes(page).count(), 2, "the list is narrowed as before");
      assert.equal(await page.locator(".bulk").isVisible(), false);
      assert.deepEqual([...faults, ...problems], []);
    },
  );

  deepTest("bulk changes, deletions and their undo work without scripts", async (t) => {
    const service = await startWithUnsigned(t);
    const options = { javaScriptEnabled: false, viewport: { width: 360, height: 800 } };
    const page = await openPage(t, service, "/printers?client_id=1", options);
    const message = async () => (await page.locator("#message").textContent()) ?? "";

    await chooseTwo(page, "Driver");
    await page.getByLabel("Change to").selectOption("3");
    await press(page, "Show preview");
    const preview = await page.locator(".pairs tbody").textContent();
    const isWide = await overflows(page);
    await saveScreenshot(page, "360-bulk-preview");
    const between = idsOf(service, "driver");
    await press(page, "Change 2 printers");
    const changed = await message();
    const narrowed = await rowBoxes(page).count();
    await undo(page);
    const restored = await message();
    await rowBoxes(page).nth(0).check();
    await page.locator(".bulk summary").getByText("Delete…", { exact: true }).click();
    await press(page, "Delete the chosen printers");

    assert.match(preview ?? "", /A \(Alpha\), B \(Alpha\)/);
    assert.deepEqual([isWide, between], [false, [1, 1, 1, 1]]);
    assert.match(changed, /2 printers now use/);
    assert.equal(narrowed, 4);
    assert.match(restored, /Restored: 2 printers/);
    assert.deepEqual(idsOf(service, "driver"), [1, 1, 1]);
    assert.match(await message(), /Deleted: 1 printer/);
    assert.match(page.url(), /\/printers\?client_id=1&undo=\d+$/);
  });

  deepTest("a move to a blocked driver says so first, and can be undone from its message", async (t) => {
    const service = await startWithUnsigned(t);
    const page = await openPage(t, service, "/drivers/1/move?to=3");

    const preview = await page.locator("#move-plan .notice.bad").textContent();
    await press(page, "Move 4 printers");
    await page.locator("#message .warn").getByText("4 printers are now blocked").waitFor();

    assert.match(
      preview ?? "",
      /4 printers will be blocked\. Unsigned: 64-bit Windows will refuse this driver/,
    );
    assert.deepEqual(idsOf(service, "driver"), [3, 3, 3, 3]);
    if (!isDeep) return;
    await undo(page);
    await page.getByText("Restored: 4 printers").waitFor();
    assert.deepEqual(idsOf(service, "driver"), [1, 1, 1, 1]);
  });

  const form = {
    ...{ name: "B", client_id: "1", driver_id: "1", driver_desc: "Both" },
    ...{ address: "10.0.0.1", port_name: "IP_10.0.0.1", replaces: 'Old "driver_desc":""' },
  };

  deepTest("an edit can be undone from its message", async (t) => {
    const service = await startWithUnsigned(t);
    const answer = await service.post("/printers/2", { ...form, location: "Floor 1" }, navigation);
    const page = await openPage(t, service, answer.headers.get("location") ?? "");

    await page.locator("#message").getByText("Saved: B").waitFor();
    await undo(page);
    await page.getByText("Restored: B").waitFor();

    assert.equal(service.app.store.printers.get(2).printer.location, "");
  });

  deepTest("an edit can be undone from the dashboard", async (t) => {
    const service = await startWithUnsigned(t);
    await service.post("/printers/2", { ...form, location: "Floor 2" });
    const page = await openPage(t, service, "/");

    const section = page.locator("#deleted");
    const heading = await section.locator("h2").textContent();
    await section.getByRole("button", { name: "Undo the change of B" }).first().click();
    await page.getByText("Restored: B").waitFor();

    assert.equal(heading, "Changed or deleted in the last ten minutes");
    assert.equal(service.app.store.printers.get(2).printer.location, "");
  });

  deepTest(
    "in two tabs, each keeps what only the other changed, and only a field of both asks",
    async (t) => {
      const service = await startWithUnsigned(t);
      const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 } });
      const [one, two] = [await browser.newPage(), await browser.newPage()];
      const problems = watchProblems(two, service.url);
      const dialogs: string[] = [];
      two.on("dialog", (dialog) => {
        dialogs.push(dialog.type());
        void dialog.dismiss();
      });
      const open = async () => {
        for (const page of [one, two]) {
          await page.goto(`${service.url}/printers/2/edit`);
          await page.locator("summary", { hasText: "Location, sharing" }).click();
        }
      };
      const fill = (page: Page, label: "name" | "location" | "comment", text: string) =>
        page.locator(`#f-${label}`).fill(text);
      const save = (page: Page) => press(page, "Save printer");

      await open();
      await fill(one, "location", "Floor 2");
      await fill(one, "comment", "from one");
      await save(one);
      await one.locator("#message").getByText("Saved: B").waitFor();
      await fill(two, "name", "Renamed");
      await fill(two, "comment", "from two");
      await save(two);
      await two.getByText("Another user changed the same fields").waitFor();
      const isFocused = await isFocusIn(two, ".problems");
      const asked = await two.locator(".problems li").allTextContents();
      await saveScreenshot(two, "form-stale");
      await two.getByRole("link", { name: "Comment", exact: true }).click();
      const isAtField = await isFocusIn(two, "#f-comment");
      const shown = await two.getByLabel("Location", { exact: true }).inputValue();
      await press(two, "Save my version");
      await two.locator("#message").getByText("Saved: Renamed").waitFor();
      await open();
      await fill(one, "location", "Floor 3");
      await save(one);
      await one.locator("#message").getByText("Saved: Renamed").waitFor();
      await fill(two, "name", "Last");
      await save(two);
      const told = "Another user changed “Location” to “Floor 3”. Platen kept that value.";
      await two.locator("#message").getByText(told).waitFor();

      const { name, location, comment } = service.app.store.printers.get(2).printer;
      assert.deepEqual([isFocused, asked, isAtField, shown], [true, ["Comment"], true, "Floor 2"]);
      assert.deepEqual([name, location, comment], ["Last", "Floor 3", "from two"]);
      assert.deepEqual([...dialogs, ...problems], []);
    },
  );
});
