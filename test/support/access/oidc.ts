import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { OidcSettings } from "../../../src/domain/access/oidc.ts";
import { Secret } from "../../../src/domain/secrets.ts";
import { startApp } from "../app.ts";
import { clientId, clientSecret, startProvider } from "./identity-provider.ts";
import { adminPassword, cookiesOf } from "./people.ts";

export const origin = "http://127.0.0.1:9";

export const settingsFor = (issuer: URL): OidcSettings => ({
  issuer,
  clientId,
  secret: new Secret(clientSecret),
  secretFile: undefined,
  roleClaim: "groups",
  roles: [
    { role: "admin", group: "admins" },
    { role: "operator", group: "techs" },
  ],
});
export const honest = { preferred_username: "ada@contoso.com", groups: ["techs"] };
export const withPassword = { adminPassword: new Secret(adminPassword) };

/** Starts a provider, and a service that uses it. */
export async function startWithProvider(t: TestContext, options: Parameters<typeof startApp>[1] = {}) {
  const provider = await startProvider(t);
  provider.answers.claims = { ...honest };
  const oidc = settingsFor(provider.issuer);
  const service = await startApp(t, { oidc, publicUrl: origin, clock: Date.now, ...options });
  /** Begins a sign-in. @returns the provider's answer, as path and query, and the browser's cookie */
  const begin = async (next?: string) => {
    const query = next === undefined ? "" : `?next=${encodeURIComponent(next)}`;
    const begun = await service.fetch(`/sign-in/oidc${query}`);
    assert.equal(begun.status, 303, await begun.text());
    const answer = await fetch(begun.headers.get("location") ?? "", { redirect: "manual" });
    const back = new URL(answer.headers.get("location") ?? "");
    assert.equal(`${back.origin}${back.pathname}`, `${origin}/sign-in/oidc/callback`);
    return { answer: back.pathname + back.search, cookie: cookiesOf(begun) };
  };
  /** Goes through the whole sign-in as a browser does. @returns Platen's last answer */
  const signIn = async (next?: string) => {
    const { answer, cookie } = await begin(next);
    return service.fetch(answer, { headers: { accept: "text/html", cookie } });
  };
  return { ...service, provider, begin, signIn };
}
