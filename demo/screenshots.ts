import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { allPages, type DemoPages, shownPages, sparePrinters } from "./pages.ts";
import { withPalette } from "./palette.ts";
import { type Scene, scenesOf } from "./scenes.ts";
import { type Demo, startDemo } from "./serve.ts";

/** The shop's clock stands still, so that the same pages give the same pictures. */
const now = () => Date.UTC(2026, 10, 21, 14, 5);

const readmeFolder = "docs/screenshots";
const schemes = ["light", "dark"] as const;
const sceneLooks = [
  ["light", 1440],
  ["dark", 360],
] as const;
/** A long list is cut off there, in pixels. */
const tallest = 3000;

/**
 * `npm run screenshots`: the pictures of the README and docs/; with a folder, every page for reviewers.
 * @param parts with any, only pictures whose names begin with one of them are made
 */
async function main(folder: string | undefined, parts: readonly string[]): Promise<void> {
  const demo = await startDemo({ environment: { PORT: "0", HOST: "127.0.0.1" }, now });
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    await demo.app.archives.settled();
    if (folder === undefined) await showReadme(browser, demo);
    else await showAll(browser, demo, folder, parts);
  } finally {
    await browser.close();
    await demo.stop();
  }
}

/** What is seen of them without scrolling. */
async function showReadme(browser: Browser, { app, url }: Demo): Promise<void> {
  mkdirSync(readmeFolder, { recursive: true });
  for (const scheme of schemes) {
    await visit(browser, { url, pages: shownPages(app), scheme, width: 1440 }, async (page, name) => {
      writeFileSync(join(readmeFolder, `${name}-${scheme}.png`), withPalette(await page.screenshot()));
    });
  }
}

async function showAll(
  browser: Browser,
  demo: Demo,
  folder: string,
  parts: readonly string[],
): Promise<void> {
  const { app, url } = demo;
  mkdirSync(folder, { recursive: true });
  const all = allPages(app);
  const pages = wanted(all, parts);
  const spare = sparePrinters(app);
  for (const scheme of schemes) {
    for (const width of [1440, 360, 320]) {
      await visit(browser, { url, pages, scheme, width }, (page, name) =>
        keep(page, width, join(folder, `${name}-${width}-${scheme}.png`)),
      );
    }
  }
  for (const [i, [scheme, width]] of sceneLooks.entries()) {
    const scenes = wanted(scenesOf(all, spare[i] ?? "/"), parts);
    await playScenes(browser, { url, pages: {}, scheme, width }, scenes, folder);
  }
}

/** Those whose names begin with one of the parts; all where there are none. */
function wanted<T>(named: Readonly<Record<string, T>>, parts: readonly string[]): Record<string, T> {
  const isWanted = (name: string) => parts.length === 0 || parts.some((part) => name.startsWith(part));
  return Object.fromEntries(Object.entries(named).filter(([name]) => isWanted(name)));
}

/** The whole page, unless it is very long. */
async function keep(page: Page, width: number, path: string): Promise<void> {
  const size = (await page.evaluate(
    "({ width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight })",
  )) as { width: number; height: number };
  if (size.width > width) process.stdout.write(`${path} scrolls sideways: ${size.width}\n`);
  const clip = { x: 0, y: 0, width, height: Math.min(size.height, tallest) };
  await page.screenshot({ path, fullPage: true, clip });
}

/** What is seen after each scene, without scrolling. */
async function playScenes(browser: Browser, look: Look, scenes: Scenes, folder: string): Promise<void> {
  const pages = Object.fromEntries(Object.entries(scenes).map(([name, { path }]) => [name, path]));
  await visit(browser, { ...look, pages }, async (page, name) => {
    page.setDefaultTimeout(5000);
    try {
      await scenes[name]?.act(page);
      await page.waitForTimeout(400);
    } catch (error) {
      process.stdout.write(`${name} at ${look.width} could not be played: ${String(error).slice(0, 200)}\n`);
    }
    await page.screenshot({ path: join(folder, `${name}-${look.width}-${look.scheme}.png`) });
  });
}

type Scenes = Readonly<Record<string, Scene>>;

interface Look {
  readonly url: string;
  readonly pages: DemoPages;
  readonly scheme: (typeof schemes)[number];
  readonly width: number;
}

async function visit(browser: Browser, look: Look, show: (page: Page, name: string) => Promise<void>) {
  const { url, pages, scheme, width } = look;
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: width > 1000 ? 900 : 740 },
    reducedMotion: "reduce",
    // A phone's scroll bar takes no room.
    isMobile: width < 1000,
    hasTouch: width < 1000,
    locale: "en-GB",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(url + path);
    await show(page, name);
  }
  await context.close();
}

main(process.argv[2], process.argv.slice(3)).catch((error: unknown) => {
  process.stderr.write(`screenshots: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
