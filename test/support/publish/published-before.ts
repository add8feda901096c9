import { createHash } from "node:crypto";
import type { Fields } from "../graph/schema.ts";
import type { Tenant } from "../graph/tenant.ts";
import { type ReadApp, type ReadSettings, scriptText } from "./published.ts";

const sameForAll = {
  allowAvailableUninstall: true,
  installExperience: {
    runAsAccount: "system",
    maxRunTimeInMinutes: 60,
    deviceRestartBehavior: "basedOnReturnCode",
  },
  returnCodes: [
    { returnCode: 0, type: "success" },
    { returnCode: 1707, type: "success" },
    { returnCode: 3010, type: "softReboot" },
    { returnCode: 1641, type: "hardReboot" },
    { returnCode: 1618, type: "retry" },
  ],
};

/**
 * Puts the apps of a script into a tenant as a run of the script leaves them, without running PowerShell.
 * create.test.ts compares both.
 */
export function publishBefore(tenant: Tenant, settings: ReadSettings, apps: readonly ReadApp[]): void {
  const ids = new Map<string, string>();
  for (const app of apps) {
    const id = tenant.addApp({ ...fieldsOf(app, settings), rules: rulesOf(app, settings) });
    ids.set(`${app.Kind}:${app.Id}`, id);
    for (const key of app.DependsOn) tenant.relate(id, ids.get(key) ?? "", "autoInstall");
  }
}

function fieldsOf(app: ReadApp, { Icons, Instance, Made }: ReadSettings): Fields {
  const icon = { "@odata.type": "#microsoft.graph.mimeContent", type: "image/png", value: Icons[app.Icon] };
  const fields: Fields = { ...app.Fields, ...sameForAll, ...(app.Icon !== "" && { largeIcon: icon }) };
  const hashed = Object.entries({ ...fields, ...(app.Notes !== "" && { text: app.Notes }) });
  const set = hashed.map(([name, value]) => `${name}=${shortHash(textOf(name, value))}`).sort();
  const marker = `platen:${Instance}:${app.Kind}:${app.Id} revision:${app.Revision}`;
  return { ...fields, notes: `${app.Notes}\n${marker} at:${Made} set:${set.join(",")}`.trim() };
}

function rulesOf(app: ReadApp, settings: ReadSettings): Fields[] {
  const rule = (script: ReadApp["Detection"], more: Fields) => ({
    "@odata.type": "#microsoft.graph.win32LobAppPowerShellScriptRule",
    enforceSignatureCheck: false,
    runAs32Bit: false,
    scriptContent: Buffer.from(scriptText(settings, script), "ascii").toString("base64"),
    ...more,
  });
  const detection = { ruleType: "detection", operationType: "notConfigured", operator: "notConfigured" };
  const requirement = {
    ...{ ruleType: "requirement", displayName: "The machine is in its subnets", runAsAccount: "system" },
    ...{ operationType: "string", operator: "equal", comparisonValue: "applicable" },
  };
  const found = [rule(app.Detection, detection)];
  return app.Requirement === null ? found : [...found, rule(app.Requirement, requirement)];
}

/** The text of which the script notes a hash. */
function textOf(name: string, value: unknown): string {
  if (name === "largeIcon") return String((value as Fields).value);
  if (name === "allowedArchitectures") return String(value).split(",").sort().join(",");
  return canonical(value);
}

function canonical(value: unknown): string {
  if (typeof value === "string") return value.replaceAll(/\r\n?/g, "\n").trim();
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join(",")}]`;
  if (typeof value !== "object" || value === null) return String(value ?? "");
  const pairs = Object.entries(value).map(([name, each]) => `${name}=${canonical(each)}`);
  return `{${pairs.sort().join(",")}}`;
}

const shortHash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);
