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
import { deepTest, isDeep, selectCases } from "../support/depth.ts";
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
    if (isDeep) problems.push(...(await accessibilityProblems(page)));
    await saveScreenshot(page, "download-refused");
    const ways = await page.locator("#message .actions li").allInnerTexts();
    if (isDeep) await service.addDriver();
    if (isDeep) await downloadBy(page, () => link(page).click());
    if (isDeep) await message(page).waitFor({ state: "detached" });

    assert.equal(isFocused, true);
    assert.deepEqual(ways, ["Upload driver", "Close"]);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.deepEqual(downloads, isDeep ? ["office.intunewin"] : []);
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

  deepTest("that fails shows its own message", async (t) => {
    const { page } = await open(t);
    const answers = { status: 502, contentType: "text/html", body: "<!doctype html><h1>Bad gateway</h1>" };

    await page.route(packages, (route) => route.fulfill(answers));
    await expectMessage(page, "Platen does not respond (502).");
    await page.unroute(packages);
    await page.route(packages, (route) => route.abort());
    await expectMessage(page, "Platen does not respond. Nothing was downloaded.");
  });

  deepTest("that fails shows the service's message, also from a form", async (t) => {
    const { service, page } = await open(t);
    await page.evaluate(`document.querySelector("main").insertAdjacentHTML("beforeend",
      '<form method="get" action="/packages"><input name="ids" value="1"><button formaction="/packages/rmm">Chosen</button></form>')`);
    const button = page.getByRole("button", { name: "Chosen" });

    const name = await downloadBy(page, () => button.click());
    const defect = () => Promise.reject(new Error("defect"));
    const failing = t.mock.method(service.app.packages, "ofPrinter", defect);
    await expectMessage(page, /Platen had an error \([0-9a-f]{8}\)/);
    failing.mock.restore();
    await service.fetch("/printers/1", { method: "DELETE" });
    await expectMessage(page, "Printer 1 does not exist. It may have been deleted.");
    await button.click();
    await message(page).waitFor();

    assert.match(name, /\.zip$/);
    assert.equal(page.url(), `${service.url}/printers/1`);
    assert.ok(await isFocusOnMessage(page));
  });

  deepTest("without a response can be retried, which removes the message", async (t) => {
    const { page } = await open(t);
    await page.route(packages, (route) => route.abort());

    await link(page).click();
    await message(page).getByText("Platen does not respond").waitFor();
    await page.unroute(packages);
    await downloadBy(page, () => page.getByRole("button", { name: "Try again" }).click());
    await message(page).waitFor({ state: "detached" });

    assert.equal(await isFocusOnLink(page), true);
  });

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

  for (const [width, height] of selectCases(
    [
      [360, 640],
      [1440, 900],
    ] as const,
    1,
  )) {
    deepTest(
      `of chosen printers has only their ids in its address, and a refusal closes the sheet and is fully visible, at ${width} px`,
      async (t) => {
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
      },
    );
  }

  for (const [what, isAnswered] of [
    ["that is refused keeps its message during other actions", true],
    ["without a response does not keep its message during other actions", false],
  ] as const) {
    deepTest(what, async (t) => {
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

const maxClicks = 8;

/** An empty service in a browser, and the file of a vendor's ZIP. */
async function start(t: TestContext, path = "/") {
  const { url, app } = await startApp(t);
  const page = await (await openBrowser(t, { ...wide, acceptDownloads: true })).newPage();
  const problems = watchProblems(page, url);
  const zip = join(await temporaryFolder(t), "driver.zip");
  await writeFile(zip, archiveBytes(archives.papyrusNew));
  await page.goto(url + path);
  return { url, app, page, problems, zip, hand: new Hand(page) };
}

/** Uploads the driver, saves a printer, and downloads its package. @returns the bytes of the package */
async function makePackage({ page, zip, hand }: Awaited<ReturnType<typeof start>>): Promise<Buffer> {
  await hand.chooseFile("Driver ZIP", zip);
  await hand.see(/was uploaded/);
  await saveScreenshot(page, "1440-first-upload");
  await hand.type("Name", "Office");
  await hand.type("Address", "10.0.0.9");
  await hand.click("button", "Save printer");
  await hand.see(/Saved: Office\. Your first package is ready\./);
  await saveScreenshot(page, "1440-first-package");
  const download = await hand.download("Download Intune package");
  assert.match(download.suggestedFilename(), /\.intunewin$/);
  assert.ok(hand.clicks <= maxClicks, `${hand.clicks} clicks: ${hand.clickLog.join(", ")}`);
  return readFile(await download.path());
}

describe("a first package", { skip: withoutBrowser || without.verifier, timeout: 300_000 }, () => {
  test(`takes at most ${maxClicks} clicks from an empty service on, with a client of its own`, async (t) => {
    const started = await start(t);
    const { url, app, problems, hand } = started;

    await hand.click("link", "New client");
    await hand.type("Name", "Kunde Müller");
    await hand.click("button", "Save client");
    await hand.see(/Saved: Kunde Müller/);
    await hand.click("link", "Drivers");
    const bytes = await makePackage(started);

    const [saved] = app.store.printers.list();
    const answer = await fetch(`${url}/printers/${saved?.printer.id}/packages/mdm`, { method: "HEAD" });
    const tree = verifyIntunewin(bytes);
    assert.equal(saved?.client?.name, "Kunde Müller");
    assert.equal(saved?.driver?.driver_desc, "Papyrus Universal PCL 6");
    assert.equal(bytes.length, Number(answer.headers.get("content-length")));
    assert.ok("install.ps1" in tree && "driver/disk1/papyrusu.inf" in tree);
    assert.deepEqual(problems, []);
  });

  deepTest(`takes at most ${maxClicks} clicks from an empty service on, without a client`, async (t) => {
    const started = await start(t);

    await started.hand.click("link", "Upload driver");
    await makePackage(started);

    assert.equal(started.app.store.printers.list()[0]?.client, undefined);
    assert.deepEqual(started.problems, []);
  });

  deepTest(
    "is offered after the first save of the printer's form; later saves stay on the list",
    async (t) => {
      const { page, problems, url } = await start(t, "/printers?new=1");
      const save = async (name: string, address: string) => {
        await page.getByRole("textbox", { name: "Name" }).fill(name);
        await page.getByLabel("Address").fill(address);
        await page.getByRole("button", { name: "Save printer" }).click();
      };

      await save("Office", "10.0.0.9");
      await page.waitForURL(`${url}/printers/1`);
      await page.getByText("Saved: Office. No driver assigned. Choose a driver.").waitFor();
      await page.goto(`${url}/printers?new=1`);
      await save("Hall", "10.0.0.10");
      await page.getByText("Saved: Hall").waitFor();

      assert.equal(new URL(page.url()).pathname, "/printers");
      assert.deepEqual(problems, []);
    },
  );
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
