import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../app.ts";
import { openBrowser, wide } from "../browser.ts";
import { cleanUp } from "../clean-up.ts";
import { driverZip } from "../drivers/driver-zip.ts";
import { startFilled } from "../filled.ts";
import { uncounted } from "../processor-time.ts";

export const shopClients = ["Alpha", "Kunde Müller & Söhne", "مكتب النور", "Zeta"];

/** Twelve printers of four clients. “Büro 9” has no driver. */
export function startShop(t: TestContext): Promise<TestApp> {
  return startFilled(t, addPrinters);
}

async function addPrinters({ post, addDriver }: TestApp): Promise<void> {
  for (const name of shopClients) await post("/clients", { name });
  await addDriver(driverZip({ models: ["Papyrus 100 PCL6", "Papyrus 200 PCL6"] }));
  await addDriver(driverZip({ models: ["Vellum Universal"], version: "2.0.0.0", provider: "Vellum" }));
  for (let i = 0; i < 12; i++) {
    await post(
      "/printers",
      {
        name: i === 7 ? `Long ${"name ".repeat(12)}${"x".repeat(60)}` : `Büro ${i}`,
        client_id: String((i % shopClients.length) + 1),
        driver_id: i % 10 === 9 ? "" : String((i % 2) + 1),
        address: `10.200.${100 + i}.${200 + i}`,
        location: i % 3 === 0 ? "Haus 3, 2. OG" : "",
      },
      { "upgrade-insecure-requests": "1" },
    );
  }
}

interface Window {
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: "light" | "dark";
  readonly media?: "screen" | "print";
  readonly javaScriptEnabled?: boolean;
}

/** The tabs that all tests of this process share, with scripts and without: a new tab takes as long as three pages. */
const tabs = new Map<boolean, Promise<Page>>();
const neverEnding = { after: () => {} } as unknown as TestContext;

function tabFor(javaScriptEnabled: boolean): Promise<Page> {
  const opened = tabs.get(javaScriptEnabled);
  if (opened !== undefined) return opened;
  const tab = uncounted(openTab(javaScriptEnabled));
  tabs.set(javaScriptEnabled, tab);
  return tab;
}

async function openTab(javaScriptEnabled: boolean): Promise<Page> {
  const page = await (await openBrowser(neverEnding, { javaScriptEnabled })).newPage();
  await page.goto("data:text/html,<h1>Ready</h1>");
  return page;
}

/** Opens a path of a service in the shared tab, by default in a desktop window. */
export async function openPage(
  t: TestContext,
  service: Pick<TestApp, "url">,
  path = "/",
  options: Window = {},
): Promise<Page> {
  const {
    viewport = wide.viewport,
    colorScheme = "light",
    media = "screen",
    javaScriptEnabled = true,
  } = options;
  const page = await tabFor(javaScriptEnabled);
  cleanUp(t, async () => {
    for (const event of ["console", "pageerror", "request", "dialog"]) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, media, reducedMotion: "reduce" });
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
