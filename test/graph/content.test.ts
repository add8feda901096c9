import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import {
  addedFile,
  ask,
  contentOf,
  icon,
  publishedApp,
  seal,
  settled,
  uploaded,
  uploadedVersion,
} from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";
import { plain, tenantWithApp, tenantWithFile } from "../support/graph/with-file.ts";

const win32 = { "@odata.type": "#microsoft.graph.win32LobApp" };

test("a payload in two blocks becomes what devices get, and the app is published", async (t) => {
  const { tenant, id } = await tenantWithApp(t, { patchRefusals: 1, processingFor: 1 });

  const { version, state } = await uploadedVersion(tenant, id, seal(plain));
  const change = { ...win32, committedContentVersion: version, largeIcon: icon() };
  const early = await ask(tenant, "PATCH", `/${id}`, change);
  const changed = await ask(tenant, "PATCH", `/${id}`, change);
  const later = await ask(tenant, "GET", `/${id}`);

  assert.equal(state, "commitFileSuccess");
  assert.equal(early.status, 400);
  assert.equal(changed.status, 200);
  assert.equal((await ask(tenant, "GET", `/${id}`)).body.publishingState, "published");
  assert.equal(later.body.publishingState, "processing");
  assert.deepEqual(await tenant.content(id).bytes(), plain);
  assert.equal(tenant.content(id).sha256, createHash("sha256").update(plain).digest("hex"));
  assert.deepEqual(tenant.lostIcons, []);
});

test("setting a content version without the icon loses the icon", async (t) => {
  const { tenant, id } = await tenantWithApp(t);
  const { version } = await uploadedVersion(tenant, id, seal(plain));

  await ask(tenant, "PATCH", `/${id}`, { ...win32, committedContentVersion: version });

  assert.equal(tenant.app(id).largeIcon, null);
  assert.deepEqual(tenant.lostIcons, [id]);
});

test("a version is not set before its file is committed", async (t) => {
  const { tenant, id } = await tenantWithApp(t);
  const sealed = seal(plain);
  const { path, version } = await addedFile(tenant, id, sealed);
  await uploaded((await settled(tenant, path)).azureStorageUri, sealed);

  const { status } = await ask(tenant, "PATCH", `/${id}`, { ...win32, committedContentVersion: version });

  assert.equal(status, 400);
  assert.equal(tenant.app(id).publishingState, "notPublished");
});

const first = (bytes: Buffer) => Buffer.concat([Buffer.from([(bytes[0] ?? 0) ^ 1]), bytes.subarray(1)]);
const last = (bytes: Buffer) =>
  Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]);
const other = seal(Buffer.from("another ZIP"));

const spoiled: readonly [what: string, spoil: (sealed: ReturnType<typeof seal>) => object, why: RegExp][] = [
  ["a changed head", ({ payload }) => ({ payload: first(payload) }), /does not begin with the mac/],
  ["a changed end", ({ payload }) => ({ payload: last(payload) }), /mac is another one/],
  [
    "a byte too much",
    ({ payload }) => ({ payload: Buffer.concat([payload, payload.subarray(0, 1)]) }),
    /bytes, not/,
  ],
  [
    "bytes that went through a string",
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
  test(`a commit fails for good with ${what}`, async (t) => {
    const sealed = seal(plain);
    const { tenant, path, uri } = await tenantWithFile(t, {}, sealed);
    const sent = { ...sealed, ...spoil(sealed) };
    await uploaded(uri, sent);

    const asked = await ask(tenant, "POST", `${path}/commit`, {
      fileEncryptionInfo: sent.fileEncryptionInfo,
    });
    const { uploadState } = await settled(tenant, path);
    const again = await ask(tenant, "POST", `${path}/commit`, {
      fileEncryptionInfo: sealed.fileEncryptionInfo,
    });

    assert.equal(asked.status, 200);
    assert.equal(uploadState, "commitFileFailed");
    assert.match(tenant.commitFailures.join(), why);
    assert.equal(again.status, 400);
  });

test("a size of the plain ZIP that is not the one inside fails the commit", async (t) => {
  const sealed = seal(plain);
  const { tenant, path, uri } = await tenantWithFile(t, {}, { ...sealed, size: sealed.size - 1 });
  await uploaded(uri, sealed);

  await ask(tenant, "POST", `${path}/commit`, { fileEncryptionInfo: sealed.fileEncryptionInfo });
  const { uploadState } = await settled(tenant, path);

  assert.equal(uploadState, "commitFileFailed");
  assert.match(tenant.commitFailures.join(), /holds \d+ bytes, not/);
});

test("a commit is refused before the block list, and with keys of wrong length or name", async (t) => {
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

  const early = await ask(tenant, "POST", `${path}/commit`, { fileEncryptionInfo: info });
  await uploaded(uri, sealed);
  const statuses: number[] = [];
  for (const body of bodies) statuses.push((await ask(tenant, "POST", `${path}/commit`, body)).status);

  assert.equal(early.status, 400);
  assert.match(early.error, /no block list/);
  assert.deepEqual(statuses, [400, 400, 400, 400, 400, 400]);
});

test("a new version is refused while one is not committed, until its file and it are deleted", async (t) => {
  const { tenant, id, path, version } = await tenantWithFile(t);

  const second = await ask(tenant, "POST", contentOf(id), {});
  const filled = await ask(tenant, "DELETE", `${contentOf(id)}/${version}`);
  const file = await ask(tenant, "DELETE", path);
  const empty = await ask(tenant, "DELETE", `${contentOf(id)}/${version}`);
  const third = await ask(tenant, "POST", contentOf(id), {});

  assert.deepEqual(
    [second, filled, file, empty, third].map(({ status }) => status),
    [400, 400, 204, 204, 201],
  );
  assert.deepEqual(tenant.versions(id), { 2: [] });
});

test("the committed version in use and its file cannot be deleted", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = await publishedApp(tenant);
  const files = await ask(tenant, "GET", `${contentOf(id)}/1/files`);
  const [file] = files.body.value as { id: string }[];

  const ofFile = await ask(tenant, "DELETE", `${contentOf(id)}/1/files/${file?.id}`);
  const ofVersion = await ask(tenant, "DELETE", `${contentOf(id)}/1`);

  assert.deepEqual([ofFile.status, ofVersion.status], [400, 400]);
});

test("a file is refused with sizes that cannot be, without its type, and with more than is known", async (t) => {
  const { tenant, id } = await tenantWithApp(t);
  const files = `${contentOf(id)}/${(await ask(tenant, "POST", contentOf(id), {})).body.id}/files`;
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
  for (const part of wrong) statuses.push((await ask(tenant, "POST", files, { ...file, ...part })).status);
  const right = await ask(tenant, "POST", files, file);

  assert.deepEqual(
    statuses,
    wrong.map(() => 400),
  );
  assert.equal(right.status, 201);
  assert.equal(right.body.azureStorageUri, null);
});
