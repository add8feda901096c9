import { randomUUID } from "node:crypto";
import { type Answer, badRequest, notFound, Refusal } from "./answers.ts";
import { appBody, changedApp, newApp, newRecord, win32 } from "./app-fields.ts";
import { type Call, checkOptions, page } from "./requests.ts";
import { checkShape, type Fields, isFields } from "./schema.ts";
import { type App, committedFile, type Tenant } from "./tenant.ts";

const isWin32 = "isof('microsoft.graph.win32LobApp')";

export function listApps(call: Call): Answer {
  const { state } = call.tenant;
  const matches = filterOf(call.received.query.get("$filter"));
  const visible = [...state.apps.values()].filter((app) => app.unlistedFor-- <= 0);
  const found = visible.map(({ fields }) => appBody(fields)).filter(matches);
  const items = found.map((app) => ({ ...app, largeIcon: null, rules: [] }));
  return page(call, items, "$filter");
}

/** Knows `isof('microsoft.graph.win32LobApp')`, `contains(notes,'…')`, and both with `and`. @throws a refusal of others */
function filterOf(filter: string | null): (app: Fields) => boolean {
  const terms = filter?.split(" and ") ?? [];
  const parts = terms.map((term) => /^contains\(notes,'((?:[^']|'')*)'\)$/.exec(term)?.[1]);
  if (terms.some((term, i) => term !== isWin32 && parts[i] === undefined))
    throw new Refusal(400, "BadRequest", `Invalid filter clause: ${filter}`);
  const has = (notes: unknown, part = "") =>
    String(notes ?? "")
      .toLowerCase()
      .includes(part.replaceAll("''", "'").toLowerCase());
  return (app) =>
    terms.every((term, i) => (term === isWin32 ? app["@odata.type"] === win32 : has(app.notes, parts[i])));
}

export function createApp({ tenant, json }: Call): Answer {
  const fields = checkShape(json(), newApp);
  const id = randomUUID();
  const app = tenant.addRecord(id, newRecord(fields, id));
  return { status: 201, body: appBody(app.fields) };
}

export function showApp(call: Call): Answer {
  checkOptions(call);
  const app = readableApp(call);
  const state = app.processingFor > 0 ? { publishingState: "processing" } : {};
  if (app.processingFor > 0) app.processingFor--;
  return { status: 200, body: { ...appBody(app.fields), ...state } };
}

export function changeApp(call: Call): Answer {
  const { tenant, json } = call;
  const app = appOf(call);
  const changes = checkShape(json(), changedApp, true);
  if (app.fields["@odata.type"] !== win32) throw badRequest("The app is of another type.");
  const published = "committedContentVersion" in changes ? publishedFields(tenant, app, changes) : {};
  const lastModifiedDateTime = new Date().toISOString();
  app.fields = { ...app.fields, ...changes, ...published, lastModifiedDateTime };
  if (tenant.behaviour.patchReturnsNoBody) return { status: 204 };
  return { status: 200, body: appBody(app.fields) };
}

/**
 * The fields that change with the content version. An icon that is not in the same request is lost.
 * @throws a refusal when the version has no committed file
 */
function publishedFields(tenant: Tenant, app: App, changes: Fields): Fields {
  const { committedContentVersion, largeIcon = null } = changes;
  const file = committedFile(app.versions.get(String(committedContentVersion)));
  if (!file) throw badRequest(`The content version ${committedContentVersion} has no committed file.`);
  if (app.patchRefusals-- > 0) throw badRequest("The content version is not ready yet.");
  app.processingFor = tenant.behaviour.processingFor;
  if (!isFields(largeIcon) && app.fields.largeIcon !== null) tenant.lostIcons.push(app.id);
  return { publishingState: "published", size: file.size, largeIcon };
}

export function deleteApp(call: Call): Answer {
  const { apps } = call.tenant.state;
  const { id } = appOf(call);
  if ([...apps.values()].some(({ children }) => children.some(({ targetId }) => targetId === id)))
    throw badRequest("The app is a child of other apps.");
  apps.delete(id);
  return { status: 204 };
}

/** @throws a refusal when there is no such app */
export function appOf({ tenant, params: [id = ""] }: Call): App {
  const app = tenant.state.apps.get(id);
  if (!app) throw notFound(id);
  return app;
}

/** @throws a refusal when there is no such app, or when it is still too new to be read */
export function readableApp(call: Call): App {
  const app = appOf(call);
  if (app.unreadableFor <= 0) return app;
  app.unreadableFor--;
  if (call.tenant.behaviour.unreadableStatus === 404) throw notFound(app.id);
  throw new Refusal(409, "Conflict", `The app ${app.id} is being created.`);
}
