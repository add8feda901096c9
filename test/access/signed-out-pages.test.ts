import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { adminPassword, signInAdmin, startClosed } from "../support/access/people.ts";
import { openWide, saveScreenshot, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

async function signIn(page: Page): Promise<void> {
  await page.getByLabel("Name", { exact: true }).fill("admin");
  await page.getByLabel("Password", { exact: true }).fill(adminPassword);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Opens a page of a service with one printer, signed in. */
async function openSignedIn(t: TestContext, path: string, options: BrowserContextOptions = {}) {
  const app = await startClosed(t);
  const cookie = await signInAdmin(app);
  await app.post("/printers", { name: "Office", address: "10.0.0.1" }, { cookie });
  const page = await openWide(t, options);
  await page.context().addCookies(
    cookie.split("; ").map((part) => {
      const [name = "", ...value] = part.split("=");
      return { name, value: value.join("="), url: app.url };
    }),
  );
  await page.goto(app.url + path);
  return { app, page };
}

/** Signs in by the message's link, which opens another tab. */
async function signInBeside(page: Page): Promise<void> {
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name: "Sign in (new tab)" }).click();
  const beside = await opened;
  await signIn(beside);
  await beside.close();
}

const notSaved = /Your session ended\. Nothing was saved/;

describe("a form whose sender was signed out meanwhile", { skip: withoutBrowser, timeout: 300_000 }, () => {
  test("a form sent by a page script keeps what was typed, explains that, and saves after signing in in another tab", async (t) => {
    const { app, page } = await openSignedIn(t, "/clients");
    const problems = watchProblems(page, app.url);
    await page.getByLabel("Name", { exact: false }).first().fill("Kunde");
    await page.context().clearCookies();

    await page.getByRole("button", { name: "Save client" }).click();
    const alertText = await page.locator("#message [role=alert]").textContent();
    await saveScreenshot(page, "signed-out-script");
    const before = app.app.store.clients.count();
    await signInBeside(page);
    await page.getByRole("button", { name: "Save client" }).click();
    await page.locator("#message [role=status]").waitFor();

    assert.match(alertText ?? "", notSaved);
    assert.deepEqual([before, app.app.store.clients.names()[0]?.name], [0, "Kunde"]);
    assert.deepEqual(problems, []);
  });

  deepTest("a plain form keeps what was typed, too", async (t) => {
    const { app, page } = await openSignedIn(t, "/printers/1/edit");
    const problems = watchProblems(page, app.url);
    await page.getByLabel("Address", { exact: false }).first().fill("10.0.0.7");
    await page.context().clearCookies();

    await page.getByRole("button", { name: "Save printer" }).click();
    const alertText = await page.locator("#message [role=alert]").textContent();
    const before = app.app.store.printers.get(1).printer.address;
    await signInBeside(page);
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.waitForURL(/\/printers\/1(?!\/edit)/);

    assert.match(alertText ?? "", notSaved);
    assert.deepEqual([before, app.app.store.printers.get(1).printer.address], ["10.0.0.1", "10.0.0.7"]);
    assert.deepEqual(problems, []);
  });

  deepTest("without scripts, the answer tells what to do, and going back shows what was typed", async (t) => {
    const { app, page } = await openSignedIn(t, "/printers/1/edit", { javaScriptEnabled: false });
    await page.getByLabel("Address", { exact: false }).first().fill("10.0.0.7");
    await page.context().clearCookies();

    await page.getByRole("button", { name: "Save printer" }).click();
    const alertText = await page.locator("main").textContent();
    await saveScreenshot(page, "signed-out-page");
    await signInBeside(page);
    await page.goBack();
    const typed = await page.getByLabel("Address", { exact: false }).first().inputValue();
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.waitForURL(/done=/);

    assert.match(alertText ?? "", notSaved);
    assert.match(alertText ?? "", /go back in the browser/);
    assert.equal(typed, "10.0.0.7");
    assert.equal(app.app.store.printers.get(1).printer.address, "10.0.0.7");
  });

  deepTest("an upload shows the message in its line, and continues from there", async (t) => {
    const { app, page } = await openSignedIn(t, "/drivers");
    await page.context().clearCookies();

    await page
      .getByLabel("Driver ZIP")
      .setInputFiles([{ name: "good.zip", mimeType: "application/zip", buffer: driverZip() }]);
    const alertText = await page.locator(".notice.bad").first().textContent();
    await signInBeside(page);
    await page.getByRole("button", { name: "Try good.zip again" }).click();
    await page.locator(".notice.good").waitFor();

    assert.match(alertText ?? "", notSaved);
    assert.equal(app.app.store.drivers.list().length, 1);
  });
});
