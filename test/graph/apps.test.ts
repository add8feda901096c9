import assert from "node:assert/strict";
import { test } from "node:test";
import {
  appFields,
  ask,
  createdApp,
  detectionRule,
  icon,
  publishedApp,
  requirementRule,
  said,
} from "../support/graph/client.ts";
import { madeByHand } from "../support/graph/hand-made.ts";
import { startGraph } from "../support/graph/server.ts";

const win32 = { "@odata.type": "#microsoft.graph.win32LobApp" };

test("an app that says everything is created, and told with what nobody asked for", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");

  const { status, body, headers } = await ask(tenant, "POST", "", appFields());
  const read = await ask(tenant, "GET", `/${body.id}`);

  assert.equal(status, 201);
  assert.match(String(headers.get("request-id")), /^[0-9a-f-]{36}$/);
  assert.equal(body.publishingState, "notPublished");
  assert.equal(body.displayName, appFields().displayName);
  assert.deepEqual(read.body.largeIcon, { type: "image/png", value: icon().value });
  assert.deepEqual(read.body.rules, [
    { displayName: null, runAsAccount: null, comparisonValue: null, ...detectionRule() },
    requirementRule(),
  ]);
  assert.equal(tenant.apps().length, 1);
});

test("a body that is not declared as JSON, is none or is not UTF-8 is refused", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const url = `${tenant.graphUrl}/beta/deviceAppManagement/mobileApps`;
  const json = JSON.stringify({ ...appFields(), displayName: "Büro" });
  const bodies: [type: string, body: Buffer][] = [
    ["text/plain", Buffer.from(json)],
    ["application/json", Buffer.from(json, "latin1")],
    ["application/json", Buffer.from(json.slice(1))],
    ["application/json; charset=utf-8", Buffer.from(json)],
  ];

  const statuses: number[] = [];
  for (const [type, body] of bodies) {
    const headers = { authorization: `Bearer ${tenant.token}`, "content-type": type };
    statuses.push(
      (await said(await fetch(url, { method: "POST", headers, body: new Uint8Array(body) }))).status,
    );
  }

  assert.deepEqual(statuses, [415, 400, 400, 201]);
});

test("without a token, with a foreign one, a used-up one or without the permission nothing is told", async (t) => {
  const graph = await startGraph(t);
  const [shop, spent] = [graph.tenant("shop"), graph.tenant("spent", { tokenRequests: 1 })];
  const forbidden = graph.tenant("forbidden", { isForbidden: true });
  const url = `${shop.graphUrl}/beta/deviceAppManagement/mobileApps`;

  const without = await said(await fetch(url));
  const foreign = await said(await fetch(url, { headers: { authorization: `Bearer ${spent.token}` } }));
  const first = await ask(spent, "GET", "");
  const second = await ask(spent, "GET", "");
  const refusal = await ask(forbidden, "GET", "");

  assert.deepEqual(
    [without, foreign, first, second, refusal].map(({ status }) => status),
    [401, 401, 200, 401, 403],
  );
  assert.match(second.error, /^InvalidAuthenticationToken: /);
  assert.match(refusal.error, /^Forbidden: /);
});

/** The ids that a list and the pages behind it tell. */
async function listed(tenant: Parameters<typeof ask>[0], query: string): Promise<unknown[]> {
  const found: unknown[] = [];
  let next: string | undefined = query;
  while (next !== undefined) {
    const { body }: Awaited<ReturnType<typeof ask>> = await ask(tenant, "GET", next);
    for (const app of body.value as { id: string }[]) found.push(app.id);
    const link = body["@odata.nextLink"];
    next = typeof link === "string" ? link.slice(link.indexOf("?")) : undefined;
  }
  return found;
}

const filterBy = (part: string) =>
  `?$filter=${encodeURIComponent(`isof('microsoft.graph.win32LobApp') and contains(notes,'${part}')`)}`;

test("apps are found by their notes, over all pages", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const ours = Array.from({ length: 5 }, () => tenant.addApp({ notes: "it's ours: a" }));
  tenant.addApp({ notes: "its" });
  tenant.addApp({ notes: "it's ours: b", "@odata.type": "#microsoft.graph.winGetApp" });

  const found = await listed(tenant, `${filterBy("it''s ours")}&$select=id,notes`);

  assert.deepEqual(found, ours);
  assert.equal(tenant.requests.length, 3);
});

test("lists keep icons and rules back", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  await createdApp(tenant);

  const { body } = await ask(tenant, "GET", "");

  const [app] = body.value as Record<string, unknown>[];
  assert.deepEqual([app?.largeIcon, app?.rules], [null, []]);
});

test("filters, properties and options that Graph does not know are refused", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const queries = [
    "?$filter=startswith(notes,'a')",
    "?$filter=contains(notes,'it's')",
    "?$filter=contains(displayName,'a')",
    "?$filter=contains(notes,'a') or contains(notes,'b')",
    "?$select=id,displayVersion",
    "?$select=rules",
    "?$orderby=displayName",
    "?$top=0",
  ];

  const statuses: number[] = [];
  for (const query of queries) statuses.push((await ask(tenant, "GET", query)).status);

  assert.deepEqual(
    statuses,
    queries.map(() => 400),
  );
});

test("a new app is not listed, read or related at once where the tenant is slow", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop", {
    listedAfter: 1,
    unreadableFor: 1,
    unrelatableFor: 1,
  });

  const id = await createdApp(tenant);
  const reads = [await ask(tenant, "GET", `/${id}`), await ask(tenant, "GET", `/${id}`)];
  const lists = [await listed(tenant, ""), await listed(tenant, "")];
  const relations = [];
  for (let i = 0; i < 2; i++)
    relations.push(await ask(tenant, "POST", `/${id}/updateRelationships`, { relationships: [] }));

  assert.deepEqual(
    reads.map(({ status }) => status),
    [404, 200],
  );
  assert.deepEqual(lists, [[], [id]]);
  assert.deepEqual(
    relations.map(({ status }) => status),
    [412, 204],
  );
});

test("a change says its type, changes what it names and keeps the rest", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = await publishedApp(tenant);
  const before = tenant.app(id);

  const untyped = await ask(tenant, "PATCH", `/${id}`, { displayVersion: "2" });
  const unknown = await ask(tenant, "PATCH", `/${id}`, { ...win32, dependentAppCount: 0 });
  const emptied = await ask(tenant, "PATCH", `/${id}`, { ...win32, displayName: "" });
  const changed = await ask(tenant, "PATCH", `/${id}`, { ...win32, displayVersion: "2" });

  assert.deepEqual(
    [untyped, unknown, emptied, changed].map(({ status }) => status),
    [400, 400, 400, 200],
  );
  const { lastModifiedDateTime } = tenant.app(id);
  assert.deepEqual(tenant.app(id), { ...before, displayVersion: "2", lastModifiedDateTime });
});

test("an app is deleted, but not while another depends on it", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const [driver, printer] = [tenant.addApp(), tenant.addApp()];
  tenant.relate(printer, driver, "autoInstall");

  const early = await ask(tenant, "DELETE", `/${driver}`);
  const parent = await ask(tenant, "DELETE", `/${printer}`);
  const child = await ask(tenant, "DELETE", `/${driver}`);

  assert.deepEqual(
    [early, parent, child].map(({ status }) => status),
    [400, 204, 204],
  );
  assert.deepEqual(tenant.apps(), []);
});

test("an app made by hand is one that the tenant itself would take", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");

  const { status } = await ask(tenant, "POST", "", { ...win32, ...madeByHand });

  assert.equal(status, 201);
});
