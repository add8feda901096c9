import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  picture,
  smallTargets,
  withoutBrowser,
} from "../support/browser.ts";
import { isDeep, looks, some } from "../support/depth.ts";
import { driverZip, sixtyModels as models } from "../support/drivers/driver-zip.ts";
import { startFilled } from "../support/filled.ts";

/** A service with names that are long, written from the right, and in the way of each other. */
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

/** What is seen and does something when it is clicked, links aside. */
function clickable(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("button, .button, form:not(.list), input, select, nav, .row-actions")]
    .filter((element) => element.checkVisibility())
    .map((element) => element.outerHTML.slice(0, 80))`) as Promise<string[]>;
}

/** What is wrong with a page in a window of that width, everything on it unfolded, in a wide one, and on paper. */
async function faultsOf(page: Page, path: string, width: number): Promise<string[]> {
  const name = path.replaceAll(/[/?=&]/g, "-");
  await page.setViewportSize({ width: 1440, height: 900 });
  const found = (await smallTargets(page, 24)).map((target) => `in a wide window ${target}`);
  await page.setViewportSize({ width: 700, height: 900 });
  await page.emulateMedia({ media: "print" });
  for (const element of await clickable(page)) found.push(`on paper ${element}`);
  await picture(page, `print${name}`);
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width, height: 640 });
  await page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
  if (await overflows(page)) found.push("scrolls sideways");
  found.push(...(await smallTargets(page, 40)));
  await picture(page, `narrow-${width}${name}`);
  return found.map((fault) => `${path}: ${fault}`);
}

describe("every page", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const width of some([320, 360], 1)) {
    test(`fits into ${width} px with targets that a finger hits, has none under 24 px where there is room, and is printed without what is clicked`, async (t) => {
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

  test("with a message or a refused form on it is usable, light and dark, at 320 px too", async (t) => {
    const { url } = await fullService(t);
    const found: string[] = [];

    for (const { colorScheme, width } of looks([1440, 320])) {
      const options = { colorScheme, viewport: { width, height: 700 }, reducedMotion: "reduce" } as const;
      const page = await (await openBrowser(t, options)).newPage();
      // What is said of something that was done axe sees in undo, in the quick tier.
      const look = async (name: string) => {
        const where = `${name} ${colorScheme} ${width}`;
        const problems = isDeep || name !== "saved" ? await accessibilityProblems(page) : [];
        found.push(...problems.map((problem) => `${where}: ${problem}`));
        if (await overflows(page)) found.push(`${where}: scrolls sideways`);
        await picture(page, where.replaceAll(" ", "-"));
      };
      await page.goto(`${url}/printers?new=1&client_id=1#new-printer`);
      await page.getByRole("textbox", { name: "Name" }).fill("A,B");
      await page.getByLabel("Address").fill("fe80::1%eth0");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator(".problems:focus").waitFor();
      await look("refused");
      await page.getByRole("textbox", { name: "Name" }).fill("Office");
      await page.getByLabel("Address").fill("");
      await page.getByRole("button", { name: "Save printer" }).click();
      await page.locator("#message > .notice").waitFor();
      await look("saved");
      await page.goto(`${url}/clients/1`);
      await page.locator(".delete summary").press("Enter");
      await page.getByRole("button", { name: "Delete client" }).click();
      await page.locator("#message > .notice.bad").waitFor();
      await look("in-the-way");
    }

    assert.deepEqual(found, []);
  });

  test("of a client is printed as a sheet with its notes and printers, and what is wrong with them", async (t) => {
    const { url, post } = await fullService(t);
    await post("/clients/1", { name: "Kunde Müller & Söhne", notes: "Ask for the key\nat the desk" });
    await post("/printers", { name: "Bare", client_id: "1", address: "10.2.0.99" });
    const page = await (await openBrowser(t, { viewport: { width: 700, height: 900 } })).newPage();
    await page.emulateMedia({ media: "print" });

    await page.goto(`${url}/clients/1`);
    const found = await clickable(page);
    const sheet = String(await page.evaluate("document.querySelector('main').innerText"));
    const bare = await page.locator(".printers tbody tr", { hasText: "Bare" }).boundingBox();
    await picture(page, "print-client-sheet");

    assert.deepEqual(found, []);
    for (const text of ["Kunde Müller", "Ask for the key\nat the desk", "Office", "10.2.0.17"])
      assert.ok(sheet.includes(text), text);
    assert.match(sheet, /Blocked\s+No driver assigned: choose one/);
    assert.doesNotMatch(sheet, /Settings|Edit|Delete|Deploy all|Intune|What goes in|all the same|…/);
    assert.ok((bare?.height ?? 99) < 70, `a printer and its reason are two lines: ${bare?.height}`);
  });
});
