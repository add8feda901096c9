import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { temporaryFolder } from "../../support/app.ts";
import {
  openBrowser,
  openWide,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../../support/browser.ts";
import { withOnePrinter } from "../../support/printers/one-printer.ts";
import { makeTicket } from "../../support/printers/tickets.ts";

const ticket = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });

describe("a PrintTicket in a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a file in UTF-8 or UTF-16 (Windows PowerShell) is read into the field, and saved with the form", async (t) => {
    const { app, url } = await withOnePrinter(t);
    const folder = await temporaryFolder(t);
    const files = [
      ["utf8.xml", Buffer.from(ticket)],
      ["utf16.xml", Buffer.from(`\ufeff${ticket}`, "utf16le")],
    ] as const;
    const page = await openWide(t);
    const problems = watchProblems(page, url);
    await page.goto(`${url}/printers/1/edit`);
    await page.getByText("Preferences", { exact: false }).first().click();
    const read: string[] = [];

    for (const [name, bytes] of files) {
      await writeFile(join(folder, name), bytes);
      await page.locator("#f-print_ticket").fill("<what-was-typed/>");
      await page.getByLabel("PrintTicket from a file").setInputFiles(join(folder, name));
      await page.getByText(`${name} loaded.`).waitFor({ state: "attached" });
      read.push(await page.locator("#f-print_ticket").inputValue());
    }
    await page.getByText("Get a PrintTicket from a PC").click();
    await saveScreenshot(page, "print-ticket");
    const count = await page
      .locator("details", { hasText: "PrintTicket" })
      .locator(".count")
      .first()
      .textContent();
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.waitForURL(/\/printers\/1(\?|$)/);

    assert.equal(read[0], ticket.replaceAll("\r\n", "\n"));
    assert.equal(read[1], read[0]);
    assert.match(app.store.printers.get(1).printer.print_ticket, /JobStaple/);
    assert.match(
      (await page.locator("#printer-settings").textContent()) ?? "",
      /PrintTicket\s*\d+ bytes of XML/,
    );
    assert.equal(count, "1 set");
    assert.deepEqual(problems, []);
  });

  test("without scripts a ticket is pasted, and there is no file field", async (t) => {
    const { app, url } = await withOnePrinter(t);
    const page = await (await openBrowser(t, { javaScriptEnabled: false })).newPage();
    await page.goto(`${url}/printers/1/edit`);
    await page.getByText("Preferences", { exact: false }).first().click();

    await page.locator("#f-print_ticket").fill("<a>");
    const isFileSeen = await page.getByLabel("PrintTicket from a file").isVisible();
    await page.getByRole("button", { name: "Save printer" }).click();
    const refused = await page.locator("#f-print_ticket-problem").textContent();
    await page.locator("#f-print_ticket").fill(ticket);
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.waitForURL(/\/printers\/1(\?|$)/);

    assert.equal(isFileSeen, false);
    assert.match(refused ?? "", /in line 1 of the PrintTicket: unclosed tag: a\./);
    assert.match(app.store.printers.get(1).printer.print_ticket, /JobStaple/);
  });
});
