import { randomUUID } from "node:crypto";
import { type Answer, notFound, Refusal, wrong } from "./answers.ts";
import { checkChanges, checkNewApp, newRecord, win32 } from "./app-fields.ts";
import type { Call } from "./graph-routes.ts";
import { checkOptions, page, parseFilter, parseSelect } from "./queries.ts";
import { toldRule } from "./rules.ts";
import { type Fields, fieldsOf, isFields } from "./schema.ts";
import { type App, committedFile } from "./state.ts";
import type { Tenant } from "./tenant.ts";

export function listApps({ tenant, seen, address }: Call): Answer {
  const { query } = seen;
  checkOptions(query, ["$filter", "$select", "$top", "$skiptoken"]);
  const holds = parseFilter(query.get("$filter"));
  const selected = parseSelect(query.get("$select"));
  const all = [...tenant.state.apps.values()];
  const listed = all.filter((app) => app.unlistedFor-- <= 0).map((app) => told(app));
  const apps = listed.filter(holds).map((app) => selected({ ...app, largeIcon: null, rules: [] }));
  return { status: 200, body: page(apps, query, address, tenant.behaviour.pageSize) };
}

export function createApp({ tenant, json }: Call): Answer {
  const fields = checkNewApp(json());
  const id = randomUUID();
  const app = tenant.place(id, newRecord(fields, id));
  return { status: 201, body: told(app) };
}

export function showApp({ tenant, seen, params }: Call): Answer {
  checkOptions(seen.query, ["$select"]);
  const app = readableApp(tenant, params);
  const selected = parseSelect(seen.query.get("$select"));
  const body = selected(told(app));
  if (app.processingFor > 0) app.processingFor--;
  return { status: 200, body };
}

export function changeApp({ tenant, params, json }: Call): Answer {
  const app = appOf(tenant, params);
  const changes = fieldsOf(json(), "mobileApp");
  if (app.fields["@odata.type"] !== win32) throw wrong("The app is not of the type that is to be changed.");
  checkChanges(changes);
  const published = "committedContentVersion" in changes ? publishing(tenant, app, changes) : {};
  const { "@odata.type": _, ...fields } = changes;
  const lastModifiedDateTime = new Date().toISOString();
  app.fields = { ...app.fields, ...fields, ...published, lastModifiedDateTime };
  if (tenant.behaviour.patchSaysNothing) return { status: 204 };
  return { status: 200, body: told(app) };
}

/** What setting the version of the content brings with it, the loss of an icon that is not in the same request too. */
function publishing(tenant: Tenant, app: App, changes: Fields): Fields {
  const file = committedFile(app.versions.get(String(changes.committedContentVersion)));
  if (!file) throw wrong(`The content version ${changes.committedContentVersion} has no committed file.`);
  if (app.patchRefusals-- > 0) throw wrong("The content version is not ready yet.");
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
  if (parents.length > 0) throw wrong(`The app is a child of ${parents.length} other apps.`);
  tenant.state.apps.delete(app.id);
  return { status: 204 };
}

/** The app that a request is about. @throws a refusal when there is none */
export function appOf(tenant: Tenant, params: readonly string[]): App {
  const app = tenant.state.apps.get(params[0] ?? "");
  if (!app) throw notFound(params[0] ?? "");
  return app;
}

/** The app that a request reads. @throws a refusal when there is none, or when it is too new to be read */
export function readableApp(tenant: Tenant, params: readonly string[]): App {
  const app = appOf(tenant, params);
  if (app.unreadableFor <= 0) return app;
  app.unreadableFor--;
  if (tenant.behaviour.unreadableStatus === 404) throw notFound(app.id);
  throw new Refusal(409, "Conflict", `The app ${app.id} is being created.`);
}

/** An app as it is told: types of parts that can be of one type alone are left out. */
function told(app: App): Fields {
  const { fields } = app;
  const rules = Array.isArray(fields.rules)
    ? fields.rules.map((rule) => toldRule(fieldsOf(rule, "rule")))
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
