import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { deepTest, selectCases } from "../support/depth.ts";
import type { BehaviourChanges } from "../support/graph/behaviour.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { startPublished, startPublishing, startWithPrinter } from "../support/publish/publishing.ts";

const byCode = { AccessToken: undefined };
const inBrowser = { AccessToken: undefined, SignIn: "Browser" };

type SignIn = BehaviourChanges["signIn"] & object;

/** By the way of signing in: what goes wrong, how the service behaves, and what the run says. */
const refusals: readonly (readonly [string, typeof byCode, SignIn, RegExp])[] = [
  ["nobody signs in", byCode, { answers: ["expired_token"] }, /Nobody signed in before the code expired/],
  ["the code ends", byCode, { expiresIn: 0 }, /Nobody signed in before the code expired/],
  [
    "the person declines",
    byCode,
    { answers: ["authorization_declined"] },
    /by DeviceCode was refused: the person declined the sign-in \(AADSTS70000\)\. Try -SignIn Browser\./,
  ],
  [
    "Conditional Access blocks device codes",
    byCode,
    { answers: ["invalid_grant AADSTS53003: Access has been blocked by Conditional Access policies."] },
    /by DeviceCode was refused: Conditional Access blocks this way of signing in \(AADSTS53003\)\. Try -SignIn Browser\./,
  ],
  [
    "the sign-in has to be confirmed",
    byCode,
    { answers: ["interaction_required AADSTS50199: For security reasons, user confirmation is required."] },
    /Microsoft asks for a confirmation, which this way .*\(AADSTS50199\)\. Try -SignIn Browser\./,
  ],
  [
    "the code is unknown",
    byCode,
    { answers: ["bad_verification_code"] },
    /The device code is unknown \(AADSTS70019\)/,
  ],
  [
    "the tenant is unknown",
    byCode,
    { refusal: "invalid_request AADSTS90002: Tenant not found." },
    /there is no such tenant \(AADSTS90002\)/,
  ],
  ["an administrator has to consent", byCode, { answers: ["invalid_grant"] }, /invalid_grant/],
  [
    "the person declines in the browser",
    inBrowser,
    { browser: "denied" },
    /by Browser was refused: the person declined the consent \(AADSTS65004\)\. Try -SignIn DeviceCode\./,
  ],
  ["the browser's code was used before", inBrowser, { browser: "replayed code" }, /AADSTS54005/],
  ["the nonce is another one", inBrowser, { browser: "wrong nonce" }, /the token of another sign-in/],
  [
    "Conditional Access asks for a managed device",
    inBrowser,
    { refusal: "access_denied AADSTS530033: Device is not managed." },
    /Conditional Access asks for a managed device \(AADSTS530033\)/,
  ],
];

describe("signing in to publish", { skip: withoutPowerShell }, () => {
  for (const [name, way, signIn, message] of refusals)
    test(`if ${name}, the run says so and sends nothing to Graph`, async (t) => {
      const { tenant, publish, path } = await startWithPrinter(t, { signIn });

      const run = await publish(path, way);

      assert.deepEqual([run.code, tenant.requests.filter(({ area }) => area === "graph")], [1, []]);
      assert.match(run.said, message);
    });

  test("shows Microsoft's message unchanged, and the run continues after the sign-in", async (t) => {
    const answers = ["authorization_pending", "authorization_pending", "slow_down", "authorization_pending"];
    const { tenant, publish, path } = await startPublished(t, { signIn: { answers, slowDown: 1 } });

    const run = await publish(path, byCode);

    const request = tenant.requests.find(({ area }) => area === "login");
    assert.equal(run.code, 0, run.said);
    assert.ok(run.output.some((line) => line.startsWith("To sign in, use a web browser to open the page")));
    assert.deepEqual([tenant.signIns.polls, tenant.signIns.tooFast], [5, 0]);
    assert.equal(request?.path, "/organizations/oauth2/v2.0/devicecode");
    assert.match(JSON.stringify(request?.body), /"client_id":"14d82eec-204b-4c2f-b7e8-296a70dab67e"/);
  });

  /** A token with these claims, which the tenant accepts. */
  const tokenWith = ({ state }: { state: { tokens: Map<string, number> } }, claims: object) => {
    const token = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
    state.tokens.set(token, 0);
    return token;
  };

  test("shows the user and the tenant that the token names", async (t) => {
    const { tenant, publish, path } = await startPublished(t);
    const token = tokenWith(tenant, { tid: "0f0f", upn: "anna@contoso.example\u001b[2J" });

    const run = await publish(path, { AccessToken: `Bearer ${token}` });

    assert.equal(run.code, 0, run.said);
    assert.equal(run.output[1], "Signed in as anna@contoso.example [2J, tenant 0f0f");
  });

  /** Publishes a printer that is in the tenant, of a client with a tenant, with a token for the tenant `tid`. */
  async function publishWithTokenFor(t: TestContext, tid?: string) {
    const { service, tenant, publish, published } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso", tenant_id: "contoso.example" });
    const id = await service.addPrinter({ client_id: "1" });
    await published(`/printers/${id}/publish`);
    const AccessToken = tokenWith(tenant, { tid: tid ?? tenant.id });
    return { tenant, run: await publish(`/printers/${id}/publish`, { AccessToken, PassThru: true }) };
  }

  test("a token for another tenant than the client's publishes nothing, and the message names both", async (t) => {
    const { tenant, run } = await publishWithTokenFor(t, "0f0f0f0f-1111-4222-8333-444444444444");

    assert.equal(run.code, 1);
    assert.match(run.said, /The token is for the tenant 0f0f0f0f-\S+, not for contoso\.example\./);
    assert.deepEqual(
      tenant.requests.filter(({ area }) => area === "graph"),
      [],
    );
  });

  test("a token for the client's tenant is taken, although the client names its domain", async (t) => {
    const { run } = await publishWithTokenFor(t);

    assert.deepEqual([run.code, run.rows[0]?.Result], [0, "Unchanged"], run.said);
  });

  test("a token that expires during a run is renewed", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t, { requestsPerToken: 4 });

    const run = await publish(path, byCode);

    assert.equal(run.code, 0, run.said);
    assert.ok(tenant.signIns.refreshed > 2);
  });

  test("a token in -AccessToken that expires stops the run with a remedy", async (t) => {
    const { publish, path } = await startWithPrinter(t, { requestsPerToken: 4 });

    const run = await publish(path);

    assert.equal(run.code, 1);
    assert.match(
      run.said,
      /401 InvalidAuthenticationToken.*The token is not valid, not for Microsoft Graph, or has ended: get a new one/,
    );
  });

  deepTest("after a token has expired, the next run finishes", async (t) => {
    const { tenant, script, run: start, path } = await startWithPrinter(t, { requestsPerToken: 4 });
    // The lease of the interrupted run holds the next one for this long.
    const text = await script(path, [["$LeaseSeconds = 120", "$LeaseSeconds = 1"]]);

    const run = await start(text);
    tenant.behaviour.requestsPerToken = Number.POSITIVE_INFINITY;
    const next = await start(text);

    assert.deepEqual([run.code, next.code, tenant.apps().length], [1, 0, 1]);
  });

  test("without the permission, the first refusal ends the run and names the permission", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t, { isForbidden: true });

    const run = await publish(path);

    assert.deepEqual([run.code, tenant.requests.length, tenant.apps()], [1, 1, []]);
    assert.match(run.said, /403 .*needs the permission DeviceManagementApps\.ReadWrite\.All/);
  });

  deepTest(
    "opens Microsoft's page, takes the code at a port of this PC, and redeems it with PKCE",
    async (t) => {
      const { tenant, publish, path } = await startPublished(t);

      const run = await publish(path, { ...inBrowser, Tenant: "contoso.example" });

      const [page, token] = tenant.requests.filter(({ area }) => area === "login");
      assert.equal(run.code, 0, run.said);
      assert.equal(page?.path, "/contoso.example/oauth2/v2.0/authorize");
      assert.equal(page?.query.get("prompt"), "select_account");
      assert.match(
        page?.query.get("scope") ?? "",
        /DeviceManagementApps\.ReadWrite\.All openid profile offline_access$/,
      );
      assert.equal((token?.body as Record<string, string> | undefined)?.grant_type, "authorization_code");
      assert.ok(
        run.output.some((line) => line.includes("/contoso.example/oauth2/v2.0/authorize?client_id=")),
      );
      assert.ok(!run.log.includes("code_challenge"), "the address is not logged");
    },
  );

  deepTest("other requests to the port get 404 and do not disturb the sign-in", async (t) => {
    const { publish, path } = await startPublished(t, { signIn: { browser: "noise" } });

    const run = await publish(path, inBrowser);

    assert.equal(run.code, 0, run.said);
  });

  for (const browser of selectCases(["wrong state", "closed"] as const, 1))
    test(`a browser that never brings the right answer (${browser}) is waited for only for a while`, async (t) => {
      const { tenant, script, run, path } = await startWithPrinter(t, { signIn: { browser } });
      const text = await script(path, [["$BrowserSeconds = 300", "$BrowserSeconds = 1"]]);

      const result = await run(text, inBrowser);

      assert.deepEqual([result.code, tenant.requests.length], [1, 1]);
      assert.match(result.said, /Nobody signed in within .* try -SignIn DeviceCode/);
    });

  for (const [pc, environment, way] of [
    ["with a screen uses the browser", { DISPLAY: ":0", SSH_CONNECTION: "" }, "authorize"],
    ["without a screen shows a code", { DISPLAY: "", WAYLAND_DISPLAY: "" }, "devicecode"],
  ] as const)
    test(`without -SignIn, a PC ${pc}`, async (t) => {
      const refusal = "invalid_request AADSTS90002: Tenant not found.";
      const { tenant, script, run, path } = await startWithPrinter(t, { signIn: { refusal } });

      await run(await script(path), byCode, environment);

      const ways = tenant.requests.flatMap(
        ({ path }) => /v2\.0\/(authorize|devicecode)$/.exec(path)?.[1] ?? [],
      );
      assert.deepEqual(ways, [way]);
    });

  test("-WhatIf asks for permission to read only, and Graph's data stays as it is", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t);

    const run = await publish(path, { ...inBrowser, WhatIf: true });

    assert.equal(run.code, 3, run.said);
    assert.match(tenant.requests[0]?.query.get("scope") ?? "", /DeviceManagementApps\.Read\.All openid/);
    assert.deepEqual(tenant.apps(), []);
  });

  deepTest(
    "when Microsoft asks for a second factor in the middle, the person signs in again and the run goes on",
    async (t) => {
      const signIn = { acceptsRefreshTokens: false };
      const { tenant, publish, path } = await startPublished(t, { claimsAfter: 2, signIn });

      const run = await publish(path, inBrowser);

      const pages = tenant.requests.filter(({ path }) => path.endsWith("/authorize"));
      assert.equal(run.code, 0, run.said);
      assert.match(run.said, /Microsoft asks you to sign in again/);
      assert.deepEqual(
        pages.map(({ query }) => query.get("claims")),
        [null, '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}'],
      );
    },
  );
});
