import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addedFile,
  ask,
  blockAddress,
  blockList,
  createdApp,
  put,
  seal,
  settled,
} from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";
import { plain, tenantWithApp, tenantWithFile } from "../support/graph/with-file.ts";

test("asking for an address can fail for good", async (t) => {
  const { tenant, id } = await tenantWithApp(t, { uriResults: ["TimedOut"] });

  const { path } = await addedFile(tenant, id, seal(plain));
  const { uploadState, azureStorageUri } = await settled(tenant, path);

  assert.equal(uploadState, "azureStorageUriRequestTimedOut");
  assert.equal(azureStorageUri, null);
});

test("an address that takes no more blocks is renewed, and the old one stays refused", async (t) => {
  const { tenant, path, uri, sealed } = await tenantWithFile(t, { uriBlocks: 1 });
  const block = new Uint8Array(sealed.payload);

  const one = await put(blockAddress(uri, 0), block);
  const expired = await put(`${uri}&comp=blocklist`, blockList(1));
  await ask(tenant, "POST", `${path}/renewUpload`, {});
  const { uploadState, azureStorageUri } = await settled(tenant, path);
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

test("a new address may be refused at first, and an address expires with its time", async (t) => {
  const graph = await startGraph(t);
  const [young, old] = [graph.tenant("young", { uriNotYet: 1 }), graph.tenant("old", { uriSeconds: 0 })];
  const sealed = seal(plain);
  const addresses = [young, old].map(async (tenant) => {
    const { path } = await addedFile(tenant, await createdApp(tenant), sealed);
    return (await settled(tenant, path)).azureStorageUri;
  });
  const [first, second] = await Promise.all(addresses);

  const statuses: number[] = [];
  for (const uri of [first, first, second])
    statuses.push((await put(blockAddress(uri, 0), new Uint8Array([1]))).status);

  assert.deepEqual(statuses, [403, 201, 403]);
});

test("the storage refuses ids of unequal length, missing headers, tokens and lists of what is not there", async (t) => {
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
