import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { TestContext } from "node:test";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { atEnd } from "./at-end.ts";
import { cleanUp } from "./clean-up.ts";
import { uncounted } from "./processor-time.ts";

/** The headless shell comes first: it is a third faster than Chromium. */
const candidates = [process.env.CHROMIUM ?? "", "/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const executablePath = candidates.find((path) => existsSync(path));

/** The reason to skip tests that need a browser; false if there is one. */
export const withoutBrowser =
  executablePath === undefined &&
  "no Chromium here (CHROMIUM, or chromium-headless-shell or chromium in /usr/bin)";

let shared: Promise<Browser> | undefined;

/** The browser that all tests of this process share. */
function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) {
    shared = uncounted(launch());
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
  const browser = await chromium.launch({ executablePath: executablePath ?? "", args });
  // The first page starts further processes.
  await (await browser.newPage()).close();
  return browser;
}

/** Profiles that no test uses now, by their options. */
const idleProfiles = new Map<string, BrowserContext[]>();

/** Opens a browser profile, which is emptied after the test for the next one with these options. */
export async function openBrowser(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const idle = idleProfiles.get(JSON.stringify(options)) ?? [];
  idleProfiles.set(JSON.stringify(options), idle);
  const profile = idle.pop() ?? (await (await sharedBrowser()).newContext(options));
  cleanUp(t, async () => {
    await Promise.all(profile.pages().map((page) => page.close()));
    await Promise.all([profile.clearCookies(), profile.clearPermissions(), profile.unrouteAll()]);
    idle.push(profile);
  });
  return profile;
}

/** A desktop window. */
export const wide = { viewport: { width: 1440, height: 900 } };

/** Opens an empty page in a desktop window. */
export async function openWide(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
  return (await openBrowser(t, { ...wide, ...options })).newPage();
}

/** Collects what a page must never do: errors on the console, and requests to other hosts. */
export function watchProblems(page: Page, url: string): string[] {
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

/** Visible controls lower than `least` pixels. Links within a sentence do not count. */
export function smallTargets(page: Page, least: number): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("button, summary, input:not([type=hidden]), select, textarea, .row-actions a, nav a, .actions a")]
    .filter((element) => element.checkVisibility())
    .map((element) => ["radio", "checkbox"].includes(element.type) ? element.labels[0] ?? element : element)
    .filter((element) => element.getBoundingClientRect().height < ${least} - 0.5)
    .map((element) => element.outerHTML.slice(0, 90) + " " + element.getBoundingClientRect().height)`) as Promise<
    string[]
  >;
}

/** Saves a screenshot in the folder SCREENSHOTS, if it is set. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

/** The accessibility problems that axe-core finds on a page: rule and element. */
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

/** Waits for two animation frames, so that the page is drawn in its current state. */
export function waitUntilDrawn(page: Page): Promise<void> {
  return page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))",
  ) as Promise<void>;
}

/** Whether the page is wider than the window. */
export function overflows(page: Page): Promise<boolean> {
  return page.evaluate(
    "document.documentElement.scrollWidth > document.documentElement.clientWidth",
  ) as Promise<boolean>;
}

/** Whether the focus is in an element that the selector finds, or moves there within five seconds. */
export function isFocusIn(page: Page, selector: string): Promise<boolean> {
  const code = `document.activeElement.closest(${JSON.stringify(selector)}) !== null`;
  return readUntil(
    () => page.evaluate(code) as Promise<boolean>,
    (isFocused) => isFocused,
  );
}

/** Whether no element gets the focus within five seconds. */
export function isFocusLost(page: Page): Promise<boolean> {
  return readUntil(
    () => page.evaluate("[null, document.body].includes(document.activeElement)") as Promise<boolean>,
    (isLost) => !isLost,
  );
}

/** Asserts that the focus is on, or moves to, an element whose label (or text, without a label) matches. */
export async function assertFocus(page: Page, wanted: RegExp): Promise<void> {
  const code = `(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim().replace(/\\s+/g, " ").slice(0, 60)`;
  const text = await readUntil(
    () => page.evaluate(code) as Promise<string>,
    (read) => wanted.test(read),
  );
  assert.match(text, wanted);
}

/**
 * Reads a value until it is the wanted one; for values that change shortly after a text appears, such as the focus.
 * @returns the wanted value, or the last value after five seconds
 */
async function readUntil<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  const end = performance.now() + 5000;
  for (;;) {
    const value = await read();
    if (isWanted(value) || performance.now() > end) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Returns the copied text by pasting it into a field: pages may not read the clipboard. */
export async function pasteText(page: Page): Promise<string> {
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
