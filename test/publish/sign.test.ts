import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { signInAdmin, startClosed } from "../support/access/people.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { isValid, signingFolder } from "../support/deploy/authenticode.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { sharedPublisher } from "../support/publish/publishing.ts";

/**
 * Stands for the cmdlet of Windows: osslsigncode signs the file. $env:SIGN_FAILS: part of the text of scripts that it cannot
 * sign.
 */
const cmdlet = `
function global:Set-AuthenticodeSignature {
    param([string]$FilePath, $Certificate, [string]$HashAlgorithm, [string]$IncludeChain, [string]$TimestampServer)
    if ($HashAlgorithm -ne 'SHA256' -or $IncludeChain -ne 'NotRoot') { throw 'unexpected parameters' }
    if ($env:SIGN_FAILS -and [IO.File]::ReadAllText($FilePath).Contains($env:SIGN_FAILS)) { return [pscustomobject]@{ SignerCertificate = $null; Status = 'UnknownError'; StatusMessage = 'The smart card was removed.'; TimeStamperCertificate = $null } }
    $null = osslsigncode sign -certs "$env:SIGNING/certificate.pem" -key "$env:SIGNING/key.pem" -h sha256 -in $FilePath -out "$FilePath.signed.ps1" 2>&1
    [IO.File]::Delete($FilePath)
    [IO.File]::Move("$FilePath.signed.ps1", $FilePath)
    return [pscustomobject]@{ SignerCertificate = $Certificate; Status = 'UnknownError'; StatusMessage = 'A certificate chain ends in a root that is not trusted.'; TimeStamperCertificate = $null }
}
`;

const secure = (text: string) => ({ Secure: text });
const withFile = () => ({
  CertificatePath: join(signingFolder(), "signing.pfx"),
  CertificatePassword: secure("pfx"),
});

/** Runs sign.ps1 on a Windows that has the cmdlet. */
async function runSign(
  script: string,
  parameters: Record<string, unknown>,
  environment: Record<string, string> = {},
  how: "as served" | "apart" = "apart",
) {
  const given = { ...parameters, Before: { Block: cmdlet } };
  const run = await sharedPublisher().run(script, given, { SIGNING: signingFolder(), ...environment }, how);
  assert.deepEqual([run.errors, run.left], [[], []]);
  return run;
}

async function startShop(t: TestContext, names = ["Büro 1"]) {
  const service = await startApp(t);
  await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6"] }));
  for (const name of names) await service.addPrinter({ name, driver_id: "1" });
  return { ...service, script: await (await service.fetch("/sign")).text() };
}

const unsigned = async ({ fetch }: Pick<TestApp, "fetch">) =>
  ((await (await fetch("/signatures")).json()) as { name: string }[]).map(({ name }) => name);

describe("sign.ps1", { skip: withoutPowerShell || without.osslsigncode || without.unzip }, () => {
  test("the script as it is served signs every script of the packages, and says that the PC does not trust the certificate", async (t) => {
    const shop = await startShop(t);
    const { length } = await unsigned(shop);

    const run = await runSign(shop.script, { ...withFile(), Force: true }, {}, "as served");

    const tree = unpackers.unzip(await bytesOf(shop.fetch("/printers/1/packages/rmm")));
    assert.equal(run.code, 0, run.said);
    assert.match(run.said, new RegExp(`Signed by CN=Contoso IT, O=Contoso: ${length} scripts\\.`));
    assert.match(run.said, /This PC does not trust the certificate: A certificate chain/);
    assert.deepEqual(await unsigned(shop), []);
    for (const name of ["install.ps1", "uninstall.ps1", "detect.ps1"])
      assert.ok(isValid(tree[name] ?? Buffer.alloc(0)), name);
  });

  test("a second run finds nothing to sign, and -Remove removes all signatures", async (t) => {
    const shop = await startShop(t);
    const before = await unsigned(shop);

    const first = await runSign(shop.script, { ...withFile(), Force: true });
    const again = await runSign(shop.script, { ...withFile(), Force: true });
    const removed = await runSign(shop.script, { Remove: true, Force: true });

    assert.deepEqual([first.code, again.code, removed.code], [0, 0, 0], removed.said);
    assert.match(again.said, /All scripts are signed\./);
    assert.match(removed.said, /The signatures are deleted\./);
    assert.deepEqual(await unsigned(shop), before);
  });

  test("lists the scripts with -WhatIf, and changes nothing where nobody answers", async (t) => {
    const shop = await startShop(t);
    const before = await unsigned(shop);

    const listed = await runSign(shop.script, { ...withFile(), WhatIf: true });
    const unasked = [await runSign(shop.script, withFile()), await runSign(shop.script, { Remove: true })];

    assert.equal(listed.code, 3, listed.said);
    assert.match(listed.said, new RegExp(`${before.length} scripts without a signature:\\n  \\S+\\.ps1 `));
    const remedy = /This session cannot ask\. Check the list, and run the script again with -Force\./;
    for (const { code, said } of unasked)
      assert.match(`${code} ${said}`, new RegExp(`^1 [^]*${remedy.source}`));
    assert.deepEqual(await unsigned(shop), before);
  });

  test("a script that cannot be signed is named, and the others are signed", async (t) => {
    const shop = await startShop(t, ["Back Office"]);
    const before = (await unsigned(shop)).length;

    const run = await runSign(shop.script, { ...withFile(), Force: true }, { SIGN_FAILS: "Back Office" });

    const after = (await unsigned(shop)).length;
    assert.equal(run.code, 2, run.said);
    assert.match(run.said, /install-back-office\.ps1 was not signed: .*The smart card was removed\./);
    assert.ok(after > 0 && after < before);
  });

  const none = "0".repeat(40);
  const server = () => ({ ...withFile(), CertificatePath: join(signingFolder(), "server.pfx") });
  const refusals: readonly (readonly [RegExp, () => Record<string, unknown>])[] = [
    [/Use -CertificateThumbprint or -CertificatePath\./, () => ({})],
    [/is not for signing code/, server],
    [/not both/, () => ({ ...withFile(), CertificateThumbprint: none })],
    [/There is no certificate 0{40}/, () => ({ CertificateThumbprint: none })],
    [/takes a SecureString/, () => ({ ...server(), CertificatePassword: "secret" })],
    [/there is no file .*nowhere\.pfx/, () => ({ ...withFile(), CertificatePath: "nowhere.pfx" })],
    [/-TimestampServer takes an address/, () => ({ ...withFile(), TimestampServer: "ftp://time.example" })],
    [
      /-Url takes an address that begins with https/,
      () => ({ ...withFile(), Url: "gopher://platen.example" }),
    ],
    [
      /is not encrypted: /,
      () => ({ ...withFile(), Url: "http://platen.example", AllowHttp: true, Token: secure("platen_x") }),
    ],
  ];
  for (const [message, given] of refusals)
    test(`refuses what cannot work before it signs anything: ${message.source}`, async (t) => {
      const shop = await startShop(t);

      const run = await runSign(shop.script, { ...given(), Force: true });

      assert.equal(run.code, 1, run.said);
      assert.match(run.said, message);
      assert.equal(shop.app.store.signatures.digests.size, 0);
    });

  test("signs only on Windows", async (t) => {
    const shop = await startShop(t);

    const run = await sharedPublisher().run(shop.script, withFile());

    assert.match(run.said, /Only Windows can sign scripts\./);
    assert.equal(shop.app.store.signatures.digests.size, 0);
  });

  for (const scope of [undefined, "read", "sign"])
    test(`with sign-in, it needs a token for signing: ${scope ?? "none"}`, async (t) => {
      const service = await startClosed(t);
      const headers = { cookie: await signInAdmin(service) };
      await service.upload("/drivers/upload", driverZip(), "driver.zip", headers);
      await service.post("/printers", { name: "Office", address: "10.0.0.9", driver_id: "1" }, headers);
      const script = await (await service.fetch("/sign", { headers })).text();
      const fields = { name: "token", scope: scope ?? "read", days: "30" };
      const page = await (await service.post("/tokens", fields, headers)).text();
      const token = /platen_\w+/.exec(page)?.[0] ?? "";

      const Token = scope && secure(token);
      const run = await runSign(script, { ...withFile(), Force: true, ...(Token && { Token }) });

      assert.ok(token !== "" && !(run.said + run.log).includes(token));
      assert.equal(run.code, scope === "sign" ? 0 : 1, run.said);
      if (scope === "sign") {
        const removed = await runSign(script, { Remove: true, Force: true, Token });
        assert.match(removed.said, /\(403\)\. An operator deletes them on the page Packages\./);
        assert.notEqual(service.app.store.signatures.digests.size, 0);
        return;
      }
      const text =
        /Platen refused to list the scripts \(40[13]\)\. Use -Token with a token for signing scripts/;
      assert.match(run.said, text);
    });
});
