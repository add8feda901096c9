import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  isFocusIn,
  isFocusLost,
  openBrowser,
  saveScreenshot,
  waitUntilDrawn,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";

/** Opens the page of a printer with a package. */
async function printerPage(t: TestContext): Promise<{ service: TestApp; page: Page }> {
  const service = await withOnePrinter(t);
  const page = await (await openBrowser(t, { acceptDownloads: true })).newPage();
  await page.goto(`${service.url}/printers/1`);
  return { service, page };
}

const link = (page: Page) => page.getByRole("link", { name: "Download .intunewin" });
const message = (page: Page) => page.locator("#message > .notice.bad");
const focused = (page: Page) => isFocusIn(page, "#message");

describe("a download in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("that is refused shows the reason on the page, and works after the remedy", async (t) => {
    const { service, page } = await printerPage(t);
    const downloads: string[] = [];
    page.on("download", (download) => downloads.push(download.suggestedFilename()));
    const driver = service.app.store.drivers.get(1);
    await service.app.store.blobs.remove("drivers", driver.sha256);
    const problems = watchProblems(page, service.url);

    await link(page).click();
    await message(page).getByText("missing on the server. Upload driver.zip again").waitFor();
    const isFocused = await focused(page);
    const faults = await accessibilityProblems(page);
    await saveScreenshot(page, "download-refused");
    const ways = await page.locator("#message .actions li").allInnerTexts();
    await service.addDriver();
    const download = page.waitForEvent("download");
    await link(page).click();
    await download;
    await message(page).waitFor({ state: "detached" });

    assert.equal(isFocused, true);
    assert.deepEqual(ways, ["Upload driver", "Close"]);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.deepEqual(downloads, ["office.intunewin"]);
    assert.deepEqual([...faults, ...problems], []);
  });

  test("that fails shows the service's message or its own, also from a form", async (t) => {
    const { service, page } = await printerPage(t);
    const expectMessage = async (text: string | RegExp) => {
      await link(page).click();
      await message(page).getByText(text).waitFor();
      assert.equal(await focused(page), true);
      await page.keyboard.press("Escape");
      await message(page).waitFor({ state: "detached" });
      assert.ok(await isFocusIn(page, 'a[href="/printers/1/packages/mdm"]'));
    };
    const answers = { status: 502, contentType: "text/html", body: "<!doctype html><h1>Bad gateway</h1>" };
    await page.evaluate(`document.querySelector("main").insertAdjacentHTML("beforeend",
      '<form method="get" action="/packages"><input name="ids" value="1"><button formaction="/packages/rmm">Chosen</button></form>')`);
    const button = page.getByRole("button", { name: "Chosen" });

    const download = page.waitForEvent("download");
    await button.click();
    const name = (await download).suggestedFilename();
    await page.route("**/packages/mdm", (route) => route.fulfill(answers));
    await expectMessage("Platen does not respond (502).");
    await page.unroute("**/packages/mdm");
    await page.route("**/packages/mdm", (route) => route.abort());
    await expectMessage("Platen does not respond. Nothing was downloaded.");
    await page.unroute("**/packages/mdm");
    const failing = t.mock.method(service.app.packages, "ofPrinter", () =>
      Promise.reject(new Error("defect")),
    );
    await expectMessage(/Platen had an error \([0-9a-f]{8}\)/);
    failing.mock.restore();
    await service.fetch("/printers/1", { method: "DELETE" });
    await expectMessage("Printer 1 does not exist. It may have been deleted.");
    await button.click();
    await message(page).waitFor();

    assert.match(name, /\.zip$/);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.ok(await focused(page));
  });

  test("without a response can be retried, which removes the message; a slow one shows that it is slow, and can be cancelled", async (t) => {
    const { page } = await printerPage(t);
    await page.route("**/packages/mdm", (route) => route.abort());

    await link(page).click();
    await message(page).getByText("Platen does not respond").waitFor();
    await page.unroute("**/packages/mdm");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Try again" }).click();
    await download;
    await message(page).waitFor({ state: "detached" });
    const isBack = await isFocusIn(page, 'a[href="/printers/1/packages/mdm"]');
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
    await page.getByText("Download cancelled.").waitFor();
    const isLost = await isFocusLost(page);
    release();

    assert.equal(isBack, true);
    assert.equal(isBusy, "true");
    assert.deepEqual(during, before, "nothing moves");
    assert.equal(await link(page).getAttribute("aria-busy"), null);
    assert.equal(isLost, false);
  });

  test("appears on the page without a reload, and open folds stay open", async (t) => {
    const { page, service } = await printerPage(t);
    await (await service.fetch("/printers/1/scripts/detect")).arrayBuffer();
    await page.reload();
    await page.getByText("All downloads").click();
    const before = await page.locator(".downloaded > p").first().textContent();

    const download = page.waitForEvent("download");
    await link(page).click();
    await download;
    await page.locator(".downloaded > p").getByText("Ready, last download 21 Nov 2026").waitFor();

    assert.equal(before, "Ready, never deployed");
    assert.equal(await page.locator(".downloaded li").count(), 2);
    await page.locator(".downloaded li").first().waitFor();
  });

  test("of chosen printers has only their ids in its address, and a refusal closes the sheet and is fully visible", async (t) => {
    const { service, page } = await printerPage(t);
    for (const name of ["Bare", "Third"]) await service.post("/printers", { name, address: "10.0.0.1" });
    const covering = `(() => {
      const message = document.querySelector("#message > .notice");
      const covered = [...message.querySelectorAll("p, a, button")].filter((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return !message.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
      return covered.map(({ outerHTML }) => outerHTML.slice(0, 80));
    })()`;
    const found: unknown[] = [];

    for (const [width, height] of [
      [1440, 900],
      [360, 640],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.goto(`${service.url}/printers`);
      for (const name of ["Bare", "Office"]) await page.getByLabel(`Choose ${name}`).check();
      await page.locator(".bulk summary").getByText("Download").click();
      const request = page.waitForRequest(/\/packages\/rmm/);
      await page.getByRole("button", { name: "For RMM" }).click();
      found.push(new URL((await request).url()).search);
      await message(page).getByText("1 of these 2 printers cannot go into one package").waitFor();
      await saveScreenshot(page, `${width}-bulk-download-refused`);
      found.push(await page.evaluate(covering), await page.locator(".bulk details[open]").count());
      assert.equal(await focused(page), true);
    }
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download the other one" }).click();
    const name = (await download).suggestedFilename();
    await message(page).waitFor({ state: "detached" });

    assert.deepEqual(found, ["?ids=2&ids=1", [], 0, "?ids=2&ids=1", [], 0]);
    assert.equal(name, "1-printer.zip");
    assert.equal(await page.getByLabel("Choose Bare").isChecked(), true);
  });

  test("that is refused keeps its message during other actions, and one without a response does not", async (t) => {
    const { service, page } = await printerPage(t);
    await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
    const search = page.getByPlaceholder("Filter");
    const left: number[] = [];

    for (const isAnswered of [true, false]) {
      await page.goto(`${service.url}/printers`);
      if (!isAnswered) await page.route("**/packages/rmm**", (route) => route.abort());
      for (const box of await page.locator("input[name=ids]").all()) await box.check();
      await page.locator(".bulk summary").getByText("Download").click();
      await page.getByRole("button", { name: "For RMM" }).click();
      await message(page).waitFor();
      await search.fill("Office");
      await page.getByText("1 of 2 printers").waitFor();
      await waitUntilDrawn(page);
      left.push(await message(page).count(), await page.getByText("Download the other one").count());
    }

    assert.deepEqual(left, [1, 1, 0, 0]);
  });

  test("keeps a changed form, without a dialog", async (t) => {
    const { service, page } = await printerPage(t);
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.type());
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

    await page.getByText("Edit", { exact: true }).first().click();
    await page.getByLabel("Notes", { exact: true }).fill("typed");
    await page.getByText("Edit", { exact: true }).first().click();
    const download = page.waitForEvent("download");
    await link(page).click();
    await download;

    assert.equal(await page.getByLabel("Notes", { exact: true }).inputValue(), "typed");
    assert.deepEqual(dialogs, []);
  });

  test("that is refused without JavaScript shows a page with a link back", async (t) => {
    const { url, app } = await withOnePrinter(t);
    const browser = await openBrowser(t, { javaScriptEnabled: false });
    const page = await browser.newPage();
    await page.goto(`${url}/printers/1`);
    await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);

    await link(page).click();
    await page.getByText("missing on the server. Upload driver.zip again").waitFor();
    await page.getByRole("link", { name: "Go back" }).click();

    assert.equal(page.url(), `${url}/printers/1`);
  });
});
