import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, temporaryFolder } from "../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  picture,
  withoutBrowser,
} from "../support/browser.ts";
import { driverZip, printerInf } from "../support/driver-zip.ts";
import { makePng } from "../support/png.ts";

const models = Array.from({ length: 60 }, (_, i) => `Papyrus ${100 + i} PCL6`);

async function driverFile(t: TestContext): Promise<string> {
  const path = join(await temporaryFolder(t), "papyrus.zip");
  await writeFile(path, driverZip({ models, extra: [{ name: "readme.txt", bytes: "x".repeat(3000) }] }));
  return path;
}

/** Everything that a page must never do: errors on the console, requests to elsewhere. */
function watch(page: Page, url: string): string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) problems.push(`request to ${request.url()}`);
  });
  return problems;
}

describe("an operator in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("goes from an empty service to a package, with scripts", async (t) => {
    const { url, app } = await startApp(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 }, acceptDownloads: true });
    const page = await browser.newPage();
    const problems = watch(page, url);

    await page.goto(url);
    await picture(page, "1440-dashboard-empty");
    await page.getByRole("link", { name: "Name a client" }).click();
    await page.getByLabel("Name").fill("Kunde Müller");
    await page.getByRole("button", { name: "Save client" }).click();
    await page.getByText("The client is saved.").waitFor();
    await page.getByRole("link", { name: "Kunde Müller" }).waitFor();
    assert.equal(await page.getByLabel("Name").inputValue(), "", "the form is fresh again");
    await page.getByLabel("Name").fill("KUNDE müller");
    await page.getByRole("button", { name: "Save client" }).click();
    await page.getByRole("alert").waitFor();
    assert.equal(await page.getByLabel("Name").inputValue(), "KUNDE müller", "what was typed is kept");
    await page.locator(".problems:focus").waitFor();
    await picture(page, "1440-client-refused");

    await page.goto(`${url}/drivers`);
    await page.getByLabel("Driver ZIP").setInputFiles(await driverFile(t));
    await page.getByRole("button", { name: "Upload driver" }).click();
    await page.getByText("is uploaded").waitFor();
    assert.ok(await page.getByText(/1 unused file of 4/).isVisible());
    await picture(page, "1440-drivers");
    await page.getByRole("button", { name: "New printer" }).click();

    await page.getByRole("textbox", { name: "Name" }).fill("Büro “1”");
    await page.getByLabel("Client").selectOption("Kunde Müller");
    await page.getByLabel("Address").fill("10.0.0.9");
    assert.equal(
      await page.getByLabel("Port", { exact: true }).inputValue(),
      "IP_10.0.0.9",
      "the port follows the address",
    );
    await page.getByLabel("Port", { exact: true }).fill("OWN");
    await page.getByLabel("Address").fill("10.0.0.10");
    assert.equal(await page.getByLabel("Port", { exact: true }).inputValue(), "OWN", "a typed port is kept");
    await page.getByLabel("Model").fill("papyrus 15");
    await page.locator("#models option").nth(9).waitFor({ state: "attached" });
    await page.locator('#models option[value="Papyrus 100 PCL6"]').waitFor({ state: "detached" });
    assert.equal(await page.locator("#models option").count(), 11, "150 to 159, and 115");
    await page.getByLabel("Model").fill("Papyrus 150 PCL6");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("The printer is saved.").waitFor();
    await picture(page, "1440-printers");
    await page.getByRole("link", { name: "Büro “1”", exact: true }).click();

    await browser.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.match(String(await page.evaluate("navigator.clipboard.readText()")), /-File \.\\install\.ps1$/);
    await page
      .getByLabel("PNG file")
      .setInputFiles({ name: "icon.png", mimeType: "image/png", buffer: makePng(100, 100) });
    await page.getByRole("button", { name: "Upload icon" }).click();
    await page.locator("#icon-status").getByText("100 × 100 pixels").waitFor();
    await page
      .getByLabel("PNG file")
      .setInputFiles({ name: "icon.png", mimeType: "image/png", buffer: makePng() });
    await page.getByRole("button", { name: "Upload icon" }).click();
    await page.getByAltText("The printer’s icon").waitFor();
    await picture(page, "1440-printer");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download .intunewin" }).click();
    assert.equal((await download).suggestedFilename(), "kunde-muller-buro-1.intunewin");
    await page.getByText("By hand").click();
    assert.ok(await page.getByRole("link", { name: "uninstall.ps1" }).isVisible());

    await page.goto(`${url}/drivers/1`);
    await page.getByLabel("Search the models").fill("159");
    await page.getByLabel("Papyrus 159 PCL6").waitFor();
    await page.getByLabel("Papyrus 158 PCL6").waitFor({ state: "detached" });
    assert.equal(await page.locator(".models li").count(), 2, "the chosen one is always among them");
    await picture(page, "1440-driver");
    await page.goto(`${url}/printers`);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: /Delete/ }).click();
    await page.getByText("The printer is deleted.").waitFor();

    assert.equal(app.store.printers.list().length, 0);
    assert.deepEqual(problems, []);
  });

  test("goes the same way without scripts", async (t) => {
    const { url, app } = await startApp(t);
    const browser = await openBrowser(t, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const page = await browser.newPage();

    await page.goto(`${url}/clients`);
    await page.getByLabel("Name").fill("Alpha");
    await page.getByRole("button", { name: "Save client" }).click();
    assert.equal(page.url(), `${url}/clients`);
    await page.goto(`${url}/drivers`);
    await page.getByLabel("Driver ZIP").setInputFiles(await driverFile(t));
    await page.getByRole("button", { name: "Upload driver" }).click();
    assert.equal(page.url(), `${url}/drivers/1`);
    await picture(page, "360-driver-without-scripts");
    await page.getByRole("link", { name: "New printer with it" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("A, B");
    await page.getByLabel("Address").fill("10.0.0.9");
    await page.getByRole("button", { name: "Save printer" }).click();
    assert.ok(await page.getByText("cannot contain “,”").first().isVisible());
    assert.equal(await page.getByLabel("Address").inputValue(), "10.0.0.9");
    await page.getByRole("textbox", { name: "Name" }).fill("Office");
    await page.getByRole("button", { name: "Save printer" }).click();
    assert.equal(page.url(), `${url}/printers/1`);
    await picture(page, "360-printer-without-scripts");
    await page.locator("label[for=tab-rmm]").click();
    assert.ok(await page.getByRole("link", { name: "Download ZIP" }).isVisible());
    assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0, "no button that does nothing");
    await page
      .getByLabel("PNG file")
      .setInputFiles({ name: "i.png", mimeType: "image/png", buffer: makePng() });
    await page.getByRole("button", { name: "Upload icon" }).click();
    assert.ok(await page.getByAltText("The printer’s icon").isVisible());
    await page.getByRole("link", { name: "Edit printer" }).click();
    await page.getByLabel("Address").fill("10.0.0.10");
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.getByText("Delete printer…").click();
    await page.getByRole("button", { name: "Delete printer" }).click();

    assert.equal(page.url(), `${url}/printers`);
    assert.equal(app.store.printers.list().length, 0);
  });

  test("finds every page usable, light and dark, wide and at 360 px", async (t) => {
    const { url, post, addDriver, addPrinter } = await startApp(t);
    await post("/clients", {
      name: "Kunde Müller & Söhne Vermögensverwaltungsgesellschaft mbH",
      notes: "Frau Özdemir, 2nd floor",
    });
    const clean = await addDriver(driverZip({ models }));
    await addDriver(driverZip({ catalog: null, version: "2.0.0.0", models: ["Unsigned 1"] }));
    await addDriver(
      driverZip({
        models: ["Incomplete <b>1</b>"],
        version: "3.0.0.0",
        extra: [{ name: "sub/other.inf", bytes: printerInf({ files: ["gone.dll"] }) }],
      }),
    );
    const many = Array.from({ length: 12 }, (_, i) => ({
      name: `inf${i}/x${i}.inf`,
      bytes: printerInf({ models: [`Many ${i}`], files: i % 2 ? ["gone.dll"] : [], catalog: null }),
    }));
    await addDriver(driverZip({ models: ["Many A", "Many A (v2.0.1)"], version: "4.0.0.0", extra: many }));
    for (const [i, name] of ["Office", "Warehouse 2nd floor", `Very-long-name-${"x".repeat(60)}`].entries()) {
      await addPrinter({
        name,
        client_id: i < 2 ? "1" : "",
        driver_id: String(clean),
        address: `10.0.0.${i + 1}`,
      });
    }
    await post("/printers", { name: "Without driver", address: "fe80::1234:5678:9abc:def0" });
    const pages = [
      "/",
      "/printers",
      "/printers/1",
      "/printers/1/edit",
      "/clients",
      "/clients/1",
      "/drivers",
      "/drivers/1",
      "/drivers/2",
      "/drivers/3",
      "/drivers/4",
      "/packages",
      "/nothing",
    ];
    const found: string[] = [];

    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1440, 360]) {
        const browser = await openBrowser(t, {
          colorScheme,
          viewport: { width, height: 800 },
          reducedMotion: "reduce",
        });
        const page = await browser.newPage();
        const problems = watch(page, url);
        for (const path of pages) {
          await page.goto(url + path);
          const where = `${colorScheme} ${width} ${path}`;
          for (const problem of await accessibilityProblems(page)) found.push(`${where}: ${problem}`);
          if (await overflows(page)) found.push(`${where}: scrolls sideways`);
          await picture(page, `${width}-${colorScheme}${path.replaceAll("/", "-")}`);
        }
        found.push(...problems);
      }
    }

    assert.deepEqual(found, []);
  });

  test("reaches everything with the keyboard, and sees where the focus is", async (t) => {
    const { url, addPrinter } = await startApp(t);
    await addPrinter();
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    await page.goto(`${url}/printers/1`);

    const reached = new Set<string>();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      const [label, outline] = (await page.evaluate(`(() => {
        const element = document.activeElement;
        const label = element.labels?.[0]?.textContent ?? element.textContent ?? "";
        const shown = element.matches(".tabs > input") ? element.nextElementSibling : element;
        return element === document.body ? ["Skip to the content Platen", ""] : [label.trim().replace(/\\s+/g, " "), getComputedStyle(shown).outlineStyle];
      })()`)) as [string, string];
      reached.add(label);
      if (!label.startsWith("Skip to the content Platen")) assert.notEqual(outline, "none", label);
    }

    for (const label of [
      "Skip to the content",
      "Printers",
      "Edit printer",
      "Download .intunewin",
      "Copy",
      "Intune",
      "Upload icon",
      "Delete printer…",
    ]) {
      assert.ok(reached.has(label), `${label} is not reached: ${[...reached].join(" | ")}`);
    }
  });

  test("sees an upload's progress and can cancel it", async (t) => {
    const { url, app } = await startApp(t);
    const browser = await openBrowser(t);
    const page = await browser.newPage();
    await page.goto(`${url}/drivers`);
    const session = await browser.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 400_000,
    });
    const path = join(await temporaryFolder(t), "large.zip");
    await writeFile(path, Buffer.alloc(8_000_000));

    await page.getByLabel("Driver ZIP").setInputFiles(path);
    await page.getByRole("button", { name: "Upload driver" }).click();
    await page.getByRole("button", { name: /Uploading \d+ %/ }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("The upload is cancelled.").waitFor();

    assert.ok(await page.getByRole("button", { name: "Upload driver" }).isEnabled());
    assert.equal(app.store.drivers.count(), 0);
  });
});
