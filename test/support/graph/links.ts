import { randomUUID } from "node:crypto";
import { type Answer, badRequest, Refusal } from "./answers.ts";
import { appOf, readableApp } from "./apps.ts";
import { type Call, page } from "./requests.ts";
import * as schema from "./schema.ts";
import { checkShape, type Fields, guid, isFields, oneOf, onlyList, orNull, type Shape } from "./schema.ts";
import type { App, Relationship, Tenant } from "./tenant.ts";

// Assignments, and relationships between apps.

export const listAssignments = (call: Call): Answer => page(call, readableApp(call).assignments);

export const listCategories = (call: Call): Answer => page(call, readableApp(call).categories);

export function assign(call: Call): Answer {
  const app = appOf(call);
  const given = onlyList(call.json(), "mobileAppAssignments");
  if (app.fields.publishingState !== "published" || app.processingFor > 0)
    throw badRequest("The app is not published yet.");
  const fresh = given.map(checkAssignment);
  if (new Set(fresh.map(keyOf)).size !== fresh.length) throw badRequest("A group is named twice.");
  app.assignments = fresh.map((fields) => ({ ...fields, id: `${randomUUID()}_0_0`, source: "direct" }));
  return { status: 200 };
}

const filters = {
  "deviceAndAppManagementAssignmentFilterId?": orNull(guid),
  "deviceAndAppManagementAssignmentFilterType?": oneOf("none", "include", "exclude"),
};

const target = (name: string, more = {}): Shape => ({
  type: `#microsoft.graph.${name}AssignmentTarget`,
  properties: { ...filters, ...more },
});

const excluded = target("exclusionGroup", { groupId: guid });
const included = [target("group", { groupId: guid }), target("allLicensedUsers"), target("allDevices")];

const settings: Shape = {
  type: "#microsoft.graph.win32LobAppAssignmentSettings",
  properties: {
    "notifications?": oneOf("showAll", "showReboot", "hideAll"),
    "deliveryOptimizationPriority?": oneOf("notConfigured", "foreground"),
    // Only an administrator makes these.
    ...{ "restartSettings?": orNull(isFields), "installTimeSettings?": orNull(isFields) },
  },
};

const assignment: Shape = {
  type: "#microsoft.graph.mobileAppAssignment",
  properties: {
    intent: oneOf("required", "available", "uninstall", "availableWithoutEnrollment"),
    target: schema.shaped(excluded, ...included),
    "settings?": orNull(schema.shaped(settings)),
  },
};

function checkAssignment(value: unknown): Fields {
  const fields = checkShape(value, assignment);
  if (schema.shaped(excluded)(fields.target) && isFields(fields.settings))
    throw badRequest("An exclusion takes no settings.");
  return { settings: null, ...fields };
}

/** The group's id, whether included or excluded; for other targets their type. */
function keyOf({ target: to }: Fields): string {
  const { groupId, "@odata.type": type } = to as Fields;
  return String(groupId ?? type).toLowerCase();
}

export function listRelationships(call: Call): Answer {
  const app = readableApp(call);
  const bodyOf = ({ type, kind }: Relationship, targetId: string, targetType: string) => {
    const ids = { id: `${app.id}_${targetId}`, targetId, targetType };
    return { "@odata.type": type, ...ids, targetDisplayName: call.tenant.app(targetId).displayName, ...kind };
  };
  const parents = [...call.tenant.state.apps.values()].flatMap(({ id, children }) =>
    children.filter(({ targetId }) => targetId === app.id).map((child) => bodyOf(child, id, "parent")),
  );
  // Parents come first, so that a client that takes the first item for a child fails.
  return page(call, [...parents, ...app.children.map((child) => bodyOf(child, child.targetId, "child"))]);
}

export function updateRelationships(call: Call): Answer {
  const { tenant, json } = call;
  const app = appOf(call);
  if (app.unrelatableFor-- > 0)
    throw new Refusal(412, "PreconditionFailed", "The app is not ready for relationships yet.");
  const children = onlyList(json(), "relationships").map((value) => childOf(tenant, value));
  checkChildren(tenant, app, children);
  const kept = new Set(children.map(({ targetId }) => targetId));
  for (const { targetId } of app.children)
    if (!kept.has(targetId)) tenant.lostChildren.push({ app: app.id, child: targetId });
  app.children = children;
  return { status: 204 };
}

const common = { targetId: guid, "targetType?": oneOf("child") };

const dependency = {
  type: "#microsoft.graph.mobileAppDependency",
  properties: { ...common, dependencyType: oneOf("autoInstall", "detect") },
};

const supersedence = {
  type: "#microsoft.graph.mobileAppSupersedence",
  properties: { ...common, supersedenceType: oneOf("update", "replace") },
};

function childOf(tenant: Tenant, value: unknown): Relationship {
  const fields = schema.fieldsOf(value);
  const shape = fields["@odata.type"] === supersedence.type ? supersedence : dependency;
  const { targetId, targetType: _, "@odata.type": __, ...kind } = checkShape(fields, shape);
  if (!tenant.state.apps.has(String(targetId))) throw badRequest(`There is no app ${targetId}.`);
  return { targetId: String(targetId), type: shape.type, kind };
}

/** @throws a refusal of circular or repeated relations */
function checkChildren({ state }: Tenant, app: App, children: readonly Relationship[]): void {
  const waiting = children.map(({ targetId }) => targetId);
  if (new Set(waiting).size !== waiting.length) throw badRequest("An app is named twice.");
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === app.id) throw badRequest("The relationship is circular.");
    waiting.push(...(state.apps.get(id)?.children ?? []).map(({ targetId }) => targetId));
  }
}
