import { type Answer, badRequest, Refusal } from "./answers.ts";
import { appOf, readableApp } from "./apps.ts";
import type { Call } from "./graph-routes.ts";
import { checkOptions, page } from "./queries.ts";
import { type Check, checkShape, type Fields, fieldsOf, guid, oneOf, onlyField } from "./schema.ts";
import type { App, Relationship } from "./state.ts";
import type { Tenant } from "./tenant.ts";

export function listRelationships({ tenant, received, params, address }: Call): Answer {
  checkOptions(received.query, ["$top", "$skiptoken"]);
  const app = readableApp(tenant, params);
  const children = app.children.map((child) => relationBody(tenant, child, child.targetId, "child"));
  const parents = [...tenant.state.apps.values()].flatMap((parent) =>
    parent.children
      .filter(({ targetId }) => targetId === app.id)
      .map((child) => relationBody(tenant, child, parent.id, "parent")),
  );
  // Parents come first, so that a client that takes the first item for a child fails.
  const items = [...parents, ...children];
  return { status: 200, body: page(items, received.query, address, tenant.behaviour.pageSize) };
}

export function updateRelationships({ tenant, params, json }: Call): Answer {
  const app = appOf(tenant, params);
  if (app.unrelatableFor-- > 0)
    throw new Refusal(412, "PreconditionFailed", "The app is not ready for relationships yet.");
  const relationships = onlyField(json(), "relationships");
  if (!Array.isArray(relationships)) throw badRequest("relationships must be an array.");
  const children = relationships.map((value, i) => childOf(tenant, app, value, `relationships[${i}]`));
  checkDependencies(tenant, app, children);
  const kept = new Set(children.map(({ targetId }) => targetId));
  for (const { targetId } of app.children)
    if (!kept.has(targetId)) tenant.lostChildren.push({ app: app.id, child: targetId });
  app.children = children;
  return { status: 204 };
}

const child: Check = (value, place) => {
  if (value !== "child") throw badRequest(`${place}: the relationship is circular.`);
};

const common = { targetId: guid, targetType: child };

const dependency = {
  type: "#microsoft.graph.mobileAppDependency",
  properties: { ...common, dependencyType: oneOf("autoInstall", "detect") },
  required: ["targetId", "dependencyType"],
};

const supersedence = {
  type: "#microsoft.graph.mobileAppSupersedence",
  properties: { ...common, supersedenceType: oneOf("update", "replace") },
  required: ["targetId", "supersedenceType"],
};

function childOf(tenant: Tenant, app: App, value: unknown, place: string): Relationship {
  const fields = fieldsOf(value, place);
  const shape = fields["@odata.type"] === supersedence.type ? supersedence : dependency;
  const { targetId, targetType: _, "@odata.type": __, ...kind } = checkShape(fields, place, shape);
  const target = tenant.state.apps.get(String(targetId));
  if (!target) throw badRequest(`${place}: there is no app ${targetId}.`);
  return { id: `${app.id}_${target.id}`, targetId: target.id, type: shape.type, kind };
}

/** @throws a refusal of circular, repeated or too many relations */
function checkDependencies(tenant: Tenant, app: App, children: readonly Relationship[]): void {
  if (new Set(children.map(({ targetId }) => targetId)).size !== children.length)
    throw badRequest("relationships names an app twice.");
  const below = new Set<string>();
  const waiting = children.map(({ targetId }) => targetId);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (id === app.id) throw badRequest("The relationship is circular.");
    if (below.has(id)) continue;
    below.add(id);
    waiting.push(...(tenant.state.apps.get(id)?.children ?? []).map(({ targetId }) => targetId));
  }
  if (below.size > 100) throw badRequest("An app depends on 100 others at most.");
}

function relationBody(
  tenant: Tenant,
  { id, type, kind }: Relationship,
  other: string,
  targetType: string,
): Fields {
  const { displayName, publisher } = tenant.state.apps.get(other)?.fields ?? {};
  const names = { targetDisplayName: displayName, targetPublisher: publisher };
  return { "@odata.type": type, id, targetId: other, ...names, targetType, ...kind, dependentAppCount: 0 };
}
