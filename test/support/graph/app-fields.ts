import * as schema from "./schema.ts";
import { boolean, type Check, type Fields, isFields, oneOf, orNull, type Shape, text } from "./schema.ts";

export const win32 = "#microsoft.graph.win32LobApp";

const script = "#microsoft.graph.win32LobAppPowerShellScriptRule";
const scriptRule = {
  ...{ enforceSignatureCheck: boolean, runAs32Bit: boolean },
  scriptContent: schema.base64(({ length }) => length <= 200_000),
};
const detection: Shape = {
  type: script,
  properties: {
    ...{ ...scriptRule, ruleType: oneOf("detection") },
    ...{ operationType: oneOf("notConfigured"), operator: oneOf("notConfigured") },
    ...{ "comparisonValue?": schema.mustBeNull, "displayName?": schema.mustBeNull },
    "runAsAccount?": schema.mustBeNull,
  },
};
const requirement: Shape = {
  type: script,
  properties: {
    ...{ ...scriptRule, ruleType: oneOf("requirement"), runAsAccount: oneOf("system", "user") },
    operationType: oneOf("string", "dateTime", "integer", "float", "version", "boolean"),
    operator: oneOf("equal", "notEqual", "greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"),
    ...{ comparisonValue: text(1000, 1), displayName: text(256, 1) },
  },
};

/** A rule of a script, or one that only administrators make in the portal. */
const isRule = (rule: unknown) =>
  schema.shaped(detection, requirement)(rule) ||
  (isFields(rule) &&
    /^#microsoft\.graph\.win32LobApp(Registry|FileSystem)Rule$/.test(`${rule["@odata.type"]}`));

/** An app needs a detection rule; a detection script must be the only one. */
const isRules: Check = (value) => {
  if (!Array.isArray(value) || !value.every(isRule)) return false;
  const detecting = value.filter(({ ruleType }) => ruleType === "detection");
  const isScript = detecting.some((rule) => rule["@odata.type"] === script);
  return isScript ? detecting.length === 1 : detecting.length > 0;
};

const isPng = (bytes: Buffer) =>
  bytes.toString("latin1", 0, 8) === "\x89PNG\r\n\x1a\n" && bytes.toString("latin1").slice(-8, -4) === "IEND";

const icon: Shape = {
  type: "#microsoft.graph.mimeContent",
  properties: { type: oneOf("image/png"), value: schema.base64(isPng) },
};

const returnCode: Shape = {
  type: "#microsoft.graph.win32LobAppReturnCode",
  isTypeOptional: true,
  properties: {
    returnCode: schema.integer(-(2 ** 31), 2 ** 31 - 1),
    type: oneOf("failed", "success", "softReboot", "hardReboot", "retry"),
  },
};

const installExperience: Shape = {
  type: "#microsoft.graph.win32LobAppInstallExperience",
  isTypeOptional: true,
  properties: {
    runAsAccount: oneOf("system", "user"),
    "maxRunTimeInMinutes?": schema.integer(1, 1440),
    deviceRestartBehavior: oneOf("basedOnReturnCode", "allow", "suppress", "force"),
  },
};

const isArchitectures = schema.listOf(oneOf("x86", "x64", "arm64"), 1);

export const newApp: Shape = {
  type: win32,
  properties: {
    ...{ displayName: text(256, 1), description: text(10_000, 1), publisher: text(256, 1) },
    ...{ "displayVersion?": orNull(text(256)), "notes?": orNull(text(10_000)) },
    ...{ "owner?": orNull(text(256)), "roleScopeTagIds?": schema.listOf(text(100, 1), 0) },
    ...{ "largeIcon?": orNull(schema.shaped(icon)), fileName: text(260, 1), setupFilePath: text(260, 1) },
    ...{ installCommandLine: text(1024, 1), uninstallCommandLine: text(1024, 1) },
    applicableArchitectures: oneOf("none"),
    allowedArchitectures: (value) => typeof value === "string" && isArchitectures(value.split(",")),
    minimumSupportedWindowsRelease: (value) => /^(\d{4}|2H20|21H1|Windows1[01]_2[1-4]H2)$/.test(`${value}`),
    installExperience: schema.shaped(installExperience),
    returnCodes: schema.listOf(schema.shaped(returnCode), 1, (item) => isFields(item) && item.returnCode),
    ...{ rules: isRules, "allowAvailableUninstall?": boolean },
  },
};

export const changedApp: Shape = {
  ...newApp,
  properties: { ...newApp.properties, committedContentVersion: text(20, 1) },
};

/** A new app: the given fields and those that a tenant adds. */
export function newRecord(fields: Fields, id: string): Fields {
  const now = new Date().toISOString();
  return {
    ...{ displayVersion: null, largeIcon: null, owner: "", developer: "", notes: "" },
    ...{ roleScopeTagIds: ["0"], allowAvailableUninstall: false },
    ...fields,
    ...{ "@odata.type": win32, id, createdDateTime: now, lastModifiedDateTime: now },
    ...{ publishingState: "notPublished", size: 0, committedContentVersion: null },
    somethingNewerThanThisTest: { isUnknown: true },
  };
}

/** An app as Graph returns it: without the `@odata.type` of parts that have only one type. */
export function appBody(fields: Fields): Fields {
  const { largeIcon, installExperience, returnCodes = [], rules = [] } = fields;
  const none = { displayName: null, runAsAccount: null, comparisonValue: null };
  const ruleBody = (rule: Fields) => (rule["@odata.type"] === script ? { ...none, ...rule } : rule);
  return {
    ...fields,
    rules: (rules as Fields[]).map(ruleBody),
    returnCodes: (returnCodes as Fields[]).map(untyped),
    ...{ installExperience: untyped(installExperience), largeIcon: untyped(largeIcon) },
  };
}

function untyped(value: unknown): unknown {
  if (!isFields(value)) return value;
  const { "@odata.type": _, ...rest } = value;
  return rest;
}
