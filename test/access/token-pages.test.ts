import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startGuarded } from "../support/access/guarded.ts";
import { openWide, saveScreenshot, withoutBrowser } from "../support/browser.ts";
import { deepTest } from "../support/depth.ts";

const skip = { skip: withoutBrowser };

/** Opens a browser without scripts behind a proxy that names it the administrator. */
async function openAsAdmin(t: TestContext) {
  const guarded = await startGuarded(t);
  await guarded.admin.post("/clients", { name: "Kunde Müller" });
  await guarded.admin.addPrinter({ client_id: "1" });
  const extraHTTPHeaders = { "remote-user": "boss", "remote-groups": "platen-admins" };
  return { ...guarded, page: await openWide(t, { javaScriptEnabled: false, extraHTTPHeaders }) };
}

test("a token is made, shown once, used and revoked without scripts", skip, async (t) => {
  const { page, service, bearer } = await openAsAdmin(t);

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
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByText("Revoked: token “Datto RMM” and its links").waitFor();
  await page.getByText("No tokens yet").waitFor();
  const revoked = (await bearer(token).fetch("/clients/1/packages/rmm")).status;

  assert.deepEqual([used, revoked], [200, 401]);
  assert.ok(!contentLater.includes(token));
});

deepTest("a link is made on a printer's page, opens its file, and is ended there", skip, async (t) => {
  const { page, service } = await openAsAdmin(t);

  await page.goto(`${service.url}/printers/1`);
  await page.getByText("Create or end links…").click();
  await page.getByLabel("Link to").selectOption({ label: "install-office.ps1" });
  await page.getByLabel("Valid for").selectOption({ label: "7 days" });
  await page.getByRole("button", { name: "Create link" }).click();
  const link = (await page.locator("#link-0").textContent()) ?? "";
  const fetched = await fetch(link);
  await page.getByRole("link", { name: "Office" }).click();
  await page.getByText("Create or end links…").click();
  await page.getByText("End all links…").click();
  await page.getByRole("button", { name: "End all links" }).click();
  await page.getByText("All its links have ended").waitFor();
  await page.getByRole("heading", { name: "Office" }).waitFor();
  const ended = await fetch(link);

  assert.deepEqual([fetched.status, ended.status], [200, 403]);
  assert.match(await fetched.text(), /files\?link=/);
});
