import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  openWide,
  overflows,
  pasteText,
  saveScreenshot,
  watchProblems,
  wide,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, windowVariants } from "../support/depth.ts";
import { startFilled } from "../support/filled.ts";

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

async function fill({ post }: TestApp): Promise<void> {
  await post("/clients", { name: "Contoso" });
  await post("/printers", { name: "Office", client_id: "1", address: "10.0.0.9" });
  await post("/printers", { name: "Store", client_id: "1", address: "10.0.0.2" });
}
const withTwoPrinters = (t: TestContext) => startFilled(t, fill);

const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
const show = (page: Page) => press(page, "Show preview");
const pasted = (page: Page) => page.getByLabel("Or paste the list");
const client = (page: Page) => page.getByLabel("Client", { exact: true });
const chooseAnother = (page: Page) => page.getByRole("link", { name: "Choose another list" }).click();
const textOf = async (page: Page, selector: string) => (await page.locator(selector).textContent()) ?? "";

function choose(page: Page, text: string): Promise<void> {
  const file = { name: "printers.csv", mimeType: "text/csv", buffer: Buffer.from(text) };
  return page.getByLabel("File").setInputFiles(file);
}

describe("lists in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a file is previewed and imported, and a refused list is kept", async (t) => {
    const { url, app } = await withTwoPrinters(t);
    const page = await openWide(t);
    const problems = watchProblems(page, url);

    await page.goto(`${url}/printers`);
    await page.getByRole("link", { name: "Import" }).click();
    await pasted(page).fill("Drucker\nA");
    await show(page);
    await page.locator("#import-problem .problems:focus").waitFor();
    assert.equal(await pasted(page).inputValue(), "Drucker\nA");
    await pasted(page).fill("");
    await choose(page, printers);
    await show(page);
    await page.locator("h2:focus", { hasText: "Preview" }).waitFor();
    assert.match(await textOf(page, ".marks"), /New\s*2\s*Changes\s*1\s*Unchanged\s*1\s*Wrong\s*1/);
    await page.getByText("KALAMOS Universal PCL (1 printer)").waitFor();
    assert.equal(
      await page.getByRole("link", { name: "take it from a PC" }).getAttribute("href"),
      "/help/drivers#take-a-driver-from-a-pc",
    );
    await press(page, "Import 3 printers");
    await page.getByText("Nothing was imported: 1 row is wrong.").waitFor();
    await saveScreenshot(page, "1440-import-refused");
    await page.getByLabel("Leave 1 wrong row out").check();
    await press(page, "Import 3 printers");
    await page.locator("#message .notice:focus").waitFor();

    assert.match(
      await textOf(page, "#message"),
      /Imported: 2 new printers, 1 printer changed, 2 new clients, 1 printer unchanged, 1 wrong row left out\./,
    );
    assert.equal(app.store.printers.list().length, 4);
    assert.equal(app.store.printers.get(1).printer.location, "Hall");
    assert.ok(await page.getByRole("button", { name: "Show preview" }).isEnabled());
    assert.deepEqual(problems, []);
  });

  deepTest("a copied command’s list is pasted, and one button includes the printers left out", async (t) => {
    const { url, app } = await startApp(t);
    const browser = await openBrowser(t, wide);
    await browser.grantPermissions(["clipboard-write"]);
    const page = await browser.newPage();
    await page.goto(`${url}/import`);

    await press(page, "Copy");
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const command = await pasteText(page);
    await pasted(page).fill(server);
    await client(page).fill("Tailspin Toys");
    await show(page);
    await page.getByText("1 printer is left out").click();
    await page.getByText("every Windows has it").waitFor();
    await press(page, "Include 1 left-out printer");
    await press(page, "Import 2 printers");
    await page.getByText("Imported: 2 new printers, 1 new client.").waitFor();

    assert.match(command, /^& \{[\s\S]*Get-Printer @target[\s\S]*\| Set-Clipboard$/);
    assert.deepEqual(
      app.store.printers.list().map((each) => `${each.client?.name}: ${each.printer.name}`),
      ["Tailspin Toys: Office", "Tailspin Toys: PDF"],
    );
  });

  deepTest(
    "the link to choose another list keeps the list, also after a refused import, and another client is used",
    async (t) => {
      const { url, app } = await withTwoPrinters(t);
      const page = await openWide(t);
      const problems = watchProblems(page, url);
      await page.goto(`${url}/import`);

      await pasted(page).fill(printers);
      await show(page);
      await press(page, "Import 3 printers");
      await page.getByText("Nothing was imported: 1 row is wrong.").waitFor();
      await chooseAnother(page);
      assert.equal(await pasted(page).inputValue(), printers.replaceAll("\r\n", "\n"));
      assert.equal(await page.locator("input[type=file]:focus").count(), 1);
      await pasted(page).fill(server);
      await client(page).fill("Tailspn");
      await show(page);
      await chooseAnother(page);
      assert.equal(await pasted(page).inputValue(), server);
      await client(page).fill("Tailspin");
      await show(page);
      await press(page, "Import 1 printer");
      await page.getByText("Imported: 1 new printer, 1 new client, 1 printer left out.").waitFor();

      const clients = app.store.clients.list().map(({ name }) => name);
      assert.deepEqual(clients, ["Contoso", "Tailspin"]);
      assert.deepEqual(problems, []);
    },
  );

  deepTest(
    "the import works without scripts, keeps a refused list, and has no button that does nothing",
    async (t) => {
      const { url, app } = await withTwoPrinters(t);
      const page = await openWide(t, { javaScriptEnabled: false, viewport: { width: 360, height: 740 } });

      await page.goto(`${url}/import`);
      assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0);
      await pasted(page).fill("Drucker\nA");
      await show(page);
      await page.getByText("The first line must contain the column").waitFor();
      assert.equal(await pasted(page).inputValue(), "Drucker\nA");
      await pasted(page).fill(server);
      await client(page).fill("contoso");
      await show(page);
      await press(page, "Include 1 left-out printer");
      assert.match(await textOf(page, ".marks"), /New\s*1\s*Changes\s*1/);
      await saveScreenshot(page, "360-preview-without-scripts");
      await press(page, "Import 2 printers");
      await page.getByText("Imported: 1 new printer, 1 printer changed.").waitFor();

      assert.match(page.url(), /\/import\?imported=/);
      assert.equal(app.store.printers.list().length, 3);
    },
  );

  for (const { colorScheme, width } of windowVariants([1440, 320])) {
    deepTest(`a preview is usable in ${colorScheme} at ${width} px`, async (t) => {
      const { url } = await withTwoPrinters(t);
      const options = { colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" } as const;
      const page = await openWide(t, options);
      const problems = watchProblems(page, url);

      await page.goto(`${url}/import`);
      await choose(page, printers);
      await show(page);
      await page.getByText("1 printer is unchanged").click();

      assert.deepEqual(await accessibilityProblems(page), []);
      assert.equal(await overflows(page), false);
      await saveScreenshot(page, `${width}-${colorScheme}-import-preview`);
      assert.deepEqual(problems, []);
    });
  }
});
