import { badRequest } from "./answers.ts";
import {
  base64,
  boolean,
  type Check,
  checkShape,
  type Fields,
  fieldsOf,
  mustBeNull,
  oneOf,
  orNull,
  type Shape,
  text,
} from "./schema.ts";

const comparisons = ["equal", "notEqual", "greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"];

const script = "#microsoft.graph.win32LobAppPowerShellScriptRule";

const scriptRule = {
  ruleType: oneOf("detection", "requirement"),
  enforceSignatureCheck: boolean,
  runAs32Bit: boolean,
  // At most 200,000 bytes.
  scriptContent: base64(({ length }) => length <= 200_000, "a script"),
};

const ofScripts = [
  "ruleType",
  "enforceSignatureCheck",
  "runAs32Bit",
  "scriptContent",
  "operationType",
  "operator",
];

const detection: Shape = {
  type: script,
  properties: {
    ...scriptRule,
    operationType: oneOf("notConfigured"),
    operator: oneOf("notConfigured"),
    ...{ comparisonValue: mustBeNull, displayName: mustBeNull, runAsAccount: mustBeNull },
  },
  required: ofScripts,
};

const requirement: Shape = {
  type: script,
  properties: {
    ...scriptRule,
    operationType: oneOf("string", "dateTime", "integer", "float", "version", "boolean"),
    operator: oneOf(...comparisons),
    comparisonValue: text(1000, 1),
    displayName: text(256, 1),
    runAsAccount: oneOf("system", "user"),
  },
  required: [...ofScripts, "comparisonValue", "displayName", "runAsAccount"],
};

const compared = {
  ruleType: oneOf("detection", "requirement"),
  check32BitOn64System: boolean,
  operator: oneOf("notConfigured", ...comparisons),
  comparisonValue: orNull(text(1000)),
  operationType: text(100, 1),
};

/** Rules that only administrators make, in the portal. */
const otherRules: readonly Shape[] = [
  {
    type: "#microsoft.graph.win32LobAppRegistryRule",
    properties: { ...compared, keyPath: text(1000, 1), valueName: orNull(text(1000)) },
    required: ["ruleType", "keyPath", "operationType"],
  },
  {
    type: "#microsoft.graph.win32LobAppFileSystemRule",
    properties: { ...compared, path: text(1000, 1), fileOrFolderName: text(1000, 1) },
    required: ["ruleType", "path", "fileOrFolderName", "operationType"],
  },
];

/** An app needs a detection rule; a detection script must be the only one. */
export const checkRules: Check = (value, place) => {
  if (!Array.isArray(value)) throw badRequest(`${place} must be an array.`);
  const rules = value.map((rule, i) => checkRule(rule, `${place}[${i}]`));
  const detecting = rules.filter(({ ruleType }) => ruleType === "detection");
  if (detecting.length === 0) throw badRequest(`${place}: an app needs a detection rule.`);
  if (detecting.length > 1 && detecting.some((rule) => rule["@odata.type"] === script))
    throw badRequest(`${place}: a detection script cannot be combined with another detection rule.`);
};

function checkRule(value: unknown, place: string): Fields {
  const fields = fieldsOf(value, place);
  const shapes = [fields.ruleType === "requirement" ? requirement : detection, ...otherRules];
  const shape = shapes.find(({ type }) => type === fields["@odata.type"]);
  if (!shape) throw badRequest(`${place}: @odata.type ${JSON.stringify(fields["@odata.type"])} is no rule.`);
  return checkShape(fields, place, shape);
}

/** A rule as a tenant returns it: missing properties of script rules are null. */
export function ruleBody(rule: Fields): Fields {
  const none = { displayName: null, runAsAccount: null, comparisonValue: null };
  return rule["@odata.type"] === script ? { ...none, ...rule } : rule;
}
