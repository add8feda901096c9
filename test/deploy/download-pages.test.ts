import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  isFocusIn,
  isFocusLost,
  openBrowser,
  saveScreenshot,
  waitUntilDrawn,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { isDeep, selectCases } from "../support/depth.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";

/** Opens a page of a service with a printer that has a package. */
async function open(
  t: TestContext,
  path = "/printers/1",
  options = {},
): Promise<{ service: TestApp; page: Page }> {
  const service = await withOnePrinter(t);
  const page = await (await openBrowser(t, { acceptDownloads: true, ...options })).newPage();
  await page.goto(service.url + path);
  return { service, page };
}

const packages = "**/packages/mdm";
const link = (page: Page) => page.getByRole("link", { name: "Download .intunewin" });
const message = (page: Page) => page.locator("#message > .notice.bad");
const isFocusOnMessage = (page: Page) => isFocusIn(page, "#message");
const isFocusOnLink = (page: Page) => isFocusIn(page, 'a[href="/printers/1/packages/mdm"]');

/** The name of the file that a click downloads. */
async function downloadBy(page: Page, click: () => Promise<void>): Promise<string> {
  const download = page.waitForEvent("download");
  await click();
  return (await download).suggestedFilename();
}

/** Chooses printers in a list, and downloads their package for RMM tools. */
async function downloadChosen(page: Page, names: readonly string[]): Promise<void> {
  for (const name of names) await page.getByLabel(`Choose ${name}`).check();
  await page.locator(".bulk summary").getByText("Download").click();
  await page.getByRole("button", { name: "For RMM" }).click();
}

describe("a download in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("that is refused shows the reason on the page, and works after the remedy", async (t) => {
    const { service, page } = await open(t);
    const downloads: string[] = [];
    page.on("download", (download) => downloads.push(download.suggestedFilename()));
    const { blobs, drivers } = service.app.store;
    await blobs.remove("drivers", drivers.get(1).sha256);
    const problems = watchProblems(page, service.url);

    await link(page).click();
    await message(page).getByText("missing on the server. Upload driver.zip again").waitFor();
    const isFocused = await isFocusOnMessage(page);
    if (isDeep) problems.push(...(await accessibilityProblems(page)));
    await saveScreenshot(page, "download-refused");
    const ways = await page.locator("#message .actions li").allInnerTexts();
    await service.addDriver();
    await downloadBy(page, () => link(page).click());
    await message(page).waitFor({ state: "detached" });

    assert.equal(isFocused, true);
    assert.deepEqual(ways, ["Upload driver", "Close"]);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.deepEqual(downloads, ["office.intunewin"]);
    assert.deepEqual(problems, []);
  });

  test("that fails shows the service's message or its own, also from a form", async (t) => {
    const { service, page } = await open(t);
    const expectMessage = async (text: string | RegExp) => {
      await link(page).click();
      await message(page).getByText(text).waitFor();
      assert.equal(await isFocusOnMessage(page), true);
      await page.keyboard.press("Escape");
      await message(page).waitFor({ state: "detached" });
      assert.ok(await isFocusOnLink(page));
    };
    const answers = { status: 502, contentType: "text/html", body: "<!doctype html><h1>Bad gateway</h1>" };
    await page.evaluate(`document.querySelector("main").insertAdjacentHTML("beforeend",
      '<form method="get" action="/packages"><input name="ids" value="1"><button formaction="/packages/rmm">Chosen</button></form>')`);
    const button = page.getByRole("button", { name: "Chosen" });

    const name = await downloadBy(page, () => button.click());
    await page.route(packages, (route) => route.fulfill(answers));
    await expectMessage("Platen does not respond (502).");
    await page.unroute(packages);
    await page.route(packages, (route) => route.abort());
    await expectMessage("Platen does not respond. Nothing was downloaded.");
    await page.unroute(packages);
    const defect = () => Promise.reject(new Error("defect"));
    const failing = t.mock.method(service.app.packages, "ofPrinter", defect);
    await expectMessage(/Platen had an error \([0-9a-f]{8}\)/);
    failing.mock.restore();
    await service.fetch("/printers/1", { method: "DELETE" });
    await expectMessage("Printer 1 does not exist. It may have been deleted.");
    await button.click();
    await message(page).waitFor();

    assert.match(name, /\.zip$/);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.ok(await isFocusOnMessage(page));
  });

  test("without a response can be retried, which removes the message", async (t) => {
    const { page } = await open(t);
    await page.route(packages, (route) => route.abort());

    await link(page).click();
    await message(page).getByText("Platen does not respond").waitFor();
    await page.unroute(packages);
    await downloadBy(page, () => page.getByRole("button", { name: "Try again" }).click());
    await message(page).waitFor({ state: "detached" });

    assert.equal(await isFocusOnLink(page), true);
  });

  test("that is slow shows that it is slow, and can be cancelled", async (t) => {
    const { page } = await open(t);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(packages, async (route) => {
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

    assert.equal(isBusy, "true");
    assert.deepEqual(during, before, "nothing moves");
    assert.equal(await link(page).getAttribute("aria-busy"), null);
    assert.equal(isLost, false);
  });

  test("appears on the page without a reload, and open folds stay open", async (t) => {
    const service = await withOnePrinter(t);
    await (await service.fetch("/printers/1/scripts/detect")).arrayBuffer();
    const page = await (await openBrowser(t, { acceptDownloads: true })).newPage();
    await page.goto(`${service.url}/printers/1`);
    await page.getByText("All downloads").click();
    const before = await page.locator(".downloaded > p").first().textContent();

    await downloadBy(page, () => link(page).click());
    await page.locator(".downloaded > p").getByText("Ready, last download 21 Nov 2026").waitFor();

    assert.equal(before, "Ready, never deployed");
    assert.equal(await page.locator(".downloaded li").count(), 2);
    await page.locator(".downloaded li").first().waitFor();
  });

  for (const [width, height] of selectCases(
    [
      [360, 640],
      [1440, 900],
    ] as const,
    1,
  )) {
    test(`of chosen printers has only their ids in its address, and a refusal closes the sheet and is fully visible, at ${width} px`, async (t) => {
      const { service, page } = await open(t, "/health", { viewport: { width, height } });
      for (const name of ["Bare", "Third"]) await service.post("/printers", { name, address: "10.0.0.1" });
      const covering = `(() => {
      const message = document.querySelector("#message > .notice");
      const covered = [...message.querySelectorAll("p, a, button")].filter((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        return !message.contains(document.elementFromPoint(left + width / 2, top + height / 2));
      });
      return covered.map(({ outerHTML }) => outerHTML.slice(0, 80));
    })()`;

      await page.goto(`${service.url}/printers`);
      const request = page.waitForRequest(/\/packages\/rmm/);
      await downloadChosen(page, ["Bare", "Office"]);
      const { search } = new URL((await request).url());
      await message(page).getByText("1 of these 2 printers cannot go into one package").waitFor();
      await saveScreenshot(page, `${width}-bulk-download-refused`);
      const covered = await page.evaluate(covering);
      const openSheets = await page.locator(".bulk details[open]").count();
      const isFocused = await isFocusOnMessage(page);
      const other = page.getByRole("link", { name: "Download the other one" });
      const name = await downloadBy(page, () => other.click());
      await message(page).waitFor({ state: "detached" });

      assert.deepEqual([search, covered, openSheets, isFocused], ["?ids=2&ids=1", [], 0, true]);
      assert.equal(name, "1-printer.zip");
      assert.equal(await page.getByLabel("Choose Bare").isChecked(), true);
    });
  }

  for (const [what, isAnswered] of [
    ["that is refused keeps its message during other actions", true],
    ["without a response does not keep its message during other actions", false],
  ] as const) {
    test(what, async (t) => {
      const { service, page } = await open(t, "/health");
      await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
      await page.goto(`${service.url}/printers`);
      if (!isAnswered) await page.route("**/packages/rmm**", (route) => route.abort());

      await downloadChosen(page, ["Bare", "Office"]);
      await message(page).waitFor();
      await page.getByPlaceholder("Filter").fill("Office");
      await page.getByText("1 of 2 printers").waitFor();
      await waitUntilDrawn(page);

      const count = isAnswered ? 1 : 0;
      assert.equal(await message(page).count(), count);
      assert.equal(await page.getByText("Download the other one").count(), count);
    });
  }

  test("keeps a changed form, without a dialog", async (t) => {
    const { service, page } = await open(t, "/health");
    const dialogs: string[] = [];
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.type());
      void dialog.accept();
    });
    await service.post("/clients", { name: "Alpha" });
    const fields = { name: "Office", address: "10.0.0.9", driver_id: "1", client_id: "1" };
    await service.post("/printers/1", fields);
    await page.goto(`${service.url}/clients/1`);

    await page.getByText("Edit", { exact: true }).first().click();
    await page.getByLabel("Notes", { exact: true }).fill("typed");
    await page.getByText("Edit", { exact: true }).first().click();
    await downloadBy(page, () => link(page).click());

    assert.equal(await page.getByLabel("Notes", { exact: true }).inputValue(), "typed");
    assert.deepEqual(dialogs, []);
  });

  test("that is refused without JavaScript shows a page with a link back", async (t) => {
    const { service, page } = await open(t, "/printers/1", { javaScriptEnabled: false });
    const { blobs, drivers } = service.app.store;
    await blobs.remove("drivers", drivers.get(1).sha256);

    await link(page).click();
    await page.getByText("missing on the server. Upload driver.zip again").waitFor();
    await page.getByRole("link", { name: "Go back" }).click();

    assert.equal(page.url(), `${service.url}/printers/1`);
  });
});
