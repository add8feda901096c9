import assert from "node:assert/strict";
import { describe, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { startGuarded } from "../support/access/guarded.ts";
import { addAccount, addPerson, adminPassword, signInAdmin, startClosed } from "../support/access/people.ts";
import type { TestApp } from "../support/app.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  smallTargets,
  watchProblems,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, selectCases } from "../support/depth.ts";

const long = "Kunde-Müller-und-Söhne-Vermögensverwaltungsgesellschaft-mbH";

/** A service whose administrator's pages show long names, right-to-left names, and each state. */
async function fullService(t: TestContext): Promise<TestApp> {
  const app = await startClosed(t);
  const headers = { cookie: await signInAdmin(app) };
  await addPerson(app, `${"x".repeat(58)}@b.de`, "operator");
  await addAccount(app, "fresh");
  await addPerson(app, "gone");
  await app.post("/accounts/4/disable", {}, headers);
  await app.post("/sign-in", { name: "admin", password: adminPassword }, { "user-agent": "y".repeat(400) });
  await app.post("/sign-in", { name: "admin", password: "wrong horse battery" });
  for (const name of [long, "مكتب القاهرة 2"]) await app.post("/clients", { name }, headers);
  await app.post("/clients/1", { name: `${long} ${long}`, notes: "N".repeat(300) }, headers);
  await app.post("/printers", { name: `L-${"x".repeat(80)}`, address: "fe80::1234:5678:9abc:def0" }, headers);
  await app.post("/tokens", { name: `RMM ${"t".repeat(60)}`, scope: "client:1", days: "365" }, headers);
  await app.post("/tokens", { name: "Read", scope: "read", days: "30" }, headers);
  await app.app.backups.makeNow();
  return app;
}

const pages = [
  "/account",
  "/accounts",
  "/accounts/1",
  "/accounts/2",
  "/accounts/4",
  "/tokens",
  "/backups",
  "/audit",
  "/audit?kind=client&id=1",
  "/audit?who=nobody-at-all",
];

/** The pages that axe also checks in the quick tier. Similar pages are checked in guarded, pages and audit. */
const seen = ["/account", "/accounts", "/accounts/4"];

async function signInWith(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/sign-in`);
  await page.getByLabel("Name").fill("admin");
  await page.getByLabel("Password").fill(adminPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("nav[aria-label=Main]").waitFor();
}

/** The faults of an open page. With scripts, everything on it is unfolded and axe checks it. */
async function faultsOf(
  page: Page,
  where: string,
  least: number,
  hasScripts: boolean,
  isSeen = true,
): Promise<string[]> {
  const found: string[] = [];
  if (hasScripts)
    await page.evaluate(
      "document.querySelectorAll('details').forEach((details) => { details.open = true; })",
    );
  if (await overflows(page)) found.push(`${where} scrolls sideways`);
  for (const target of await smallTargets(page, least)) found.push(`${where}: ${target}`);
  if (hasScripts && (isSeen || isDeep))
    for (const problem of await accessibilityProblems(page)) found.push(`${where}: ${problem}`);
  await saveScreenshot(page, where.replaceAll(/[/ ?=&]/g, "-"));
  return found;
}

describe("the administrator's pages", { skip: withoutBrowser, timeout: 300_000 }, () => {
  const looks = [
    [320, "light", true],
    [360, "dark", true],
    [320, "dark", false],
    [1440, "dark", true],
  ] as const;
  for (const [width, colorScheme, javaScriptEnabled] of selectCases(looks, 1)) {
    const how = `${colorScheme}, ${javaScriptEnabled ? "with" : "without"} scripts`;
    deepTest(`are usable at ${width} px, ${how}`, async (t) => {
      const { url } = await fullService(t);
      const options = { viewport: { width, height: 740 }, colorScheme, javaScriptEnabled };
      const page = await (await openBrowser(t, options)).newPage();
      await signInWith(page, url);
      const problems = watchProblems(page, url);
      const found: string[] = [];

      for (const path of pages) {
        await page.goto(url + path);
        const where = `${width} ${colorScheme} ${javaScriptEnabled ? "js" : "plain"} ${path}`;
        const least = width > 1000 ? 24 : 40;
        found.push(...(await faultsOf(page, where, least, javaScriptEnabled, seen.includes(path))));
      }

      assert.deepEqual([...found, ...problems], []);
    });
  }

  deepTest("are usable behind a proxy, and explain that accounts have no passwords there", async (t) => {
    const { service, admin } = await startGuarded(t);
    const extraHTTPHeaders = { "remote-user": "boss", "remote-groups": "platen-admins" };
    const options = { viewport: { width: 320, height: 740 }, extraHTTPHeaders };
    const page = await (await openBrowser(t, options)).newPage();
    const found: string[] = [];
    await page.goto(`${service.url}/accounts`);
    found.push(...(await faultsOf(page, "proxy none", 40, true, false)));

    await page.getByLabel("Name").fill("jo");
    await page.getByRole("button", { name: "Save account" }).click();
    await page.getByText("No password. Users sign in at the proxy").waitFor();
    found.push(...(await faultsOf(page, "proxy account", 40, true, false)));
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("Disabled: account").waitFor();
    found.push(...(await faultsOf(page, "proxy disabled", 40, true)));
    await admin.post("/accounts", { name: "x".repeat(64), role: "viewer" });
    await page.goto(`${service.url}/accounts`);
    found.push(...(await faultsOf(page, "proxy list", 40, true, false)));
    await page.getByRole("link", { name: "boss" }).click();
    await page.getByText("You sign in at your organization’s proxy").waitFor();
    found.push(...(await faultsOf(page, "proxy own", 40, true)));

    assert.deepEqual(found, []);
  });
});
