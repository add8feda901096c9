import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, temporaryFolder } from "../../support/app.ts";
import { isFocusIn, openWide, saveScreenshot, watchProblems, withoutBrowser } from "../../support/browser.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { dropFiles } from "../../support/drivers/dropped-files.ts";

interface Chosen {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

function zip(name: string, buffer: Buffer): Chosen {
  return { name, mimeType: "application/zip", buffer };
}

/** Counts the uploads that the page begins. */
function countUploads(page: Page): { count: number } {
  const seen = { count: 0 };
  page.on("request", (request) => {
    if (request.url().endsWith("/drivers/upload")) seen.count++;
  });
  return seen;
}

/** Limits uploads to 100,000 bytes a second. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const network = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 100_000 };
  await session.send("Network.emulateNetworkConditions", network);
}

/** A file of this size with the signature of a ZIP. */
async function largeFile(t: TestContext, bytes: number): Promise<string> {
  const path = join(await temporaryFolder(t), "large.zip");
  await writeFile(path, Buffer.alloc(bytes, "PK"));
  return path;
}

describe("uploads in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("several chosen or dropped ZIPs are uploaded one after another, each with a line for its result", async (t) => {
    const { url, app } = await startApp(t);
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    const uploads = countUploads(page);
    await page.goto(`${url}/drivers`);

    await page
      .getByLabel("Driver ZIP")
      .setInputFiles([
        zip("good.zip", driverZip()),
        zip("setup.zip", Buffer.from("MZ a program")),
        zip("asks.zip", driverZip({ models: ["Papyrus A", "Papyrus B"], version: "2.0.0.0" })),
        zip("net.zip", driverZip({ className: "Net", version: "3.0.0.0" })),
      ]);
    await page.getByText("It is for network adapters").waitFor();
    await saveScreenshot(page, "1440-uploads");

    const tones = await page.locator("#upload-lines > li > .notice").evaluateAll((notices) => {
      return (notices as { className: string }[]).map(({ className }) => className);
    });
    assert.deepEqual(tones, ["notice good", "notice bad", "notice good", "notice bad"]);
    assert.equal(uploads.count, 3, "what is no ZIP is not sent");
    await page.getByText("This is not a ZIP. Extract a setup program").waitFor();
    assert.equal(await page.locator("#driver-table tbody tr").count(), 3, "the list follows");
    const next = page.locator("#upload-lines").getByRole("link", { name: "New printer with this driver" });
    assert.equal(await next.count(), 2, "a form would leave the other uploads");
    assert.equal(await page.locator("#upload-lines .new-printer").count(), 0);
    assert.equal(await page.getByLabel("Driver ZIP").inputValue(), "");
    assert.equal(app.store.drivers.list().length, 3);
    const dropped = ["4.0.0.0", "5.0.0.0"].map((version) => driverZip({ version }));
    await dropFiles(page, "h1", dropped);
    await page.locator("#driver-table tbody tr").nth(4).waitFor();
    assert.deepEqual(
      app.store.drivers
        .list()
        .map(({ file_name }) => file_name)
        .slice(0, 2),
      ["dropped1.zip", "dropped0.zip"],
    );
    assert.deepEqual(problems, []);
  });

  test("a ZIP over the limit is refused before it is sent", async (t) => {
    const { url } = await startApp(t, { uploadLimitBytes: 1024 * 1024 });
    const page = await openWide(t);
    const uploads = countUploads(page);
    await page.goto(`${url}/drivers`);

    await page.getByLabel("Driver ZIP").setInputFiles(await largeFile(t, 3 << 20));
    await page.locator(".notice.bad:focus").getByText("The file has 3 MB. The limit is 1 MB").waitFor();

    assert.equal(uploads.count, 0);
  });

  test("uploads can be cancelled, and leaving during an upload asks first", async (t) => {
    const { url, app } = await startApp(t);
    const page = await openWide(t);
    await page.goto(`${url}/drivers`);
    await slowDown(page);
    const small = join(await temporaryFolder(t), "small.zip");
    await writeFile(small, driverZip());
    const large = await largeFile(t, 1_500_000);
    await page.getByLabel("Driver ZIP").setInputFiles(large);
    await page
      .locator("#upload-lines .state")
      .getByText(/^\d+ %$/)
      .waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Upload cancelled.").waitFor();
    assert.equal(app.store.drivers.list().length, 0);
    await page.getByLabel("Driver ZIP").setInputFiles([large, small]);
    await page.locator("#upload-lines > li").nth(1).getByText("Waiting").waitFor();
    const asked: string[] = [];
    page.once("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });

    await page.getByRole("link", { name: "Clients" }).click({ noWaitAfter: true });
    await page.getByRole("button", { name: "Cancel large.zip" }).click();
    const isFocused = await isFocusIn(page, "#upload-lines > li:first-child");
    await page.getByText("Upload cancelled.").waitFor();
    await page.getByText("was uploaded").waitFor();
    await page.getByRole("link", { name: "Clients" }).click();
    await page.waitForURL(`${url}/clients`);

    assert.deepEqual(asked, ["beforeunload"]);
    assert.equal(isFocused, true, "the line has the focus of the button that is gone");
    assert.equal(app.store.drivers.list().length, 1);
  });

  test("a failed upload can be retried from its line without choosing the file again", async (t) => {
    const { url, app, stop } = await startApp(t);
    const page = await openWide(t);
    await page.goto(`${url}/drivers`);
    await page.route("**/drivers/upload", (route) => route.abort());
    await page
      .getByLabel("Driver ZIP")
      .setInputFiles([zip("a.zip", driverZip()), zip("no.zip", Buffer.from("MZ"))]);
    await page.locator("#upload-lines .notice.bad").nth(1).waitFor();
    await page.unroute("**/drivers/upload");
    const offered = await page.locator("#upload-lines button").allInnerTexts();

    await page.getByRole("button", { name: "Try a.zip again" }).click();
    await page.locator("#upload-lines .notice.good:focus").getByText("was uploaded").waitFor();

    assert.deepEqual(offered, ["Try again"], "what is no ZIP is none later either");
    assert.equal(await page.locator("#upload-lines > li").count(), 2);
    assert.equal(app.store.drivers.list().length, 1);
    await stop();
    await page.getByLabel("Driver ZIP").setInputFiles(zip("p.zip", driverZip()));
    await page.locator("#upload-lines .notice.bad").getByText("The upload was interrupted").waitFor();
  });

  test("a driver uploaded from a printer's form is chosen there, and typed values stay", async (t) => {
    const { url, app, addDriver } = await startApp(t);
    await addDriver();
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/printers#new-printer`);
    await page.getByRole("textbox", { name: "Name" }).fill("Typed already");

    await page.getByRole("link", { name: "Upload driver…" }).click();
    await page
      .locator("dialog")
      .getByLabel("Driver ZIP")
      .setInputFiles(zip("setup.zip", Buffer.from("MZ")));
    await page.getByText("This is not a ZIP. Extract").waitFor();
    await saveScreenshot(page, "1440-printer-upload");
    const asks = driverZip({ models: ["Papyrus A", "Papyrus B"], version: "2.0.0.0" });
    await page.locator("dialog").getByLabel("Driver ZIP").setInputFiles(zip("asks.zip", asks));
    await page.locator("dialog").waitFor({ state: "hidden" });
    await page.getByText("Required. Type to search 2 models.").waitFor();
    assert.equal(await page.getByLabel("Driver", { exact: true }).inputValue(), "2");
    assert.ok(await page.locator("#f-driver_desc").evaluate((field) => field.matches(":focus")));
    await page.getByLabel("Model", { exact: true }).fill("Papyrus B");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Saved: Typed already. Your first package is ready.").waitFor();

    const { driver_id, driver_desc } = app.store.printers.get(1).printer;
    assert.deepEqual([driver_id, driver_desc], [2, "Papyrus B"]);
    assert.deepEqual(problems, []);
  });
});
