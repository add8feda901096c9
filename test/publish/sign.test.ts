import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { signInAdmin, startClosed } from "../support/access/people.ts";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { isValid, signingFolder } from "../support/deploy/authenticode.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { unpackers, without } from "../support/drivers/foreign.ts";
import { bytesOf } from "../support/drivers/mixed-driver.ts";
import { program, withoutPowerShell } from "../support/powershell/powershell.ts";

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

interface Run {
  readonly code: number | null;
  readonly output: string;
}

/** Runs sign.ps1 as a person does, on a Windows that has the cmdlet. */
async function runSign(
  t: TestContext,
  script: Buffer,
  args: string,
  { isWindows = true, env = {} }: { isWindows?: boolean; env?: Record<string, string> } = {},
): Promise<Run> {
  const folder = await temporaryFolder(t);
  const path = join(folder, "sign.ps1");
  await writeFile(path, script);
  const command = `${isWindows ? cmdlet : ""}\n& '${path}' -LogPath '${join(folder, "log")}' ${args}\nexit $LASTEXITCODE`;
  const runner = join(folder, "run.ps1");
  await writeFile(runner, command);
  const options = { env: { ...process.env, SIGNING: signingFolder(), TMPDIR: folder, ...env } };
  return new Promise((resolve) => {
    const child = execFile(
      program,
      ["-NoProfile", "-NonInteractive", "-File", runner],
      options,
      (_error, stdout, stderr) => resolve({ code: child.exitCode, output: stdout + stderr }),
    );
  });
}

const withFile = () =>
  `-CertificatePath '${join(signingFolder(), "signing.pfx")}' -CertificatePassword (ConvertTo-SecureString -AsPlainText -Force 'pfx')`;

async function startShop(t: TestContext): Promise<TestApp & { readonly script: Buffer }> {
  const service = await startApp(t);
  await service.addDriver(driverZip({ models: ["Papyrus 100 PCL6"] }));
  await service.addPrinter({ name: "Büro 1", driver_id: "1" });
  await service.addPrinter({ name: "Back Office", driver_id: "1", address: "10.0.0.8" });
  return { ...service, script: await bytesOf(service.fetch("/sign")) };
}

const unsigned = async ({ fetch }: TestApp) =>
  ((await (await fetch("/signatures")).json()) as { name: string }[]).map(({ name }) => name);

describe("sign.ps1", { skip: withoutPowerShell || without.osslsigncode || without.unzip }, () => {
  test("signs every script of the packages, says that the PC does not trust the certificate, and leaves no file", async (t) => {
    const shop = await startShop(t);

    const listed = await runSign(t, shop.script, `${withFile()} -WhatIf`);
    const before = (await unsigned(shop)).length;
    const run = await runSign(t, shop.script, `${withFile()} -Force`);
    const again = await runSign(t, shop.script, `${withFile()} -Force`);
    const tree = unpackers.unzip(await bytesOf(shop.fetch("/printers/1/packages/rmm")));

    assert.equal(listed.code, 3, listed.output);
    assert.match(listed.output, new RegExp(`${before} scripts without a signature:\\n  \\S+\\.ps1 `));
    assert.equal(run.code, 0, run.output);
    assert.match(run.output, new RegExp(`Signed by CN=Contoso IT, O=Contoso: ${before} scripts\\.`));
    assert.match(run.output, /This PC does not trust the certificate: A certificate chain/);
    assert.match(again.output, /All scripts are signed\./);
    assert.deepEqual(await unsigned(shop), []);
    const asked = await runSign(t, shop.script, "-Remove");
    assert.match(asked.output, /This session cannot ask/);
    for (const name of ["install.ps1", "uninstall.ps1", "detect.ps1"])
      assert.ok(isValid(tree[name] ?? Buffer.alloc(0)), name);
    const removed = await runSign(t, shop.script, "-Remove -Force");
    assert.equal(removed.code, 0, removed.output);
    assert.equal((await unsigned(shop)).length, before);
  });

  test("asks before it signs, and where nobody answers it signs nothing", async (t) => {
    const shop = await startShop(t);
    const before = await unsigned(shop);

    const run = await runSign(t, shop.script, withFile());

    assert.equal(run.code, 1);
    assert.match(
      run.output,
      /This session cannot ask\. Check the list, and run the script again with -Force\./,
    );
    assert.deepEqual(await unsigned(shop), before);
  });

  test("a script that cannot be signed is named, and the others are signed", async (t) => {
    const shop = await startShop(t);
    const env = { SIGN_FAILS: "Back Office" };

    const run = await runSign(t, shop.script, `${withFile()} -Force`, { env });
    const next = await runSign(t, shop.script, `${withFile()} -Force`);

    assert.equal(run.code, 2, run.output);
    assert.match(run.output, /install-back-office\.ps1 was not signed: .*The smart card was removed\./);
    assert.equal(next.code, 0, next.output);
    assert.deepEqual(await unsigned(shop), []);
  });

  test("refuses certificates and addresses that cannot work, before it signs anything", async (t) => {
    const shop = await startShop(t);
    const other = join(signingFolder(), "server.pfx");
    const password = "-CertificatePassword (ConvertTo-SecureString -AsPlainText -Force 'pfx')";
    const cases: [string, RegExp][] = [
      ["", /Use -CertificateThumbprint or -CertificatePath\./],
      [`-CertificatePath '${other}' ${password} -Force`, /is not for signing code/],
      [`${withFile()} -CertificateThumbprint ${"0".repeat(40)}`, /not both/],
      [`-CertificateThumbprint ${"0".repeat(40)} -Force`, /There is no certificate 0{40}/],
      [`-CertificatePath '${other}' -CertificatePassword secret -Force`, /takes a SecureString/],
      [`-CertificatePath nowhere.pfx ${password} -Force`, /there is no file .*nowhere\.pfx/],
      [`${withFile()} -TimestampServer ftp://time.example`, /-TimestampServer takes an address/],
      [`${withFile()} -Url gopher://platen.example`, /-Url takes an address that begins with https/],
    ];

    // All in one process, because PowerShell starts slowly.
    const calls = cases.map(([args]) => `${args}; "CODE $LASTEXITCODE"`).join("\n& $PSScriptRoot/sign.ps1 ");
    const { output } = await runSign(t, shop.script, calls);
    const outputs = output.split(/CODE (\d+)\n/);
    for (const [i, [args, message]] of cases.entries()) {
      assert.match(outputs[2 * i] ?? "", message);
      assert.equal(outputs[2 * i + 1], "1", args);
    }
    const linux = await runSign(t, shop.script, withFile(), { isWindows: false });
    assert.match(linux.output, /Only Windows can sign scripts\./);
    assert.equal(shop.app.store.signatures.digests.size, 0);
  });

  test("with sign-in, it needs a token for signing, which is not in its log or output", async (t) => {
    const service = await startClosed(t);
    const headers = { cookie: await signInAdmin(service) };
    await service.upload("/drivers/upload", driverZip(), "driver.zip", headers);
    await service.post("/printers", { name: "Office", address: "10.0.0.9", driver_id: "1" }, headers);
    const script = await bytesOf(service.fetch("/sign", { headers }));
    const made = async (scope: string) => {
      const answer = await service.post("/tokens", { name: scope, scope, days: "30" }, headers);
      return /platen_\w+/.exec(await answer.text())?.[0] ?? "";
    };
    const secure = (text: string) => `-Token (ConvertTo-SecureString -AsPlainText -Force '${text}')`;
    const [reads, signs] = [await made("read"), await made("sign")];

    const without = await runSign(t, script, `${withFile()} -Force`);
    const viewer = await runSign(t, script, `${withFile()} -Force ${secure(reads)}`);
    const run = await runSign(t, script, `${withFile()} -Force ${secure(signs)}`);

    for (const { code, output } of [without, viewer]) {
      assert.equal(code, 1);
      assert.match(
        output,
        /Platen refused to list the scripts \(40[13]\)\. Use -Token with a token for signing scripts/,
      );
    }
    assert.equal(run.code, 0, run.output);
    assert.ok(!run.output.includes(signs));
  });
});
