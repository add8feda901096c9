import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BehaviourChanges } from "../support/graph/behaviour.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { appOf, changesIn, startPublishing } from "../support/publish/publishing.ts";

const byCode = { AccessToken: undefined };

describe("signing in to publish", { skip: withoutPowerShell }, () => {
  test("shows Microsoft's message unchanged, and the run continues after the sign-in", async (t) => {
    const answers = ["authorization_pending", "authorization_pending", "slow_down", "authorization_pending"];
    const { service, tenant, publish } = await startPublishing(t, { signIn: { answers, slowDown: 1 } });
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, byCode);

    const request = tenant.requests.find(({ area }) => area === "login");
    assert.equal(run.code, 0, run.output.join("\n"));
    assert.ok(run.output.some((line) => line.startsWith("To sign in, use a web browser to open the page")));
    assert.deepEqual([tenant.signIns.polls, tenant.signIns.tooFast], [5, 0]);
    assert.equal(request?.path, "/organizations/oauth2/v2.0/devicecode");
    assert.match(JSON.stringify(request?.body), /"client_id":"14d82eec-204b-4c2f-b7e8-296a70dab67e"/);
    assert.ok(appOf(tenant, `printer:${id}`));
  });

  const refusals: Readonly<Record<string, [BehaviourChanges["signIn"] & object, RegExp]>> = {
    "nobody signs in": [{ answers: ["expired_token"] }, /Nobody signed in before the code expired/],
    "the code ends while it is waited for": [{ expiresIn: 0 }, /Nobody signed in before the code expired/],
    "the person declines": [
      { answers: ["authorization_declined"] },
      /by DeviceCode was refused: the person declined the sign-in \(AADSTS70000\)\. Try -SignIn Browser\./,
    ],
    "Conditional Access blocks device codes": [
      { answers: ["invalid_grant AADSTS53003: Access has been blocked by Conditional Access policies."] },
      /by DeviceCode was refused: Conditional Access blocks this way of signing in \(AADSTS53003\)\. Try -SignIn Browser\./,
    ],
    "the sign-in has to be confirmed": [
      { answers: ["interaction_required AADSTS50199: For security reasons, user confirmation is required."] },
      /Microsoft asks for a confirmation, which this way .*\(AADSTS50199\)\. Try -SignIn Browser\./,
    ],
    "the code is unknown": [
      { answers: ["bad_verification_code"] },
      /The device code is unknown \(AADSTS70019\)/,
    ],
    "the tenant is unknown": [
      { refusal: "invalid_request AADSTS90002: Tenant not found." },
      /there is no such tenant \(AADSTS90002\)/,
    ],
    "an administrator has to consent": [{ answers: ["invalid_grant"] }, /invalid_grant/],
  };
  for (const [name, [signIn, message]] of Object.entries(refusals)) {
    test(`if ${name}, the run says so and sends nothing to Graph`, async (t) => {
      const { service, tenant, publish } = await startPublishing(t, { signIn });
      const id = await service.addPrinter();

      const run = await publish(`/printers/${id}/publish`, byCode);

      assert.deepEqual([run.code, tenant.requests.filter(({ area }) => area === "graph")], [1, []]);
      assert.match(run.output.join("\n"), message);
    });
  }

  test("shows the user and the tenant that the token names", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const claims = { tid: "0f0f", upn: "anna@contoso.example\u001b[2J" };
    const token = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
    tenant.state.tokens.set(token, 0);

    const run = await publish(`/printers/${id}/publish`, { AccessToken: `Bearer ${token}` });

    assert.equal(run.code, 0, run.output.join("\n"));
    assert.equal(run.output[1], "Signed in as anna@contoso.example [2J, tenant 0f0f");
  });

  test("a token for another tenant than the client's publishes nothing, and the message names both", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso", tenant_id: "contoso.example" });
    const id = await service.addPrinter({ client_id: "1" });
    const tokenFor = (tid: string) => {
      const token = `e30.${Buffer.from(JSON.stringify({ tid })).toString("base64url")}.c2ln`;
      tenant.state.tokens.set(token, 0);
      return token;
    };
    const other = "0f0f0f0f-1111-4222-8333-444444444444";

    const wrong = await publish(`/printers/${id}/publish`, { AccessToken: tokenFor(other) });
    const right = await publish(`/printers/${id}/publish`, {
      AccessToken: tokenFor(tenant.id),
      PassThru: true,
    });

    assert.equal(wrong.code, 1);
    assert.match(
      wrong.output.join("\n"),
      /The token is for the tenant 0f0f0f0f-\S+, not for contoso\.example\./,
    );
    assert.deepEqual([right.code, right.rows[0]?.Result], [0, "Created"], right.output.join("\n"));
  });

  test("a token that expires during a run is renewed", async (t) => {
    const { service, tenant, publish } = await startPublishing(t, { requestsPerToken: 4 });
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, byCode);

    assert.equal(run.code, 0, run.output.join("\n"));
    assert.ok(tenant.signIns.refreshed > 2);
  });

  test("a token in -AccessToken that expires stops the run with a remedy, and the next run finishes", async (t) => {
    const { service, tenant, script, run: start } = await startPublishing(t, { requestsPerToken: 4 });
    const id = await service.addPrinter();

    // The lease of the interrupted run holds the next one for this long.
    const text = await script(`/printers/${id}/publish`, [["$LeaseSeconds = 120", "$LeaseSeconds = 1"]]);

    const run = await start(text);
    tenant.behaviour.requestsPerToken = Number.POSITIVE_INFINITY;
    const next = await start(text);

    assert.deepEqual([run.code, next.code, tenant.apps().length], [1, 0, 1]);
    assert.match(
      run.output.join("\n"),
      /401 InvalidAuthenticationToken.*The token is not valid, not for Microsoft Graph, or has ended: get a new one/,
    );
  });

  test("without the permission, the first refusal ends the run and names the permission", async (t) => {
    const { service, tenant, publish } = await startPublishing(t, { isForbidden: true });
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`);

    assert.deepEqual([run.code, tenant.requests.length, changesIn(tenant)], [1, 1, []]);
    assert.match(run.output.join("\n"), /403 .*needs the permission DeviceManagementApps\.ReadWrite\.All/);
  });

  test("a token is sent only over HTTPS or to this machine", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();

    const graph = await publish(`/printers/${id}/publish`, { GraphUrl: "http://graph.example.com" });
    const login = await publish(`/printers/${id}/publish`, { LoginUrl: "http://login.example.com" });

    assert.match(graph.output.join(), /-GraphUrl takes an address that begins with https:\/\//);
    assert.match(login.output.join(), /-LoginUrl takes an address that begins with https:\/\//);
    assert.deepEqual([graph.code, login.code, tenant.requests], [1, 1, []]);
  });

  test("a list that continues on another server is not followed", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const other = await startPublishing(t);
    const instance = /Instance = '([0-9a-f]+)'/.exec(
      await (await service.fetch(`/printers/${id}/publish`)).text(),
    )?.[1];
    for (const number of [50, 51, 52]) tenant.addApp({ notes: `platen:${instance}:printer:${number}` });
    const GraphUrl = tenant.graphUrl;
    Object.assign(tenant, { graphUrl: other.tenant.graphUrl });

    const run = await publish(`/printers/${id}/publish`, { GraphUrl });

    assert.deepEqual([run.code, other.tenant.requests], [1, []]);
    assert.match(run.output.join(), /Graph's list continues at an address of another server/);
  });
});
