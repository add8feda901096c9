import { randomUUID } from "node:crypto";
import { type Answer, badRequest } from "./answers.ts";
import { appOf, readableApp } from "./apps.ts";
import type { Call } from "./graph-routes.ts";
import { checkOptions, page } from "./queries.ts";
import {
  type Check,
  checkShape,
  type Fields,
  fieldsOf,
  guid,
  isFields,
  oneOf,
  onlyField,
  orNull,
  type Shape,
  shaped,
} from "./schema.ts";

export function listAssignments({ tenant, received, params, address }: Call): Answer {
  checkOptions(received.query, ["$top", "$skiptoken"]);
  const { assignments } = readableApp(tenant, params);
  return { status: 200, body: page(assignments, received.query, address, tenant.behaviour.pageSize) };
}

export function assign({ tenant, params, json }: Call): Answer {
  const app = appOf(tenant, params);
  const mobileAppAssignments = onlyField(json(), "mobileAppAssignments");
  if (!Array.isArray(mobileAppAssignments)) throw badRequest("mobileAppAssignments must be an array.");
  if (app.fields.publishingState !== "published" || app.processingFor > 0)
    throw badRequest("The app is not published yet.");
  const fresh = mobileAppAssignments.map((value, i) => checkAssignment(value, `mobileAppAssignments[${i}]`));
  const keys = fresh.map(keyOf);
  if (new Set(keys).size !== keys.length) throw badRequest("mobileAppAssignments names a group twice.");
  app.assignments = fresh.map((fields) => ({
    ...fields,
    id: `${randomUUID()}_0_0`,
    source: "direct",
    sourceId: app.id,
  }));
  return { status: 200 };
}

export function listCategories({ tenant, received, params, address }: Call): Answer {
  checkOptions(received.query, ["$top", "$skiptoken"]);
  const { categories } = readableApp(tenant, params);
  return { status: 200, body: page(categories, received.query, address, tenant.behaviour.pageSize) };
}

const filters = {
  deviceAndAppManagementAssignmentFilterId: orNull(guid),
  deviceAndAppManagementAssignmentFilterType: oneOf("none", "include", "exclude"),
};

const target = (name: string, isGroup: boolean): Shape => ({
  type: `#microsoft.graph.${name}`,
  properties: isGroup ? { ...filters, groupId: guid } : filters,
  required: isGroup ? ["groupId"] : [],
});

const excluded = target("exclusionGroupAssignmentTarget", true);

const targets: readonly Shape[] = [
  target("groupAssignmentTarget", true),
  excluded,
  target("allLicensedUsersAssignmentTarget", false),
  target("allDevicesAssignmentTarget", false),
];

const targetCheck: Check = (value, place) => {
  const fields = fieldsOf(value, place);
  const shape = targets.find(({ type }) => type === fields["@odata.type"]);
  if (!shape)
    throw badRequest(`${place}: @odata.type ${JSON.stringify(fields["@odata.type"])} is no target.`);
  checkShape(fields, place, shape);
};

/** Settings that only an administrator makes; their content is not checked. */
const anyObject: Check = (value, place) => {
  fieldsOf(value, place);
};

const settings: Shape = {
  type: "#microsoft.graph.win32LobAppAssignmentSettings",
  properties: {
    notifications: oneOf("showAll", "showReboot", "hideAll"),
    restartSettings: orNull(anyObject),
    installTimeSettings: orNull(anyObject),
    autoUpdateSettings: orNull(anyObject),
    deliveryOptimizationPriority: oneOf("notConfigured", "foreground"),
  },
};

const assignment: Shape = {
  type: "#microsoft.graph.mobileAppAssignment",
  properties: {
    intent: oneOf("required", "available", "uninstall", "availableWithoutEnrollment"),
    target: targetCheck,
    settings: orNull(shaped(settings)),
  },
  required: ["intent", "target"],
};

function checkAssignment(value: unknown, place: string): Fields {
  const fields = checkShape(value, place, assignment);
  const isExcluded = isFields(fields.target) && fields.target["@odata.type"] === excluded.type;
  if (isExcluded && isFields(fields.settings)) throw badRequest(`${place}: an exclusion takes no settings.`);
  return { settings: null, ...fields };
}

/** The group's id, whether included or excluded; for other targets their type. */
function keyOf({ target: to }: Fields): string {
  const { groupId, "@odata.type": type } = isFields(to) ? to : {};
  return String(groupId ?? type).toLowerCase();
}
