import assert from "node:assert/strict";
import { startApp, type TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest } from "../support/depth.ts";

/** Fills the log with all kinds of entries: fields, parts, counts, long names and texts, warnings. */
async function fill(app: TestApp): Promise<void> {
  const { audit } = app.app.store;
  const name = `Contoso ${"Accounting-and-Procurement".repeat(4)}`;
  await app.post("/clients", { name, notes: "x".repeat(600), subnets: "10.20.30.0/24" });
  await app.addPrinter({ client_id: "1" });
  await app.post("/printers/1", { name: "Hall", address: "10.0.0.10", driver_id: "1" });
  await (await app.fetch("/printers/1/packages/rmm", { headers: { range: "bytes=0-99" } })).arrayBuffer();
  await (await app.fetch("/printers/1/scripts/install")).text();
  const actor = { who: "nobody", from: "2001:db8:85a3:1234:5678:8a2e:370:7334" };
  const what = `GET /printers/1/scripts/install: This link is not valid: it was changed. ${"y".repeat(200)}`;
  for (let i = 0; i < 3; i++) audit.record("refused", { what, countedAs: "GET /printers/:id", actor });
  audit.record("sign-in-failed", { what: "wrong password", actor: { who: "admin", from: "192.0.2.1" } });
  audit.record("deleted-for-good", { record: { kind: "client", id: 7, name: "Fabrikam" } });
  audit.record("backup-restored", {
    what: "the state of 2026-11-21T12:00:00.000Z, from a backup made 2026-11-21T13:00:00.000Z, by platen restore",
  });
  await audit.flush();
}

deepTest(
  "the audit log's page is usable at 360 px, in dark mode and without JavaScript",
  {
    skip: withoutBrowser,
  },
  async (t) => {
    const app = await startApp(t);
    await fill(app);
    const browser = await openBrowser(t, {
      viewport: { width: 360, height: 740 },
      colorScheme: "dark",
      javaScriptEnabled: true,
    });
    const plain = await openBrowser(t, { viewport: { width: 360, height: 740 }, javaScriptEnabled: false });
    const [page, bare] = [await browser.newPage(), await plain.newPage()];
    const problems = watchProblems(page, app.url);

    await page.goto(`${app.url}/audit`);
    await saveScreenshot(page, "audit-narrow-dark");
    const over = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    const accessibility = await accessibilityProblems(page);
    await bare.goto(`${app.url}/audit`);
    await saveScreenshot(bare, "audit-narrow-without-script");
    await bare.getByLabel("Event").selectOption({ label: "Refused" });
    await bare.getByLabel("Search", { exact: true }).fill("link");
    await bare.getByRole("button", { name: "Filter" }).press("Enter");
    const heads = await bare.locator(".audit-head").allInnerTexts();

    assert.ok(Number(over) <= 0, `${over} px too wide`);
    assert.deepEqual(accessibility, []);
    assert.deepEqual(problems, []);
    assert.equal(heads.length, 1);
    assert.match(heads[0] ?? "", /^Refused GET \/printers\/1\/scripts\/install: This link is not valid/);
    await page.setViewportSize({ width: 1200, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await saveScreenshot(page, "audit-wide");
  },
);
