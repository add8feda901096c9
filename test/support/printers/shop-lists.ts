import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../app.ts";
import { openBrowser } from "../browser.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { startFilled } from "../filled.ts";

export const shopClients = ["Alpha", "Kunde Müller & Söhne", "مكتب النور", "Zeta"];

/** Sixty printers of four clients. Six have no driver. */
export function startShop(t: TestContext): Promise<TestApp> {
  return startFilled(t, addPrinters);
}

async function addPrinters({ post, addDriver }: TestApp): Promise<void> {
  for (const name of shopClients) await post("/clients", { name });
  await addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 200 PCL6"] }));
  await addDriver(driverZip({ models: ["Vellum Universal"], version: "2.0.0.0", provider: "Vellum" }));
  for (let i = 0; i < 60; i++) {
    await post(
      "/printers",
      {
        name: i === 7 ? `Long ${"name ".repeat(12)}${"x".repeat(60)}` : `Büro ${i}`,
        client_id: String((i % shopClients.length) + 1),
        driver_id: i % 10 === 9 ? "" : String((i % 2) + 1),
        address: `10.200.${100 + i}.${200 + (i % 50)}`,
        location: i % 3 === 0 ? "Haus 3, 2. OG" : "",
      },
      { "upgrade-insecure-requests": "1" },
    );
  }
}

export async function openPage(t: TestContext, service: TestApp, path: string, options = {}): Promise<Page> {
  const browser = await openBrowser(t, {
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    ...options,
  });
  const page = await browser.newPage();
  await page.goto(service.url + path);
  return page;
}

/** The id, text or tag name of the element with the focus. */
export function focusedName(page: Page): Promise<string> {
  return page.evaluate(
    "document.activeElement.id || document.activeElement.textContent.trim().slice(0, 40) || document.activeElement.tagName",
  ) as Promise<string>;
}

/** Chooses an action in the menu of a printer's row. */
export async function chooseAction(page: Page, printer: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${printer}`, exact: true }).click();
  await page.locator("dialog.row-menu").getByText(action, { exact: true }).click();
}

export const rowBoxes = (page: Page) => page.locator("tbody input[name=ids]");
