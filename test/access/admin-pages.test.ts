import assert from "node:assert/strict";
import { describe, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { Scope } from "../../src/domain/access/access.ts";
import { dayMs } from "../../src/domain/text.ts";
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
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";

const long = "Kunde-Müller-und-Söhne-Vermögensverwaltungsgesellschaft-mbH";

/** Adds entries of all kinds to the audit log: fields, parts, counts, long names and texts, warnings. */
async function fillLog({ app }: TestApp): Promise<void> {
  const actor = { who: "nobody", from: "2001:db8:85a3:1234:5678:8a2e:370:7334" };
  const what = `GET /printers/1/scripts/install: This link is not valid: it was changed. ${"y".repeat(200)}`;
  const { audit } = app.store;
  audit.record("refused", { what, actor });
  audit.record("deleted-for-good", { record: { kind: "client", id: 7, name: "Fabrikam" } });
  audit.record("backup-restored", { what: "the state of 2026-11-21T12:00:00.000Z, by platen restore" });
  await audit.flush();
}

/** A service whose administrator's pages show long names, right-to-left names, and each state. */
async function fullService(t: TestContext): Promise<TestApp> {
  const service = await startClosed(t);
  const headers = { cookie: await signInAdmin(service) };
  await addPerson(service, `${"x".repeat(58)}@b.de`, "operator");
  await addAccount(service, "fresh");
  await addPerson(service, "gone");
  await service.post("/accounts/4/disable", {}, headers);
  const browser = { "user-agent": "y".repeat(400) };
  await service.post("/sign-in", { name: "admin", password: adminPassword }, browser);
  for (const name of [long, "مكتب القاهرة 2"]) await service.post("/clients", { name }, headers);
  const notes = { name: `${long} ${long}`, notes: "N".repeat(600), subnets: "10.20.30.0/24" };
  await service.post("/clients/1", notes, headers);
  await service.upload("/drivers/upload", driverZip(), "driver.zip", headers);
  const printer = { name: `L-${"x".repeat(80)}`, address: "fe80::1234:5678:9abc:def0", driver_id: "1" };
  await service.post("/printers", printer, headers);
  const range = { headers: { ...headers, range: "bytes=0-99" } };
  await (await service.fetch("/printers/1/packages/rmm", range)).arrayBuffer();
  const { tokens } = service.app.store;
  const addToken = (name: string, scope: Scope, days: number) =>
    tokens.add({
      ...{ name, scope, beginning: "platen_1aB2", made_by: "boss", sha256: name.padEnd(64, "0") },
      expires_at: Date.UTC(2026, 10, 21, 14, 5) + days * dayMs,
    });
  const used = await addToken(`RMM ${"t".repeat(60)}`, { kind: "client", id: 1 }, 10);
  await addToken("مكتب القاهرة", { kind: "read" }, 400);
  await addToken("over", { kind: "printer", id: 1 }, -1);
  await tokens.recordUse(used, Date.now(), "2001:db8:85a3:8d3:1319:8a2e:370:7348");
  await service.app.backups.makeNow();
  await fillLog(service);
  return service;
}

const pages = [
  ...["/", "/account", "/accounts", "/accounts/1", "/accounts/2", "/accounts/4", "/tokens", "/backups"],
  ...["/tokens?done=again", "/audit", "/audit?kind=client&id=1", "/audit?who=nobody-at-all"],
  ...["/printers/1", "/clients/1", "/drivers/1?tab=deploy"],
];

const unfold = "document.querySelectorAll('details').forEach((details) => { details.open = true; })";

/** The faults of an open page. With scripts, everything on it is unfolded and axe checks it. */
async function faultsOf(page: Page, where: string, least: number, hasScripts = true): Promise<string[]> {
  if (hasScripts) await page.evaluate(unfold);
  const found = await smallTargets(page, least);
  if (await overflows(page)) found.push("it scrolls sideways");
  if (hasScripts) found.push(...(await accessibilityProblems(page)));
  await saveScreenshot(page, where.replaceAll(/[/ ?=&]/g, "-"));
  return found.map((problem) => `${where}: ${problem}`);
}

async function signInWith(page: Page, password: string): Promise<void> {
  await page.getByLabel("Name").fill("admin");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

describe("the pages of access, tokens, links and the audit log", {
  skip: withoutBrowser,
  timeout: 300_000,
}, () => {
  for (const [width, colorScheme, javaScriptEnabled] of [
    [320, "light", true],
    [345, "dark", true],
    [360, "dark", true],
    [320, "dark", false],
    [700, "light", true],
    [1440, "light", true],
    [1440, "dark", true],
  ] as const) {
    const how = `${colorScheme}, ${javaScriptEnabled ? "with" : "without"} scripts`;
    deepTest(`are usable at ${width} px, ${how}`, async (t) => {
      const { url } = await fullService(t);
      const options = { viewport: { width, height: 740 }, colorScheme, javaScriptEnabled };
      const page = await (await openBrowser(t, options)).newPage();
      const found = watchProblems(page, url);
      const look = async (what: string) => {
        const least = width > 600 ? 24 : 40;
        found.push(...(await faultsOf(page, `${width} ${how} ${what}`, least, javaScriptEnabled)));
      };

      await page.goto(`${url}/sign-in`);
      await look("sign-in");
      await signInWith(page, "wrong wrong wrong");
      await look("sign-in refused");
      await signInWith(page, adminPassword);
      await page.locator("nav[aria-label=Main]").waitFor();
      for (const path of pages) {
        await page.goto(url + path);
        await look(path);
      }
      await page.goto(`${url}/audit`);
      await page.getByLabel("Event").selectOption({ label: "Refused" });
      await page.getByLabel("Search", { exact: true }).fill("was changed");
      await page.getByRole("button", { name: "Filter" }).press("Enter");
      await page.locator(".audit-head").nth(1).waitFor({ state: "detached" });
      const [head] = await page.locator(".audit-head").allInnerTexts();
      await page.goto(`${url}/printers/1`);
      await page.getByText("Create or end links…").click();
      await page.getByRole("button", { name: "Create link" }).click();
      await page.locator("#link-0").waitFor();
      await look("link");

      assert.match(head ?? "", /^Refused GET \/printers\/1\/scripts\/install: This link is not valid/);
      assert.deepEqual(found, []);
    });
  }

  deepTest("are usable behind a proxy", async (t) => {
    const { service, admin } = await startGuarded(t);
    const extraHTTPHeaders = { "remote-user": "boss", "remote-groups": "platen-admins" };
    const options = { viewport: { width: 320, height: 740 }, extraHTTPHeaders };
    const page = await (await openBrowser(t, options)).newPage();
    const found: string[] = [];
    const look = async (path: string) => {
      await page.goto(service.url + path);
      found.push(...(await faultsOf(page, `proxy ${path}`, 40)));
    };

    await look("/accounts");
    for (const name of ["jo", "x".repeat(64)]) await admin.post("/accounts", { name, role: "viewer" });
    await admin.post("/accounts/1/disable", {});
    for (const path of ["/accounts", "/accounts/1", "/accounts/2", "/account"]) await look(path);

    assert.deepEqual(found, []);
  });
});
