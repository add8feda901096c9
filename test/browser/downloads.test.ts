import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  isFocusIn,
  isFocusLost,
  openBrowser,
  picture,
  watch,
  withoutBrowser,
} from "../support/browser.ts";

/** A printer's page with a package that can be downloaded. */
async function printerPage(t: TestContext): Promise<{ service: TestApp; page: Page }> {
  const service = await startApp(t);
  const id = await service.addPrinter();
  const page = await (await openBrowser(t, { acceptDownloads: true })).newPage();
  await page.goto(`${service.url}/printers/${id}`);
  return { service, page };
}

const link = (page: Page) => page.getByRole("link", { name: "Download .intunewin" });
const message = (page: Page) => page.locator("#message > .notice.bad");
const focused = (page: Page) => isFocusIn(page, "#message");

describe("a download in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("that is refused says why on the page, and starts once it can", async (t) => {
    const { service, page } = await printerPage(t);
    const downloads: string[] = [];
    page.on("download", (download) => downloads.push(download.suggestedFilename()));
    const driver = service.app.store.drivers.get(1);
    await service.app.store.blobs.removeArchive(driver.sha256);
    const problems = watch(page, service.url);

    await link(page).click();
    await message(page).getByText("missing on disk: upload driver.zip again").waitFor();
    const isFocused = await focused(page);
    const faults = await accessibilityProblems(page);
    await picture(page, "download-refused");
    await service.addDriver();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Try again" }).click();
    await download;

    assert.equal(isFocused, true);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.deepEqual(downloads, ["office.intunewin"]);
    assert.deepEqual([...faults, ...problems], []);
  });

  test("of what is gone meanwhile, or that fails, says so in the service's words or of its own", async (t) => {
    const { service, page } = await printerPage(t);
    const said = async (text: string | RegExp) => {
      await link(page).click();
      await message(page).getByText(text).waitFor();
      assert.equal(await focused(page), true);
      await page.keyboard.press("Escape");
      await message(page).waitFor({ state: "detached" });
      assert.ok(await isFocusIn(page, 'a[href="/printers/1/packages/mdm"]'));
    };
    const answers = { status: 502, contentType: "text/html", body: "<!doctype html><h1>Bad gateway</h1>" };

    await page.route("**/packages/mdm", (route) => route.fulfill(answers));
    await said("The service does not answer (502).");
    await page.unroute("**/packages/mdm");
    await page.route("**/packages/mdm", (route) => route.abort());
    await said("The service does not answer: nothing is downloaded.");
    await page.unroute("**/packages/mdm");
    const failing = t.mock.method(service.app.packages, "ofPrinter", () =>
      Promise.reject(new Error("defect")),
    );
    await said(/The service made an error \([0-9a-f]{8}\)/);
    failing.mock.restore();
    await service.fetch("/printers/1", { method: "DELETE" });
    await said("There is no printer 1.");
  });

  test("that takes long shows it, and can be given up", async (t) => {
    const { page } = await printerPage(t);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/packages/mdm", async (route) => {
      await held;
      await route.abort().catch(() => {});
    });

    const before = await link(page).boundingBox();
    await link(page).click();
    const isBusy = await link(page).getAttribute("aria-busy");
    const during = await link(page).boundingBox();
    await page.getByText("The download is being prepared.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled: nothing is downloaded.").waitFor();
    const isLost = await isFocusLost(page);
    release();

    assert.equal(isBusy, "true");
    assert.deepEqual(during, before, "nothing moves");
    assert.equal(await link(page).getAttribute("aria-busy"), null);
    assert.equal(isLost, false);
  });

  test("leaves a changed form alone, without asking about it", async (t) => {
    const { service, page } = await printerPage(t);
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await service.post("/clients", { name: "Alpha" });
    await service.post("/printers/1", {
      name: "Office",
      address: "10.0.0.9",
      driver_id: "1",
      client_id: "1",
    });
    await page.goto(`${service.url}/clients/1`);

    await page.getByLabel("Notes").fill("typed");
    const download = page.waitForEvent("download");
    await link(page).click();
    await download;

    assert.equal(await page.getByLabel("Notes").inputValue(), "typed");
    assert.deepEqual(asked, []);
  });

  test("of what a form chooses is asked about like a link's", async (t) => {
    const { service, page } = await printerPage(t);
    await page.evaluate(`document.querySelector("main").insertAdjacentHTML("beforeend",
      '<form method="get" action="/packages"><input name="ids" value="1"><button formaction="/packages/rmm">Chosen</button></form>')`);
    const button = page.getByRole("button", { name: "Chosen" });

    const download = page.waitForEvent("download");
    await button.click();
    const name = (await download).suggestedFilename();
    await service.fetch("/printers/1", { method: "DELETE" });
    await button.click();
    await message(page).waitFor();

    assert.match(name, /\.zip$/);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.ok(await focused(page));
  });

  test("that is refused without scripts shows a page that leads back", async (t) => {
    const { url, addPrinter, app } = await startApp(t);
    const id = await addPrinter();
    const browser = await openBrowser(t, { javaScriptEnabled: false });
    const page = await browser.newPage();
    await page.goto(`${url}/printers/${id}`);
    await app.store.blobs.removeArchive(app.store.drivers.get(1).sha256);

    await link(page).click();
    await page.getByText("missing on disk: upload driver.zip again").waitFor();
    await page.getByRole("link", { name: "Back to the page before" }).click();

    assert.equal(page.url(), `${url}/printers/${id}`);
  });
});
