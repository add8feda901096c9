import assert from "node:assert/strict";
import { createCipheriv, createHash, createHmac, randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { BehaviourChanges } from "../support/graph/behaviour.ts";
import type { Fields } from "../support/graph/schema.ts";
import { startGraph } from "../support/graph/server.ts";
import { madeByHand } from "../support/graph/tenant.ts";
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

async function startTenant(t: TestContext, behaviour: BehaviourChanges = {}) {
  const tenant = (await startGraph(t)).tenant("shop", behaviour);
  const send = async (
    url: string,
    method: string,
    body?: string | Buffer,
    headers: Record<string, string> = {},
  ) => {
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) } as RequestInit);
    const text = await answer.text();
    return { status: answer.status, body: (text.startsWith("{") ? JSON.parse(text) : {}) as Fields };
  };
  const url = `${tenant.graphUrl}/beta/deviceAppManagement/mobileApps`;
  const authorization = `Bearer ${tenant.token}`;
  const call = (method: string, path: string, body?: unknown) => {
    const headers = { authorization, "content-type": "application/json" };
    return send(url + path, method, body === undefined ? undefined : JSON.stringify(body), headers);
  };
  /** The different statuses of requests with these bodies. */
  const statuses = async (path: string, bodies: readonly unknown[]) => {
    const found = new Set<number>();
    for (const body of bodies) found.add((await call("POST", path, body)).status);
    return [...found];
  };
  return { tenant, send, url, authorization, call, statuses };
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
  const bodies = changes.map((change) => ({ ...fields, ...change }));
  const refused = await statuses("", bodies);

  assert.deepEqual([taken.status, refused, tenant.apps().length], [201, [400], 1]);
});

test("a request needs a token, its body must be JSON, and only some filters and options are known", async (t) => {
  const { send, url, authorization, call } = await startTenant(t, { requestsPerToken: 5 });
  const json = { authorization, "content-type": "application/json" };

  const found = [
    await send(url, "GET"),
    await send(url, "POST", JSON.stringify(fields), { authorization, "content-type": "text/plain" }),
    await send(url, "POST", "{", json),
    await call("GET", "?$filter=startswith(notes,'a')"),
    await call("GET", "?$select=rules"),
    await call("GET", "?$filter=contains(notes,'it''s ours')"),
    await call("GET", ""),
  ];

  const statuses = found.map(({ status }) => status);
  assert.deepEqual(statuses, [401, 415, 400, 400, 400, 200, 401]);
});

/** A payload as Intune takes it, with its keys. */
function encrypted(plain: Buffer) {
  const [key, macKey, iv] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(16, 3)];
  const cipher = createCipheriv("aes-256-cbc", key, iv);
  const sealed = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
  const mac = createHmac("sha256", macKey).update(sealed).digest();
  const fileDigest = createHash("sha256").update(plain).digest();
  const bytes = { encryptionKey: key, macKey, initializationVector: iv, mac, fileDigest };
  const texts = Object.entries(bytes).map(([name, each]) => [name, each.toString("base64")]);
  const names = { profileIdentifier: "ProfileVersion1", fileDigestAlgorithm: "SHA256" };
  return { payload: Buffer.concat([mac, sealed]), info: { ...Object.fromEntries(texts), ...names } };
}

const plain = Buffer.from("the ZIP inside ".repeat(1000));
const block = (uri: unknown, id = "block-0") => `${uri}&comp=block&blockid=${btoa(id)}`;
const list = '<?xml version="1.0" encoding="utf-8"?><BlockList><Latest>YmxvY2stMA==</Latest></BlockList>';
const ofBlocks = { "x-ms-blob-type": "BlockBlob" };

/** An app with a file that has its upload URI. */
async function startUpload(t: TestContext, behaviour: BehaviourChanges = {}, size = plain.length) {
  const shop = await startTenant(t, behaviour);
  const { call, send } = shop;
  const { payload } = encrypted(plain);
  const id = String((await call("POST", "", fields)).body.id);
  const versions = `/${id}/microsoft.graph.win32LobApp/contentVersions`;
  await call("POST", versions, {});
  const names = { "@odata.type": `${graph}mobileAppContentFile`, name: "a" };
  const file = { ...names, size, sizeEncrypted: payload.length, manifest: null, isDependency: false };
  const path = `${versions}/1/files/${(await call("POST", `${versions}/1/files`, file)).body.id}`;
  const settled = async () => {
    for (;;) {
      const { body } = await call("GET", path);
      if (!String(body.uploadState).endsWith("Pending")) return body;
    }
  };
  const uri = (await settled()).azureStorageUri;
  const commit = async (sent: Buffer, fileEncryptionInfo: object) => {
    await send(block(uri), "PUT", sent, ofBlocks);
    await send(`${uri}&comp=blocklist`, "PUT", list);
    await call("POST", `${path}/commit`, { fileEncryptionInfo });
    return (await settled()).uploadState;
  };
  return { ...shop, id, path, uri, settled, commit };
}

test("a payload becomes the app's content, not with other bytes, keys or sizes, and a version without an icon loses it", async (t) => {
  const { tenant, call, id, commit } = await startUpload(t);
  const { payload, info } = encrypted(plain);
  const flipped = payload.map((byte, i) => (i === payload.length - 1 ? byte ^ 1 : byte)) as Buffer;
  const other = (length: number) => Buffer.alloc(length, 9).toString("base64");
  const wrong: [Buffer, object, number?][] = [
    [flipped, info],
    [payload, { ...info, fileDigest: other(32) }],
    [payload, { ...info, encryptionKey: other(32) }],
    [payload, { ...info, initializationVector: other(16) }],
    [payload, info, plain.length - 1],
  ];
  const change = { ...win32, committedContentVersion: "1" };

  const states = [];
  for (const [sent, keys, size] of wrong)
    states.push(await (await startUpload(t, {}, size)).commit(sent, keys));
  const early = await call("PATCH", `/${id}`, change);
  const state = await commit(payload, info);
  const changed = await call("PATCH", `/${id}`, change);

  assert.deepEqual([...new Set(states)], ["commitFileFailed"]);
  assert.deepEqual([early.status, state, changed.status], [400, "commitFileSuccess", 200]);
  assert.equal(tenant.content(id).sha256, createHash("sha256").update(plain).digest("hex"));
  assert.deepEqual([tenant.app(id).largeIcon, tenant.lostIcons], [null, [id]]);
});

test("the storage takes no token, wants equal ids and its header, and an address ends and is renewed", async (t) => {
  const { tenant, send, call, settled, authorization, uri, path } = await startUpload(t, { blocksPerUri: 2 });
  const put = async (url: string, headers: object = {}, body = "abc") =>
    (await send(url, "PUT", body, { ...ofBlocks, ...headers })).status;

  const found = [
    await put(block(uri)),
    await put(block(uri), { authorization }),
    await put(block(String(uri).replace(/sig=./, "sig=_"))),
    await put(`${uri}&comp=blocklist`, {}, list.replaceAll("Latest", "Committed")),
    await put(block(uri, "block-10")),
    await put(`${uri}&comp=blocklist`, {}, list),
  ];
  await call("POST", `${path}/renewUpload`, {});
  const { azureStorageUri } = await settled();
  const unnamed = await put(block(azureStorageUri), { "x-ms-blob-type": "PageBlob" });
  const renewed = await put(`${azureStorageUri}&comp=blocklist`, {}, list);

  assert.deepEqual([...found, unnamed, renewed], [201, 400, 403, 400, 400, 403, 400, 201]);
  assert.equal(tenant.leaks.length, 1);
});

test("relationships and assignments replace those that were there, and wrong ones are refused", async (t) => {
  const { tenant, call, statuses } = await startTenant(t);
  const [app, child, parent] = [tenant.addApp(), tenant.addApp(), tenant.addApp()];
  tenant.relate(parent, app, "autoInstall");
  tenant.relate(app, tenant.addApp(), "update");
  tenant.assign(app, randomUUID());
  const type = `${graph}mobileAppDependency`;
  const depends = { "@odata.type": type, targetId: child, dependencyType: "autoInstall" };
  const target = { "@odata.type": `${graph}groupAssignmentTarget`, groupId: randomUUID() };
  const assigned = { "@odata.type": `${graph}mobileAppAssignment`, intent: "required", target };
  const excluded = { ...target, "@odata.type": `${graph}exclusionGroupAssignmentTarget` };
  const settings = { "@odata.type": `${graph}win32LobAppAssignmentSettings`, notifications: "showAll" };

  const relations = [
    ...[depends, [{ ...depends, targetId: parent }], [{ ...depends, targetId: randomUUID() }]],
    ...[[{ ...depends, targetType: "parent" }], [{ ...depends, "@odata.type": undefined }]],
  ].map((relationships) => ({ relationships }));
  const assignments = [
    ...[assigned, [assigned, { ...assigned, target: excluded }], [{ ...assigned, id: "x" }]],
    [{ ...assigned, target: excluded, settings }],
  ].map((mobileAppAssignments) => ({ mobileAppAssignments }));
  const refused = await statuses(`/${app}/updateRelationships`, relations);
  refused.push(...(await statuses(`/${app}/assign`, assignments)));
  await call("POST", `/${app}/updateRelationships`, { relationships: [depends] });
  await call("POST", `/${app}/assign`, { mobileAppAssignments: [assigned] });
  const removed = await call("DELETE", `/${child}`);

  assert.deepEqual([...refused, removed.status], [400, 400, 400]);
  assert.deepEqual([tenant.children(app), tenant.lostChildren.length], [[child], 1]);
  assert.equal(tenant.getApp(app).assignments.length, 1);
});
