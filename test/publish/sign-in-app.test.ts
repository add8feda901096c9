import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { signingFolder } from "../support/deploy/authenticode.ts";
import { deepTest } from "../support/depth.ts";
import { identityHeader } from "../support/graph/sign-in-app.ts";
import type { Tenant } from "../support/graph/tenant.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { startPublished, startWithPrinter } from "../support/publish/publishing.ts";

const client = "11111111-2222-4333-8444-555555555555";
const password = "pfx passw0rd";
const secret = "s3cret of the shop";
const ofApp = { AccessToken: undefined, Tenant: "contoso.example", ClientId: client };

/** The parameters for a certificate in a PFX file, and the same certificate in PEM, with one of another key. */
async function makeCertificate(t: TestContext) {
  const made = signingFolder();
  const pfx = join(await temporaryFolder(t), "publisher.pfx");
  const pair = ["-inkey", join(made, "key.pem"), "-in", join(made, "certificate.pem")];
  execFileSync("openssl", ["pkcs12", "-export", ...pair, "-passout", `pass:${password}`, "-out", pfx]);
  const [certificate, other] = ["certificate", "server"].map((name) =>
    readFileSync(join(made, `${name}.pem`), "utf8"),
  ) as [string, string];
  const given = { ...ofApp, CertificatePath: pfx, CertificatePassword: { Secure: password } };
  return { given, certificate, other };
}

describe("signing in to publish as an app", { skip: withoutPowerShell }, () => {
  test("a certificate signs an assertion that Microsoft accepts once, and again when the token ends", async (t) => {
    const { given, certificate } = await makeCertificate(t);
    const { tenant, publish, path } = await startPublished(t, { requestsPerToken: 2 });
    tenant.signIns.apps.set(client, { certificate });

    const run = await publish(path, given);

    assert.equal(run.code, 0, run.said);
    assert.ok(tenant.signIns.assertions.size > 1);
    assert.ok(!(run.said + run.log + run.noted).includes(password));
  });

  const refusals: readonly (readonly [
    name: string,
    parameters: object,
    arrange: (tenant: Tenant, other: string) => unknown,
    message: RegExp,
  ])[] = [
    [
      "the certificate is not uploaded",
      {},
      ({ signIns }, certificate) => signIns.apps.set(client, { certificate }),
      /by Certificate was refused: the certificate is not uploaded .*\(AADSTS700027\)/,
    ],
    [
      "the clock is wrong",
      {},
      ({ behaviour }) => {
        behaviour.signIn.clockAhead = 3600;
      },
      /the clock of this PC is wrong \(AADSTS700024\)/,
    ],
    [
      "the password is wrong",
      { CertificatePassword: { Secure: "no" } },
      () => undefined,
      /cannot be opened\. Is -CertificatePassword right\?/,
    ],
    ["the file is missing", { CertificatePath: "/no/such.pfx" }, () => undefined, /there is no file/],
    [
      "the store has no such certificate",
      { CertificatePath: undefined, CertificatePassword: undefined, CertificateThumbprint: "ab".repeat(20) },
      () => undefined,
      /There is no certificate ABABAB/i,
    ],
    ["the app is missing", { ClientId: undefined }, () => undefined, /needs -Tenant and -ClientId/],
  ];
  for (const [name, parameters, arrange, message] of refusals)
    test(`a refusal of a certificate names its reason: ${name}`, async (t) => {
      const { given, certificate, other } = await makeCertificate(t);
      const { tenant, publish, path } = await startWithPrinter(t);
      tenant.signIns.apps.set(client, { certificate });
      arrange(tenant, other);

      const run = await publish(path, { ...given, ...parameters });

      assert.equal(run.code, 1);
      assert.match(run.said, message);
      assert.deepEqual(tenant.apps(), []);
    });

  for (const [what, given, code, message] of [
    ["right", { Secure: secret }, 0, /Unchanged/],
    ["given as text", secret, 1, /-ClientSecret takes a SecureString/],
    ["wrong", { Secure: "another" }, 1, /the client secret is wrong \(AADSTS7000215\)/],
  ] as const)
    test(`a secret that is ${what} is never shown, and is taken only as a SecureString`, async (t) => {
      const { tenant, publish, path } = await startPublished(t);
      tenant.signIns.apps.set(client, { secret });

      const run = await publish(path, { ...ofApp, ClientSecret: given });

      assert.equal(run.code, code, run.said);
      assert.match(run.said, message);
      const shown = run.said + run.log + run.noted;
      assert.ok(!shown.includes(secret) && !shown.includes("another"));
    });

  for (const isRight of [true, false])
    test(`a managed identity gets ${isRight ? "its" : "no"} token from the endpoint that the environment names`, async (t) => {
      const { tenant, script, run, path } = await startPublished(t);
      const text = await script(path);
      const IDENTITY_ENDPOINT = tenant.graphUrl.replace("/t/", "/identity/");
      const IDENTITY_HEADER = isRight ? identityHeader : "wrong";

      const given = { AccessToken: undefined, SignIn: "ManagedIdentity" };
      const result = await run(text, given, { IDENTITY_ENDPOINT, IDENTITY_HEADER });

      assert.equal(result.code, isRight ? 0 : 1, result.said);
      if (!isRight) assert.match(result.said, /by ManagedIdentity was refused/);
    });

  for (const Tenant of [undefined, "contoso.example"])
    test(`a script block gives the token for the tenant ${Tenant}, and another one when it ends`, async (t) => {
      const { tenant, publish, path } = await startPublished(t, { requestsPerToken: 2 });
      const tokens = ["first", "second", "third", "fourth"];
      for (const token of tokens) tenant.state.tokens.set(token, 0);
      const list = `@('${tokens.join("','")}')`;
      const Block = `param($Tenant) if ($Tenant -ne 'contoso.example') { throw 'other' }; $global:ASKED = 1 + [int](Get-Variable -Name ASKED -Scope Global -ValueOnly -ErrorAction Ignore); ${list}[($global:ASKED - 1) % 4]`;

      const run = await publish(path, { AccessToken: { Block }, Tenant });

      assert.equal(run.code, Tenant === undefined ? 1 : 0, run.said);
      if (Tenant === undefined)
        assert.match(run.said, /The script block of -AccessToken failed \(RuntimeException\)/);
      else assert.ok((tenant.state.tokens.get("second") ?? 0) > 0);
    });

  for (const isThere of [true, false])
    test(`a Graph session ${isThere ? "sends the requests through its module" : "needs its module"}`, async (t) => {
      const { tenant, publish, path } = await startPublished(t);
      const given = { AccessToken: undefined, SignIn: "GraphSession" };

      const run = await publish(path, { ...given, ...(isThere && { GraphSession: tenant.token }) });

      assert.equal(run.code, isThere ? 0 : 1, run.said);
      if (!isThere) assert.match(run.said, /There is no Invoke-MgGraphRequest here/);
    });

  deepTest("a Graph session and a certificate publish new apps", async (t) => {
    const { given, certificate } = await makeCertificate(t);
    for (const parameters of [given, { AccessToken: undefined, SignIn: "GraphSession" }]) {
      const { tenant, publish, path, app } = await startWithPrinter(t, { requestsPerToken: 60 });
      tenant.signIns.apps.set(client, { certificate });
      const GraphSession = "SignIn" in parameters ? tenant.token : undefined;

      const run = await publish(path, { ...parameters, GraphSession });

      assert.equal(run.code, 0, run.said);
      assert.ok(app());
    }
  });
});
