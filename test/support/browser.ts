import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { atEnd } from "./at-end.ts";
import { cleanUp } from "./clean-up.ts";

/** Without windows Chromium is a third faster. */
const places = [process.env.CHROMIUM ?? "", "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const executablePath = places.find((path) => existsSync(path));

/** Why a test that needs a browser is skipped; false where there is one. */
export const withoutBrowser =
  executablePath === undefined &&
  "no Chromium here (CHROMIUM, or chromium-headless-shell or chromium in /usr/bin)";

let shared: Promise<Browser> | undefined;

/** The browser of all tests of this process. */
function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) {
    shared = launch();
    atEnd(async () => (await shared)?.close());
  }
  return shared;
}

async function launch(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
  ];
  return chromium.launch({ executablePath: executablePath ?? "", args });
}

/** A browser with a profile of its own, closed after the test. */
export async function openBrowser(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const browser = await (await sharedBrowser()).newContext(options);
  cleanUp(t, () => browser.close());
  return browser;
}

/** A window as wide as a desk's. */
export const wide = { viewport: { width: 1440, height: 900 } };

/** An empty page in such a window, in a browser of its own. */
export async function openWide(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
  return (await openBrowser(t, { ...wide, ...options })).newPage();
}

/** Everything that a page must never do: errors on the console, requests to elsewhere. */
export function watch(page: Page, url: string): string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) problems.push(`request to ${request.url()}`);
  });
  return problems;
}

/** What is pressed and is smaller than it should be; links within a sentence are as high as their line. */
export function smallTargets(page: Page, least: number): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("button, summary, input:not([type=hidden]), select, textarea, .row-actions a, nav a, .actions a")]
    .filter((element) => element.checkVisibility())
    .map((element) => ["radio", "checkbox"].includes(element.type) ? element.labels[0] ?? element : element)
    .filter((element) => element.getBoundingClientRect().height < ${least} - 0.5)
    .map((element) => element.outerHTML.slice(0, 90) + " " + element.getBoundingClientRect().height)`) as Promise<
    string[]
  >;
}

/** Keeps a picture for a person to look at, where SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** What axe-core finds wrong with a page for people with disabilities: rule and element. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const axe = readFileSync(createRequire(resolve("package.json")).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
  });
}

/** Waits until the page is drawn as it is now: two frames later. */
export function drawn(page: Page): Promise<void> {
  return page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))",
  ) as Promise<void>;
}

/** Whether something on the page is wider than the window. */
export function overflows(page: Page): Promise<boolean> {
  return page.evaluate(
    "document.documentElement.scrollWidth > document.documentElement.clientWidth",
  ) as Promise<boolean>;
}

/** Whether the element that has the focus is one that a selector finds, or is inside of it, or comes to be. */
export function isFocusIn(page: Page, selector: string): Promise<boolean> {
  const code = `document.activeElement.closest(${JSON.stringify(selector)}) !== null`;
  return readUntil(
    () => page.evaluate(code) as Promise<boolean>,
    (isThere) => isThere,
  );
}

/** Whether the focus has fallen to the page itself, and stays there. */
export function isFocusLost(page: Page): Promise<boolean> {
  return readUntil(
    () => page.evaluate("[null, document.body].includes(document.activeElement)") as Promise<boolean>,
    (isLost) => !isLost,
  );
}

/** The focus is at, or comes to, an element with such a label, or such a text where it has no label. */
export async function assertFocus(page: Page, wanted: RegExp): Promise<void> {
  const code = `(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim().replace(/\\s+/g, " ").slice(0, 60)`;
  const text = await readUntil(
    () => page.evaluate(code) as Promise<string>,
    (read) => wanted.test(read),
  );
  assert.match(text, wanted);
}

/**
 * Reads again and again what settles a moment after a text appears, as the focus does.
 * @returns what is wanted as soon as it is read, or what is read instead after five seconds
 */
async function readUntil<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  const end = performance.now() + 5000;
  for (;;) {
    const value = await read();
    if (isWanted(value) || performance.now() > end) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What was copied, as somebody gets it who pastes it: no page of ours may read the clipboard. */
export async function pasted(page: Page): Promise<string> {
  await page.evaluate(`
    window.focusBefore = document.activeElement;
    const field = document.createElement("textarea");
    field.id = "pasted";
    field.style.position = "fixed";
    field.style.top = "0";
    document.body.append(field);
    field.focus({ preventScroll: true });`);
  await page.keyboard.press("Control+V");
  const field = page.locator("#pasted");
  const text = await field.inputValue();
  await field.evaluate((element) => element.remove());
  await page.evaluate("window.focusBefore.focus({ preventScroll: true })");
  return text;
}
