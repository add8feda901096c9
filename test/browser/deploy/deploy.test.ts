import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Locator } from "playwright-core";
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

describe("deploying in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a printer’s page has three equal cards, and one click shows and copies the fields for Intune", async (t) => {
    const { url } = await startShop(t);
    const browser = await openBrowser(t, { ...wide, acceptDownloads: true });
    await browser.grantPermissions(["clipboard-write"]);
    const page = await browser.newPage();
    const problems = watchProblems(page, url);
    await page.goto(`${url}/printers/1`);

    const cards = page.locator(".card");
    const titles = await cards.locator("h3").allInnerTexts();
    const boxes = await Promise.all((await cards.all()).map((card) => card.boundingBox()));
    const buttons = await Promise.all(
      (await cards.all()).map((card) => card.locator("a.button:visible").allInnerTexts()),
    );
    await page.getByText("Fields for Intune").click();
    const groups = await page.locator("#card-mdm h4:not(.apart *)").allInnerTexts();
    const rows = await page
      .locator("#card-mdm dl.values > div:not(.apart *)")
      .evaluateAll((found) =>
        found.map((row) =>
          [...row.querySelectorAll("dt, dd")].slice(0, 2).map((cell) => cell.textContent?.trim()),
        ),
      );
    const copied: string[] = [];
    for (const button of await page.locator("#card-mdm button[data-copy]:visible").all()) {
      await button.click();
      await button.getByText("Copied").waitFor();
      const value = await page.locator(`#${await button.getAttribute("data-copy")}`).textContent();
      await until(async () => value === (await pasteText(page)));
      copied.push(value ?? "");
    }
    await saveScreenshot(page, "1440-deploy");

    assert.deepEqual(titles, ["Publish to Intune", "Intune by hand", "RMM and scripts"]);
    assert.equal(
      new Set(
        boxes.map((box) => [box?.y, box?.width, box?.height].map((side) => Math.round(side ?? 0)).join()),
      ).size,
      1,
    );
    assert.deepEqual(buttons, [["Download publish.ps1"], ["Download .intunewin"], ["Download ZIP"]]);
    assert.deepEqual(groups, [
      ...["App information", "Program", "Requirements", "Detection rules"],
      ...["Dependencies", "Supersedence", "Assignments"],
    ]);
    assert.deepEqual(
      rows.map(([label]) => label),
      [
        ...["Name", "Description", "Publisher", "App Version", "Notes", "Logo"],
        ...["Install command", "Uninstall command", "Installation time required (mins)"],
        ...["Allow available uninstall", "Install behavior", "Device restart behavior", "Return codes"],
        ...["Operating system architecture", "Minimum operating system"],
        ...["Rules format", "Script file", "Run script as 32-bit process on 64-bit clients"],
        ...["Enforce script signature check and run script silently", "Add", "Add"],
        ...["Required", "Available for enrolled devices", "Uninstall"],
        ...["End user notifications", "Delivery optimization priority"],
      ],
    );
    const [all = "", ...single] = copied;
    assert.match(
      all,
      /^Name: Office \(Kunde Müller\)\nDescription: Printer Office of Kunde Müller\nPublisher: Ricoh\n/,
    );
    assert.match(all, /\nInstall command: powershell\.exe .*-File \.\\install\.ps1\n/);
    assert.match(single[4] ?? "", /^platen:[0-9a-f]{12}:printer:1 revision:[0-9a-f]{12}$/);
    assert.ok(single.includes("detect-office.ps1"));
    assert.equal(single.length, all.split("\n").length, "one button for each value");
    assert.deepEqual(problems, []);
  });

  test("the logo is offered as soon as there is an icon", async (t) => {
    const { url } = await startShop(t);
    const page = await (await openBrowser(t, { ...wide, acceptDownloads: true })).newPage();
    await page.goto(`${url}/printers/1`);
    const before = await textOf(page.locator("#logo-value"));

    await page
      .getByLabel("Icon file")
      .setInputFiles({ name: "i.png", mimeType: "image/png", buffer: makePng() });
    await page.getByRole("button", { name: "Upload icon" }).click();
    await page.getByText("Fields for Intune").click();
    const link = page.getByRole("link", { name: "Download the logo" });
    await link.waitFor();
    const download = page.waitForEvent("download");
    await link.click();

    assert.equal(before, "none yet: upload one under Icon");
    assert.equal((await download).suggestedFilename(), "icon.png");
  });

  test("the guide of the RMM that was opened last stands on the card of every printer", async (t) => {
    const { url } = await startShop(t);
    const page = await (await openBrowser(t, wide)).newPage();
    const problems = watchProblems(page, url);
    await page.goto(`${url}/printers/1`);
    const before = await page.locator("#card-rmm > [data-guide]").count();

    await page.getByText("Guides, commands and scripts").click();
    await page.getByText("Tactical RMM", { exact: true }).click();
    await page.goto(`${url}/clients/1`);

    assert.equal(before, 0);
    assert.deepEqual(await page.locator("#card-rmm > [data-guide] > summary").allInnerTexts(), [
      "Tactical RMM",
    ]);
    assert.equal(await page.locator("#card-rmm > .more:last-child [data-guide='Tactical RMM']").count(), 0);
    assert.deepEqual(problems, []);
  });

  test("downloads that will fail are offered only with the reason, and those that would be refused are not offered", async (t) => {
    const { url, app } = await startShop(t);
    const page = await (await openBrowser(t, wide)).newPage();
    const downloads = page.locator(".deploy a[href*='/packages/'], .deploy a[href*='/scripts/']");

    await page.goto(`${url}/printers/2`);
    const offered = await downloads.filter({ visible: true }).count();
    const reason = await textOf(page.locator(".state-line"));
    await saveScreenshot(page, "1440-deploy-blocked");
    await page.getByText("Download anyway").click();
    const unfolded = await downloads.filter({ visible: true }).count();
    const refused: [string, number, string | null][] = [];
    for (const id of [3, 4]) {
      await page.goto(`${url}/printers/${id}`);
      const remedy = page.locator(".state-line a.button");
      const text = await textOf(page.locator(".state-line"));
      refused.push([text, await downloads.count(), await remedy.getAttribute("href")]);
    }
    await app.store.blobs.remove("drivers", app.store.drivers.get(1).sha256);
    await page.goto(`${url}/printers/1`);
    const archive = await textOf(page.locator(".state-line"));

    assert.deepEqual([offered, unfolded], [0, 3]);
    assert.match(reason, /Unsigned: 64-bit Windows will refuse this driver/);
    assert.deepEqual(
      refused.map(([, count, remedy]) => [count, remedy]),
      [
        [0, "/drivers/3"],
        [0, "/printers/4/edit#f-driver_id"],
      ],
    );
    assert.match(refused[0]?.[0] ?? "", /has no model/);
    assert.match(refused[1]?.[0] ?? "", /No driver assigned/);
    assert.match(archive, /missing on the server\. Upload driver\.zip again\.\s*Upload driver/);
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
    await page.getByText("Fields for Intune").click();
    const name = await textOf(page.locator("#card-mdm dd").first());
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download detect.ps1" }).first().click();
    await page.getByText("Guides, commands and scripts").click();
    await page.getByText("Level", { exact: true }).click();
    const level = await textOf(page.locator("#card-rmm [data-guide][open]"));
    await page.goto(`${url}/clients/2`);

    assert.equal(out.length, 3);
    assert.match(out.join(), /Warehouse: Unsigned.*Open the driver/);
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

    await page.getByText("Guides, commands and scripts").click();
    await page.getByRole("link", { name: /View script.* install-office\.ps1/ }).click();
    const title = await textOf(page.locator("h1"));
    await page.getByRole("button", { name: "Copy" }).click();
    await until(async () => (await pasteText(page)) !== "");
    const copied = await pasteText(page);

    const served = await (await fetch("/printers/1/scripts/install")).text();
    assert.equal(title, "install-office.ps1");
    assert.equal(copied.replaceAll("\r\n", "\n"), served.replace("\ufeff", "").replaceAll("\r\n", "\n"));
    assert.equal(await overflows(page), false);
  });

  test("without JavaScript the cards unfold, and buttons without a function are hidden", async (t) => {
    const { url } = await startShop(t);
    const page = await (await openBrowser(t, { ...wide, javaScriptEnabled: false })).newPage();
    await page.goto(`${url}/clients/1`);

    for (const title of ["Permission and parameters", "Fields for Intune", "Guides, commands and scripts"])
      await page.getByText(title).click();

    await page.getByText("-WhatIf").waitFor();
    await page.getByText("Installation time required (mins)", { exact: true }).waitFor();
    await page.getByText("URL of the install script").waitFor();
    assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0);
  });

  test("a driver’s page has tabs, of which the address can name one", async (t) => {
    const { url } = await startShop(t);
    const page = await (await openBrowser(t, wide)).newPage();
    const problems = watchProblems(page, url);
    const visible = () => page.locator(".tab:visible > h2").allTextContents();

    await page.goto(`${url}/drivers/1`);
    const seen = [await visible()];
    for (const name of ["Printers", "Deploy", "INF and model"]) {
      await page.locator(".tabs > label", { hasText: name }).click();
      seen.push(await visible());
    }
    await page.goto(`${url}/drivers/1?tab=deploy`);
    seen.push(await visible());
    await page.locator("#tab-deploy").press("ArrowRight");
    seen.push(await visible());

    assert.deepEqual(seen.flat(), [
      "What it is",
      "Printers",
      "Deploy",
      "INF and model",
      "Deploy",
      "INF and model",
    ]);
    assert.deepEqual(problems, []);
  });
});
