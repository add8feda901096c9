import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import {
  addFile,
  callGraph,
  contentOf,
  encryptPayload,
  icon,
  publishApp,
  uploadPayload,
  uploadVersion,
  waitForUploadState,
} from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";
import { plainContent, tenantWithApp, tenantWithFile } from "../support/graph/with-file.ts";

const win32 = { "@odata.type": "#microsoft.graph.win32LobApp" };

test("a payload in two blocks becomes the app's content, and the app is published", async (t) => {
  const { tenant, id } = await tenantWithApp(t, { patchRefusals: 1, processingFor: 1 });

  const { version, state } = await uploadVersion(tenant, id, encryptPayload(plainContent));
  const change = { ...win32, committedContentVersion: version, largeIcon: icon() };
  const early = await callGraph(tenant, "PATCH", `/${id}`, change);
  const changed = await callGraph(tenant, "PATCH", `/${id}`, change);
  const later = await callGraph(tenant, "GET", `/${id}`);

  assert.equal(state, "commitFileSuccess");
  assert.equal(early.status, 400);
  assert.equal(changed.status, 200);
  assert.equal((await callGraph(tenant, "GET", `/${id}`)).body.publishingState, "published");
  assert.equal(later.body.publishingState, "processing");
  assert.deepEqual(await tenant.content(id).bytes(), plainContent);
  assert.equal(tenant.content(id).sha256, createHash("sha256").update(plainContent).digest("hex"));
  assert.deepEqual(tenant.lostIcons, []);
});

test("setting a content version without the icon removes the icon", async (t) => {
  const { tenant, id } = await tenantWithApp(t);
  const { version } = await uploadVersion(tenant, id, encryptPayload(plainContent));

  await callGraph(tenant, "PATCH", `/${id}`, { ...win32, committedContentVersion: version });

  assert.equal(tenant.app(id).largeIcon, null);
  assert.deepEqual(tenant.lostIcons, [id]);
});

test("a version cannot be set before its file is committed", async (t) => {
  const { tenant, id } = await tenantWithApp(t);
  const sealed = encryptPayload(plainContent);
  const { path, version } = await addFile(tenant, id, sealed);
  await uploadPayload((await waitForUploadState(tenant, path)).azureStorageUri, sealed);

  const { status } = await callGraph(tenant, "PATCH", `/${id}`, {
    ...win32,
    committedContentVersion: version,
  });

  assert.equal(status, 400);
  assert.equal(tenant.app(id).publishingState, "notPublished");
});

const flipFirst = (bytes: Buffer) => Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 1]), bytes.subarray(1)]);
const flipLast = (bytes: Buffer) =>
  Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]);
const other = encryptPayload(Buffer.from("another ZIP"));

const spoiled: readonly [
  what: string,
  spoil: (sealed: ReturnType<typeof encryptPayload>) => object,
  why: RegExp,
][] = [
  ["a changed first byte", ({ payload }) => ({ payload: flipFirst(payload) }), /does not begin with the mac/],
  ["a changed last byte", ({ payload }) => ({ payload: flipLast(payload) }), /mac is another one/],
  [
    "an additional byte",
    ({ payload }) => ({ payload: Buffer.concat([payload, payload.subarray(0, 1)]) }),
    /bytes, not/,
  ],
  [
    "bytes re-encoded as UTF-8",
    ({ payload }) => ({ payload: Buffer.from(payload.toString("latin1"), "utf8") }),
    /bytes, not/,
  ],
  [
    "another ZIP's digest",
    ({ fileEncryptionInfo: info }) => ({
      fileEncryptionInfo: { ...info, fileDigest: other.fileEncryptionInfo.fileDigest },
    }),
    /another digest/,
  ],
  [
    "another key",
    ({ fileEncryptionInfo: info }) => ({
      fileEncryptionInfo: { ...info, encryptionKey: Buffer.alloc(32, 9).toString("base64") },
    }),
    /does not decrypt|another digest|holds/,
  ],
  [
    "another initialization vector",
    ({ fileEncryptionInfo: info }) => ({
      fileEncryptionInfo: { ...info, initializationVector: Buffer.alloc(16, 9).toString("base64") },
    }),
    /another initialization vector/,
  ],
];

for (const [what, spoil, why] of spoiled)
  test(`a commit fails permanently with ${what}`, async (t) => {
    const sealed = encryptPayload(plainContent);
    const { tenant, path, uri } = await tenantWithFile(t, {}, sealed);
    const sent = { ...sealed, ...spoil(sealed) };
    await uploadPayload(uri, sent);

    const commit = await callGraph(tenant, "POST", `${path}/commit`, {
      fileEncryptionInfo: sent.fileEncryptionInfo,
    });
    const { uploadState } = await waitForUploadState(tenant, path);
    const retry = await callGraph(tenant, "POST", `${path}/commit`, {
      fileEncryptionInfo: sealed.fileEncryptionInfo,
    });

    assert.equal(commit.status, 200);
    assert.equal(uploadState, "commitFileFailed");
    assert.match(tenant.commitFailures.join(), why);
    assert.equal(retry.status, 400);
  });

test("a commit fails when the size of the decrypted ZIP is wrong", async (t) => {
  const sealed = encryptPayload(plainContent);
  const { tenant, path, uri } = await tenantWithFile(t, {}, { ...sealed, size: sealed.size - 1 });
  await uploadPayload(uri, sealed);

  await callGraph(tenant, "POST", `${path}/commit`, { fileEncryptionInfo: sealed.fileEncryptionInfo });
  const { uploadState } = await waitForUploadState(tenant, path);

  assert.equal(uploadState, "commitFileFailed");
  assert.match(tenant.commitFailures.join(), /holds \d+ bytes, not/);
});

test("a commit is refused before the block list, and with invalid or unknown keys", async (t) => {
  const { tenant, path, uri, sealed } = await tenantWithFile(t);
  const { fileEncryptionInfo: info } = sealed;
  const bodies = [
    { fileEncryptionInfo: { ...info, mac: "AAAA" } },
    { fileEncryptionInfo: { ...info, fileDigestAlgorithm: "SHA-256" } },
    { fileEncryptionInfo: { ...info, more: true } },
    { fileEncryptionInfo: { ...info, macKey: undefined } },
    { fileEncryptionInfo: info, size: 1 },
    info,
  ];

  const early = await callGraph(tenant, "POST", `${path}/commit`, { fileEncryptionInfo: info });
  await uploadPayload(uri, sealed);
  const statuses: number[] = [];
  for (const body of bodies) statuses.push((await callGraph(tenant, "POST", `${path}/commit`, body)).status);

  assert.equal(early.status, 400);
  assert.match(early.error, /no block list/);
  assert.deepEqual(statuses, [400, 400, 400, 400, 400, 400]);
});

test("a new version is refused while another one is not committed, until that one is deleted", async (t) => {
  const { tenant, id, path, version } = await tenantWithFile(t);

  const second = await callGraph(tenant, "POST", contentOf(id), {});
  const filled = await callGraph(tenant, "DELETE", `${contentOf(id)}/${version}`);
  const file = await callGraph(tenant, "DELETE", path);
  const empty = await callGraph(tenant, "DELETE", `${contentOf(id)}/${version}`);
  const third = await callGraph(tenant, "POST", contentOf(id), {});

  assert.deepEqual(
    [second, filled, file, empty, third].map(({ status }) => status),
    [400, 400, 204, 204, 201],
  );
  assert.deepEqual(tenant.versions(id), { 2: [] });
});

test("the content version in use and its file cannot be deleted", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = await publishApp(tenant);
  const files = await callGraph(tenant, "GET", `${contentOf(id)}/1/files`);
  const [file] = files.body.value as { id: string }[];

  const ofFile = await callGraph(tenant, "DELETE", `${contentOf(id)}/1/files/${file?.id}`);
  const ofVersion = await callGraph(tenant, "DELETE", `${contentOf(id)}/1`);

  assert.deepEqual([ofFile.status, ofVersion.status], [400, 400]);
});

test("a file is refused with impossible sizes, without its type, and with unknown properties", async (t) => {
  const { tenant, id } = await tenantWithApp(t);
  const files = `${contentOf(id)}/${(await callGraph(tenant, "POST", contentOf(id), {})).body.id}/files`;
  const file = {
    "@odata.type": "#microsoft.graph.mobileAppContentFile",
    name: "a",
    size: 10,
    sizeEncrypted: 64,
    manifest: null,
    isDependency: false,
  };
  const wrong = [
    { size: 0 },
    { sizeEncrypted: 10 },
    { size: "10" },
    { manifest: "" },
    { "@odata.type": undefined },
    { uploadState: "x" },
  ];

  const statuses: number[] = [];
  for (const part of wrong)
    statuses.push((await callGraph(tenant, "POST", files, { ...file, ...part })).status);
  const right = await callGraph(tenant, "POST", files, file);

  assert.deepEqual(
    statuses,
    wrong.map(() => 400),
  );
  assert.equal(right.status, 201);
  assert.equal(right.body.azureStorageUri, null);
});
