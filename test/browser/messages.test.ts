import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../support/app.ts";
import {
  isFocusIn,
  isFocusLost,
  openBrowser,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makePng } from "../support/printers/png.ts";
import { chooseAction } from "../support/printers/shop-lists.ts";

const message = (page: Page) => page.locator("#message > .notice");
const icon = { name: "icon.png", mimeType: "image/png", buffer: makePng() };

/** Fills the form for a new printer. */
async function fillPrinter(page: Page, name: string): Promise<void> {
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByLabel("Address").fill("10.0.0.8");
}

describe("a message in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("names the change and takes the focus, which never falls back to the page", async (t) => {
    const { url, post, addPrinter, app } = await startApp(t);
    await post("/clients", { name: "Alpha" });
    await addPrinter({ client_id: "1" });
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    const problems = watchProblems(page, url);
    const focusProblems: string[] = [];
    const expectMessage = async (text: string | RegExp, inside = "#message") => {
      await page.locator(inside).getByText(text).first().waitFor();
      if (!(await isFocusIn(page, inside))) focusProblems.push(`${text}: the focus is not in ${inside}`);
    };

    await page.goto(`${url}/clients`);
    await page.locator(".fold > summary").click();
    await page.getByRole("textbox", { name: "Name required" }).fill("Beta");
    await page.getByRole("button", { name: "Save client" }).click();
    await expectMessage("Saved: Beta");
    await page.getByRole("textbox", { name: "Name required" }).fill("BETA");
    await page.keyboard.press("Enter");
    await expectMessage("already exists. Choose another name.", ".problems");
    await page.goto(`${url}/printers?new=1&client_id=1&driver_id=1#new-printer`);
    await fillPrinter(page, "A,B");
    await page.getByRole("button", { name: "Save printer" }).click();
    await expectMessage("cannot contain", ".problems");
    await fillPrinter(page, "Second");
    await page.getByRole("button", { name: "Save printer" }).click();
    await expectMessage("Saved: Second");
    const next = [
      await page.locator("#f-client_id").inputValue(),
      await page.locator("#f-driver_id").inputValue(),
      await page.getByRole("textbox", { name: "Name" }).inputValue(),
    ];
    await saveScreenshot(page, "message-saved");
    await chooseAction(page, "Second", "Delete");
    await expectMessage("Deleted: Second");
    await page.goto(`${url}/printers/1`);
    await page.getByLabel("Icon file").setInputFiles(icon);
    await page.getByRole("button", { name: "Upload icon" }).click();
    await expectMessage("Saved: icon of Office");
    await page.getByRole("button", { name: "Delete icon" }).click();
    await expectMessage("Deleted: icon of Office");
    await (await fetch(`${url}/printers/1/packages/rmm`)).arrayBuffer();
    await page.goto(`${url}/printers/1/edit`);
    await page.getByLabel("Address").fill("10.0.0.77");
    await page.keyboard.press("Enter");
    await expectMessage("Download and deploy the new package.");
    await page.goto(`${url}/clients/1`);
    await page.getByText("Delete…").click();
    await page.getByRole("button", { name: "Delete client" }).click();
    await expectMessage("The client “Alpha” was not deleted");
    await page.locator("#message").getByRole("link", { name: "Office" }).click();

    assert.equal(page.url(), `${url}/printers/1`);
    assert.deepEqual(next, ["1", "1", ""], "the form for the next printer has the same client and driver");
    assert.equal(app.store.printers.list().length, 1);
    assert.deepEqual([...focusProblems, ...problems], []);
  });

  test("is closed by its button and by Escape, returns the focus, and is not shown again after a reload", async (t) => {
    const { url } = await withOnePrinter(t);
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${url}/printers/1`);
    const button = page.getByRole("button", { name: "Upload icon" });

    for (const how of ["Escape", "button"] as const) {
      await page.getByLabel("Icon file").setInputFiles(icon);
      await button.focus();
      await page.keyboard.press("Enter");
      await message(page).waitFor();
      assert.ok(await isFocusIn(page, "#message"));
      if (how === "Escape") await page.keyboard.press("Escape");
      else await page.getByRole("button", { name: "Close this message" }).press("Enter");
      await message(page).waitFor({ state: "detached" });
      assert.ok(await isFocusIn(page, ".icon-form button"), how);
    }
    await page.goto(`${url}/printers/1?done=redeploy&q=x`);
    await message(page).getByText("Saved: Office").waitFor();
    const isFocused = await isFocusIn(page, "#message");
    const address = page.url();
    await page.reload();

    assert.equal(isFocused, true);
    assert.equal(address, `${url}/printers/1?q=x`);
    assert.equal(await message(page).count(), 0);
  });

  test("never covers the focused element at 360 px while the user tabs down the page", async (t) => {
    const { url, post, addDriver, addPrinter } = await startApp(t);
    await post("/clients", { name: "Alpha" });
    const driver_id = String(await addDriver());
    for (const name of ["One", "Two", "Three"]) await addPrinter({ name, client_id: "1", driver_id });
    const page = await (await openBrowser(t, { viewport: { width: 360, height: 640 } })).newPage();
    await page.goto(`${url}/printers?new=1&client_id=1&driver_id=1#new-printer`);
    await fillPrinter(page, "Four");
    await page.getByRole("button", { name: "Save printer" }).click();
    assert.ok(await isFocusIn(page, "#message"));
    const covered: unknown[] = [];

    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const found = await page.evaluate(`(() => {
        const element = document.activeElement;
        if (element === document.body || element.closest("#message")) return null;
        const { left, right, top, bottom } = element.getBoundingClientRect();
        const over = document.querySelector("#message").getBoundingClientRect();
        const isUnder = bottom > over.top + 1 && top < over.bottom && right > over.left && left < over.right;
        return isUnder ? element.outerHTML.slice(0, 100) : null;
      })()`);
      if (found !== null) covered.push(found);
    }

    assert.deepEqual(covered, []);
  });

  test("is shown for every error, slow requests can be cancelled, and typed text stays", async (t) => {
    const { url, app } = await startApp(t);
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${url}/clients`);
    const fails = async (text: string | RegExp) => {
      await page.getByRole("textbox", { name: "Name required" }).fill("Typed");
      await page.getByRole("button", { name: "Save client" }).click();
      await page.locator("#message > .notice.bad").getByText(text).waitFor();
      assert.equal(await page.getByRole("textbox", { name: "Name required" }).inputValue(), "Typed");
      assert.equal(await isFocusLost(page), false, String(text));
      assert.equal(await page.locator("#client-list").count(), 1, "the page is whole");
      await page.keyboard.press("Escape");
    };
    const html = { contentType: "text/html", body: "<!doctype html><title>x</title><h1>nginx</h1>" };

    for (const [status, text] of [
      [413, "refuses files of this size (413)"],
      [504, "does not respond (504)"],
      [500, "answers with an error (500)"],
    ] as const) {
      await page.route("**/clients", (route) => route.fulfill({ ...html, status }));
      await fails(text);
      await page.unroute("**/clients");
    }
    await page.route("**/clients", (route) => route.abort());
    await fails("Platen does not respond. Your input is still here.");
    await page.unroute("**/clients");
    const failing = t.mock.method(app.store.clients, "add", () => Promise.reject(new Error("defect")));
    await fails(/Platen had an error \([0-9a-f]{8}\)\. Nothing was changed/);
    failing.mock.restore();
    let release = () => {};
    const held = new Promise<number>((resolve) => {
      release = () => resolve(1);
    });
    t.after(() => release());
    const slow = t.mock.method(app.store.clients, "add", () => held);
    await page.getByRole("button", { name: "Save client" }).click();
    await page.getByText("Platen is still working.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled. Reload the page").waitFor();
    slow.mock.restore();
    assert.equal(await page.getByText("Platen is still working.").count(), 0);
    assert.equal(await isFocusLost(page), false);
    assert.ok(await page.getByRole("button", { name: "Save client" }).isEnabled());
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Save client" }).click();
    await page.getByText("Saved: Typed").waitFor();
  });

  test("about a service that does not answer fits the request, and disappears when it answers again", async (t) => {
    const { url, post } = await withOnePrinter(t);
    await post("/printers", { name: "Bare", address: "10.0.0.1" });
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    await page.goto(`${url}/printers`);
    const serviceMessages: [string, boolean][] = [];
    const read = async () => {
      await message(page).getByText("Platen does not respond").waitFor();
      serviceMessages.push([
        (await message(page).locator("p").textContent()) ?? "",
        await isFocusIn(page, "#message"),
      ]);
      await page.keyboard.press("Escape");
    };

    await page.route("**/*", (route) => route.abort());
    await chooseAction(page, "Bare", "Delete");
    await read();
    await page.getByLabel("Choose Bare").check();
    await page.locator(".bulk summary").getByText("Client", { exact: true }).click();
    await page.getByRole("button", { name: "Show preview" }).click();
    await read();
    await page.keyboard.press("Escape");
    await page.getByLabel("State", { exact: true }).selectOption("Ready");
    await read();
    await page.getByLabel("State", { exact: true }).selectOption("Blocked");
    await message(page).waitFor();
    await page.unroute("**/*");
    await page.getByLabel("State", { exact: true }).selectOption("Ready");
    await message(page).waitFor({ state: "detached" });

    assert.deepEqual(serviceMessages, [
      ["Platen does not respond. Platen did not confirm the deletion. Reload the page to check.", true],
      ["Platen does not respond. Platen did not confirm the change. Your rows are still chosen.", true],
      ["Platen does not respond. The list is as it was.", true],
    ]);
    assert.equal(await page.locator("input[name=ids]").count(), 1);
  });
});
