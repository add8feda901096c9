import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { openBrowser, withoutBrowser } from "../support/browser.ts";
import { cleanUp } from "../support/clean-up.ts";
import { freePort } from "../support/powershell/ipp-printer.ts";
import { serve } from "../support/service.ts";

/** Starts a certified OpenID provider, with its pages for development: any name and password sign in. */
async function startRealProvider(t: TestContext, platen: string): Promise<string> {
  // @ts-expect-error: it has no types.
  const { default: Provider } = await import("oidc-provider");
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  cleanUp(t, () => server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = {
    client_id: "platen",
    client_secret: "a secret: with spaces & signs",
    redirect_uris: [`${platen}/sign-in/oidc/callback`],
    post_logout_redirect_uris: [`${platen}/sign-in`],
  };
  const provider = new Provider(issuer, {
    clients: [client],
    claims: { openid: ["sub", "groups"], profile: ["preferred_username"] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: `${id}@contoso.com`, groups: [`${id}s`] }),
    }),
    cookies: { keys: ["a key of this test"] },
  });
  server.on("request", provider.callback());
  return issuer;
}

test("a person signs in at a real provider under a path, works, and signs out of both", {
  skip: withoutBrowser,
}, async (t) => {
  const [folder, port] = [await temporaryFolder(t), await freePort()];
  const platen = `http://127.0.0.1:${port}/platen`;
  const service = await serve(t, folder, {
    PORT: String(port),
    PUBLIC_URL: platen,
    OIDC_ISSUER: await startRealProvider(t, platen),
    OIDC_CLIENT_ID: "platen",
    OIDC_CLIENT_SECRET: "a secret: with spaces & signs",
    OIDC_ROLES: "operator=techs",
  });
  assert.notEqual(service.url, "", service.output());
  const page = await (await openBrowser(t)).newPage();

  await page.goto(`${platen}/clients`);
  await page.getByRole("link", { name: "Sign in with 127.0.0.1" }).click();
  await page.getByPlaceholder("Enter any login").fill("tech");
  await page.getByPlaceholder("and password").fill("x");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${platen}/clients`);
  await page.locator("#f-name").fill("Contoso");
  await page.getByRole("button", { name: "Save client" }).click();
  await page.getByRole("link", { name: "Contoso" }).first().waitFor();
  const account = await page.getByText("tech@contoso.com").count();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out of Platen.").waitFor();
  const after = await page.request.get(`${platen}/clients`, { headers: { accept: "application/json" } });
  await page.locator("a", { hasText: "Sign out" }).click();
  await page.getByRole("button", { name: "Yes, sign me out" }).click();
  await page.waitForURL(`${platen}/sign-in*`);

  assert.ok(account > 0);
  assert.equal(after.status(), 401);
});
