import { randomUUID } from "node:crypto";
import { type Answer, badRequest, Refusal } from "./answers.ts";
import type { Call } from "./graph-routes.ts";
import { checkOptions, page } from "./queries.ts";
import { type Fields, fieldsOf } from "./schema.ts";
import type { DirectoryList } from "./tenant.ts";

// Groups, filters, scope tags, categories and app registrations of a tenant.

const filterPattern = /^(displayName|appId) eq '((?:[^']|'')*)'$/;

/** Supports `name eq 'text'` alone. @throws a refusal of other filters */
function filtered(items: readonly Fields[], filter: string | null): Fields[] {
  if (filter === null) return [...items];
  const [, name = "", quoted = ""] = filterPattern.exec(filter) ?? [];
  if (name === "") throw new Refusal(400, "BadRequest", `Invalid filter clause: ${filter}`);
  const text = quoted.replaceAll("''", "'").toLowerCase();
  return items.filter((item) => String(item[name]).toLowerCase() === text);
}

const permissions: Readonly<Partial<Record<DirectoryList, RegExp>>> = {
  groups: /GroupMember\.Read\.All|\.default/,
  assignmentFilters: /DeviceManagementConfiguration\.Read\.All|\.default/,
  roleScopeTags: /DeviceManagementRBAC\.Read\.All|\.default/,
};

export function listDirectory(list: DirectoryList) {
  return ({ tenant, received, address }: Call): Answer => {
    checkOptions(received.query, ["$filter", "$select", "$top", "$skiptoken"]);
    if (list !== "groups" && received.query.has("$filter"))
      throw badRequest("$filter is not supported here.");
    const [, token = ""] = /^Bearer (\S+)$/.exec(received.headers.authorization ?? "") ?? [];
    const scope = tenant.signIns.scopes.get(token);
    if (scope !== undefined && permissions[list]?.test(scope) === false)
      throw new Refusal(403, "Forbidden", "Insufficient privileges to complete the operation.");
    const found = filtered(tenant.directory[list], received.query.get("$filter"));
    return { status: 200, body: page(found, received.query, address, tenant.behaviour.pageSize) };
  };
}

const graphAppId = "00000003-0000-0000-c000-000000000000";
const scopeId = "7b3f05d5-f68c-4b8d-8c59-a2ecd12f24af";

export function listServicePrincipals({ tenant, received, address }: Call): Answer {
  const oauth2PermissionScopes = [{ id: scopeId, value: "DeviceManagementApps.ReadWrite.All" }];
  const graph = { id: randomUUID(), appId: graphAppId, oauth2PermissionScopes };
  const found = filtered([graph], received.query.get("$filter"));
  return { status: 200, body: page(found, received.query, address, tenant.behaviour.pageSize) };
}

export function listApplications({ tenant, received, address }: Call): Answer {
  const found = filtered(tenant.registrations, received.query.get("$filter"));
  return { status: 200, body: page(found, received.query, address, tenant.behaviour.pageSize) };
}

export function createApplication({ tenant, json }: Call): Answer {
  const fields = fieldsOf(json(), "application");
  const known = [
    "displayName",
    "signInAudience",
    "isFallbackPublicClient",
    "publicClient",
    "requiredResourceAccess",
  ];
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) throw badRequest(`The property '${unknown}' does not exist.`);
  const registration = { ...fields, id: randomUUID(), appId: randomUUID() };
  tenant.registrations.push(registration);
  return { status: 201, body: registration };
}

export function addCategory({ tenant, params, json }: Call): Answer {
  const app = tenant.getApp(params[0] ?? "");
  const { "@odata.id": address, ...more } = fieldsOf(json(), "The body");
  const id = /\/mobileAppCategories\/([\w-]+)$/.exec(String(address))?.[1];
  const category = tenant.directory.mobileAppCategories.find((each) => each.id === id);
  if (category === undefined || Object.keys(more).length > 0) throw badRequest("There is no such category.");
  app.categories.push(category);
  return { status: 204 };
}
