import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Scope } from "../../src/domain/access/access.ts";
import { type Guarded, startGuarded } from "../support/access/guarded.ts";
import {
  accessibilityProblems,
  openBrowser,
  overflows,
  saveScreenshot,
  watchProblems,
  wide,
  withoutBrowser,
} from "../support/browser.ts";
import { deepTest, isDeep, selectCases } from "../support/depth.ts";

const skip = { skip: withoutBrowser };

/** Opens a browser behind a proxy that names it the administrator. */
async function openAsAdmin(t: TestContext, options: Parameters<typeof openBrowser>[1]) {
  const guarded = await startGuarded(t);
  await guarded.admin.post("/clients", { name: "Kunde Müller" });
  await guarded.admin.addPrinter({ client_id: "1" });
  const extraHTTPHeaders = { "remote-user": "boss", "remote-groups": "platen-admins" };
  const browser = await openBrowser(t, { ...options, extraHTTPHeaders });
  return { ...guarded, page: await browser.newPage() };
}

test("a token is made, shown once, used and revoked without scripts", skip, async (t) => {
  const { page, service, bearer } = await openAsAdmin(t, { ...wide, javaScriptEnabled: false });

  await page.goto(`${service.url}/`);
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByLabel("Name").fill("Datto RMM");
  await page.getByLabel("Access to").selectOption({ label: "Kunde Müller" });
  await page.getByRole("button", { name: "Create token" }).click();
  const token = (await page.locator("#token").textContent()) ?? "";
  await saveScreenshot(page, "token-made");
  const used = (await bearer(token).fetch("/clients/1/packages/rmm")).status;
  await page.goto(`${service.url}/tokens`);
  const contentLater = await page.content();
  await page.getByText("Revoke Datto RMM…").click();
  await saveScreenshot(page, "token-revoke");
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByText("Revoked: token “Datto RMM” and its links").waitFor();
  await page.getByText("No tokens yet").waitFor();
  const revoked = (await bearer(token).fetch("/clients/1/packages/rmm")).status;

  assert.deepEqual([used, revoked], [200, 401]);
  assert.ok(!contentLater.includes(token));
});

deepTest(
  "a link is made on a printer's page, opens its file in another browser, and is ended there, without scripts",
  skip,
  async (t) => {
    const { page, service } = await openAsAdmin(t, { ...wide, javaScriptEnabled: false });

    await page.goto(`${service.url}/printers/1`);
    await page.getByText("Create link…").click();
    await saveScreenshot(page, "link-form");
    await page.getByLabel("Link to").selectOption({ label: "install-office.ps1" });
    await page.getByLabel("Valid for").selectOption({ label: "7 days" });
    await page.getByRole("button", { name: "Create link" }).click();
    const link = (await page.locator("#link-0").textContent()) ?? "";
    await saveScreenshot(page, "link-made");
    const fetched = await fetch(link);
    await page.getByRole("link", { name: "Office" }).click();
    await page.getByText("Create link…").click();
    await page.getByText("Revoke all links…").click();
    await page.getByRole("button", { name: "Revoke all links" }).click();
    await page.getByText("All links are revoked").waitFor();
    await saveScreenshot(page, "links-ended");
    await page.getByRole("heading", { name: "Office" }).waitFor();
    const ended = await fetch(link);

    assert.deepEqual([fetched.status, ended.status], [200, 403]);
    assert.match(await fetched.text(), /files\?link=/);
  },
);

/** Adds tokens with long names, long scopes and long addresses, and expired ones. */
async function addTokens({ service }: Pick<Guarded, "service">): Promise<void> {
  const { tokens } = service.app.store;
  const add = (name: string, scope: Scope, days: number) =>
    tokens.add({
      ...{ name, scope, beginning: "platen_1aB2", made_by: "boss", sha256: name.padEnd(64, "0") },
      expires_at: Date.now() + days * 24 * 60 * 60_000,
    });
  const first = await add(`Datto-${"x".repeat(70)}`, { kind: "client", id: 1 }, 20);
  await add("مكتب القاهرة", { kind: "read" }, 400);
  await add("over", { kind: "printer", id: 1 }, -1);
  await tokens.recordUse(first, Date.now(), "2001:db8:85a3:8d3:1319:8a2e:370:7348");
}

for (const width of selectCases([320, 345, 360, 700, 1440], 1)) {
  deepTest(`the page of tokens fits ${width} px`, skip, async (t) => {
    const found: string[] = [];

    for (const javaScriptEnabled of selectCases([true, false], 1)) {
      const options = { viewport: { width, height: 780 }, colorScheme: "dark", javaScriptEnabled } as const;
      const { page, ...guarded } = await openAsAdmin(t, options);
      await addTokens(guarded);
      await page.goto(`${guarded.service.url}/tokens?done=again`);
      await saveScreenshot(page, `tokens-${width}${javaScriptEnabled ? "" : "-no-script"}`);
      // The measurement needs scripts.
      if (!javaScriptEnabled) continue;
      if (await overflows(page)) found.push("it scrolls sideways");
      await page.getByText("Revoke over…").click();
      if (await overflows(page)) found.push("it scrolls sideways with the question open");
      found.push(...(await accessibilityProblems(page)));
    }

    assert.deepEqual(found, []);
  });
}

for (const colorScheme of selectCases(["light", "dark"] as const, 1)) {
  deepTest(
    `the pages of tokens and links fit a phone and are accessible, ${colorScheme}`,
    skip,
    async (t) => {
      const { page, service, addToken } = await openAsAdmin(t, {
        viewport: { width: 360, height: 780 },
        colorScheme,
      });
      await addToken("client:1");
      const problems = watchProblems(page, service.url);
      const found: string[] = [];

      for (const path of ["/printers/1", "/clients/1", "/drivers/1?tab=deploy"]) {
        await page.goto(service.url + path);
        const fold = page.getByText("Create link…");
        if ((await fold.count()) > 0) await fold.click();
        if (await overflows(page)) found.push(`${path} overflows`);
        if (isDeep || path !== "/clients/1")
          found.push(...(await accessibilityProblems(page)).map((problem) => `${path} ${problem}`));
        await saveScreenshot(page, `phone-${colorScheme}${path.replaceAll(/[/?=]/g, "-")}`);
      }
      await page.goto(`${service.url}/printers/1`);
      await page.getByText("Create link…").click();
      await page.getByRole("button", { name: "Create link" }).click();
      await page.locator("#link-0").waitFor();
      if (await overflows(page)) found.push("the link overflows");
      found.push(...(await accessibilityProblems(page)));
      await saveScreenshot(page, `phone-${colorScheme}-link`);

      assert.deepEqual([...found, ...problems], []);
    },
  );
}
