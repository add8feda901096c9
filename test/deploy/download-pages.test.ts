import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { archives } from "../../demo/drivers.ts";
import { archiveBytes } from "../../demo/inf.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import {
  accessibilityProblems,
  isFocusIn,
  isFocusLost,
  openBrowser,
  saveScreenshot,
  waitUntilDrawn,
  watchProblems,
  wide,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest } from "../support/depth.ts";
import { verifyIntunewin, without } from "../support/drivers/foreign.ts";
import { Hand } from "../support/keyboard-user.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";

/** Needs less time to be drawn. */
const small = { width: 480, height: 360 };

/** Opens a page of a service with a printer that has a package. */
async function open(
  t: TestContext,
  path = "/printers/1",
  options = {},
): Promise<{ service: TestApp; page: Page }> {
  const service = await withOnePrinter(t);
  const page = await (await openBrowser(t, { viewport: small, acceptDownloads: true, ...options })).newPage();
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
  deepTest("that is refused shows the reason on the page, and works after the remedy", async (t) => {
    const { service, page } = await open(t);
    const downloads: string[] = [];
    page.on("download", (download) => downloads.push(download.suggestedFilename()));
    const { blobs, drivers } = service.app.store;
    await blobs.remove("drivers", drivers.get(1).sha256);
    const problems = watchProblems(page, service.url);

    await link(page).click();
    await message(page).getByText("missing on the server. Upload driver.zip again").waitFor();
    const isFocused = await isFocusOnMessage(page);
    problems.push(...(await accessibilityProblems(page)));
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

  /** Clicks, expects a message with the focus, and closes it. */
  async function expectMessage(page: Page, text: string | RegExp): Promise<void> {
    await link(page).click();
    await message(page).getByText(text).waitFor();
    assert.equal(await isFocusOnMessage(page), true);
    await page.keyboard.press("Escape");
    await message(page).waitFor({ state: "detached" });
    assert.ok(await isFocusOnLink(page));
  }

  deepTest(
    "that fails shows its own message or the service's, also from a form, and can be retried",
    async (t) => {
      const { service, page } = await open(t);
      const answers = { status: 502, contentType: "text/html", body: "<!doctype html><h1>Bad gateway</h1>" };
      await page.evaluate(`document.querySelector("main").insertAdjacentHTML("beforeend",
      '<form method="get" action="/packages"><input name="ids" value="1"><button formaction="/packages/rmm">Chosen</button></form>')`);
      const button = page.getByRole("button", { name: "Chosen" });

      await page.route(packages, (route) => route.fulfill(answers));
      await expectMessage(page, "Platen does not respond (502).");
      await page.unroute(packages);
      await page.route(packages, (route) => route.abort());
      await expectMessage(page, "Platen does not respond. Nothing was downloaded.");
      await link(page).click();
      await message(page).waitFor();
      await page.unroute(packages);
      await downloadBy(page, () => page.getByRole("button", { name: "Try again" }).click());
      await message(page).waitFor({ state: "detached" });
      const isBack = await isFocusOnLink(page);
      const name = await downloadBy(page, () => button.click());
      const defect = () => Promise.reject(new Error("defect"));
      const failing = t.mock.method(service.app.packages, "ofPrinter", defect);
      await expectMessage(page, /Platen had an error \([0-9a-f]{8}\)/);
      failing.mock.restore();
      await service.fetch("/printers/1", { method: "DELETE" });
      await expectMessage(page, "Printer 1 does not exist. It may have been deleted.");
      await button.click();
      await message(page).waitFor();

      assert.equal(isBack, true);
      assert.match(name, /\.zip$/);
      assert.equal(page.url(), `${service.url}/printers/1`);
      assert.ok(await isFocusOnMessage(page));
    },
  );

  deepTest("that is slow shows that it is slow, and can be cancelled", async (t) => {
    const { page } = await open(t, "/printers/1", { viewport: { width: 1280, height: 720 } });
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

  deepTest("appears on the page without a reload, and open folds stay open", async (t) => {
    const service = await withOnePrinter(t);
    await (await service.fetch("/printers/1/scripts/detect")).arrayBuffer();
    const page = await (await openBrowser(t, { viewport: small, acceptDownloads: true })).newPage();
    await page.goto(`${service.url}/printers/1`);
    await page.getByText("All downloads").click();
    const before = await page.locator(".downloaded > p").first().textContent();

    await downloadBy(page, () => link(page).click());
    await page.locator(".downloaded > p").getByText("Ready, last download 21 Nov 2026").waitFor();

    assert.equal(before, "Ready, never deployed");
    assert.equal(await page.locator(".downloaded li").count(), 2);
    await page.locator(".downloaded li").first().waitFor();
  });

  deepTest(
    "of chosen printers sends only their ids; a refusal closes the sheet and stays, a lost response does not",
    async (t) => {
      const { service, page } = await open(t, "/health", { viewport: { width: 360, height: 640 } });
      for (const name of ["Bare", "Third"]) await service.post("/printers", { name, address: "10.0.0.1" });
      const filter = async (text: string, counted: string) => {
        await page.getByPlaceholder("Filter").fill(text);
        await page.getByText(counted).waitFor();
        await waitUntilDrawn(page);
        return message(page).count();
      };
      await page.goto(`${service.url}/printers`);

      await page.route("**/packages/rmm**", (route) => route.abort());
      await downloadChosen(page, ["Bare", "Office"]);
      await message(page).waitFor();
      const lost = await filter("Office", "1 of 3 printers");
      await page.unroute("**/packages/rmm**");
      await page.goto(`${service.url}/printers`);
      const request = page.waitForRequest(/\/packages\/rmm/);
      await downloadChosen(page, ["Bare", "Office"]);
      const { search } = new URL((await request).url());
      await message(page).getByText("1 of these 2 printers cannot go into one package").waitFor();
      await saveScreenshot(page, "360-bulk-download-refused");
      const openSheets = await page.locator(".bulk details[open]").count();
      const isFocused = await isFocusOnMessage(page);
      const isChosen = await page.getByLabel("Choose Bare").isChecked();
      const kept = await filter("Bare", "1 of 3 printers");
      const other = page.getByRole("link", { name: "Download the other one" });
      const name = await downloadBy(page, () => other.click());
      await message(page).waitFor({ state: "detached" });

      assert.deepEqual([lost, kept, search, openSheets], [0, 1, "?ids=2&ids=1", 0]);
      assert.deepEqual([isFocused, isChosen, name], [true, true, "1-printer.zip"]);
    },
  );

  deepTest("keeps a changed form, without a dialog", async (t) => {
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
});

const maxClicks = 8;

describe("a first package", { skip: withoutBrowser || without.verifier, timeout: 300_000 }, () => {
  test(`takes at most ${maxClicks} clicks from an empty service on, with a client of its own`, async (t) => {
    const { url, app } = await startApp(t);
    const page = await (await openBrowser(t, { ...wide, acceptDownloads: true })).newPage();
    const problems = watchProblems(page, url);
    const zip = join(await temporaryFolder(t), "driver.zip");
    await writeFile(zip, archiveBytes(archives.papyrusNew));
    const hand = new Hand(page);
    await page.goto(url);

    await hand.click("link", "New client");
    await hand.type("Name", "Kunde Müller");
    await hand.click("button", "Save client");
    await hand.see(/Saved: Kunde Müller/);
    await hand.click("link", "Drivers");
    await hand.chooseFile("Driver ZIP", zip);
    await hand.see(/was uploaded/);
    await saveScreenshot(page, "1440-first-upload");
    await hand.type("Name", "Office");
    await hand.type("Address", "10.0.0.9");
    await hand.click("button", "Save printer");
    await hand.see(/Saved: Office\. Your first package is ready\./);
    await saveScreenshot(page, "1440-first-package");
    const download = await hand.download("Download Intune package");
    const bytes = await readFile(await download.path());

    const [saved] = app.store.printers.list();
    const answer = await fetch(`${url}/printers/${saved?.printer.id}/packages/mdm`, { method: "HEAD" });
    const tree = verifyIntunewin(bytes);
    assert.match(download.suggestedFilename(), /\.intunewin$/);
    assert.ok(hand.clicks <= maxClicks, `${hand.clicks} clicks: ${hand.clickLog.join(", ")}`);
    assert.equal(saved?.client?.name, "Kunde Müller");
    assert.equal(saved?.driver?.driver_desc, "Papyrus Universal PCL 6");
    assert.equal(bytes.length, Number(answer.headers.get("content-length")));
    assert.ok("install.ps1" in tree && "driver/disk1/papyrusu.inf" in tree);
    assert.deepEqual(problems, []);
  });
});

test("the first save of a printer leads to its page, and later saves stay on the list", async (t) => {
  const { post, fetch } = await startApp(t);
  const save = (name: string) => post("/printers", { name, address: "10.0.0.9" }, { "hx-request": "true" });

  const [first, second] = [await save("Office"), await save("Hall")];
  const next = first.headers.get("hx-redirect") ?? "";
  const page = await (await fetch(next)).text();

  assert.match(next, /^\/printers\/1\?done=/);
  assert.match(page.replace(/<[^>]*>/g, ""), /Saved: Office\. No driver assigned\./);
  assert.equal(second.headers.get("hx-redirect"), null);
  assert.match(await second.text(), /Saved: /);
});
