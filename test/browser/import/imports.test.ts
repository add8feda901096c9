import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  pasteText,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { windowVariants } from "../../support/depth.ts";

const printers = [
  "name;client;address;location;driver;Etage",
  "Office;Contoso;10.0.0.19;Hall;;1",
  "Store;Contoso;10.0.0.2;;;2",
  "Lobby;Tailspin Toys & Söhne Vermögensverwaltungsgesellschaft mbH;10.2.0.4;;KALAMOS Universal PCL;3",
  "مكتب;Tailspin Toys;printer-with-a-long-name.example.local;;;4",
  "Wrong, name;Contoso;10.0.0.300;;;5",
].join("\r\n");

const server = JSON.stringify({
  Printers: [
    { Name: "Office", DriverName: "Papyrus 100 PCL6", PortName: "IP_1", Type: "Local" },
    { Name: "PDF", DriverName: "Microsoft Print To PDF", PortName: "PORTPROMPT:", Type: "Local" },
  ],
  Ports: [{ Name: "IP_1", PrinterHostAddress: "10.0.0.1", Protocol: 1, PortNumber: 9100 }],
  Drivers: [],
});

async function withTwoPrinters(t: TestContext): Promise<TestApp> {
  const service = await startApp(t);
  await service.post("/clients", { name: "Contoso" });
  await service.post("/printers", { name: "Office", client_id: "1", address: "10.0.0.9" });
  await service.post("/printers", { name: "Store", client_id: "1", address: "10.0.0.2" });
  return service;
}

const show = (page: Page) => page.getByRole("button", { name: "Show preview" }).click();

function choose(page: Page, text: string): Promise<void> {
  const file = { name: "printers.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
  return page.getByLabel("File").setInputFiles(file);
}

describe("lists in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a file is previewed and imported, and a refused list is kept", async (t) => {
    const { url, app } = await withTwoPrinters(t);
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    const problems = watchProblems(page, url);

    await page.goto(`${url}/printers`);
    await page.getByRole("link", { name: "Import" }).click();
    await page.getByLabel("Or paste the list").fill("Drucker\nA");
    await show(page);
    await page.locator("#import-problem .problems:focus").waitFor();
    assert.equal(await page.getByLabel("Or paste the list").inputValue(), "Drucker\nA");
    await page.getByLabel("Or paste the list").fill("");
    await choose(page, printers);
    await show(page);
    await page.locator("h2:focus", { hasText: "Preview" }).waitFor();
    assert.match(
      (await page.locator(".marks").textContent()) ?? "",
      /New\s*2\s*Changes\s*1\s*Unchanged\s*1\s*Wrong\s*1/,
    );
    await page.getByText("KALAMOS Universal PCL (1 printer)").waitFor();
    await page.getByRole("button", { name: "Import 3 printers" }).click();
    await page.getByText("Nothing was imported: 1 row is wrong.").waitFor();
    await saveScreenshot(page, "1440-import-refused");
    await page.getByLabel("Leave 1 wrong row out").check();
    await page.getByRole("button", { name: "Import 3 printers" }).click();
    await page.locator("#message .notice:focus").waitFor();

    assert.match(
      (await page.locator("#message").textContent()) ?? "",
      /Imported: 2 new printers, 1 printer changed, 2 new clients, 1 printer unchanged, 1 wrong row left out\./,
    );
    assert.equal(app.store.printers.list().length, 4);
    assert.equal(app.store.printers.get(1).printer.location, "Hall");
    assert.ok(await page.getByRole("button", { name: "Show preview" }).isEnabled());
    assert.deepEqual(problems, []);
  });

  test("a print server’s list is pasted, and one button includes the printers left out", async (t) => {
    const { url, app } = await startApp(t);
    const browser = await openBrowser(t, { viewport: { width: 1440, height: 900 } });
    await browser.grantPermissions(["clipboard-write"]);
    const page = await browser.newPage();
    await page.goto(`${url}/import`);

    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await pasteText(page);
    await page.getByLabel("Or paste the list").fill(server);
    await page.getByLabel("Client", { exact: true }).fill("Tailspin Toys");
    await show(page);
    await page.getByText("1 printer is left out").click();
    await page.getByText("every Windows has it").waitFor();
    await page.getByRole("button", { name: "Include 1 left-out printer" }).click();
    await page.getByRole("button", { name: "Import 2 printers" }).click();
    await page.getByText("Imported: 2 new printers, 1 new client.").waitFor();

    assert.match(copied, /^& \{[\s\S]*Get-Printer @target[\s\S]*\| Set-Clipboard$/);
    assert.deepEqual(
      app.store.printers.list().map(({ printer, client }) => `${client?.name}: ${printer.name}`),
      ["Tailspin Toys: Office", "Tailspin Toys: PDF"],
    );
  });

  test("the link to choose another list keeps the pasted list, also after a refused import", async (t) => {
    const { url, app } = await withTwoPrinters(t);
    const page = await (await openBrowser(t, { viewport: { width: 1440, height: 900 } })).newPage();
    const problems = watchProblems(page, url);
    await page.goto(`${url}/import`);
    const chooseAnother = () => page.getByRole("link", { name: "Choose another list" }).click();
    const pasted = () => page.getByLabel("Or paste the list");

    await pasted().fill(server);
    await page.getByLabel("Client", { exact: true }).fill("Tailspn");
    await show(page);
    await chooseAnother();
    assert.equal(await pasted().inputValue(), server);
    await page.getByLabel("Client", { exact: true }).fill("Tailspin");
    await show(page);
    await chooseAnother();
    await pasted().fill(printers);
    await show(page);
    await page.getByRole("button", { name: "Import 3 printers" }).click();
    await page.getByText("Nothing was imported: 1 row is wrong.").waitFor();
    await chooseAnother();
    assert.equal(await pasted().inputValue(), printers.replaceAll("\r\n", "\n"));
    assert.equal(await page.locator("input[type=file]:focus").count(), 1);
    await pasted().fill(server);
    await show(page);
    await page.getByRole("button", { name: "Import 1 printer" }).click();
    await page.getByText("Imported: 1 new printer, 1 new client, 1 printer left out.").waitFor();

    assert.deepEqual(
      app.store.clients.list().map(({ name }) => name),
      ["Contoso", "Tailspin"],
    );
    assert.deepEqual(problems, []);
  });

  test("the import works without scripts", async (t) => {
    const { url, app } = await withTwoPrinters(t);
    const browser = await openBrowser(t, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const page = await browser.newPage();

    await page.goto(`${url}/import`);
    assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0, "no button that does nothing");
    await page.getByLabel("Or paste the list").fill("Drucker\nA");
    await show(page);
    await page.getByText("The first line must contain the column").waitFor();
    assert.equal(await page.getByLabel("Or paste the list").inputValue(), "Drucker\nA");
    await page.getByLabel("Or paste the list").fill(server);
    await page.getByLabel("Client", { exact: true }).fill("contoso");
    await show(page);
    await page.getByRole("button", { name: "Include 1 left-out printer" }).click();
    assert.match((await page.locator(".marks").textContent()) ?? "", /New\s*1\s*Changes\s*1/);
    await saveScreenshot(page, "360-preview-without-scripts");
    await page.getByRole("button", { name: "Import 2 printers" }).click();

    await page.getByText("Imported: 1 new printer, 1 printer changed.").waitFor();
    assert.match(page.url(), /\/import\?imported=/);
    assert.equal(app.store.printers.list().length, 3);
  });

  test("both pages of an import are usable, light and dark, wide and at 320 px", async (t) => {
    const { url } = await withTwoPrinters(t);
    const found: string[] = [];

    for (const { colorScheme, width } of windowVariants([1440, 320])) {
      const options = { colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" } as const;
      const page = await (await openBrowser(t, options)).newPage();
      const problems = watchProblems(page, url);
      const inspect = async (name: string) => {
        const where = `${colorScheme} ${width} ${name}`;
        for (const problem of await accessibilityProblems(page)) found.push(`${where}: ${problem}`);
        if (await overflows(page)) found.push(`${where}: scrolls sideways`);
        await saveScreenshot(page, `${width}-${colorScheme}-${name}`);
      };
      await page.goto(`${url}/import`);
      await inspect("import");
      await choose(page, printers);
      await show(page);
      await page.getByText("1 printer is unchanged").click();
      await inspect("import-preview");
      found.push(...problems);
    }

    assert.deepEqual(found, []);
  });
});
