import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { temporaryFolder } from "../support/app.ts";
import {
  accessibilityProblems,
  isFocusIn,
  overflows,
  saveScreenshot,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep } from "../support/depth.ts";
import { choose, narrow, openPage, zipFile } from "../support/drivers/driver-pages.ts";
import { driverZip, sixtyModels } from "../support/drivers/driver-zip.ts";
import { unpackers } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { makeZip } from "../support/drivers/zip.ts";
import { until } from "../support/until.ts";

/** A driver of sixty models with an unused file of 1.1 MB. */
const large = () =>
  driverZip({
    models: sixtyModels,
    extra: [{ name: "setup.bin", bytes: randomBytes(1_200_000), method: 0 }],
  });
const network = driverZip({ className: "Net", provider: "Acme", version: "3.0.0.0" });
const asking = driverZip({ models: ["Papyrus A", "Papyrus B"], version: "2.0.0.0" });
const program = zipFile("setup.exe", Buffer.from("MZ a program"));
const selfExtracting = Buffer.concat([Buffer.from("MZ a program"), driverZip()]);

/** Writes a folder `Vendor` with these files. @returns its path */
async function folderWith(t: TestContext, files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  const folder = join(await temporaryFolder(t), "Vendor");
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}

/** Drops files and folders of the disk on the page, as a file manager does. */
async function dropPaths(page: Page, ...files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const)
    await session.send("Input.dispatchDragEvent", { type, x: 200, y: 200, data });
}

/** Drops files `dropped0.zip`, `dropped1.zip`, … on an element. */
async function dropFiles(page: Page, selector: string, contents: readonly Buffer[]): Promise<void> {
  const files = contents.map((bytes) => bytes.toString("base64"));
  await page.evaluate(`(() => {
    const data = new DataTransfer();
    ${JSON.stringify(files)}.forEach((text, i) => {
      const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
      data.items.add(new File([bytes], "dropped" + i + ".zip"));
    });
    const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    document.querySelector(${JSON.stringify(selector)}).dispatchEvent(drop);
  })()`);
}

const chooseFolder = (page: Page, folder: string) => page.getByLabel("Or a folder").setInputFiles(folder);

/** The card of the last upload. */
const cardOf = (page: Page) => page.locator("#upload-lines .notice");

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
const largeFile = (bytes: number) => zipFile("large.zip", Buffer.alloc(bytes, "PK"));

describe("uploads in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a ZIP that is dropped on any page opens the dialog, whose form ends at the printer's package", async (t) => {
    const { url, app, page, problems, see, press } = await openPage(t, "/clients/1", {
      prepare: async ({ post }) => {
        for (const name of ["Acme", "Beta"]) await post("/clients", { name });
      },
      ...narrow,
    });
    const card = cardOf(page);
    for (const path of isDeep ? ["/", "/packages", "/audit", "/search?q=x", "/clients/1"] : []) {
      await page.goto(url + path);
      assert.equal(await page.locator("#upload-dialog").isVisible(), false, path);
    }

    await dropFiles(page, "h1", [large()]);
    await card.getByText("was uploaded").waitFor();
    await saveScreenshot(page, "360-upload-card");
    const [isWide, faults] = [await overflows(page), isDeep ? await accessibilityProblems(page) : []];
    await card.getByLabel("Name", { exact: true }).fill("Office");
    await page.getByLabel("Address").fill("10.0.0.9");
    assert.equal(await card.getByLabel("Client").inputValue(), "1", "the client of the page");
    await card.getByLabel("Client").selectOption("Beta");
    const model = page.getByLabel("Model, one of 60");
    await model.fill("papyrus 15");
    await page.locator("#upload-lines option").nth(10).waitFor({ state: "attached" });
    await page.locator('#upload-lines option[value="Papyrus 100 PCL6"]').waitFor({ state: "detached" });
    await model.fill("Papyrus 150");
    await press("Save printer");
    await see("Similar models:");
    const typed = await page.getByRole("textbox", { name: "Name" }).inputValue();
    await press("Papyrus 150 PCL6");
    assert.ok(await isFocusIn(page, "#f-driver_desc"));
    assert.equal(await page.locator("#f-driver_desc-problem, #f-driver_desc[aria-invalid]").count(), 0);
    await press("Save printer");
    await see("Saved: Office. Your first package is ready.");

    const { printer, client } = app.store.printers.get(1);
    assert.deepEqual([isWide, faults], [false, []]);
    assert.deepEqual([typed, printer.driver_desc, client?.name], ["Office", "Papyrus 150 PCL6", "Beta"]);
    assert.deepEqual(problems, []);
  });

  deepTest("the proposed name of the driver can be changed on the card, and must be unique", async (t) => {
    const { app, page, problems } = await openPage(t, "/clients", { drivers: [driverZip()], ...narrow });
    const card = cardOf(page);
    const rename = async (name: string) => {
      await card.getByLabel("Driver name").fill(name);
      await card.getByRole("button", { name: "Rename driver" }).click();
    };
    await dropFiles(page, "h1", [driverZip({ version: "3.0.0.0" })]);

    await card.getByText("Rename", { exact: true }).click();
    await rename("Papyrus 100 PCL6 1.2");
    await card.getByText("is already the name of another driver").waitFor();
    assert.equal(app.store.drivers.get(2).name, "Papyrus 100 PCL6 3.0");
    await saveScreenshot(page, "360-rename");
    await rename("Copiers 2026");
    // A refused name has the same sentence, with the old name.
    await card.getByText("Copiers 2026 is the driver’s name.").waitFor();

    assert.equal(app.store.drivers.get(2).name, "Copiers 2026");
    assert.equal(await card.getByRole("button", { name: "Save printer" }).count(), 1, "the next step stays");
    assert.deepEqual(problems, []);
  });

  deepTest("one button leaves out the unused files at once, says so, and takes them back", async (t) => {
    const { app, page, problems, press } = await openPage(t, "/drivers");
    await dropFiles(page, "body", [large()]);
    const isDropping = () => app.store.drivers.get(1).drop_unused;

    await press("Leave out 1 unused file (1.1 MB smaller)");
    await cardOf(page).getByText("Packages leave out 1 unused file (1.1 MB)").waitFor();
    const left = isDropping();
    assert.ok(await isFocusIn(page, "#drop-unused-1"), "the button that takes them back");
    await press("Include unused files");
    await page.getByRole("button", { name: "Leave out 1 unused file" }).waitFor();

    assert.deepEqual([left, isDropping()], [true, false]);
    assert.equal(new URL(page.url()).pathname, "/drivers");
    assert.deepEqual(problems, []);
  });

  deepTest(
    "a ZIP over the limit is refused before it is sent, and another ZIP can be chosen from the card",
    async (t) => {
      const config = { uploadLimitBytes: 1024 * 1024 };
      const { app, page, press } = await openPage(t, "/drivers", { config });
      const uploads = countUploads(page);

      await choose(page, largeFile(2 << 20));
      await page.locator(".notice.bad:focus").getByText("The file has 2 MB. The limit is 1 MB").waitFor();
      assert.equal(uploads.count, 0);
      await dropFiles(page, "h1", [makeZip([{ name: "Driver/inner.zip", bytes: "PK" }])]);
      await cardOf(page).getByText("Extract this ZIP and “Driver/inner.zip” in it").waitFor();
      const chooser = page.waitForEvent("filechooser");
      await page.getByRole("link", { name: "Choose another file" }).click();
      const opened = await chooser;
      if (!isDeep) return;
      await opened.setFiles(zipFile("net.zip", network));
      await cardOf(page).getByText("It is for network adapters").waitFor();
      await saveScreenshot(page, "1440-upload-of-no-printer");
      await press("Delete driver");
      await page.locator("#message").getByText("Deleted: ").waitFor();

      assert.equal(app.store.drivers.list().length, 0);
    },
  );

  deepTest(
    "a folder and a program that are dropped become drivers, the folder without what lies beside its INFs",
    async (t) => {
      const { app, fetch, page, problems, see } = await openPage(t, "/clients");
      const { "papyrus.inf": inf = "", ...files } = unpackers.fflate(driverZip({ version: "2.0.0.0" }));
      const driver = { "x64/Papyrus.INF": inf, "x64/lang/ä.dll": "x".repeat(600_000), "x64/empty": "" };
      for (const [name, bytes] of Object.entries(files)) Object.assign(driver, { [`x64/${name}`]: bytes });
      // The browser lists 100 files at a time.
      for (let i = 0; i < 100; i++) Object.assign(driver, { [`x64/lang/${i}`]: "y" });
      const beside = { "autorun.inf": "[autorun]", "Tools/setup.exe": "MZ", "x64.txt": "x" };
      const folder = await folderWith(t, { ...driver, ...beside });
      writeFileSync(`${folder}.exe`, selfExtracting);
      const empty = await folderWith(t, beside);

      await dropPaths(page, folder, `${folder}.exe`, empty);
      await see("This folder contains no INF file.");
      const stored = app.store.drivers.list().map(({ file_name }) => file_name);
      const unpacked = unpackers.fflate(await bytesOf(fetch("/drivers/1/archive")));

      assert.deepEqual(stored.sort(), ["Vendor.exe", "Vendor.zip"]);
      assert.deepEqual(Object.keys(unpacked), Object.keys(driver).sort());
      for (const [name, bytes] of Object.entries(driver)) assert.equal(String(unpacked[name]), String(bytes));
      assert.deepEqual(problems, []);
    },
  );

  deepTest("a chosen folder is known the second time, and its upload can be cancelled", async (t) => {
    const { app, page, see, press } = await openPage(t, "/drivers");
    const driver = unpackers.fflate(driverZip());
    const small = await folderWith(t, driver);
    const other = await folderWith(t, { ...driver, "readme.txt": "x" });
    const goOn: (() => void)[] = [];

    await chooseFolder(page, small);
    await see("was uploaded");
    await chooseFolder(page, small);
    await see("is already in Platen");
    await page.reload();
    await page.route("**/static/zip.js", (route) => void goOn.push(() => void route.continue()));
    await chooseFolder(page, other);
    await until(() => goOn.length > 0);
    await press("Cancel Vendor");
    goOn[0]?.();
    await see("Cancelled");

    assert.ok(await isFocusIn(page, "#upload-lines > li"));
    assert.equal(app.store.drivers.list().length, 1);
  });

  deepTest("a folder that is too large or loses a file is refused before anything is sent", async (t) => {
    const { page, see } = await openPage(t, "/drivers", { config: { uploadLimitBytes: 8 << 20 } });
    const uploads = countUploads(page);
    const driver = unpackers.fflate(driverZip());
    const small = await folderWith(t, driver);
    const large = await folderWith(t, { ...driver, "large.bin": randomBytes(9 << 20) });

    await page.route("**/static/zip.js", (route) => route.abort());
    await chooseFolder(page, small);
    await see("Platen does not respond. Reload the page, and drop the folder again.");
    await page.route("**/static/zip.js", (route) => {
      rmSync(small, { recursive: true });
      return route.continue();
    });
    await page.reload();
    await chooseFolder(page, small);
    await see("Your browser cannot read papyrus.cat. Drop the folder again.");
    await chooseFolder(page, large);
    await see("The folder’s ZIP has more than 8 MB (UPLOAD_LIMIT_MB).");

    assert.equal(uploads.count, 0);
  });

  deepTest("several ZIPs are uploaded one after another, each with a line for its result", async (t) => {
    const { app, page, problems, see } = await openPage(t, "/drivers");
    const uploads = countUploads(page);
    const zips = [driverZip(), asking, network].map((bytes, i) => zipFile(`${i}.zip`, bytes));

    await choose(page, ...zips.slice(0, 1), program, ...zips.slice(1));
    await see("It is for network adapters");
    await saveScreenshot(page, "1440-uploads");
    const tones = await page.locator("#upload-lines > li > .notice").evaluateAll((notices) => {
      return (notices as { className: string }[]).map(({ className }) => className.replace("notice ", ""));
    });

    const rows = page.locator("#driver-table tbody tr");
    assert.deepEqual(tones, ["good", "bad", "good", "bad"]);
    assert.equal(uploads.count, 4, "the service says what is no ZIP");
    assert.equal(await rows.count(), 3, "the list follows");
    const next = page.locator("#upload-lines").getByRole("link", { name: "New printer with this driver" });
    assert.equal(await next.count(), 2, "a form would leave the other uploads");
    assert.equal(await page.locator("#upload-lines .new-printer").count(), 0);
    assert.equal(await page.getByLabel("Driver ZIP").inputValue(), "");
    await dropFiles(page, "h1", [driverZip({ version: "4.0.0.0" }), driverZip({ version: "5.0.0.0" })]);
    await rows.nth(4).waitFor();
    const names = app.store.drivers.list().map(({ file_name }) => file_name);
    assert.deepEqual(names.slice(0, 2), ["dropped1.zip", "dropped0.zip"]);
    assert.deepEqual(problems, []);
  });

  deepTest("an upload shows its progress, can be cancelled, and asks before it is left", async (t) => {
    const { url, app, page, see, press } = await openPage(t, "/drivers");
    await slowDown(page);
    const asked: string[] = [];
    page.once("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await choose(page, largeFile(1_500_000), zipFile("small.zip", driverZip()));
    await page.locator("#upload-lines > li").nth(1).getByText("Waiting").waitFor();
    await see(/^\d+ %$/);

    await page.getByRole("link", { name: "Clients" }).click({ noWaitAfter: true });
    await press("Cancel large.zip");
    const isFocused = await isFocusIn(page, "#upload-lines > li:first-child");
    await see("Upload cancelled.");
    await see("was uploaded");
    await page.getByRole("link", { name: "Clients" }).click();
    await page.waitForURL(`${url}/clients`);

    assert.deepEqual(asked, ["beforeunload"]);
    assert.equal(isFocused, true, "the line has the focus of the button that is gone");
    assert.equal(app.store.drivers.list().length, 1);
  });

  deepTest(
    "a page that a proxy answers is not Platen's answer, and the line says who refused the file",
    async (t) => {
      const { page } = await openPage(t, "/drivers");
      const body = `<!doctype html><div class="notice good">was uploaded</div>`;
      const said: unknown[] = [];

      for (const [status, text] of [
        [413, body],
        [413, "Request Entity Too Large"],
        [504, body],
        [200, body],
      ] as const) {
        await page.route("**/drivers/upload", (route) =>
          route.fulfill({ status, contentType: "text/html", body: text }),
        );
        await choose(page, zipFile("a.zip", driverZip()));
        said.push(await cardOf(page).locator("p").first().textContent());
      }

      const refused =
        "A proxy in front of Platen refused the file (413). Raise its limit (nginx: client_max_body_size).";
      assert.deepEqual(said, [
        refused,
        refused,
        "Platen does not respond (504): a proxy in front of it gave up waiting. Platen did not confirm the upload. Try again in a minute.",
        "A proxy answered instead of Platen. Reload the page: it may ask you to sign in.",
      ]);
    },
  );

  deepTest("a failed upload can be retried from its line without choosing the file again", async (t) => {
    const { app, page, see } = await openPage(t, "/drivers");
    await page.route("**/drivers/upload", (route) => route.abort());
    await choose(page, zipFile("a.zip", driverZip()));
    await see("The upload was interrupted");
    await page.unroute("**/drivers/upload");
    const offered = await page.locator("#upload-lines button").allInnerTexts();

    await page.getByRole("button", { name: "Try a.zip again" }).click();
    await page.locator("#upload-lines .notice.good:focus").getByText("was uploaded").waitFor();

    assert.deepEqual(offered, ["Try again"]);
    assert.equal(await page.locator("#upload-lines > li").count(), 1);
    assert.equal(app.store.drivers.list().length, 1);
  });

  deepTest("a driver uploaded from a printer's form is chosen there, and typed values stay", async (t) => {
    const options = { drivers: [driverZip()] };
    const { app, page, problems, see, press } = await openPage(t, "/printers#new-printer", options);
    const dialog = page.locator("dialog");
    await page.getByRole("textbox", { name: "Name" }).fill("Typed already");
    await page.getByLabel("Driver", { exact: true }).selectOption("1");
    await see("Leave empty for the driver’s model (Papyrus 100 PCL6)");

    await page.getByRole("link", { name: "Upload driver…" }).click();
    await dialog.getByLabel("Driver ZIP").setInputFiles(program);
    await dialog.locator(".notice.bad").waitFor();
    await saveScreenshot(page, "1440-printer-upload");
    await dialog.getByLabel("Driver ZIP").setInputFiles(zipFile("asks.zip", asking));
    await dialog.waitFor({ state: "hidden" });
    await see("Required. Type to search 2 models.");
    assert.equal(await page.getByLabel("Driver", { exact: true }).inputValue(), "2");
    assert.ok(await page.locator("#f-driver_desc").evaluate((field) => field.matches(":focus")));
    await page.getByLabel("Model", { exact: true }).fill("Papyrus B");
    await press("Save printer");
    await see("Saved: Typed already. Your first package is ready.");

    const { driver_id, driver_desc } = app.store.printers.get(1).printer;
    assert.deepEqual([driver_id, driver_desc], [2, "Papyrus B"]);
    assert.deepEqual(problems, []);
  });
});
