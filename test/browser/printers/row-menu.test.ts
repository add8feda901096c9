import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import {
  accessibilityProblems,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { chooseAction, focusedName, openPage, startShop } from "../../support/printers/shop-lists.ts";

const actions = (page: Page, name: string) =>
  page.getByRole("button", { name: `Actions for ${name}`, exact: true });

const visibleActions = (page: Page) => page.locator("dialog.row-menu > :not([hidden])").allTextContents();

describe("the menu of a row in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("opens at its button, is used by the arrow and Tab keys, and Escape or a click elsewhere closes it", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const problems = watchProblems(page, service.url);
    const menu = page.getByRole("dialog", { name: "Actions for Büro 8" });
    const button = actions(page, "Büro 8");
    const focused: string[] = [];
    const press = async (key: string) => {
      await page.keyboard.press(key);
      focused.push(await focusedName(page));
    };

    await button.focus();
    await press("Enter");
    const isOpen = await menu.isVisible();
    const axe = await accessibilityProblems(page);
    await saveScreenshot(page, "1440-row-menu");
    for (const key of ["ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "Tab"]) await press(key);
    await press("Escape");
    const isClosed = !(await menu.isVisible());
    await actions(page, "Büro 4").click();
    const moved = await page.getByRole("link", { name: "Edit", exact: true }).getAttribute("href");
    await page.mouse.click(300, 30);
    await page.getByRole("dialog").waitFor({ state: "hidden" });

    assert.deepEqual(focused.slice(0, 6), ["Edit", "Duplicate", "Edit", "Delete", "Edit", "Duplicate"]);
    assert.equal(focused[6], "⋯", "the button has the focus again");
    assert.deepEqual([isOpen, isClosed], [true, true]);
    assert.equal(moved, "/printers/5/edit");
    assert.deepEqual([...axe, ...problems], []);
  });

  test("leads to the form like this printer, offers packages only where there are any, and is never wider than 360 px", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers", { viewport: { width: 360, height: 740 } });

    await actions(page, "Büro 9").click();
    const blocked = await visibleActions(page);
    await page.keyboard.press("Escape");
    await actions(page, "Büro 4").click();
    const ready = await visibleActions(page);
    const isWide = await overflows(page);
    await saveScreenshot(page, "360-row-menu");
    await page.keyboard.press("Escape");
    await chooseAction(page, "Büro 4", "Duplicate");
    await page.getByRole("heading", { name: "New printer like Büro 4" }).waitFor();
    const name = await page.getByRole("textbox", { name: "Name required" }).inputValue();

    assert.deepEqual(blocked, ["Edit", "Duplicate", "Delete"]);
    assert.deepEqual(ready, [
      "Edit",
      "Duplicate",
      "Download Intune package",
      "Download RMM package",
      "Make an IPP twin",
      "Delete",
    ]);
    assert.equal(isWide, false);
    assert.equal(name, "");
  });

  test("makes an IPP twin, which takes the place of its printer", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers?state=vendor-driver");

    await page.getByText("Windows protected print mode removes queues").waitFor();
    await chooseAction(page, "Büro 4", "Make an IPP twin");
    await page.getByRole("heading", { name: "IPP twin of Büro 4" }).waitFor();
    await page.getByRole("link", { name: "diagnose.ps1" }).waitFor();
    await saveScreenshot(page, "1440-ipp-twin");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.locator("#message").getByText("Saved: Büro 4 (IPP)").waitFor();
    const { printer } = service.app.store.printers.get(61);

    assert.deepEqual([printer.protocol, printer.driver_id, printer.replaces], ["ipp", 1_000_001, ["Büro 4"]]);
  });
});

describe("rows of printers in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("have two lines below one head at 360 px, and a long address costs only its own row a line", async (t) => {
    const service = await startShop(t);
    await service.post("/printers", {
      name: "Six",
      client_id: "1",
      driver_id: "1",
      address: "fd00:1234:5678:9abc:def0:1234:5678:9abc",
    });
    const page = await openPage(t, service, "/printers?client_id=1", {
      viewport: { width: 360, height: 740 },
    });
    const heightOf = async (name: string) => {
      const box = await page
        .locator("tr", { has: page.getByRole("link", { name, exact: true }) })
        .boundingBox();
      return Math.round(box?.height ?? 0);
    };

    const narrow = [await heightOf("Büro 4"), await heightOf("Büro 8"), await heightOf("Six")];
    const head = await page.locator(".printers thead").boundingBox();
    await page.setViewportSize({ width: 1440, height: 900 });
    const wide = [await heightOf("Büro 4"), await heightOf("Büro 8"), await heightOf("Six")];

    assert.ok(narrow[0] === narrow[1] && (narrow[0] ?? 99) < 66, `${narrow}`);
    assert.ok((narrow[2] ?? 0) > (narrow[0] ?? 99), `${narrow}`);
    assert.ok((head?.height ?? 99) < 50, `${head?.height}`);
    assert.ok(wide[0] === wide[1] && (wide[0] ?? 99) < 45 && (wide[2] ?? 0) > (wide[0] ?? 99), `${wide}`);
  });

  test("are sorted by a click on a heading, and stay sorted while the list is filtered", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");

    await page.getByRole("columnheader", { name: "State" }).getByRole("link").click();
    await page.waitForURL("**/printers?sort=state");
    const worst = await page.locator("tbody tr").first().textContent();
    await page.getByPlaceholder("Filter").fill("haus");
    await page.getByText("20 of 60 printers").waitFor();
    const address = new URL(page.url()).search;
    const sorted = await page.locator("[aria-sort]").textContent();

    assert.match(worst ?? "", /Büro 9[\s\S]*Blocked/);
    assert.equal(address, "?q=haus&sort=state");
    assert.match(sorted ?? "", /^State/);
  });

  test("show names without underlines until they are hovered or focused", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const link = page.getByRole("link", { name: "Büro 4", exact: true });
    const line = () =>
      page.evaluate("getComputedStyle(document.querySelector('a[href=\"/printers/5\"]')).textDecorationLine");

    const usual = await line();
    await link.hover();
    const hovered = await line();

    assert.deepEqual([usual, hovered], ["none", "underline"]);
  });

  test("of the lists of drivers, clients and printers have the same button for a new one, at the same place", async (t) => {
    const service = await startShop(t);
    const page = await openPage(t, service, "/printers");
    const places: [number, number][] = [];

    for (const [path, form] of [
      ["/printers", "#printer-form"],
      ["/clients", "#client-form"],
      ["/drivers", "#upload-form"],
    ]) {
      await page.goto(service.url + path);
      const button = page.locator(".top .fold > summary");
      const box = await button.boundingBox();
      places.push([Math.round((box?.x ?? 0) + (box?.width ?? 0)), Math.round(box?.y ?? 0)]);
      assert.equal(await page.locator(form ?? "").isVisible(), false);
      await button.click();
      const opened = await page.locator(form ?? "").boundingBox();
      assert.ok(
        (opened?.width ?? 999) <= 560 && (opened?.y ?? 0) > (box?.y ?? 0),
        `${path} ${opened?.width}`,
      );
    }

    assert.deepEqual(places, [places[0], places[0], places[0]]);
  });
});
