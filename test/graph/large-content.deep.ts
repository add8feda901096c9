import assert from "node:assert/strict";
import { createCipheriv, createHash, createHmac } from "node:crypto";
import { test } from "node:test";

import {
  addFileOfSize,
  blockAddress,
  blockList,
  callGraph,
  createApp,
  encryptPayload,
  put,
  waitForUploadState,
} from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";
import { retainedBufferBytes } from "../support/memory.ts";
import { until } from "../support/until.ts";

const blockLength = 6 * 2 ** 20;

/** The encrypted blocks of a payload of zeros, without its header: the MAC is known only at the end. */
function* encryptedZeros(count: number) {
  const cipher = createCipheriv("aes-256-cbc", Buffer.alloc(32, 1), Buffer.alloc(16, 3));
  const zeros = Buffer.alloc(blockLength);
  for (let i = 0; i < count; i++) yield cipher.update(zeros);
  yield cipher.final();
}

test("a payload far larger than a block is checked without keeping it in memory", async (t) => {
  const count = 20;
  const tenant = (await startGraph(t)).tenant("shop", { keepsContent: false });
  const id = await createApp(tenant);
  const { fileEncryptionInfo: keys } = encryptPayload(Buffer.alloc(0));
  const size = count * blockLength;
  const { path, version } = await addFileOfSize(tenant, id, { size, sizeEncrypted: size + 64 });
  const uri = (await waitForUploadState(tenant, path)).azureStorageUri;
  const iv = Buffer.alloc(16, 3);
  const hmac = createHmac("sha256", Buffer.alloc(32, 2)).update(iv);
  const before = await retainedBufferBytes();

  let number = 1;
  for (const block of encryptedZeros(count)) {
    hmac.update(block);
    await put(blockAddress(uri, number++), new Uint8Array(block));
  }
  const mac = hmac.digest();
  await put(blockAddress(uri, 0), new Uint8Array(Buffer.concat([mac, iv])));
  await put(`${uri}&comp=blocklist`, blockList(number));
  const digest = createHash("sha256");
  for (let i = 0; i < count; i++) digest.update(Buffer.alloc(blockLength));
  const fileDigest = digest.digest();
  await callGraph(tenant, "POST", `${path}/commit`, {
    fileEncryptionInfo: { ...keys, mac: mac.toString("base64"), fileDigest: fileDigest.toString("base64") },
  });
  await until(async () => (await callGraph(tenant, "GET", path)).body.uploadState !== "commitFilePending");

  tenant.change(id, { committedContentVersion: version });
  assert.deepEqual(tenant.commitFailures, []);
  assert.equal(tenant.content(id).size, size);
  assert.equal(tenant.content(id).sha256, fileDigest.toString("hex"));
  await assert.rejects(tenant.content(id).bytes(), /keeps no content/);
  const held = (await retainedBufferBytes()) - before;
  assert.ok(held < 3 * blockLength, `${held} bytes are still held`);
});
