import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { readWithYauzl } from "../support/drivers/foreign-reader.ts";
import { appWithMixedDriver, bytesOf } from "../support/drivers/mixed-driver.ts";
import { createApp, type EncryptedPayload, uploadVersion } from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";

/** The payload of an .intunewin with the keys in its Detection.xml. */
async function readPayload(intunewin: Buffer): Promise<EncryptedPayload> {
  const files = await readWithYauzl(intunewin, {});
  const payload = files.get("IntuneWinPackage/Contents/IntunePackage.intunewin")?.bytes;
  const xml = Buffer.from(files.get("IntuneWinPackage/Metadata/Detection.xml")?.bytes ?? "").toString("utf8");
  const textOf = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`, "i").exec(xml)?.[1] ?? "";
  const fileEncryptionInfo = {
    encryptionKey: textOf("EncryptionKey"),
    macKey: textOf("MacKey"),
    initializationVector: textOf("InitializationVector"),
    mac: textOf("Mac"),
    profileIdentifier: textOf("ProfileIdentifier"),
    fileDigest: textOf("FileDigest"),
    fileDigestAlgorithm: textOf("FileDigestAlgorithm"),
  };
  return {
    payload: Buffer.from(payload ?? ""),
    size: Number(textOf("UnencryptedContentSize")),
    fileEncryptionInfo,
  };
}

test("a package that Platen builds is accepted and contains its ZIP", async (t) => {
  const { fetch, printer } = await appWithMixedDriver(t);
  const sealed = await readPayload(await bytesOf(fetch(`/printers/${printer}/packages/mdm`)));
  const tenant = (await startGraph(t)).tenant("shop");
  const id = await createApp(tenant);

  const { version, state } = await uploadVersion(tenant, id, sealed);

  assert.equal(state, "commitFileSuccess", tenant.commitFailures.join());
  tenant.change(id, { committedContentVersion: version });
  const zip = await tenant.content(id).bytes();
  assert.ok((await readWithYauzl(zip, {})).has("install.ps1"));
  assert.equal(createHash("sha256").update(zip).digest("base64"), sealed.fileEncryptionInfo.fileDigest);
});
