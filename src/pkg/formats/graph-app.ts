import type { LinkOwner } from "../../domain/access/link.ts";
import type { Architecture } from "../../domain/drivers/driver.ts";
import { installCommand, uninstallCommand } from "../scripts/commands.ts";
import type { PackageFacts } from "./format.ts";
import { setupFile } from "./intunewin.ts";

// The fields of an app in Microsoft Graph's terms. `intune.ts` lists the same fields for people who fill in the portal's form.

/** The notes of an app. Their marker identifies the app, even after it is renamed. */
export function appNotes(instance: string, { kind, id }: LinkOwner, revision: string): string {
  return `platen:${instance}:${kind}:${id} revision:${revision}`;
}

type GraphFacts = Pick<
  PackageFacts,
  "name" | "description" | "publisher" | "version" | "owner" | "machines" | "minimumWindows"
>;

/** An app's properties by their names in Graph. @returns undefined if no machine could install it */
export function graphFields(
  facts: GraphFacts,
  { kind }: Pick<LinkOwner, "kind">,
  fileName: string,
): Record<string, string> | undefined {
  const machines = facts.machines.flatMap((machine) => architectureNames[machine] ?? []);
  if (machines.length === 0) return undefined;
  return {
    displayName: shortened(facts.name),
    description: facts.description,
    publisher: facts.publisher || (kind === "client" ? "Several manufacturers" : "Unknown manufacturer"),
    displayVersion: facts.version,
    ...(facts.owner !== "" && { owner: facts.owner }),
    fileName,
    setupFilePath: setupFile,
    installCommandLine: installCommand,
    uninstallCommandLine: uninstallCommand,
    allowedArchitectures: machines.join(),
    minimumSupportedWindowsRelease: releases[facts.minimumWindows],
  };
}

/** Microsoft Graph refuses longer names. */
const nameLimit = 256;

/** Cuts a name to the limit without splitting a surrogate pair. */
function shortened(name: string): string {
  if (name.length <= nameLimit) return name;
  const start = name.slice(0, nameLimit - 1).replace(/[\ud800-\udbff]$/, "");
  return `${start}…`;
}

/** Intune manages Windows on no other architecture. */
const architectureNames: Partial<Record<Architecture, string>> = { x86: "x86", amd64: "x64", arm64: "arm64" };

const releases = {
  "Windows 10 1607": "1607",
  "Windows 11 21H2": "Windows11_21H2",
} as const satisfies Record<PackageFacts["minimumWindows"], string>;
