import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SignInBehaviour } from "../support/graph/behaviour.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { appOf, startPublishing } from "../support/publish/publishing.ts";

const inBrowser = { AccessToken: undefined, SignIn: "Browser" };

describe("signing in to publish in a browser", { skip: withoutPowerShell }, () => {
  test("opens Microsoft's page, takes the code at a port of this PC, and redeems it with PKCE", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, { ...inBrowser, Tenant: "contoso.example" });

    const [page, token] = tenant.requests.filter(({ area }) => area === "login");
    assert.equal(run.code, 0, run.output.join("\n"));
    assert.equal(page?.path, "/contoso.example/oauth2/v2.0/authorize");
    assert.equal(page?.query.get("prompt"), "select_account");
    assert.match(
      page?.query.get("scope") ?? "",
      /DeviceManagementApps\.ReadWrite\.All openid profile offline_access$/,
    );
    assert.equal((token?.body as Record<string, string> | undefined)?.grant_type, "authorization_code");
    assert.ok(run.output.some((line) => line.includes("/contoso.example/oauth2/v2.0/authorize?client_id=")));
    assert.ok(!run.log.includes("code_challenge"), "the address is not logged");
    assert.ok(appOf(tenant, `printer:${id}`));
  });

  test("other requests to the port get 404 and do not disturb the sign-in", async (t) => {
    const { service, tenant, publish } = await startPublishing(t, { signIn: { browser: "noise" } });
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, inBrowser);

    assert.equal(run.code, 0, run.output.join("\n"));
    assert.equal(tenant.apps().length, 1);
  });

  const refusals: Readonly<Record<string, [Partial<SignInBehaviour>, RegExp]>> = {
    "the person declines": [
      { browser: "denied" },
      /by Browser was refused: the person declined the consent \(AADSTS65004\)\. Try -SignIn DeviceCode\./,
    ],
    "the code was used before": [{ browser: "replayed code" }, /AADSTS54005/],
    "the nonce is another one": [{ browser: "wrong nonce" }, /the token of another sign-in/],
    "Conditional Access asks for a managed device": [
      { refusal: "access_denied AADSTS530033: Device is not managed." },
      /Conditional Access asks for a managed device \(AADSTS530033\)/,
    ],
  };
  for (const [name, [signIn, message]] of Object.entries(refusals)) {
    test(`if ${name}, the run says so and sends nothing to Graph`, async (t) => {
      const { service, tenant, publish } = await startPublishing(t, { signIn });
      const id = await service.addPrinter();

      const run = await publish(`/printers/${id}/publish`, inBrowser);

      assert.deepEqual([run.code, tenant.requests.filter(({ area }) => area === "graph")], [1, []]);
      assert.match(run.output.join("\n"), message);
    });
  }

  for (const browser of ["closed", "wrong state"] as const) {
    test(`a browser that never brings the right answer (${browser}) is waited for only for a while`, async (t) => {
      const { service, tenant, script, run } = await startPublishing(t, { signIn: { browser } });
      const id = await service.addPrinter();
      const text = await script(`/printers/${id}/publish`, [
        ["$BrowserSeconds = 300", "$BrowserSeconds = 1"],
      ]);

      const result = await run(text, inBrowser);

      assert.deepEqual([result.code, tenant.requests.length], [1, 1]);
      assert.match(result.output.join("\n"), /Nobody signed in within .* try -SignIn DeviceCode/);
    });
  }

  test("without -SignIn, a PC with a screen uses the browser, and one without shows a code", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const text = await script(`/printers/${id}/publish`);
    const none = { AccessToken: undefined, WhatIf: true };

    await run(text, none, { DISPLAY: ":0", SSH_CONNECTION: "" });
    await run(text, none, { DISPLAY: "", WAYLAND_DISPLAY: "" });

    const ways = tenant.requests.flatMap(
      ({ path }) => /v2\.0\/(authorize|devicecode)$/.exec(path)?.[1] ?? [],
    );
    assert.deepEqual(ways, ["authorize", "devicecode"]);
  });

  test("-WhatIf asks for permission to read only, and Graph's data stays as it is", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, { ...inBrowser, WhatIf: true });

    assert.equal(run.code, 3, run.output.join("\n"));
    assert.match(tenant.requests[0]?.query.get("scope") ?? "", /DeviceManagementApps\.Read\.All openid/);
    assert.deepEqual(tenant.apps(), []);
  });

  test("when Microsoft asks for a second factor in the middle, the person signs in again and the run goes on", async (t) => {
    const { service, tenant, publish } = await startPublishing(t, {
      claimsAfter: 5,
      signIn: { acceptsRefreshTokens: false },
    });
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, inBrowser);

    const pages = tenant.requests.filter(({ path }) => path.endsWith("/authorize"));
    assert.equal(run.code, 0, run.output.join("\n"));
    assert.match(run.output.join("\n"), /Microsoft asks you to sign in again/);
    assert.deepEqual(
      pages.map(({ query }) => query.get("claims")),
      [null, '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}'],
    );
  });
});
