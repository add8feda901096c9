import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { adminPassword, ownPassword, signInAdmin, startClosed } from "../support/access/people.ts";
import type { TestApp } from "../support/app.ts";
import { openWide, saveScreenshot, watchProblems, withoutBrowser } from "../support/browser.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { until } from "../support/until.ts";

async function fillIn(page: Page, fields: Record<string, string>, button: string): Promise<void> {
  for (const [label, value] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole("button", { name: button, exact: true }).click();
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
  await fillIn(beside, { Name: "admin", Password: adminPassword }, "Sign in");
  await beside.getByRole("button", { name: "Sign out" }).waitFor();
  await beside.close();
}

const notSaved = /Your session ended\. Nothing was saved/;
const forms = [
  ["by a page script", "/clients", "Name required", "Kunde", "Save client"],
  ["without one", "/printers/1/edit", "Address", "10.0.0.7", "Save printer"],
] as const;
const savedIn = ({ app: { store } }: TestApp) => [
  ...store.clients.names().map(({ name }) => name),
  store.printers.get(1).printer.address,
];

describe("a form whose sender was signed out meanwhile", { skip: withoutBrowser, timeout: 300_000 }, () => {
  for (const [how, path, label, value, button] of selectCases(forms, 1))
    test(`a form sent ${how} keeps what was typed, explains that, and saves after signing in in another tab`, async (t) => {
      const { app, page } = await openSignedIn(t, path);
      const problems = watchProblems(page, app.url);
      await page.getByRole("textbox", { name: label }).first().fill(value);
      await page.context().clearCookies();

      await page.getByRole("button", { name: button }).click();
      const alertText = await page.locator("#message [role=alert]").textContent();
      await saveScreenshot(page, "signed-out-script");
      const before = savedIn(app);
      await signInBeside(page);
      await page.getByRole("button", { name: button }).click();
      await until(() => savedIn(app).includes(value));

      assert.match(alertText ?? "", notSaved);
      assert.equal(before.includes(value), false);
      assert.deepEqual(problems, []);
    });

  deepTest("without scripts, the answer tells what to do, and going back shows what was typed", async (t) => {
    const { app, page } = await openSignedIn(t, "/printers/1/edit", { javaScriptEnabled: false });
    const address = page.getByRole("textbox", { name: "Address" }).first();
    await address.fill("10.0.0.7");
    await page.context().clearCookies();

    await page.getByRole("button", { name: "Save printer" }).click();
    const alertText = await page.locator("main").textContent();
    await saveScreenshot(page, "signed-out-page");
    await signInBeside(page);
    await page.goBack();
    const typed = await address.inputValue();
    await page.getByRole("button", { name: "Save printer" }).click();
    await page.waitForURL(/done=/);

    assert.match(alertText ?? "", notSaved);
    assert.match(alertText ?? "", /go back in the browser/);
    assert.equal(typed, "10.0.0.7");
    assert.deepEqual(savedIn(app), ["10.0.0.7"]);
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

describe("signing in with a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  deepTest(
    "an administrator makes an account, whose owner chooses a password, and disables it",
    async (t) => {
      const { app, page: admin } = await openSignedIn(t, "/accounts");
      const page = await openWide(t, { javaScriptEnabled: false });
      const problems = watchProblems(page, app.url);
      const places: string[] = [];
      const note = () => places.push(new URL(page.url()).pathname);

      await admin.locator(".fold > summary").click();
      await admin.getByLabel("Role").selectOption("operator");
      await admin.getByLabel("Name").fill("jo.meyer");
      await admin.getByRole("button", { name: "Save account" }).click();
      const password = (await admin.locator("#one-time-password").textContent()) ?? "";
      await admin.goto(`${app.url}/accounts`);
      const passwordCountLater = await admin.locator("#one-time-password").count();
      await page.goto(`${app.url}/clients`);
      await fillIn(page, { Name: "jo.meyer", Password: "not this one at all" }, "Sign in");
      const refused = await page.getByRole("alert").textContent();
      await fillIn(page, { Password: password }, "Sign in");
      note();
      await page.goto(`${app.url}/printers`);
      note();
      const chosen = { "New password": ownPassword, "New password again": ownPassword };
      await fillIn(page, { "One-time password": password, ...chosen }, "Change password");
      note();
      await page.getByRole("link", { name: "jo.meyer" }).click();
      await page.locator("#sessions").waitFor();
      const sessions = await page.locator("#sessions tbody tr").count();
      await page.getByRole("button", { name: "Sign out" }).click();
      note();
      await admin.getByRole("link", { name: "jo.meyer" }).click();
      await admin.getByRole("button", { name: "Disable" }).click();
      await admin.getByText("Disabled: account").waitFor();

      assert.match(password, /^[a-z2-9]{5}(?:-[a-z2-9]{5}){3}$/);
      assert.match(refused ?? "", /Wrong name or password/);
      assert.deepEqual(places, ["/sign-in/password", "/sign-in/password", "/printers", "/sign-in"]);
      assert.deepEqual([passwordCountLater, sessions], [0, 1]);
      assert.deepEqual(problems, []);
    },
  );
});
