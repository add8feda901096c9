import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { signingFolder } from "../support/deploy/authenticode.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import type { SignInChanges } from "../support/graph/behaviour.ts";
import { identityHeader } from "../support/graph/sign-in-ways.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  startPublished,
  startPublishing,
  startWithoutPlaten,
  startWithPrinter,
} from "../support/publish/publishing.ts";

const noToken = { AccessToken: undefined };
const inBrowser = { ...noToken, SignIn: "Browser" };

/** What decides on the way of signing in, where -SignIn does not. */
const [onScreen, remote] = [
  { DISPLAY: ":0", SSH_CONNECTION: "" },
  { DISPLAY: "", WAYLAND_DISPLAY: "" },
];

const answer = (words: string) => ({ answers: [words] });
const coded = (code: number) => answer(`a AADSTS${code}: No.`);

/** What goes wrong, on which PC, how the service behaves, and what the run says. */
const refusals: readonly (readonly [string, typeof onScreen | typeof remote, SignInChanges, RegExp])[] = [
  ["nobody signs in", remote, answer("expired_token"), /Nobody signed in before the code expired/],
  ["the code ends", remote, { expiresIn: 0 }, /Nobody signed in before the code expired/],
  ["a person declines", remote, answer("authorization_declined"), /declined .*70000\)\. Try -SignIn Browser/],
  ["codes are blocked", remote, coded(53003), /blocks this way .*\(AADSTS53003\)\. Try -SignIn Browser\./],
  ["a click is missing", remote, coded(50199), /confirmation, .*\(AADSTS50199\)\. Try -SignIn Browser\./],
  ["the code is unknown", remote, answer("bad_verification_code"), /code is unknown \(AADSTS70019\)/],
  ["the tenant is unknown", remote, { refusal: "a AADSTS90002: No." }, /no such tenant \(AADSTS90002\)\.\n/],
  ["the device is unmanaged", remote, { refusal: "a AADSTS530033: No." }, /managed device \(AADSTS530033\)/],
  ["nobody has consented", remote, coded(65001), /nobody has consented .*\(AADSTS65001\)\.\n/],
  ["a person declines there", onScreen, { browser: "denied" }, /declined .*65004\)\. Try -SignIn DeviceCode/],
  ["the browser's code was used before", onScreen, { browser: "replayed code" }, /AADSTS54005/],
  ["the nonce is another one", onScreen, { browser: "wrong nonce" }, /the token of another sign-in/],
];

describe("signing in to publish", { skip: withoutPowerShell }, () => {
  for (const [name, pc, signIn, message] of refusals)
    test(`if ${name}, the run says so and sends nothing to Graph`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t, { signIn });

      const { code, said } = await run(noToken, pc);

      assert.deepEqual([code, tenant.requests.filter(({ area }) => area === "graph")], [1, []]);
      assert.match(said, message);
      assert.match(tenant.requests[0]?.path ?? "", pc === remote ? /\/devicecode$/ : /\/authorize$/);
      if (said.includes("AADSTS")) assert.match(said, pc === remote ? /by DeviceCode was/ : /by Browser was/);
    });

  test("shows Microsoft's message unchanged, and the run continues after the sign-in", async (t) => {
    const answers = ["authorization_pending", "authorization_pending", "slow_down", "authorization_pending"];
    const { tenant, publish, path } = await startPublished(t, { signIn: { answers, slowDown: 1 } });

    const run = await publish(path, noToken);

    const { path: asked, body } = tenant.requests.find(({ area }) => area === "login") ?? {};
    const { client_id, scope } = body as Record<string, string>;
    assert.equal(run.code, 0, run.said);
    assert.ok(run.output.some((line) => line.startsWith("To sign in, use a web browser to open the page")));
    assert.deepEqual([tenant.signIns.polls, tenant.signIns.tooFast], [5, 0]);
    assert.equal(asked, "/organizations/oauth2/v2.0/devicecode");
    assert.equal(client_id, "14d82eec-204b-4c2f-b7e8-296a70dab67e");
    assert.match(scope ?? "", /\/DeviceManagementApps\.ReadWrite\.All openid profile offline_access$/);
  });

  test("opens Microsoft's page, takes the code at a port of this PC past other requests, and reads only with -WhatIf", async (t) => {
    const { tenant, publish, path } = await startPublished(t, { signIn: { browser: "noise" } });

    const run = await publish(path, { ...inBrowser, Tenant: "contoso.example", WhatIf: true });

    const [page, token] = tenant.requests.filter(({ area }) => area === "login");
    assert.equal(run.code, 0, run.said);
    assert.equal(page?.path, "/contoso.example/oauth2/v2.0/authorize");
    assert.equal(page?.query.get("prompt"), "select_account");
    const scope = /\/DeviceManagementApps\.Read\.All openid profile offline_access$/;
    assert.match(page?.query.get("scope") ?? "", scope);
    assert.equal((token?.body as Record<string, string> | undefined)?.grant_type, "authorization_code");
    assert.match(run.said, /\/contoso\.example\/oauth2\/v2\.0\/authorize\?client_id=/);
    assert.ok(!run.log.includes("code_challenge"), "the address is not logged");
  });

  /** Publishes a printer that is in the tenant, of a client with a tenant, with a token that has these claims. */
  async function publishWithToken(t: TestContext, claimsOf: (tenant: Tenant) => object) {
    const { service, tenant, publish, published } = await startPublishing(t);
    await service.post("/clients", { name: "Contoso", tenant_id: "contoso.example" });
    const path = `/printers/${await service.addPrinter({ client_id: "1" })}/publish`;
    await published(path);
    const claims = Buffer.from(JSON.stringify(claimsOf(tenant))).toString("base64url");
    tenant.state.tokens.set(`e30.${claims}.c2ln`, 0);
    const given = { AccessToken: `Bearer e30.${claims}.c2ln`, PassThru: true };
    return { tenant, run: await publish(path, given) };
  }

  test("a token for another tenant than the client's publishes nothing, and the message names both", async (t) => {
    const tid = "0f0f0f0f-1111-4222-8333-444444444444";
    const { tenant, run } = await publishWithToken(t, () => ({ tid }));

    const requests = tenant.requests.filter(({ area }) => area === "graph");
    assert.deepEqual([run.code, requests], [1, []]);
    assert.match(run.said, /The token is for the tenant 0f0f0f0f-\S+, not for contoso\.example\./);
  });

  test("a token for the client's tenant is taken, although the client names its domain, and its user is shown", async (t) => {
    const upn = "anna@contoso.example\u001b[2J";
    const { tenant, run } = await publishWithToken(t, ({ id }) => ({ tid: id, upn }));

    assert.deepEqual([run.code, run.rows[0]?.Result], [0, "Unchanged"], run.said);
    assert.ok(run.output.includes(`Signed in as anna@contoso.example [2J, tenant ${tenant.id}`), run.said);
  });

  test("a token that expires during a run is renewed", async (t) => {
    const { tenant, publish, path } = await startWithPrinter(t, { requestsPerToken: 4 });

    const run = await publish(path, noToken);

    assert.equal(run.code, 0, run.said);
    assert.ok(tenant.signIns.refreshed > 2);
  });

  test("a token in -AccessToken that expires stops the run with a remedy", async (t) => {
    const { publish, path } = await startWithPrinter(t, { requestsPerToken: 4 });

    const run = await publish(path);

    const remedy =
      /401 InvalidAuthenticationToken.*The token is not valid, not for Microsoft Graph, or has ended: get a new one/;
    assert.equal(run.code, 1);
    assert.match(run.said, remedy);
  });

  test("without the permission, the first refusal ends the run and names the permission", async (t) => {
    const { tenant, run } = await startWithoutPlaten(t, { isForbidden: true });

    const { code, said } = await run();

    assert.deepEqual([code, tenant.requests.length, tenant.apps()], [1, 1, []]);
    assert.match(said, /403 .*needs the permission DeviceManagementApps\.ReadWrite\.All/);
  });

  for (const browser of selectCases(["wrong state", "closed"] as const, 1))
    test(`a browser that never brings the right answer (${browser}) is waited for only for a while`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t, { signIn: { browser } });

      const result = await run(inBrowser, { BrowserSeconds: "1" });

      assert.deepEqual([result.code, tenant.requests.length], [1, 1]);
      assert.match(result.said, /Nobody signed in within .* try -SignIn DeviceCode/);
    });

  deepTest(
    "when Microsoft asks for a second factor in the middle, the person signs in again and the run goes on",
    async (t) => {
      const signIn = { acceptsRefreshTokens: false };
      const { tenant, publish, path } = await startPublished(t, { claimsAfter: 2, signIn });

      const run = await publish(path, inBrowser);

      const pages = tenant.requests.filter(({ path }) => path.endsWith("/authorize"));
      const claims = pages.map(({ query }) => query.get("claims"));
      assert.equal(run.code, 0, run.said);
      assert.match(run.said, /Microsoft asks you to sign in again/);
      assert.deepEqual(claims, [null, '{"access_token":{"acrs":{"essential":true,"value":"c1"}}}']);
    },
  );
});

const client = "11111111-2222-4333-8444-555555555555";
const secret = "s3cret of the shop";
const ofApp = { ...noToken, Tenant: "contoso.example", ClientId: client };

/** The parameters for a certificate in a PFX file, the same certificate in PEM, and one of another name. */
function makeCertificate() {
  const folder = signingFolder();
  const pem = (name: string) => readFileSync(join(folder, `${name}.pem`), "utf8");
  const CertificatePath = join(folder, "signing.pfx");
  const given = { ...ofApp, CertificatePath, CertificatePassword: { Secure: "pfx" } };
  return { given, certificate: pem("certificate"), other: pem("server") };
}

describe("signing in to publish as an app", { skip: withoutPowerShell }, () => {
  test("a certificate signs an assertion that Microsoft accepts once, and again when the token ends", async (t) => {
    const { given, certificate } = makeCertificate();
    const { tenant, publish, path } = await startPublished(t, { requestsPerToken: 2 });
    tenant.signIns.apps.set(client, { certificate });

    const run = await publish(path, given);

    assert.equal(run.code, 0, run.said);
    assert.ok(tenant.signIns.assertions.size > 1);
  });

  const inStore = { CertificatePath: undefined, CertificatePassword: undefined };
  const unknown = { ...inStore, CertificateThumbprint: "ab".repeat(20) };
  const locked = { CertificatePassword: { Secure: secret } };
  for (const [name, parameters, behaviour, message] of [
    ["it is not uploaded", {}, {}, /by Certificate was refused: the certificate is not .*\(AADSTS700027\)/],
    ["the clock is wrong", {}, { clockAhead: 3600 }, /the clock of this PC is wrong \(AADSTS700024\)/],
    ["its password is wrong", locked, {}, /cannot be opened\. Is -CertificatePassword right\?/],
    ["its file is missing", { CertificatePath: "/no/such.pfx" }, {}, /there is no file/],
    ["the store has none", unknown, {}, /There is no certificate ABAB/i],
  ] as const)
    test(`a refusal of a certificate names its reason: ${name}`, async (t) => {
      const { given, certificate, other } = makeCertificate();
      const { tenant, run } = await startWithoutPlaten(t, { signIn: behaviour });
      const isUploaded = name !== "it is not uploaded";
      tenant.signIns.apps.set(client, { certificate: isUploaded ? certificate : other });

      const { code, said, log, noted } = await run({ ...given, ...parameters });

      assert.equal(code, 1);
      assert.match(said, message);
      assert.ok(!(said + log + noted).includes(secret));
    });

  test("a secret gives a token", async (t) => {
    const { tenant, publish, path } = await startPublished(t);
    tenant.signIns.apps.set(client, { secret });

    const run = await publish(path, { ...ofApp, ClientSecret: { Secure: secret } });

    assert.equal(run.code, 0, run.said);
  });

  for (const [what, given, message] of [
    ["given as text", secret, /-ClientSecret takes a SecureString/],
    ["wrong", { Secure: secret }, /the client secret is wrong \(AADSTS7000215\)/],
  ] as const)
    test(`a secret that is ${what} is refused and never shown`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t);
      tenant.signIns.apps.set(client, { secret: "another" });

      const { code, said, log, noted } = await run({ ...ofApp, ClientSecret: given });

      assert.equal(code, 1);
      assert.match(said, message);
      assert.ok(!(said + log + noted).includes(secret));
    });

  for (const [IDENTITY_HEADER, code] of [
    [identityHeader, 0],
    ["wrong", 1],
  ] as const)
    test(`a managed identity gets ${code === 0 ? "its" : "no"} token from the endpoint that the environment names`, async (t) => {
      const { tenant, publish, path } = await startPublished(t);
      const IDENTITY_ENDPOINT = tenant.graphUrl.replace("/t/", "/identity/");

      const given = { ...noToken, SignIn: "ManagedIdentity" };
      const run = await publish(path, given, { IDENTITY_ENDPOINT, IDENTITY_HEADER });

      assert.equal(run.code, code, run.said);
      if (code === 1) assert.match(run.said, /by ManagedIdentity was refused/);
    });

  const list = ["first", "second", "third", "fourth"];
  const Block = `param($Tenant) if ($Tenant -ne 'contoso.example') { throw 'other' }; $global:ASKED = 1 + [int](Get-Variable -Name ASKED -Scope Global -ValueOnly -ErrorAction Ignore); @('${list.join("','")}')[($global:ASKED - 1) % 4]`;

  test("a script block gives the token for the tenant, and another one when it ends", async (t) => {
    const { tenant, publish, path } = await startPublished(t, { requestsPerToken: 2 });
    for (const token of list) tenant.state.tokens.set(token, 0);

    const run = await publish(path, { AccessToken: { Block }, Tenant: "contoso.example" });

    assert.equal(run.code, 0, run.said);
    assert.ok((tenant.state.tokens.get("second") ?? 0) > 0);
  });

  for (const [what, given, message] of [
    ["a script block that fails", { AccessToken: { Block } }, /-AccessToken failed \(RuntimeException\)/],
    ["no module for a session", { ...noToken, SignIn: "GraphSession" }, /no Invoke-MgGraphRequest here/],
  ] as const)
    test(`${what} ends the run with its reason`, async (t) => {
      const { tenant, run } = await startWithoutPlaten(t);

      const { code, said } = await run(given);

      assert.deepEqual([code, tenant.requests], [1, []], said);
      assert.match(said, message);
    });

  test("a Graph session gives its module's token, which creates an app", async (t) => {
    const { tenant, publish, path, app } = await startWithPrinter(t);

    const run = await publish(path, { ...noToken, SignIn: "GraphSession", GraphSession: tenant.token });

    assert.equal(run.code, 0, run.said);
    assert.ok(tenant.content(app().id).size > 0);
  });
});
