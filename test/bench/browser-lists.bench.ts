import type { CDPSession, Page } from "playwright-core";
import { machine, median, table } from "./figures.ts";
import { clientCount, fill, printerCount } from "./many-printers.ts";
import { startService } from "./service.ts";

// Measures a list of 1,000 printers in a browser, in processor time of the page's main thread: other work on the machine
// affects it much less than elapsed time.

const rounds = 5;

/** Waits until a new list is in the page and painted. */
const afterSettle = `new Promise((done) => document.addEventListener("htmx:afterSettle",
  () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true }))`;
const painted = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

/** Enters words into the field that narrows the list, as one change. */
const narrow = (words: string) => `{
  const done = ${afterSettle};
  const field = document.querySelector("#narrow-q");
  field.value = ${JSON.stringify(words)};
  field.dispatchEvent(new Event("input", { bubbles: true }));
  done }`;

const scrolls = 100;

/** The actions, in order, with the script that the page runs. */
const work: Readonly<Record<string, string>> = {
  [`scrolled by 400 px, ${scrolls} times`]: `(async () => { for (let i = 0; i < ${scrolls}; i++) {
    scrollBy(0, 400); await new Promise(requestAnimationFrame); } })()`,
  "scrolled to the top": `scrollTo(0, 0); ${painted}`,
  "a row chosen": `document.querySelectorAll("[name=ids]")[3].click(); ${painted}`,
  "all rows chosen": `document.querySelector("input.all").click(); ${painted}`,
  "narrowed to a few": narrow("sons 17"),
  "whole again": narrow(""),
  "a printer saved": `{
    const done = ${afterSettle};
    document.querySelector("#new-printer").open = true;
    document.querySelector("#f-name").value = "New";
    document.querySelector("#printer-form button.primary").click();
    done }`,
  "a printer deleted": `{ const done = ${afterSettle}; document.querySelector(".menu > button").click(); document.querySelector(".row-menu > button").click(); done }`,
};

async function threadMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
}

async function measure(page: Page, session: CDPSession, url: string, found: Map<string, number[]>) {
  const record = (name: string, ms: number) => found.set(name, [...(found.get(name) ?? []), ms]);
  await page.goto(`${url}/printers`);
  await page.waitForTimeout(500);
  // A new page starts at zero.
  record("loaded", await threadMs(session));
  for (const [name, script] of Object.entries(work)) {
    const before = await threadMs(session);
    await page.evaluate(script);
    record(name, (await threadMs(session)) - before);
    await page.waitForTimeout(200);
  }
}

async function main(): Promise<void> {
  const { chromium } = await import("playwright-core");
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const service = await startService(undefined, "in-browser");
  await fill(service.url);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const found = new Map<string, number[]>();
  for (let i = 0; i < rounds; i++) await measure(page, session, service.url, found);
  await browser.close();
  service.process.kill();
  console.log(`\n## ${printerCount} printers of ${clientCount} clients in Chromium (${machine()})\n`);
  const rows = [...found].map(([name, ms]) => [
    name,
    `${Math.min(...ms).toFixed(0)} ms`,
    `${median(ms).toFixed(0)} ms`,
  ]);
  table([["what", "quickest", `median of ${rounds}`], ...rows]);
}

void main();
