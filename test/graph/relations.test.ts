import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { callGraph, createApp } from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";

const dependency = (targetId: string) => ({
  "@odata.type": "#microsoft.graph.mobileAppDependency",
  targetId,
  dependencyType: "autoInstall",
});

test("updateRelationships replaces all children, and lost children are recorded", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const [printer, driver, other] = [
    tenant.addApp(),
    tenant.addApp(),
    tenant.addApp({ displayName: "Other" }),
  ];
  tenant.relate(printer, other, "update");
  const kept = {
    "@odata.type": "#microsoft.graph.mobileAppSupersedence",
    targetId: other,
    supersedenceType: "update",
    targetType: "child",
  };
  const address = `/${printer}/updateRelationships`;

  const whole = await callGraph(tenant, "POST", address, { relationships: [kept, dependency(driver)] });
  const lostBefore = [...tenant.lostChildren];
  const part = await callGraph(tenant, "POST", address, { relationships: [dependency(driver)] });

  assert.deepEqual([whole.status, part.status], [204, 204]);
  assert.deepEqual(lostBefore, []);
  assert.deepEqual(tenant.lostChildren, [{ app: printer, child: other }]);
  assert.deepEqual(tenant.children(printer), [driver]);
});

test("parents and children are listed page by page", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop", { pageSize: 1 });
  const [top, middle, bottom] = [tenant.addApp(), tenant.addApp(), tenant.addApp({ displayVersion: "7" })];
  tenant.relate(top, middle, "autoInstall");
  tenant.relate(middle, bottom, "detect");

  const { body } = await callGraph(tenant, "GET", `/${middle}/relationships`);
  const rest = await callGraph(tenant, "GET", `/${middle}/relationships?$skiptoken=1`);

  const [parent] = body.value as Record<string, unknown>[];
  const [child] = rest.body.value as Record<string, unknown>[];
  assert.deepEqual([parent?.targetId, parent?.targetType], [top, "parent"]);
  assert.deepEqual([child?.targetId, child?.targetType, child?.dependencyType], [bottom, "child", "detect"]);
  assert.equal(child?.targetDisplayVersion, "7");
  assert.match(String(body["@odata.nextLink"]), /skiptoken=1$/);
  assert.equal(rest.body["@odata.nextLink"], undefined);
});

test("circular, dangling, repeated and invalid relationships are refused", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const [printer, driver] = [tenant.addApp(), tenant.addApp()];
  tenant.relate(driver, printer, "autoInstall");
  const free = tenant.addApp();
  const wrong: unknown[] = [
    dependency(free),
    [dependency(driver)],
    [dependency(printer)],
    [dependency(randomUUID())],
    [dependency(free), dependency(free)],
    [{ ...dependency(free), targetType: "parent" }],
    [{ ...dependency(free), targetDisplayName: "Free" }],
    [{ ...dependency(free), dependencyType: "install" }],
    [{ ...dependency(free), "@odata.type": undefined }],
  ];

  const statuses: number[] = [];
  for (const relationships of wrong)
    statuses.push(
      (await callGraph(tenant, "POST", `/${printer}/updateRelationships`, { relationships })).status,
    );

  assert.deepEqual(
    statuses,
    wrong.map(() => 400),
  );
  assert.deepEqual(tenant.children(printer), []);
});

const group = (groupId: string) => ({
  "@odata.type": "#microsoft.graph.mobileAppAssignment",
  intent: "required",
  target: { "@odata.type": "#microsoft.graph.groupAssignmentTarget", groupId },
  settings: { "@odata.type": "#microsoft.graph.win32LobAppAssignmentSettings", notifications: "showReboot" },
});

const excluded = (groupId: string) => ({
  ...group(groupId),
  target: { "@odata.type": "#microsoft.graph.exclusionGroupAssignmentTarget", groupId },
  settings: null,
});

test("assign replaces all assignments, and lost assignments are recorded", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = tenant.addApp();
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  tenant.assign(id, first);
  tenant.assign(id, second, "required", true);

  const { status } = await callGraph(tenant, "POST", `/${id}/assign`, {
    mobileAppAssignments: [group(third), excluded(second)],
  });
  const { body } = await callGraph(tenant, "GET", `/${id}/assignments`);

  assert.equal(status, 200);
  assert.equal((body.value as unknown[]).length, 2);
  assert.deepEqual(
    tenant.lostAssignments.map(({ assignment }) => (assignment.target as { groupId: string }).groupId),
    [first],
  );
});

test("assignments without a type, with settings of an exclusion or with a repeated group are refused", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = tenant.addApp();
  const one = randomUUID();
  const wrong: unknown[] = [
    group(one),
    [{ ...group(one), "@odata.type": undefined }],
    [{ ...group(one), target: { groupId: one } }],
    [{ ...group(one), settings: { notifications: "showAll" } }],
    [{ ...group(one), intent: "Required" }],
    [{ ...group(one), id: "x" }],
    [group("everybody")],
    [group(one), group(one.toUpperCase())],
    [group(one), excluded(one)],
    [{ ...excluded(one), settings: group(one).settings }],
  ];

  const statuses: number[] = [];
  for (const mobileAppAssignments of wrong)
    statuses.push((await callGraph(tenant, "POST", `/${id}/assign`, { mobileAppAssignments })).status);

  assert.deepEqual(
    statuses,
    wrong.map(() => 400),
  );
});

test("an app that is not published cannot be assigned", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = await createApp(tenant);

  const { status, error } = await callGraph(tenant, "POST", `/${id}/assign`, {
    mobileAppAssignments: [group(randomUUID())],
  });

  assert.equal(status, 400);
  assert.match(error, /not published yet/);
});

test("categories are listed", async (t) => {
  const tenant = (await startGraph(t)).tenant("shop");
  const id = tenant.addApp();
  tenant.categorize(id, "Printers");

  const { body } = await callGraph(tenant, "GET", `/${id}/categories`);

  assert.deepEqual(
    (body.value as { displayName: string }[]).map(({ displayName }) => displayName),
    ["Printers"],
  );
});
