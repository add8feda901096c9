import { randomUUID } from "node:crypto";
import { type Answer, badRequest, Refusal } from "./answers.ts";
import { type Call, page } from "./requests.ts";
import { type Fields, fieldsOf } from "./schema.ts";
import type { DirectoryList } from "./tenant.ts";

// Groups, filters, scope tags, categories and app registrations of a tenant.

/** A list that takes `name eq 'text'` alone as a filter. */
function filtered(call: Call, items: readonly Fields[]): Answer {
  const filter = call.received.query.get("$filter");
  if (filter === null) return page(call, items, "$select");
  const [, name = "", quoted = ""] = /^(displayName|appId) eq '((?:[^']|'')*)'$/.exec(filter) ?? [];
  if (name === "") throw new Refusal(400, "BadRequest", `Invalid filter clause: ${filter}`);
  const text = quoted.replaceAll("''", "'").toLowerCase();
  const found = items.filter((item) => String(item[name]).toLowerCase() === text);
  return page(call, found, "$filter", "$select");
}

const permissions: Readonly<Partial<Record<DirectoryList, RegExp>>> = {
  groups: /GroupMember\.Read\.All|\.default/,
  assignmentFilters: /DeviceManagementConfiguration\.Read\.All|\.default/,
  roleScopeTags: /DeviceManagementRBAC\.Read\.All|\.default/,
};

export function listDirectory(list: DirectoryList) {
  return (call: Call): Answer => {
    const { tenant, received } = call;
    const scope = tenant.signIns.scopes.get((received.headers.authorization ?? "").slice(7));
    if (scope !== undefined && permissions[list]?.test(scope) === false)
      throw new Refusal(403, "Forbidden", "Insufficient privileges to complete the operation.");
    const items = tenant.directory[list];
    return list === "groups" ? filtered(call, items) : page(call, items);
  };
}

const scopeId = "7b3f05d5-f68c-4b8d-8c59-a2ecd12f24af";

export function listServicePrincipals(call: Call): Answer {
  const oauth2PermissionScopes = [{ id: scopeId, value: "DeviceManagementApps.ReadWrite.All" }];
  const appId = "00000003-0000-0000-c000-000000000000";
  return filtered(call, [{ id: randomUUID(), appId, oauth2PermissionScopes }]);
}

export const listApplications = (call: Call): Answer => filtered(call, call.tenant.registrations);

const ofApplications =
  "displayName signInAudience isFallbackPublicClient publicClient requiredResourceAccess";

export function createApplication({ tenant, json }: Call): Answer {
  const fields = fieldsOf(json());
  const unknown = Object.keys(fields).find((name) => !ofApplications.split(" ").includes(name));
  if (unknown !== undefined) throw badRequest(`The property '${unknown}' does not exist.`);
  const registration = { ...fields, id: randomUUID(), appId: randomUUID() };
  tenant.registrations.push(registration);
  return { status: 201, body: registration };
}

export function addCategory({ tenant, params, json }: Call): Answer {
  const { "@odata.id": address, ...more } = fieldsOf(json());
  const id = /\/mobileAppCategories\/([\w-]+)$/.exec(String(address))?.[1];
  const category = tenant.directory.mobileAppCategories.find((each) => each.id === id);
  if (category === undefined || Object.keys(more).length > 0) throw badRequest("There is no such category.");
  tenant.getApp(params[0] ?? "").categories.push(category);
  return { status: 204 };
}
