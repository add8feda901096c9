import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp } from "../../support/app.ts";
import {
  isFocusIn,
  openBrowser,
  pasteText,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";
import { chooseAction } from "../../support/printers/shop-lists.ts";
import { until } from "../../support/until.ts";

/** Collects the types of dialogs that leaving the page opens. */
function dialogsOf(page: Page): string[] {
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.type());
    void dialog.dismiss();
  });
  return dialogs;
}

describe("a printer's form in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`shows fields that depend on another field only with it, ${javaScriptEnabled ? "with" : "without"} scripts`, async (t) => {
      const { url } = await withOnePrinter(t);
      const page = await (await openBrowser(t, { javaScriptEnabled })).newPage();
      await page.goto(`${url}/printers/1/edit`);
      const seen = async () => {
        const names = ["port_number", "lpr_queue", "snmp_community", "snmp_index", "share_name"];
        const visible = await Promise.all(names.map((name) => page.locator(`#f-${name}`).isVisible()));
        return names.filter((_, i) => visible[i]);
      };

      for (const fold of ["Port and status", "Location, sharing"]) await page.getByText(fold).click();
      const first = await seen();
      await page.getByLabel("Protocol").selectOption("lpr");
      await page.getByLabel("SNMP status enabled").check();
      await page.getByLabel("Share this printer").check();
      const then = await seen();
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator(".problems").waitFor();
      await page.getByLabel("Protocol").selectOption("raw");
      const refused = await seen();

      assert.deepEqual(first, ["port_number"]);
      assert.deepEqual(then, ["lpr_queue", "snmp_community", "snmp_index", "share_name"]);
      assert.ok(refused.includes("lpr_queue"), "what was refused is seen");
    });
  }

  test("shows how many fields of a fold are set, and updates the number", async (t) => {
    const { url, addPrinter } = await startApp(t);
    await addPrinter({ duplex: "long_edge" });
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    await page.goto(`${url}/printers/1/edit`);
    const count = async (title: string) =>
      (await page.locator("summary", { hasText: title }).locator(".count").textContent())?.trim();

    const before = [await count("Preferences"), await count("Port and status")];
    await page.locator("summary", { hasText: "Preferences" }).click();
    await page.getByLabel("Paper size").selectOption("A4");
    await page.getByText("Port and status").click();
    await page.getByLabel("SNMP status enabled").check();
    await page.getByLabel("SNMP community").fill("site");
    const during = [await count("Preferences"), await count("Port and status")];
    await page.getByLabel("SNMP community").fill("public");
    const width = (await page.locator("#f-name").boundingBox())?.width ?? 0;
    await saveScreenshot(page, "form-folds");

    assert.deepEqual(before, ["1 set", ""]);
    assert.deepEqual(during, ["2 set", "2 set"]);
    assert.equal(await count("Port and status"), "1 set");
    assert.ok(width > 300 && width <= 560, `a field has ${width} px`);
  });

  test("asks before the user leaves with unsaved input, also after other changes of the page", async (t) => {
    const { url, addPrinter } = await withOnePrinter(t);
    await addPrinter({ name: "Two", driver_id: "1" });
    const page = await (await openBrowser(t)).newPage();
    const dialogs = dialogsOf(page);
    /** Whether a dialog asks before the page is left. */
    const leave = async () => {
      dialogs.length = 0;
      await page.getByRole("link", { name: "Packages", exact: true }).click({ noWaitAfter: true });
      await until(() => dialogs.length > 0 || new URL(page.url()).pathname === "/packages");
      return dialogs.length > 0;
    };
    await page.goto(`${url}/printers/1/edit`);

    await page.getByLabel("Address").fill("10.0.0.10");
    await page.getByLabel("Address").fill("10.0.0.9");
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.waitForURL(`${url}/printers/1`);
    await page.goto(`${url}/printers/1/edit`);
    await page.getByLabel("Address").fill("10.0.0.10");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Saved: Office").waitFor();
    const dialogsWithoutInput = [...dialogs];
    await page.goto(`${url}/printers?new=1#new-printer`);
    await page
      .getByLabel("Location")
      .fill("x", { force: true })
      .catch(() => {});
    await page.getByRole("textbox", { name: "Name" }).fill("Typed");
    const typed = await leave();
    await chooseAction(page, "Office", "Delete");
    await page.getByText("Deleted: Office").waitFor();
    const afterDeletion = await leave();
    await page.getByRole("textbox", { name: "Name" }).fill("A,B");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.locator(".problems:focus").waitFor();
    const afterRefusal = await leave();
    await page.getByRole("textbox", { name: "Name" }).fill("Typed");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Saved: Typed").waitFor();
    const afterSave = await leave();
    await page.waitForURL("**/packages");

    assert.deepEqual(dialogsWithoutInput, []);
    assert.deepEqual([typed, afterDeletion, afterRefusal, afterSave], [true, true, true, false]);
  });

  test("for a new client or printer opens with the focus in its first field", async (t) => {
    const { url, post, addPrinter } = await startApp(t);
    await post("/clients", { name: "Alpha" });
    await addPrinter();
    const page = await (await openBrowser(t)).newPage();

    for (const [path, button] of [
      ["/clients", "New client"],
      ["/printers", "New printer"],
    ] as const) {
      await page.goto(url + path);
      await page.locator("summary", { hasText: button }).click();
      await page.locator("#f-name:focus").waitFor();
    }
  });

  test("open in two tabs: the second save of a field that both changed asks, and offers both versions", async (t) => {
    const { url, app } = await withOnePrinter(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 } });
    const [first, second] = [await browser.newPage(), await browser.newPage()];
    const problems = watchProblems(second, url);
    for (const page of [first, second]) await page.goto(`${url}/printers/1/edit`);
    const dialogs = dialogsOf(second);

    await first.getByLabel("Address").fill("10.0.0.10");
    await first.getByRole("button", { name: "Save printer" }).click();
    await first.getByText("Saved: Office").waitFor();
    await second.getByLabel("Address").fill("10.0.0.11");
    await second.getByText("Location, sharing").click();
    await second.getByLabel("Location").fill("Cellar");
    await second.getByRole("button", { name: "Save printer" }).click();
    await second.getByText("Another user changed the same fields").waitFor();
    const isFocused = await isFocusIn(second, ".problems");
    await saveScreenshot(second, "form-stale");
    await second.getByRole("link", { name: "Address", exact: true }).click();
    const isAtField = await isFocusIn(second, "#f-address");
    const kept = app.store.printers.get(1).printer.address;
    await second.getByRole("button", { name: "Save my version" }).click();
    await second.getByText("Saved: Office").waitFor();

    assert.deepEqual([isFocused, isAtField, kept], [true, true, "10.0.0.10"]);
    const { address, location } = app.store.printers.get(1).printer;
    assert.deepEqual([address, location], ["10.0.0.11", "Cellar"]);
    assert.deepEqual([...dialogs, ...problems], []);
  });

  test("the copy button shows “Copied” for two seconds and moves nothing, in secure and insecure contexts", async (t) => {
    const { url } = await withOnePrinter(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 } });
    await browser.grantPermissions(["clipboard-write"]);
    const page = await browser.newPage();
    await page.goto(`${url}/printers/1`);
    const places = () =>
      page.evaluate(
        `[...document.querySelectorAll("main *")].map((element) => { const { x, y, width } = element.getBoundingClientRect(); return [element.outerHTML.slice(0, 60), x, y, width].join(" "); })`,
      ) as Promise<string[]>;
    await page.getByText("Fields for Intune").click();
    const commands = ["install_cmd", "uninstall_cmd"];
    const isSecure = await page.evaluate("isSecureContext");
    const copied: string[] = [];

    for (const command of commands) {
      const button = page.locator(`button[data-copy="${command}"]`).first();
      await button.scrollIntoViewIfNeeded();
      const before = await places();
      await button.click();
      await button.getByText("Copied").waitFor();
      const during = await places();
      await page.locator("#announcements").getByText("Copied").waitFor({ state: "attached" });
      copied.push(await pasteText(page));
      await button.getByText("Copied").waitFor({ state: "detached" });
      const moved = during.filter((place, i) => place !== before[i]);
      assert.deepEqual([moved, await button.textContent()], [[], "Copy"]);
      assert.deepEqual(await places(), before);
      assert.ok(await isFocusIn(page, "button[data-copy]"));
      await page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })");
    }

    assert.equal(isSecure, true);
    assert.match(copied[0] ?? "", /-File \.\\install\.ps1$/);
    assert.match(copied[1] ?? "", /-File \.\\uninstall\.ps1$/);
  });
});
