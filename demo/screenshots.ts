import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { allPages, type DemoPages, readmePages, sparePrinters } from "./pages.ts";
import { withPalette } from "./palette.ts";
import { type Scene, scenesOf } from "./scenes.ts";
import { type Demo, startDemo } from "./serve.ts";

/** A fixed time, so that the same pages give the same screenshots. */
const now = () => Date.UTC(2026, 10, 21, 14, 5);

const readmeFolder = "docs/screenshots";
const schemes = ["light", "dark"] as const;
const sceneVariants = [
  ["light", 1440],
  ["dark", 360],
] as const;
/** Pixels; longer pages are cut off. */
const maxHeight = 3000;

/**
 * `npm run screenshots`: saves the screenshots of README and docs/; with a folder, every page for reviewers.
 * @param parts beginnings of names; if there are any, only matching screenshots are saved
 */
async function main(folder: string | undefined, parts: readonly string[]): Promise<void> {
  const demo = await startDemo({ environment: { PORT: "0", HOST: "127.0.0.1" }, now });
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    await demo.app.archives.finished();
    if (folder === undefined) await saveReadmePages(browser, demo);
    else await saveAllPages(browser, demo, folder, parts);
  } finally {
    await browser.close();
    await demo.stop();
  }
}

/** Saves what is visible without scrolling. */
async function saveReadmePages(browser: Browser, { app, url }: Demo): Promise<void> {
  mkdirSync(readmeFolder, { recursive: true });
  for (const scheme of schemes) {
    await visit(browser, { url, pages: readmePages(app), scheme, width: 1440 }, async (page, name) => {
      writeFileSync(join(readmeFolder, `${name}-${scheme}.png`), withPalette(await page.screenshot()));
    });
  }
}

async function saveAllPages(
  browser: Browser,
  demo: Demo,
  folder: string,
  parts: readonly string[],
): Promise<void> {
  const { app, url } = demo;
  mkdirSync(folder, { recursive: true });
  const all = allPages(app);
  const pages = withPrefixes(all, parts);
  const spare = sparePrinters(app);
  for (const scheme of schemes) {
    for (const width of [1440, 360, 320]) {
      await visit(browser, { url, pages, scheme, width }, (page, name) =>
        saveScreenshot(page, width, join(folder, `${name}-${width}-${scheme}.png`)),
      );
    }
  }
  for (const [i, [scheme, width]] of sceneVariants.entries()) {
    const scenes = withPrefixes(scenesOf(all, spare[i] ?? "/"), parts);
    await playScenes(browser, { url, pages: {}, scheme, width }, scenes, folder);
  }
}

/** The entries whose name begins with one of the parts, or all if there are no parts. */
function withPrefixes<T>(named: Readonly<Record<string, T>>, parts: readonly string[]): Record<string, T> {
  const isWanted = (name: string) => parts.length === 0 || parts.some((part) => name.startsWith(part));
  return Object.fromEntries(Object.entries(named).filter(([name]) => isWanted(name)));
}

/** Saves the whole page, up to `maxHeight`. */
async function saveScreenshot(page: Page, width: number, path: string): Promise<void> {
  const size = (await page.evaluate(
    "({ width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight })",
  )) as { width: number; height: number };
  if (size.width > width) process.stdout.write(`${path} scrolls sideways: ${size.width}\n`);
  const clip = { x: 0, y: 0, width, height: Math.min(size.height, maxHeight) };
  await page.screenshot({ path, fullPage: true, clip });
}

/** Saves what is visible after each scene without scrolling. */
async function playScenes(browser: Browser, variant: Variant, scenes: Scenes, folder: string): Promise<void> {
  const pages = Object.fromEntries(Object.entries(scenes).map(([name, { path }]) => [name, path]));
  await visit(browser, { ...variant, pages }, async (page, name) => {
    page.setDefaultTimeout(5000);
    try {
      await scenes[name]?.perform(page);
      await page.waitForTimeout(400);
    } catch (error) {
      process.stdout.write(
        `${name} at ${variant.width} could not be played: ${String(error).slice(0, 200)}\n`,
      );
    }
    await page.screenshot({ path: join(folder, `${name}-${variant.width}-${variant.scheme}.png`) });
  });
}

type Scenes = Readonly<Record<string, Scene>>;

interface Variant {
  readonly url: string;
  readonly pages: DemoPages;
  readonly scheme: (typeof schemes)[number];
  readonly width: number;
}

async function visit(browser: Browser, variant: Variant, save: (page: Page, name: string) => Promise<void>) {
  const { url, pages, scheme, width } = variant;
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: width > 1000 ? 900 : 740 },
    reducedMotion: "reduce",
    // A phone's scroll bar takes no space.
    isMobile: width < 1000,
    hasTouch: width < 1000,
    locale: "en-GB",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(url + path);
    await save(page, name);
  }
  await context.close();
}

main(process.argv[2], process.argv.slice(3)).catch((error: unknown) => {
  process.stderr.write(`screenshots: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
