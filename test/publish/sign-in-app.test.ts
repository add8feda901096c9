import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { temporaryFolder } from "../support/app.ts";
import { identityHeader } from "../support/graph/sign-in-app.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { appOf, startPublishing } from "../support/publish/publishing.ts";

const client = "11111111-2222-4333-8444-555555555555";
const password = "pfx passw0rd";

/** A certificate with its key in a PFX file, and the same certificate in PEM. */
async function makeCertificate(t: TestContext, name = "publisher") {
  const folder = await temporaryFolder(t);
  const path = (file: string) => join(folder, file);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  openssl(
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", `/CN=${name}`],
    ...["-keyout", path("key.pem"), "-out", path("cert.pem")],
  );
  const pfx = path("publisher.pfx");
  openssl(
    ...["pkcs12", "-export", "-inkey", path("key.pem"), "-in", path("cert.pem")],
    ...["-passout", `pass:${password}`, "-out", pfx],
  );
  return { pfx, certificate: readFileSync(path("cert.pem"), "utf8") };
}

const ofApp = { AccessToken: undefined, Tenant: "contoso.example", ClientId: client };

describe("signing in to publish as an app", { skip: withoutPowerShell }, () => {
  test("a certificate signs an assertion that Microsoft accepts once, and again when the token ends", async (t) => {
    const { pfx, certificate } = await makeCertificate(t);
    const { service, tenant, publish } = await startPublishing(t, { requestsPerToken: 6 });
    tenant.signIns.apps.set(client, { certificate });
    const id = await service.addPrinter();

    const run = await publish(`/printers/${id}/publish`, {
      ...ofApp,
      CertificatePath: pfx,
      CertificatePassword: { Secure: password },
    });

    assert.equal(run.code, 0, run.output.join("\n"));
    assert.ok(tenant.signIns.assertions.size > 1);
    assert.ok(appOf(tenant, `printer:${id}`));
    assert.ok(!(run.output.join() + run.log + run.noted).includes(password));
  });

  test("each refusal of a certificate names its reason", async (t) => {
    const { pfx, certificate } = await makeCertificate(t);
    const other = await makeCertificate(t, "other");
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;
    const given = { ...ofApp, CertificatePath: pfx, CertificatePassword: { Secure: password } };

    tenant.signIns.apps.set(client, { certificate: other.certificate });
    const unknown = await publish(path, given);
    tenant.signIns.apps.set(client, { certificate });
    tenant.behaviour.signIn.clockAhead = 3600;
    const late = await publish(path, given);
    const wrong = await publish(path, { ...given, CertificatePassword: { Secure: "no" } });
    const missing = await publish(path, { ...given, CertificatePath: "/no/such.pfx" });
    const nowhere = await publish(path, { ...ofApp, CertificateThumbprint: "ab".repeat(20) });
    const shared = await publish(path, { ...given, ClientId: undefined });

    const texts = [unknown, late, wrong, missing, nowhere, shared].map(({ output }) => output.join("\n"));
    assert.match(
      texts[0] ?? "",
      /by Certificate was refused: the certificate is not uploaded .*\(AADSTS700027\)/,
    );
    assert.match(texts[1] ?? "", /the clock of this PC is wrong \(AADSTS700024\)/);
    assert.match(texts[2] ?? "", /cannot be opened\. Is -CertificatePassword right\?/);
    assert.match(texts[3] ?? "", /there is no file/);
    assert.match(texts[4] ?? "", /There is no certificate ABABAB/i);
    assert.match(texts[5] ?? "", /needs -Tenant and -ClientId/);
    assert.deepEqual(tenant.apps(), []);
  });

  test("a secret is taken only as a SecureString, and never shown", async (t) => {
    const secret = "s3cret of the shop";
    const { service, tenant, publish } = await startPublishing(t);
    tenant.signIns.apps.set(client, { secret });
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;

    const run = await publish(path, { ...ofApp, ClientSecret: { Secure: secret } });
    const asText = await publish(path, { ...ofApp, ClientSecret: secret });
    const wrong = await publish(path, { ...ofApp, ClientSecret: { Secure: "another" } });

    const shown = [run, asText, wrong].map(({ output, log, noted }) => output.join() + log + noted).join();
    assert.deepEqual([run.code, asText.code, wrong.code], [0, 1, 1], run.output.join("\n"));
    assert.match(asText.output.join(), /-ClientSecret takes a SecureString/);
    assert.match(wrong.output.join(), /the client secret is wrong \(AADSTS7000215\)/);
    assert.ok(!shown.includes(secret) && !shown.includes("another"));
  });

  test("a managed identity gets its token from the endpoint that the environment names", async (t) => {
    const { service, tenant, script, run } = await startPublishing(t);
    const id = await service.addPrinter();
    const endpoint = tenant.graphUrl.replace("/t/", "/identity/");
    const text = await script(`/printers/${id}/publish`);
    const given = { AccessToken: undefined, SignIn: "ManagedIdentity" };

    const result = await run(text, given, { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: identityHeader });
    const refused = await run(text, given, { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: "wrong" });

    assert.equal(result.code, 0, result.output.join("\n"));
    assert.ok(appOf(tenant, `printer:${id}`));
    assert.equal(refused.code, 1);
    assert.match(refused.output.join(), /by ManagedIdentity was refused/);
  });

  test("a script block gives the token for the tenant, and another one when it ends", async (t) => {
    const { service, tenant, publish } = await startPublishing(t, { requestsPerToken: 6 });
    const id = await service.addPrinter();
    const tokens = ["first", "second", "third", "fourth"];
    for (const token of tokens) tenant.state.tokens.set(token, 0);
    const list = `@('${tokens.join("','")}')`;
    const block = `param($Tenant) if ($Tenant -ne 'contoso.example') { throw 'other' }; $env:ASKED = 1 + [int]$env:ASKED; ${list}[$env:ASKED - 1]`;
    const given = { AccessToken: { Block: block } };

    const failed = await publish(`/printers/${id}/publish`, given);
    const run = await publish(`/printers/${id}/publish`, { ...given, Tenant: "contoso.example" });

    assert.equal(failed.code, 1);
    assert.match(failed.output.join("\n"), /The script block of -AccessToken failed \(RuntimeException\)/);
    assert.equal(run.code, 0, run.output.join("\n"));
    assert.ok((tenant.state.tokens.get("second") ?? 0) > 0);
  });

  test("a Graph session sends the requests through its module", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const path = `/printers/${id}/publish`;
    const given = { AccessToken: undefined, SignIn: "GraphSession" };

    const without = await publish(path, given);
    const run = await publish(path, { ...given, GraphSession: tenant.token });

    assert.match(without.output.join(), /There is no Invoke-MgGraphRequest here/);
    assert.equal(run.code, 0, run.output.join("\n"));
    assert.ok(appOf(tenant, `printer:${id}`));
  });

  test("contradictory ways of signing in are refused before any request", async (t) => {
    const { service, tenant, publish } = await startPublishing(t);
    const id = await service.addPrinter();
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ SignIn: "Secret", AccessToken: undefined }, /-SignIn Secret needs -ClientSecret/],
      [{ SignIn: "Certificate", AccessToken: undefined }, /-SignIn Certificate needs -CertificateThumbprint/],
      [{ SignIn: "Browser" }, /-AccessToken is not for -SignIn Browser/],
      [{ ClientSecret: { Secure: "x" } }, /Use only one of -AccessToken and -ClientSecret/],
      [{ Tenant: "contoso.example" }, /A token is for one tenant/],
      [{ AccessToken: undefined, CertificatePassword: { Secure: "x" } }, /is for -CertificatePath/],
    ];

    for (const [given, message] of cases) {
      const run = await publish(`/printers/${id}/publish`, given);
      assert.equal(run.code, 1);
      assert.match(run.output.join("\n"), message);
    }
    assert.deepEqual(tenant.requests, []);
  });
});
