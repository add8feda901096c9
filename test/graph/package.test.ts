import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { readWithYauzl } from "../support/drivers/foreign-reader.ts";
import { appWithMixedDriver, bytesOf } from "../support/drivers/mixed-driver.ts";
import { createdApp, type Sealed, uploadedVersion } from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";

/** The payload of an .intunewin with its keys, as its Detection.xml tells them. */
async function sealedIn(intunewin: Buffer): Promise<Sealed> {
  const files = await readWithYauzl(intunewin, {});
  const payload = files.get("IntuneWinPackage/Contents/IntunePackage.intunewin")?.bytes;
  const xml = Buffer.from(files.get("IntuneWinPackage/Metadata/Detection.xml")?.bytes ?? "").toString("utf8");
  const told = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`, "i").exec(xml)?.[1] ?? "";
  const fileEncryptionInfo = {
    encryptionKey: told("EncryptionKey"),
    macKey: told("MacKey"),
    initializationVector: told("InitializationVector"),
    mac: told("Mac"),
    profileIdentifier: told("ProfileIdentifier"),
    fileDigest: told("FileDigest"),
    fileDigestAlgorithm: told("FileDigestAlgorithm"),
  };
  return {
    payload: Buffer.from(payload ?? ""),
    size: Number(told("UnencryptedContentSize")),
    fileEncryptionInfo,
  };
}

test("the package that Platen makes is taken, and holds its ZIP", async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);
  const sealed = await sealedIn(await bytesOf(fetch(`/printers/${printer}/packages/mdm`)));
  const tenant = (await startGraph(t)).tenant("shop");
  const id = await createdApp(tenant);

  const { version, state } = await uploadedVersion(tenant, id, sealed);

  assert.equal(state, "commitFileSuccess", tenant.commitFailures.join());
  tenant.change(id, { committedContentVersion: version });
  const zip = await tenant.content(id).bytes();
  assert.ok((await readWithYauzl(zip, {})).has("install.ps1"));
  assert.equal(createHash("sha256").update(zip).digest("base64"), sealed.fileEncryptionInfo.fileDigest);
});
