import { randomUUID } from "node:crypto";
import { type Answer, badRequest } from "./answers.ts";
import { appOf, readableApp } from "./apps.ts";
import { type Call, page } from "./requests.ts";
import {
  checkShape,
  type Fields,
  guid,
  isFields,
  oneOf,
  onlyList,
  orNull,
  type Shape,
  shaped,
} from "./schema.ts";

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
    target: shaped(excluded, ...included),
    "settings?": orNull(shaped(settings)),
  },
};

function checkAssignment(value: unknown): Fields {
  const fields = checkShape(value, assignment);
  if (shaped(excluded)(fields.target) && isFields(fields.settings))
    throw badRequest("An exclusion takes no settings.");
  return { settings: null, ...fields };
}

/** The group's id, whether included or excluded; for other targets their type. */
function keyOf({ target: to }: Fields): string {
  const { groupId, "@odata.type": type } = to as Fields;
  return String(groupId ?? type).toLowerCase();
}
