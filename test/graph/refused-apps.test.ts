import assert from "node:assert/strict";
import { test } from "node:test";
import { appFields, callGraph, detectionRule, icon, requirementRule } from "../support/graph/client.ts";
import { startGraph } from "../support/graph/server.ts";

const registryRule = {
  "@odata.type": "#microsoft.graph.win32LobAppRegistryRule",
  ruleType: "detection",
  keyPath: "HKEY_LOCAL_MACHINE\\Software\\App",
  operationType: "exists",
};

const refused: readonly [what: string, change: Record<string, unknown>][] = [
  ["an unknown property", { colour: "red" }],
  ["a read-only property", { publishingState: "published" }],
  ["a content version on creation", { committedContentVersion: "1" }],
  ["no type", { "@odata.type": undefined }],
  ["another type", { "@odata.type": "#microsoft.graph.windowsMobileMSI" }],
  ["no name", { displayName: undefined }],
  ["an empty description", { description: " " }],
  ["no publisher", { publisher: null }],
  ["a name that is too long", { displayName: "n".repeat(257) }],
  ["notes that are too long", { notes: "n".repeat(10_001) }],
  ["no file name", { fileName: undefined }],
  ["no setup file", { setupFilePath: undefined }],
  ["no uninstall command", { uninstallCommandLine: undefined }],
  ["an applicable architecture", { applicableArchitectures: "x64" }],
  ["an unknown architecture", { allowedArchitectures: "x64,arm" }],
  ["architectures as a list", { allowedArchitectures: ["x64"] }],
  ["an unknown release", { minimumSupportedWindowsRelease: "21H2" }],
  ["a boolean as a string", { allowAvailableUninstall: "true" }],
  ["an icon without its type", { largeIcon: { type: "image/png", value: icon().value } }],
  ["an icon that is not a PNG", { largeIcon: { ...icon(), value: "AAAA" } }],
  ["an icon cut off", { largeIcon: { ...icon(), value: icon().value.slice(0, -8) } }],
  ["no return codes", { returnCodes: [] }],
  ["one return code instead of a list", { returnCodes: { returnCode: 0, type: "success" } }],
  ["a return code as a string", { returnCodes: [{ returnCode: "0", type: "success" }] }],
  ["a return code twice", { returnCodes: [0, 0].map((returnCode) => ({ returnCode, type: "success" })) }],
  ["no install experience", { installExperience: undefined }],
  ["an unknown account", { installExperience: { runAsAccount: "System", deviceRestartBehavior: "allow" } }],
  ["no rules", { rules: [] }],
  ["rules that are not a list", { rules: detectionRule() }],
  ["only a requirement", { rules: [requirementRule()] }],
  ["a rule without its type", { rules: [{ ...detectionRule(), "@odata.type": undefined }] }],
  ["two detection scripts", { rules: [detectionRule(), detectionRule()] }],
  ["a detection script beside another detection", { rules: [detectionRule(), registryRule] }],
  ["a detection rule with a name", { rules: [{ ...detectionRule(), displayName: "Detect" }] }],
  ["a detection rule with an account", { rules: [{ ...detectionRule(), runAsAccount: "system" }] }],
  ["a script that is not base64", { rules: [{ ...detectionRule(), scriptContent: "Write-Output" }] }],
  ["an empty script", { rules: [{ ...detectionRule(), scriptContent: "" }] }],
  [
    "a requirement without account",
    { rules: [detectionRule(), { ...requirementRule(), runAsAccount: null }] },
  ],
  [
    "a requirement without a value",
    { rules: [detectionRule(), { ...requirementRule(), comparisonValue: undefined }] },
  ],
  ["a script rule with an unknown property", { rules: [{ ...detectionRule(), check: true }] }],
];

for (const [what, change] of refused)
  test(`an app is refused with ${what}`, async (t) => {
    const tenant = (await startGraph(t)).tenant("shop");

    const { status, error, headers } = await callGraph(tenant, "POST", "", { ...appFields(), ...change });

    assert.equal(status, 400);
    assert.match(error, /^BadRequest: \{"_version":3,"Message":"/);
    assert.ok(headers.get("request-id"));
    assert.deepEqual(tenant.apps(), []);
  });
