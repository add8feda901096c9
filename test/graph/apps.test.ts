import assert from "node:assert/strict";
import { test } from "node:test";
import {
  appFields,
  callGraph,
  createApp,
  detectionRule,
  icon,
  publishApp,
  readAnswer,
  requirementRule,
} from "../support/graph/client.ts";
import { madeByHand } from "../support/graph/hand-made.ts";
import { startGraph } from "../support/graph/server.ts";

const win32 = { "@odata.type": "#microsoft.graph.win32LobApp" };

test("a complete app is created, and returned with additional fields", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");

  const { status, body, headers } = await callGraph(tenant, "POST", "", appFields());
  const read = await callGraph(tenant, "GET", `/${body.id}`);

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

test("a body that is not declared as JSON, not JSON or not UTF-8 is refused", async (t) => {
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
      (await readAnswer(await fetch(url, { method: "POST", headers, body: new Uint8Array(body) }))).status,
    );
  }

  assert.deepEqual(statuses, [415, 400, 400, 201]);
});

test("requests without a valid token or without the permission are refused", async (t) => {
  const graph = await startGraph(t);
  const [shop, spent] = [graph.tenant("shop"), graph.tenant("spent", { requestsPerToken: 1 })];
  const forbidden = graph.tenant("forbidden", { isForbidden: true });
  const url = `${shop.graphUrl}/beta/deviceAppManagement/mobileApps`;

  const without = await readAnswer(await fetch(url));
  const foreign = await readAnswer(await fetch(url, { headers: { authorization: `Bearer ${spent.token}` } }));
  const first = await callGraph(spent, "GET", "");
  const second = await callGraph(spent, "GET", "");
  const refusal = await callGraph(forbidden, "GET", "");

  assert.deepEqual(
    [without, foreign, first, second, refusal].map(({ status }) => status),
    [401, 401, 200, 401, 403],
  );
  assert.match(second.error, /^InvalidAuthenticationToken: /);
  assert.match(refusal.error, /^Forbidden: /);
});

/** The ids on all pages of a list. */
async function listIds(tenant: Parameters<typeof callGraph>[0], query: string): Promise<unknown[]> {
  const found: unknown[] = [];
  let next: string | undefined = query;
  while (next !== undefined) {
    const { body }: Awaited<ReturnType<typeof callGraph>> = await callGraph(tenant, "GET", next);
    for (const app of body.value as { id: string }[]) found.push(app.id);
    const link = body["@odata.nextLink"];
    next = typeof link === "string" ? link.slice(link.indexOf("?")) : undefined;
  }
  return found;
}

const filterBy = (part: string) =>
  `?$filter=${encodeURIComponent(`isof('microsoft.graph.win32LobApp') and contains(notes,'${part}')`)}`;

test("apps are found by their notes, on all pages", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const ours = Array.from({ length: 5 }, () => tenant.addApp({ notes: "it's ours: a" }));
  tenant.addApp({ notes: "its" });
  tenant.addApp({ notes: "it's ours: b", "@odata.type": "#microsoft.graph.winGetApp" });

  const found = await listIds(tenant, `${filterBy("it''s ours")}&$select=id,notes`);

  assert.deepEqual(found, ours);
  assert.equal(tenant.requests.length, 3);
});

test("lists omit icons and rules", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  await createApp(tenant);

  const { body } = await callGraph(tenant, "GET", "");

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
  for (const query of queries) statuses.push((await callGraph(tenant, "GET", query)).status);

  assert.deepEqual(
    statuses,
    queries.map(() => 400),
  );
});

test("a slow tenant does not list, return or relate a new app at first", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop", {
    listedAfter: 1,
    unreadableFor: 1,
    unrelatableFor: 1,
  });

  const id = await createApp(tenant);
  const reads = [await callGraph(tenant, "GET", `/${id}`), await callGraph(tenant, "GET", `/${id}`)];
  const lists = [await listIds(tenant, ""), await listIds(tenant, "")];
  const relations = [];
  for (let i = 0; i < 2; i++)
    relations.push(await callGraph(tenant, "POST", `/${id}/updateRelationships`, { relationships: [] }));

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

test("a change must have its type, changes only the given fields, and accepts no unknown or empty ones", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = await publishApp(tenant);
  const before = tenant.app(id);

  const untyped = await callGraph(tenant, "PATCH", `/${id}`, { displayVersion: "2" });
  const unknown = await callGraph(tenant, "PATCH", `/${id}`, { ...win32, dependentAppCount: 0 });
  const emptied = await callGraph(tenant, "PATCH", `/${id}`, { ...win32, displayName: "" });
  const changed = await callGraph(tenant, "PATCH", `/${id}`, { ...win32, displayVersion: "2" });

  assert.deepEqual(
    [untyped, unknown, emptied, changed].map(({ status }) => status),
    [400, 400, 400, 200],
  );
  const { lastModifiedDateTime } = tenant.app(id);
  assert.deepEqual(tenant.app(id), { ...before, displayVersion: "2", lastModifiedDateTime });
});

test("an app cannot be deleted while another app depends on it", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const [driver, printer] = [tenant.addApp(), tenant.addApp()];
  tenant.relate(printer, driver, "autoInstall");

  const early = await callGraph(tenant, "DELETE", `/${driver}`);
  const parent = await callGraph(tenant, "DELETE", `/${printer}`);
  const child = await callGraph(tenant, "DELETE", `/${driver}`);

  assert.deepEqual(
    [early, parent, child].map(({ status }) => status),
    [400, 204, 204],
  );
  assert.deepEqual(tenant.apps(), []);
});

test("the tenant accepts the fields of an app that was made by hand", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");

  const { status } = await callGraph(tenant, "POST", "", { ...win32, ...madeByHand });

  assert.equal(status, 201);
});
