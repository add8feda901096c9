import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import {
  openBrowser,
  overflows,
  pasteText,
  saveScreenshot,
  watchProblems,
  wide,
  withoutBrowser,
} from "../../support/browser.ts";
import { makePng } from "../../support/printers/png.ts";
import { startShop } from "../../support/printers/shop.ts";
import { until } from "../../support/until.ts";

/** An element's text on one line. */
async function textOf(locator: Locator): Promise<string> {
  return ((await locator.textContent()) ?? "").replace(/\s+/g, " ").trim();
}

/** The matching elements that are not completely inside the window. */
async function outside(page: Page, selector: string): Promise<string[]> {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  const found: string[] = [];
  for (const element of await page.locator(selector).all()) {
    const box = await element.boundingBox();
    const isInside =
      box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
    if (!isInside) found.push(`${await textOf(element)} ${JSON.stringify(box)}`);
  }
  return found;
}

describe("deploying in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("the page shows all fields without scrolling, copies each value, and offers the logo as soon as there is one", async (t) => {
    const { url } = await startShop(t);
    const browser = await openBrowser(t, { ...wide, acceptDownloads: true });
    await browser.grantPermissions(["clipboard-write"]);
    const page = await browser.newPage();
    const problems = watchProblems(page, url);
    await page.goto(`${url}/printers/1`);

    const before = await textOf(page.locator("#logo-value"));
    await page
      .getByLabel("Picture")
      .setInputFiles({ name: "i.png", mimeType: "image/png", buffer: makePng() });
    await page.getByRole("button", { name: "Upload icon" }).click();
    const link = page.getByRole("link", { name: "Download the logo" });
    await link.waitFor();
    const download = page.waitForEvent("download");
    await link.click();
    const logo = (await download).suggestedFilename();
    await page.goto(`${url}/printers/1`);
    const hidden = await outside(
      page,
      ["a", "button", "dt"].map((name) => `#pane-mdm ${name}:not(.apart *, .publish *)`).join() +
        ", .tabs > label, .deploy-side h2",
    );
    const titles = await page.locator("#pane-mdm h3:not(.apart *, .publish *)").allInnerTexts();
    const rows = await page
      .locator("#pane-mdm dl.values > div:not(.apart *, .publish *)")
      .evaluateAll((found) =>
        found.map((row) =>
          [...row.querySelectorAll("dt, dd")].slice(0, 2).map((cell) => cell.textContent?.trim()),
        ),
      );
    const copied: string[] = [];
    for (const button of await page.locator("#pane-mdm button[data-copy]:visible").all()) {
      await button.click();
      await button.getByText("Copied").waitFor();
      const value = await page.locator(`#${await button.getAttribute("data-copy")}`).textContent();
      await until(async () => value === (await pasteText(page)));
      copied.push(value ?? "");
    }
    await saveScreenshot(page, "1440-deploy");

    assert.deepEqual([before, logo], ["none yet: upload one under Icon", "icon.png"]);
    assert.deepEqual(hidden, []);
    assert.deepEqual(titles, [
      "App information",
      "Program",
      "Requirements",
      "Detection rules",
      "Dependencies",
    ]);
    assert.deepEqual(
      rows.map(([label]) => label),
      [
        ...["Name", "Description", "Publisher", "App Version", "Notes", "Logo"],
        ...["Install command", "Uninstall command", "Installation time required (mins)"],
        ...["Allow available uninstall", "Install behavior", "Device restart behavior", "Return codes"],
        ...["Operating system architecture", "Minimum operating system"],
        ...["Rules format", "Script file", "Run script as 32-bit process on 64-bit clients"],
        ...["Enforce script signature check and run script silently", "Add"],
      ],
    );
    assert.deepEqual(copied.slice(0, 4), [
      "Office (Kunde Müller)",
      "Printer Office of Kunde Müller",
      "Ricoh",
      "1.2.3.4",
    ]);
    assert.match(copied[4] ?? "", /^platen:[0-9a-f]{12}:printer:1 revision:[0-9a-f]{12}$/);
    assert.ok(copied.includes("Determine behavior based on return codes"));
    assert.ok(copied.includes("detect-office.ps1"));
    assert.equal(copied.length, rows.length - 2, "all but the logo and the dependencies");
    assert.deepEqual(problems, []);
  });

  test("downloads that will fail are offered only with the reason, and those that would be refused are not offered", async (t) => {
    const { url, app } = await startShop(t);
    const page = await (await openBrowser(t, wide)).newPage();
    const downloads = page.locator(".deploy a[href*='/packages/'], .deploy a[href*='/scripts/']");

    await page.goto(`${url}/printers/2`);
    const offered = await downloads.filter({ visible: true }).count();
    const reason = await textOf(page.locator(".deploy > .notice"));
    await saveScreenshot(page, "1440-deploy-blocked");
    await page.getByText("Download anyway").click();
    const unfolded = await downloads.filter({ visible: true }).count();
    const refused: [string, number, string | null][] = [];
    for (const id of [3, 4]) {
      await page.goto(`${url}/printers/${id}`);
      const remedy = page.locator(".deploy a.button");
      const text = await textOf(page.locator(".deploy > .notice"));
      refused.push([text, await downloads.count(), await remedy.getAttribute("href")]);
    }
    await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
    await page.goto(`${url}/printers/1`);
    const archive = await textOf(page.locator(".deploy"));

    assert.deepEqual([offered, unfolded], [0, 2]);
    assert.match(reason, /Unsigned: 64-bit Windows will refuse this driver/);
    assert.deepEqual(
      refused.map(([, count, remedy]) => [count, remedy]),
      [
        [0, "/drivers/3"],
        [0, "/printers/4/edit#f-driver_id"],
      ],
    );
    assert.match(refused[0]?.[0] ?? "", /has no driver description/);
    assert.match(refused[1]?.[0] ?? "", /No driver assigned/);
    assert.match(archive, /missing on disk: upload .* again[\s\S]*Upload driver\.zip again/);
    assert.equal(await downloads.count(), 0);
  });

  test("a client's page lists the left out printers with their remedies, then the same section", async (t) => {
    const { url, post } = await startShop(t);
    const page = await (await openBrowser(t, { ...wide, acceptDownloads: true })).newPage();
    const problems = watchProblems(page, url);
    await post("/clients", { name: "Empty" });

    await page.goto(`${url}/clients/1`);
    const out = await page.locator(".deploy .notice li").allInnerTexts();
    await saveScreenshot(page, "1440-client-deploy");
    await page.getByText("What goes in").click();
    const goesIn = await textOf(page.locator(".deploy .names"));
    const name = await textOf(page.locator("#pane-mdm dd").first());
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download detect.ps1" }).first().click();
    await page.getByText("RMM", { exact: true }).click();
    await page.getByText("Level", { exact: true }).click();
    const level = await textOf(page.locator("#pane-rmm details[open]"));
    await page.goto(`${url}/clients/2`);

    assert.equal(out.length, 3);
    assert.match(out.join(), /Warehouse: Unsigned.*Open the driver/);
    assert.equal(goesIn, "Office");
    assert.equal(name, "Printers (Kunde Müller)");
    assert.equal((await download).suggestedFilename(), "detect-kunde-muller.ps1");
    assert.match(level, /Expand-Archive -LiteralPath \.\\kunde-muller\.zip/);
    assert.equal(await page.locator("#deploy").count(), 0);
    assert.deepEqual(problems, []);
  });

  test("a script can be read, and copied over plain HTTP, before it is downloaded", async (t) => {
    const { url, fetch } = await startShop(t);
    const browser = await openBrowser(t, { viewport: { width: 360, height: 740 } });
    await browser.grantPermissions(["clipboard-write"]);
    const page = await browser.newPage();
    await page.goto(`${url}/printers/1`);

    await page.locator("label[for=tab-hand]").click();
    await page.getByRole("link", { name: /Read it.* install-office\.ps1/ }).click();
    const title = await textOf(page.locator("h1"));
    await page.getByRole("button", { name: "Copy" }).click();
    await until(async () => (await pasteText(page)) !== "");
    const copied = await pasteText(page);

    const served = await (await fetch("/printers/1/scripts/install")).text();
    assert.equal(title, "install-office.ps1");
    assert.equal(copied.replaceAll("\r\n", "\n"), served.replace("\ufeff", "").replaceAll("\r\n", "\n"));
    assert.equal(await overflows(page), false);
  });

  test("without JavaScript the tabs work, and buttons without a function are hidden", async (t) => {
    const { url } = await startShop(t);
    const browser = await openBrowser(t, { ...wide, javaScriptEnabled: false });
    const page = await browser.newPage();
    await page.goto(`${url}/clients/1`);

    const visible: string[] = [];
    for (const tab of ["mdm", "rmm", "hand"]) {
      await page.locator(`label[for=tab-${tab}]`).click();
      visible.push((await page.locator(".tab").filter({ visible: true }).getAttribute("id")) ?? "");
    }

    assert.deepEqual(visible, ["pane-mdm", "pane-rmm", "pane-hand"]);
    assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0);
  });
});
