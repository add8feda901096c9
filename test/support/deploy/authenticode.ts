// Signs and verifies scripts with osslsigncode, as Windows does.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd } from "../at-end.ts";

let certificateFolder: string | undefined;

/**
 * The folder with `key.pem` and `certificate.pem` of CN=Contoso IT, both also in `signing.pfx`, and with `server.pfx` of a
 * certificate that is not for code. The password of both is `pfx`.
 */
export function signingFolder(): string {
  if (certificateFolder !== undefined) return certificateFolder;
  const folder = mkdtempSync(join(tmpdir(), "platen-signing-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe", cwd: folder });
  const makePfx = (certificate: string, out: string) =>
    openssl(
      ...["pkcs12", "-export", "-inkey", "key.pem", "-in", certificate],
      ...["-passout", "pass:pfx", "-out", out],
    );
  openssl(
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "certificate.pem"],
    ...["-days", "2", "-subj", "/O=Contoso/CN=Contoso IT", "-addext", "extendedKeyUsage=codeSigning"],
  );
  makePfx("certificate.pem", "signing.pfx");
  openssl("req", "-x509", "-key", "key.pem", "-out", "server.pem", "-subj", "/CN=server");
  makePfx("server.pem", "server.pfx");
  certificateFolder = folder;
  return folder;
}

function inFolder<T>(script: Uint8Array, work: (path: string, certificate: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "platen-signed-"));
  try {
    const path = join(folder, "script.ps1");
    writeFileSync(path, script);
    return work(path, signingFolder());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param isForCode whether the certificate is for signing code
 * @param description makes another signature of the same script
 * @returns the signed script
 */
export function sign(script: Uint8Array, isForCode = true, description = ""): Buffer {
  return inFolder(script, (path, made) => {
    const certificate = isForCode ? "certificate.pem" : "server.pem";
    const key = ["-certs", join(made, certificate), "-key", join(made, "key.pem")];
    const named = description === "" ? [] : ["-n", description];
    const args = ["sign", ...key, ...named, "-h", "sha256", "-in", path, "-out", `${path}.signed.ps1`];
    execFileSync("osslsigncode", args, { stdio: "pipe" });
    return readFileSync(`${path}.signed.ps1`);
  });
}

/** Whether the script has a valid signature of CN=Contoso IT. */
export function isValid(script: Uint8Array): boolean {
  return inFolder(script, (path, made) => {
    const args = ["verify", "-CAfile", join(made, "certificate.pem"), "-in", path];
    return spawnSync("osslsigncode", args, { stdio: "pipe" }).status === 0;
  });
}
