import { randomUUID } from "node:crypto";
import { type Answer, badRequest, notFound, Refusal } from "./answers.ts";
import { checkChanges, checkNewApp, newRecord, win32 } from "./app-fields.ts";
import type { Call } from "./graph-routes.ts";
import { checkOptions, page, parseFilter, parseSelect } from "./queries.ts";
import { ruleBody } from "./rules.ts";
import { type Fields, fieldsOf, isFields } from "./schema.ts";
import { type App, committedFile } from "./state.ts";
import type { Tenant } from "./tenant.ts";

export function listApps({ tenant, received, address }: Call): Answer {
  const { query } = received;
  checkOptions(query, ["$filter", "$select", "$top", "$skiptoken"]);
  const matches = parseFilter(query.get("$filter"));
  const select = parseSelect(query.get("$select"));
  const all = [...tenant.state.apps.values()];
  const visible = all.filter((app) => app.unlistedFor-- <= 0).map((app) => appBody(app));
  const apps = visible.filter(matches).map((app) => select({ ...app, largeIcon: null, rules: [] }));
  return { status: 200, body: page(apps, query, address, tenant.behaviour.pageSize) };
}

export function createApp({ tenant, json }: Call): Answer {
  const fields = checkNewApp(json());
  const id = randomUUID();
  const app = tenant.addRecord(id, newRecord(fields, id));
  return { status: 201, body: appBody(app) };
}

export function showApp({ tenant, received, params }: Call): Answer {
  checkOptions(received.query, ["$select"]);
  const app = readableApp(tenant, params);
  const select = parseSelect(received.query.get("$select"));
  const body = select(appBody(app));
  if (app.processingFor > 0) app.processingFor--;
  return { status: 200, body };
}

export function changeApp({ tenant, params, json }: Call): Answer {
  const app = appOf(tenant, params);
  const changes = fieldsOf(json(), "mobileApp");
  if (app.fields["@odata.type"] !== win32)
    throw badRequest("The app is not of the type that is to be changed.");
  checkChanges(changes);
  const published = "committedContentVersion" in changes ? publishedFields(tenant, app, changes) : {};
  const { "@odata.type": _, ...fields } = changes;
  const lastModifiedDateTime = new Date().toISOString();
  app.fields = { ...app.fields, ...fields, ...published, lastModifiedDateTime };
  if (tenant.behaviour.patchReturnsNoBody) return { status: 204 };
  return { status: 200, body: appBody(app) };
}

/**
 * The fields that change with the content version. An icon that is not in the same request is lost.
 * @throws a refusal when the version has no committed file
 */
function publishedFields(tenant: Tenant, app: App, changes: Fields): Fields {
  const file = committedFile(app.versions.get(String(changes.committedContentVersion)));
  if (!file)
    throw badRequest(`The content version ${changes.committedContentVersion} has no committed file.`);
  if (app.patchRefusals-- > 0) throw badRequest("The content version is not ready yet.");
  app.processingFor = tenant.behaviour.processingFor;
  if (!isFields(changes.largeIcon) && app.fields.largeIcon !== null) tenant.lostIcons.push(app.id);
  const { largeIcon = null } = changes;
  return { publishingState: "published", size: file.size, largeIcon };
}

export function deleteApp({ tenant, params }: Call): Answer {
  const app = appOf(tenant, params);
  const parents = [...tenant.state.apps.values()].filter(({ children }) =>
    children.some(({ targetId }) => targetId === app.id),
  );
  if (parents.length > 0) throw badRequest(`The app is a child of ${parents.length} other apps.`);
  tenant.state.apps.delete(app.id);
  return { status: 204 };
}

/** @throws a refusal when there is no such app */
export function appOf(tenant: Tenant, params: readonly string[]): App {
  const app = tenant.state.apps.get(params[0] ?? "");
  if (!app) throw notFound(params[0] ?? "");
  return app;
}

/** @throws a refusal when there is no such app, or when it is still too new to be read */
export function readableApp(tenant: Tenant, params: readonly string[]): App {
  const app = appOf(tenant, params);
  if (app.unreadableFor <= 0) return app;
  app.unreadableFor--;
  if (tenant.behaviour.unreadableStatus === 404) throw notFound(app.id);
  throw new Refusal(409, "Conflict", `The app ${app.id} is being created.`);
}

/** An app as Graph returns it: without the `@odata.type` of parts that have only one type. */
function appBody(app: App): Fields {
  const { fields } = app;
  const rules = Array.isArray(fields.rules)
    ? fields.rules.map((rule) => ruleBody(fieldsOf(rule, "rule")))
    : [];
  const state = app.processingFor > 0 ? { publishingState: "processing" } : {};
  const dependentAppCount = app.children.length;
  const icon = untyped(fields.largeIcon);
  const returnCodes = Array.isArray(fields.returnCodes) ? fields.returnCodes.map(untyped) : [];
  const installExperience = untyped(fields.installExperience);
  return {
    ...fields,
    rules,
    returnCodes,
    installExperience,
    largeIcon: icon,
    dependentAppCount,
    ...state,
  };
}

function untyped(value: unknown): unknown {
  if (!isFields(value)) return value;
  const { "@odata.type": _, ...rest } = value;
  return rest;
}
