import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  smallTargets,
  withoutBrowser,
} from "../support/browser.ts";
import { isDeep, selectCases, windowVariants } from "../support/depth.ts";
import { driverZip, sixtyModels as models } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";

/** A service with long names and right-to-left names. */
const fullService = (t: TestContext) => startFilled(t, fill);

async function fill(service: TestApp): Promise<void> {
  await service.post("/clients", { name: "Kunde Müller & Söhne Vermögensverwaltungsgesellschaft mbH" });
  await service.post("/clients", { name: "مكتب القاهرة 2" });
  const driver_id = String(await service.addDriver(driverZip({ models })));
  await service.addPrinter({ name: "Office", client_id: "1", driver_id });
  await service.addPrinter({
    name: `Long-${"x".repeat(80)}`,
    client_id: "1",
    driver_id,
    address: "10.2.0.17",
  });
  await service.addPrinter({ name: "طابعة 3", client_id: "2", driver_id, address: "10.2.0.18" });
  await service.post("/printers", { name: "Bare", address: "fe80::1234:5678:9abc:def0" });
}

const pages = [
  "/",
  "/printers",
  "/printers?new=1&client_id=1",
  "/printers/1",
  "/printers/2/edit",
  "/clients",
  "/clients/1",
  "/drivers",
  "/drivers/1",
  "/packages",
  "/import",
  "/printers/1/read/install",
  "/nothing",
];

/** Visible controls, except links. */
function clickable(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("button, .button, form:not(.list), input, select, nav, .row-actions")]
    .filter((element) => element.checkVisibility())
    .map((element) => element.outerHTML.slice(0, 80))`) as Promise<string[]>;
}

/** Faults of a page in a wide window, on paper, and in a window of this width with all details open. */
async function faultsOf(page: Page, path: string, width: number): Promise<string[]> {
  const name = path.replaceAll(/[/?=&]/g, "-");
  await page.setViewportSize({ width: 1440, height: 900 });
  const found = (await smallTargets(page, 24)).map((target) => `in a wide window ${target}`);
  await page.setViewportSize({ width: 700, height: 900 });
  await page.emulateMedia({ media: "print" });
  for (const element of await clickable(page)) found.push(`on paper ${element}`);
  await saveScreenshot(page, `print${name}`);
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width, height: 640 });
  await page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
  if (await overflows(page)) found.push("scrolls sideways");
  found.push(...(await smallTargets(page, 40)));
  await saveScreenshot(page, `narrow-${width}${name}`);
  return found.map((fault) => `${path}: ${fault}`);
}

describe("every page", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const width of selectCases([320, 360], 1)) {
    test(`fits into ${width} px, has targets large enough for fingers and for the mouse, and is printed without controls`, async (t) => {
      const { url } = await fullService(t);
      const page = await (await openBrowser(t)).newPage();
      const found: string[] = [];

      for (const path of pages) {
        await page.goto(url + path);
        found.push(...(await faultsOf(page, path, width)));
      }

      assert.deepEqual(found, []);
    });
  }

  test("is usable with a message or a refused form, light and dark, wide and at 320 px", async (t) => {
    const { url } = await fullService(t);
    const found: string[] = [];

    for (const { colorScheme, width } of windowVariants([1440, 320])) {
      const options = { colorScheme, viewport: { width, height: 700 }, reducedMotion: "reduce" } as const;
      const page = await (await openBrowser(t, options)).newPage();
      // The quick tier checks success messages with axe in undo.test.ts.
      const inspect = async (name: string) => {
        const where = `${name} ${colorScheme} ${width}`;
        const problems = isDeep || name !== "saved" ? await accessibilityProblems(page) : [];
        found.push(...problems.map((problem) => `${where}: ${problem}`));
        if (await overflows(page)) found.push(`${where}: scrolls sideways`);
        await saveScreenshot(page, where.replaceAll(" ", "-"));
      };
      await page.goto(`${url}/printers?new=1&client_id=1#new-printer`);
      await page.getByRole("textbox", { name: "Name" }).fill("A,B");
      await page.getByLabel("Address").fill("fe80::1%eth0");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator(".problems:focus").waitFor();
      await inspect("refused");
      await page.getByRole("textbox", { name: "Name" }).fill("Office");
      await page.getByLabel("Address").fill("");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator("#message > .notice").waitFor();
      await inspect("saved");
      await page.goto(`${url}/clients/1`);
      await page.getByText("Delete…").press("Enter");
      await page.getByRole("button", { name: "Delete client" }).click();
      await page.locator("#message > .notice.bad").waitFor();
      await inspect("in-the-way");
    }

    assert.deepEqual(found, []);
  });

  test("of a client is printed as a sheet with its notes, printers and their findings", async (t) => {
    const { url, post } = await fullService(t);
    await post("/clients/1", { name: "Kunde Müller & Söhne", notes: "Ask for the key\nat the desk" });
    await post("/printers", { name: "Bare", client_id: "1", address: "10.2.0.99" });
    const page = await (await openBrowser(t, { viewport: { width: 700, height: 900 } })).newPage();
    await page.emulateMedia({ media: "print" });

    await page.goto(`${url}/clients/1`);
    const found = await clickable(page);
    const sheet = String(await page.evaluate("document.querySelector('main').innerText"));
    const bare = await page.locator(".printers tbody tr", { hasText: "Bare" }).boundingBox();
    await saveScreenshot(page, "print-client-sheet");

    assert.deepEqual(found, []);
    for (const text of ["Kunde Müller", "Ask for the key\nat the desk", "Office", "10.2.0.17"])
      assert.ok(sheet.includes(text), text);
    assert.match(sheet, /Blocked\s+No driver assigned\. Choose a driver/);
    assert.doesNotMatch(sheet, /Settings|Edit|Delete|Deploy all|Intune|What goes in|anyway|…/);
    assert.ok((bare?.height ?? 99) < 70, `a printer and its reason take two lines: ${bare?.height}`);
  });
});
