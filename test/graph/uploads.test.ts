import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addFile,
  blockAddress,
  blockList,
  callGraph,
  createApp,
  encryptPayload,
  put,
  waitForUploadState,
} from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";
import { plainContent, tenantWithApp, tenantWithFile } from "../support/graph/with-file.ts";

test("the request for an upload URI can fail permanently", async (t) => {
  const { tenant, id } = await tenantWithApp(t, { uriResults: ["TimedOut"] });

  const { path } = await addFile(tenant, id, encryptPayload(plainContent));
  const { uploadState, azureStorageUri } = await waitForUploadState(tenant, path);

  assert.equal(uploadState, "azureStorageUriRequestTimedOut");
  assert.equal(azureStorageUri, null);
});

test("an expired URI can be renewed, and the old URI stays refused", async (t) => {
  const { tenant, path, uri, sealed } = await tenantWithFile(t, { blocksPerUri: 1 });
  const block = new Uint8Array(sealed.payload);

  const one = await put(blockAddress(uri, 0), block);
  const expired = await put(`${uri}&comp=blocklist`, blockList(1));
  await callGraph(tenant, "POST", `${path}/renewUpload`, {});
  const { uploadState, azureStorageUri } = await waitForUploadState(tenant, path);
  const old = await put(`${uri}&comp=blocklist`, blockList(1));
  const renewed = await put(`${azureStorageUri}&comp=blocklist`, blockList(1));

  assert.deepEqual(
    [one, expired, old, renewed].map(({ status }) => status),
    [201, 403, 403, 201],
  );
  assert.match(expired.error, /<Code>AuthenticationFailed<\/Code>/);
  assert.equal(uploadState, "azureStorageUriRenewalSuccess");
  assert.notEqual(azureStorageUri, uri);
});

test("a new URI can be refused at first, and a URI expires", async (t) => {
  const graph = await startGraph(t);
  const [young, old] = [graph.tenant("young", { newUriRefusals: 1 }), graph.tenant("old", { uriSeconds: 0 })];
  const sealed = encryptPayload(plainContent);
  const uris = [young, old].map(async (tenant) => {
    const { path } = await addFile(tenant, await createApp(tenant), sealed);
    return (await waitForUploadState(tenant, path)).azureStorageUri;
  });
  const [first, second] = await Promise.all(uris);

  const statuses: number[] = [];
  for (const uri of [first, first, second])
    statuses.push((await put(blockAddress(uri, 0), new Uint8Array([1]))).status);

  assert.deepEqual(statuses, [403, 201, 403]);
});

test("the storage refuses invalid block ids, missing headers, tokens, invalid lists and wrong signatures", async (t) => {
  const { tenant, uri } = await tenantWithFile(t);
  const block = new Uint8Array([1, 2, 3]);
  await put(blockAddress(uri, 0), block);
  const otherId = encodeURIComponent(Buffer.from("block-1").toString("base64"));

  const answers = [
    await put(`${uri}&comp=block&blockid=${otherId}`, block),
    await put(`${uri}&comp=block&blockid=%%%`, block),
    await put(blockAddress(uri, 1), block, { "x-ms-blob-type": "PageBlob" }),
    await put(blockAddress(uri, 1), new Uint8Array()),
    await put(blockAddress(uri, 1), block, { authorization: `Bearer ${tenant.token}` }),
    await put(`${uri}`, block),
    await put(`${uri}&comp=blocklist`, blockList(2)),
    await put(`${uri}&comp=blocklist`, blockList(1).replace("utf-8", "utf-16")),
    await put(`${uri}&comp=blocklist`, blockList(1).replaceAll("Latest", "Committed")),
    await put(blockAddress(String(uri).replace(/sig=./, "sig=_"), 1), block),
  ];

  assert.deepEqual(
    answers.map(({ status }) => status),
    [400, 400, 400, 400, 400, 400, 400, 400, 400, 403],
  );
  assert.match(answers[0]?.error ?? "", /InvalidBlobOrBlock/);
  assert.equal(tenant.leaks.length, 1);
});
