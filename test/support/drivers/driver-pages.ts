import type { TestContext } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { startApp, type TestApp } from "../app.ts";
import { openWide, watchProblems } from "../browser.ts";

interface Start extends BrowserContextOptions {
  /** The drivers that the service has. */
  readonly drivers?: readonly Buffer[];
  readonly config?: Parameters<typeof startApp>[1];
  readonly prepare?: (service: TestApp) => Promise<unknown>;
}

/** Starts the service and opens a page. `problems` collects what pages must never do. */
export async function openPage(t: TestContext, path: string, start: Start = {}) {
  const { drivers = [], config, prepare = async () => {}, ...options } = start;
  const service = await startApp(t, config);
  for (const zip of drivers) await service.addDriver(zip);
  await prepare(service);
  const page = await openWide(t, options);
  const problems = watchProblems(page, service.url);
  await page.goto(service.url + path);
  const see = (text: string | RegExp) => page.getByText(text).waitFor();
  const press = (name: string) => page.getByRole("button", { name }).click();
  return { ...service, page, problems, see, press };
}

export const narrow = { viewport: { width: 360, height: 740 } };

/** A ZIP for a file field. */
export const zipFile = (name: string, buffer: Buffer) => ({ name, mimeType: "application/zip", buffer });

/** Chooses files in the upload form of a page. */
export const choose = (page: Page, ...files: ReturnType<typeof zipFile>[]) =>
  page.getByLabel("Driver ZIP").setInputFiles(files);
