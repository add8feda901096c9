import { type Answer, badRequest, Refusal } from "./answers.ts";
import { appOf, readableApp } from "./apps.ts";
import { type Call, page } from "./requests.ts";
import { checkShape, fieldsOf, guid, oneOf, onlyList } from "./schema.ts";
import type { App, Relationship } from "./state.ts";
import type { Tenant } from "./tenant.ts";

export function listRelationships(call: Call): Answer {
  const app = readableApp(call);
  const bodyOf = ({ type, kind }: Relationship, targetId: string, targetType: string) => {
    const targetDisplayName = call.tenant.app(targetId).displayName;
    return {
      "@odata.type": type,
      id: `${app.id}_${targetId}`,
      targetId,
      targetDisplayName,
      targetType,
      ...kind,
    };
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
  const fields = fieldsOf(value);
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
