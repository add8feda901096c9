import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Page } from "playwright-core";
import { addAccount, adminPassword, ownPassword, startClosed } from "../support/access/people.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, windowVariants } from "../support/depth.ts";

async function fillIn(page: Page, fields: Record<string, string>, button: string): Promise<void> {
  for (const [label, value] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByRole("button", { name: button }).click();
}

describe("signing in with a browser", { skip: withoutBrowser, timeout: 300_000 }, () => {
  deepTest(
    "a new account signs in, chooses a password and gets the requested page, without scripts",
    async (t) => {
      const app = await startClosed(t);
      const password = await addAccount(app, "jo.meyer");
      const browser = await openBrowser(t, { javaScriptEnabled: false });
      const page = await browser.newPage();
      const problems = watchProblems(page, app.url);

      await page.goto(`${app.url}/clients`);
      const signInUrl = page.url();
      await fillIn(page, { Name: "jo.meyer", Password: "not this one at all" }, "Sign in");
      const refused = await page.getByRole("alert").textContent();
      await fillIn(page, { Password: password }, "Sign in");
      const first = new URL(page.url()).pathname;
      await page.goto(`${app.url}/printers`);
      const kept = new URL(page.url()).pathname;
      await fillIn(
        page,
        { "One-time password": password, "New password": ownPassword, "New password again": ownPassword },
        "Change password",
      );
      const inside = new URL(page.url()).pathname;
      const forms = await page.locator("form[method=post]").count();
      await page.getByRole("link", { name: "jo.meyer" }).click();
      const sessions = await page.locator("#sessions tbody tr").count();
      await page.getByRole("button", { name: "Sign out" }).click();

      assert.match(signInUrl, /\/sign-in\?next=%2Fclients$/);
      assert.match(refused ?? "", /Wrong name or password/);
      assert.deepEqual([first, kept, inside], ["/sign-in/password", "/sign-in/password", "/printers"]);
      assert.deepEqual([forms, sessions], [1, 1]);
      assert.equal(new URL(page.url()).pathname, "/sign-in");
      assert.deepEqual(problems, []);
    },
  );

  deepTest("an administrator makes an account, reads its password once, and disables it", async (t) => {
    const app = await startClosed(t);
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${app.url}/accounts`);
    await fillIn(page, { Name: "admin", Password: adminPassword }, "Sign in");

    await page.locator(".fold > summary").click();
    await page.getByLabel("Name").fill("works");
    await page.getByLabel("Role").selectOption("operator");
    await page.getByRole("button", { name: "Save account" }).click();
    const password = await page.locator("#one-time-password").textContent();
    await saveScreenshot(page, "accounts-made");
    await page.goto(`${app.url}/accounts`);
    const passwordCountLater = await page.locator("#one-time-password").count();
    await page.getByRole("link", { name: "works" }).click();
    await page.getByRole("button", { name: "Disable" }).click();
    const state = await page.locator("main").textContent();

    assert.match(password ?? "", /^[a-z2-9]{5}(?:-[a-z2-9]{5}){3}$/);
    assert.equal(passwordCountLater, 0);
    assert.match(state ?? "", /disabled/);
  });

  for (const { colorScheme, width } of windowVariants([1440, 360])) {
    deepTest(`every page of accounts is usable ${colorScheme} at ${width} px`, async (t) => {
      const app = await startClosed(t);
      await addAccount(app, `${"long-name-".repeat(6)}x@y`);
      const browser = await openBrowser(t, { colorScheme, viewport: { width, height: 800 } });
      const page = await browser.newPage();
      const found = watchProblems(page, app.url);
      // The quick tier checks the other pages in guarded-pages and undo.
      const look = async (name: string) => {
        const problems = isDeep || name === "sign-in-refused" ? await accessibilityProblems(page) : [];
        found.push(...problems.map((problem) => `${name}: ${problem}`));
        if (await overflows(page)) found.push(`${name}: scrolls sideways`);
        await saveScreenshot(page, `${width}-${colorScheme}-${name}`);
      };
      await page.goto(`${app.url}/sign-in`);
      await look("sign-in");
      await fillIn(page, { Name: "admin", Password: "wrong wrong wrong" }, "Sign in");
      await look("sign-in-refused");
      await fillIn(page, { Password: adminPassword }, "Sign in");
      await look("dashboard-admin");
      for (const path of isDeep ? ["/account", "/accounts", "/accounts/2", "/accounts/1"] : []) {
        await page.goto(app.url + path);
        await look(path.replaceAll("/", "-").slice(1));
      }

      assert.deepEqual(found, []);
    });
  }
});
