import assert from "node:assert/strict";
import { createCipheriv, createHash, createHmac, randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { BehaviourChanges } from "../support/graph/behaviour.ts";
import { madeByHand } from "../support/graph/hand-made.ts";
import type { Fields } from "../support/graph/schema.ts";
import { startGraph } from "../support/graph/server.ts";
import { makePng } from "../support/printers/png.ts";

// What Microsoft Graph refuses and publish.ps1 relies on: a simulation that took it would hide a mistake of the script.

const graph = "#microsoft.graph.";
const win32 = { "@odata.type": `${graph}win32LobApp` };
const value = makePng(8, 8).toString("base64");
const largeIcon = { "@odata.type": `${graph}mimeContent`, type: "image/png", value };
const detection = {
  ...{ "@odata.type": `${graph}win32LobAppPowerShellScriptRule`, ruleType: "detection" },
  ...{ enforceSignatureCheck: false, runAs32Bit: false, scriptContent: "ZXhpdCAw" },
  ...{ operationType: "notConfigured", operator: "notConfigured" },
};
const requirement = {
  ...{ ...detection, ruleType: "requirement", displayName: "Here", runAsAccount: "system" },
  ...{ operationType: "string", operator: "equal", comparisonValue: "applicable" },
};
const fields = { ...win32, ...madeByHand, largeIcon, rules: [detection, requirement] };
const contentOf = (id: unknown) => `/${id}/microsoft.graph.win32LobApp/contentVersions`;

async function startTenant(t: TestContext, behaviour: BehaviourChanges = {}) {
  const tenant = (await startGraph(t)).tenant("shop", behaviour);
  const send = async (url: string, method: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: body as string }) });
    const text = await answer.text();
    return { status: answer.status, text, body: (text.startsWith("{") ? JSON.parse(text) : {}) as Fields };
  };
  const call = (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${tenant.token}`, "content-type": "application/json" };
    const url = `${tenant.graphUrl}/beta/deviceAppManagement/mobileApps${path}`;
    return send(url, method, body && JSON.stringify(body), headers);
  };
  const statuses = async (method: string, path: string, bodies: readonly unknown[]) => {
    const found: number[] = [];
    for (const body of bodies) found.push((await call(method, path, body)).status);
    return [...new Set(found)];
  };
  const create = async () => String((await call("POST", "", fields)).body.id);
  return { tenant, send, call, statuses, create };
}

/** A payload as Intune takes it. */
function encrypted(plain: Buffer) {
  const [key, macKey, iv] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(16, 3)];
  const cipher = createCipheriv("aes-256-cbc", key, iv);
  const sealed = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
  const mac = createHmac("sha256", macKey).update(sealed).digest();
  const bytes = { encryptionKey: key, macKey, initializationVector: iv, mac };
  const fileDigest = createHash("sha256").update(plain).digest();
  const texts = Object.entries({ ...bytes, fileDigest }).map(([name, each]) => [
    name,
    each.toString("base64"),
  ]);
  const names = { profileIdentifier: "ProfileVersion1", fileDigestAlgorithm: "SHA256" };
  const info: Record<string, string> = { ...Object.fromEntries(texts), ...names };
  return { payload: Buffer.concat([mac, sealed]), size: plain.length, info };
}

const plain = Buffer.from("the ZIP inside ".repeat(1000));
const block = (uri: unknown, id = "block-0") => `${uri}&comp=block&blockid=${btoa(id)}`;
const list = '<?xml version="1.0" encoding="utf-8"?><BlockList><Latest>YmxvY2stMA==</Latest></BlockList>';
const ofBlocks = { "x-ms-blob-type": "BlockBlob" };

/** An app with a file that has its upload URI. */
async function startUpload(
  t: TestContext,
  behaviour: BehaviourChanges = {},
  { payload, size } = encrypted(plain),
) {
  const shop = await startTenant(t, behaviour);
  const { call, create, send } = shop;
  const id = await create();
  const versions = contentOf(id);
  await call("POST", versions, {});
  const type = { "@odata.type": `${graph}mobileAppContentFile` };
  const file = {
    ...type,
    name: "a",
    size,
    sizeEncrypted: payload.length,
    manifest: null,
    isDependency: false,
  };
  const path = `${versions}/1/files/${(await call("POST", `${versions}/1/files`, file)).body.id}`;
  const settled = async () => {
    for (;;) {
      const { body } = await call("GET", path);
      if (!String(body.uploadState).endsWith("Pending")) return body;
    }
  };
  const uri = (await settled()).azureStorageUri;
  const commit = async (sent: Buffer, fileEncryptionInfo: object) => {
    await send(block(uri), "PUT", new Uint8Array(sent), ofBlocks);
    await send(`${uri}&comp=blocklist`, "PUT", list);
    await call("POST", `${path}/commit`, { fileEncryptionInfo });
    return (await settled()).uploadState;
  };
  return { ...shop, id, versions, file, path, uri, settled, commit };
}

test("an app is taken as publish.ps1 sends it, and is refused with other fields", async (t) => {
  const { tenant, call, statuses } = await startTenant(t);
  const changes: Fields[] = [
    ...[{ colour: "red" }, { publishingState: "published" }, { committedContentVersion: "1" }],
    ...[{ "@odata.type": undefined }, { displayName: "" }, { publisher: null }, { fileName: undefined }],
    ...[{ notes: "n".repeat(10_001) }, { applicableArchitectures: "x64" }, { allowedArchitectures: ["x64"] }],
    ...[{ minimumSupportedWindowsRelease: "21H2" }, { allowAvailableUninstall: "true" }],
    ...[{ largeIcon: { ...largeIcon, value: "AAAA" } }, { largeIcon: { type: "image/png", value } }],
    ...[{ returnCodes: [] }, { returnCodes: { returnCode: 0, type: "success" } }],
    ...[{ rules: [] }, { rules: detection }, { rules: [requirement] }, { rules: [detection, detection] }],
    ...[{ rules: [{ ...detection, displayName: "a" }] }, { rules: [{ ...detection, scriptContent: "a" }] }],
    { rules: [detection, { ...requirement, runAsAccount: null }] },
    { rules: [detection, { ...requirement, comparisonValue: undefined }] },
  ];

  const taken = await call("POST", "", fields);
  const refused = await statuses(
    "POST",
    "",
    changes.map((change) => ({ ...fields, ...change })),
  );

  assert.deepEqual([taken.status, refused, tenant.apps().length], [201, [400], 1]);
});

test("a request needs a token with the permission, and its body must be JSON", async (t) => {
  const { tenant, send, call } = await startTenant(t, { requestsPerToken: 2 });
  const url = `${tenant.graphUrl}/beta/deviceAppManagement/mobileApps`;
  const authorization = `Bearer ${tenant.token}`;

  const found = [
    await send(url, "GET"),
    await send(url, "POST", JSON.stringify(fields), { authorization, "content-type": "text/plain" }),
    await send(url, "POST", "{", { authorization, "content-type": "application/json" }),
    await call("GET", ""),
  ];

  assert.deepEqual(
    found.map(({ status }) => status),
    [401, 415, 400, 401],
  );
});

test("lists have pages, omit rules, and know only some filters and properties", async (t) => {
  const { tenant, call } = await startTenant(t);
  for (const notes of ["it's ours", "its", "IT'S OURS", "it's ours"]) tenant.addApp({ notes });
  const filter = "?$filter=isof('microsoft.graph.win32LobApp') and contains(notes,'it''s ours')";

  const { body } = await call("GET", filter);
  const refused = [];
  for (const query of ["$filter=startswith(notes,'a')", "$select=rules", "$orderby=id", "$top=0"])
    refused.push((await call("GET", `?${query}`)).status);

  const found = body.value as Fields[];
  assert.deepEqual([found.length, found[0]?.rules, refused], [2, [], [400, 400, 400, 400]]);
  assert.match(String(body["@odata.nextLink"]), /skiptoken=2/);
});

test("a committed payload becomes the app's content, and a change of the version without the icon loses it", async (t) => {
  const { tenant, call, id, commit } = await startUpload(t);
  const { payload, info } = encrypted(plain);

  const early = await call("PATCH", `/${id}`, { ...win32, committedContentVersion: "1" });
  const state = await commit(payload, info);
  const untyped = await call("PATCH", `/${id}`, { committedContentVersion: "1" });
  const changed = await call("PATCH", `/${id}`, { ...win32, committedContentVersion: "1" });

  assert.deepEqual(
    [early.status, state, untyped.status, changed.status],
    [400, "commitFileSuccess", 400, 200],
  );
  assert.deepEqual(await tenant.content(id).bytes(), plain);
  assert.deepEqual([tenant.app(id).largeIcon, tenant.lostIcons], [null, [id]]);
});

test("a commit fails for good with other bytes, keys, digests and sizes", async (t) => {
  const { payload, info, size } = encrypted(plain);
  const flipped = (at: number) => payload.map((byte, i) => (i === at ? byte ^ 1 : byte)) as Buffer;
  const other = (length: number) => Buffer.alloc(length, 9).toString("base64");
  const cases: [Buffer, object, number?][] = [
    ...[flipped(0), flipped(payload.length - 1)].map((sent): [Buffer, object] => [sent, info]),
    [Buffer.from(payload.toString("latin1"), "utf8"), info],
    [payload, { ...info, fileDigest: other(32) }],
    [payload, { ...info, encryptionKey: other(32) }],
    [payload, { ...info, initializationVector: other(16) }],
    [payload, info, size - 1],
  ];

  for (const [sent, keys, said = size] of cases) {
    const { tenant, commit } = await startUpload(t, {}, { payload, size: said, info });
    assert.equal(await commit(sent, keys), "commitFileFailed");
    assert.equal(tenant.commitFailures.length, 1);
  }
});

test("an upload that is not committed stands in the way of the next, until its file and version are deleted", async (t) => {
  const { call, statuses, versions, file, path } = await startUpload(t);
  const wrong = [{ size: 0 }, { sizeEncrypted: 1 }, { manifest: "" }, { "@odata.type": undefined }];

  const files = await statuses(
    "POST",
    `${versions}/1/files`,
    wrong.map((part) => ({ ...file, ...part })),
  );
  const found = [
    await call("POST", `${path}/commit`, { fileEncryptionInfo: encrypted(plain).info }),
    await call("POST", versions, {}),
    await call("DELETE", `${versions}/1`),
    await call("DELETE", path),
    await call("DELETE", `${versions}/1`),
    await call("POST", versions, {}),
  ];

  assert.deepEqual(files, [400]);
  assert.deepEqual(
    found.map(({ status }) => status),
    [400, 400, 400, 204, 204, 201],
  );
});

test("the storage takes no token, wants equal ids and its header, and an address ends and is renewed", async (t) => {
  const { tenant, send, call, settled, uri, path } = await startUpload(t, { blocksPerUri: 2 });
  const put = (url: string, headers: object = {}, body = "abc") =>
    send(url, "PUT", body, { ...ofBlocks, ...headers });

  const found = [
    await put(block(uri)),
    await put(block(uri), { authorization: `Bearer ${tenant.token}` }),
    await put(block(String(uri).replace(/sig=./, "sig=_"))),
    await put(`${uri}&comp=blocklist`, {}, list.replaceAll("Latest", "Committed")),
    await put(block(uri, "block-10")),
    await put(`${uri}&comp=blocklist`, {}, list),
  ];
  await call("POST", `${path}/renewUpload`, {});
  const { azureStorageUri } = await settled();
  const unnamed = await put(block(azureStorageUri), { "x-ms-blob-type": "PageBlob" });
  const renewed = [
    await put(`${uri}&comp=blocklist`, {}, list),
    await put(`${azureStorageUri}&comp=blocklist`, {}, list),
  ];

  assert.deepEqual(
    [...found, unnamed, ...renewed].map(({ status }) => status),
    [201, 400, 403, 400, 400, 403, 400, 403, 201],
  );
  assert.equal(tenant.leaks.length, 1);
});

test("relationships and assignments replace those that were there, and wrong ones are refused", async (t) => {
  const { tenant, call, statuses, create } = await startTenant(t);
  const [app, child, parent] = [tenant.addApp(), tenant.addApp(), tenant.addApp()];
  tenant.relate(parent, app, "autoInstall");
  tenant.relate(app, tenant.addApp(), "update");
  tenant.assign(app, randomUUID());
  const depends = {
    "@odata.type": `${graph}mobileAppDependency`,
    targetId: child,
    dependencyType: "autoInstall",
  };
  const groupId = randomUUID();
  const target = { "@odata.type": `${graph}groupAssignmentTarget`, groupId };
  const assigned = { "@odata.type": `${graph}mobileAppAssignment`, intent: "required", target };
  const excluded = { ...target, "@odata.type": `${graph}exclusionGroupAssignmentTarget` };
  const settings = { "@odata.type": `${graph}win32LobAppAssignmentSettings`, notifications: "showAll" };

  const relations = await statuses("POST", `/${app}/updateRelationships`, [
    ...[depends, [{ ...depends, targetId: parent }], [{ ...depends, targetId: randomUUID() }]].map(
      (each) => ({
        relationships: each,
      }),
    ),
    { relationships: [{ ...depends, targetType: "parent" }] },
    { relationships: [{ ...depends, "@odata.type": undefined }] },
  ]);
  const assignments = await statuses("POST", `/${app}/assign`, [
    { mobileAppAssignments: assigned },
    { mobileAppAssignments: [assigned, { ...assigned, target: excluded }] },
    { mobileAppAssignments: [{ ...assigned, target: excluded, settings }] },
    { mobileAppAssignments: [{ ...assigned, id: "x" }] },
  ]);
  const early = await call("POST", `/${await create()}/assign`, { mobileAppAssignments: [assigned] });
  await call("POST", `/${app}/updateRelationships`, { relationships: [depends] });
  await call("POST", `/${app}/assign`, { mobileAppAssignments: [assigned] });
  const removed = await call("DELETE", `/${child}`);

  assert.deepEqual([relations, assignments, early.status, removed.status], [[400], [400], 400, 400]);
  assert.deepEqual([tenant.children(app), tenant.lostChildren.length], [[child], 1]);
  assert.equal(tenant.getApp(app).assignments.length, 1);
});

test("a sign-in with a code gives a token once, and a poll that comes too soon lengthens the interval", async (t) => {
  const { tenant, send } = await startTenant(t, { signIn: { interval: 1, answers: [] } });
  const post = (action: string, form: Record<string, string>) =>
    send(`${tenant.loginUrl}/organizations/oauth2/v2.0/${action}`, "POST", new URLSearchParams(form));
  const client_id = randomUUID();
  const scope = "https://graph.microsoft.com/DeviceManagementApps.ReadWrite.All offline_access";
  const { body } = await post("devicecode", { client_id, scope });
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const poll = () => post("token", { grant_type, client_id, device_code: String(body.device_code) });

  const foreign = await post("devicecode", { client_id, scope: "openid" });
  const early = await poll();
  const interval = [...tenant.signIns.codes.values()][0]?.interval;
  for (const code of tenant.signIns.codes.values()) code.interval = 0;
  const [given, repeated] = [await poll(), await poll()];
  const form = { grant_type: "refresh_token", client_id, refresh_token: String(given.body.refresh_token) };
  const refreshed = [await post("token", form), await post("token", form)];

  assert.deepEqual([foreign.body.error, early.body.error, interval], ["invalid_scope", "slow_down", 6]);
  assert.deepEqual([given.status, repeated.status], [200, 400]);
  assert.deepEqual(
    refreshed.map(({ status }) => status),
    [200, 400],
  );
});
