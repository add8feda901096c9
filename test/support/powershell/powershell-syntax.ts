import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import {
  type Deployment,
  deploymentOf,
  deploymentOfMany,
  withoutDrivers,
} from "../../../src/pkg/scripts/deployment.ts";
import { type DriverDeployment, driverScriptSettings } from "../../../src/pkg/scripts/driver-deployment.ts";
import { renderPublishScript } from "../../../src/pkg/scripts/publish-script.ts";
import { renderScript, renderWithSettings, scriptKinds } from "../../../src/pkg/scripts/render.ts";
import { makeTicket } from "../printers/tickets.ts";
import { makePublication } from "../publish/publications.ts";
import { makeDriver, makePrinter } from "../records.ts";
import { windowsDeployable } from "./ipp-machine.ts";

// The parts of web-tree-sitter's type that are used here.
export interface SyntaxNode {
  readonly type: string;
  readonly text: string;
  readonly hasError: boolean;
  readonly isMissing: boolean;
  readonly startPosition: { readonly row: number };
  readonly parent: SyntaxNode | null;
  readonly children: (SyntaxNode | null)[];
  childForFieldName(name: string): SyntaxNode | null;
}

/**
 * Loads the PowerShell parser. V8 compiles the grammar's WebAssembly with its baseline compiler only: optimising it takes
 * twenty seconds of other threads, and parsing takes one second.
 */
export async function powershellParser(): Promise<(text: string) => SyntaxNode> {
  setFlagsFromString("--liftoff-only");
  const { Parser, Language } = await import("web-tree-sitter");
  await Parser.init();
  const grammar = createRequire(resolve("package.json")).resolve(
    "tree-sitter-powershell/tree-sitter-powershell.wasm",
  );
  const parser = new Parser().setLanguage(await Language.load(grammar));
  return (text) => parser.parse(text.replace(/^\ufeff/, ""))?.rootNode as unknown as SyntaxNode;
}

/** A node and all of its descendants. */
export function* walk(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const child of node.children) if (child !== null) yield* walk(child);
}

const uploaded = {
  printer: makePrinter({ id: "1", name: "O'Brien ’x’" }),
  driver: makeDriver(),
  arm64Driver: undefined,
};
const named = makeDriver({ trust_publisher: true, name: "O'Brien ’x’ $(calc)" });
const second = {
  printer: makePrinter({ id: "2", name: "Zweiter", replaces: "a\nb" }),
  driver: makeDriver({ id: 2 }),
  arm64Driver: makeDriver({ id: 3 }),
};
const ipp = windowsDeployable({ id: "3", name: "IPP" });
const text = windowsDeployable({ id: "4", name: "Text" }, "Generic / Text Only");
const all = { duplex: "long_edge", set_default: "on" };
const download = { url: "http://host:8080/drivers/1/files", sha256: "a".repeat(64) };

/** Settings that add their own parts to the scripts. */
const settingsWithParts: Readonly<Record<string, Record<string, string>>> = {
  "a PrintTicket": { print_ticket: makeTicket() },
  "users' preferences": { reset_user_preferences: "on" },
  "a default printer": { set_default: "on" },
  "a connection": { replaces: "\\\\server\\queue" },
  "an address": { replaces: "address:10.0.0.5" },
};
const deploymentWith = (fields: Record<string, string>) =>
  deploymentOf({ ...uploaded, printer: makePrinter({ id: "6", ...fields }) });

/** Printers of every kind, alone and together. */
const deployments: Readonly<Record<string, Deployment>> = {
  "one printer": deploymentOf(uploaded, new Map([[1, download]])),
  "a client": deploymentOfMany("Client", [uploaded, second]),
  "an IPP printer": deploymentOf(ipp),
  "an IPP printer with all settings": deploymentOf(windowsDeployable({ name: "All", ...all })),
  "a printer with Windows' own driver": deploymentOf(text),
  "a printer with subnets": deploymentOf({
    ...uploaded,
    client: { subnets: ["10.1.2.0/24", "fd00:1::/48"] },
  }),
  "a driver alone": deploymentOf({ ...uploaded, printer: makePrinter({ id: "5", address: "" }) }),
  "Windows' own driver alone": deploymentOf(windowsDeployable({ address: "" }, "Generic / Text Only")),
  ...Object.fromEntries(
    Object.entries(settingsWithParts).map(([name, fields]) => [
      `a printer with ${name}`,
      deploymentWith(fields),
    ]),
  ),
  "a driver alone that replaces": deploymentWith({
    address: "",
    replaces: "\\\\server\\queue\naddress:10.0.0.5",
  }),
  "an IPP printer that changes users' settings": deploymentOf(
    windowsDeployable({
      name: "Users",
      ...Object.assign({}, ...Object.values(settingsWithParts)),
      replaces: "\\\\s\\q\naddress:10.0.0.5",
    }),
  ),
  "a client with every kind": deploymentOfMany("Every", [uploaded, ipp, text]),
  "a printer whose driver is apart": withoutDrivers(deploymentOf({ ...uploaded, driver: named })),
  "a driver apart alone": withoutDrivers(
    deploymentOf({ ...uploaded, printer: makePrinter({ address: "" }) }),
  ),
  "a client with every kind apart": withoutDrivers(deploymentOfMany("Every", [uploaded, ipp, text])),
};

const alone = { driver: named, models: ["O'Brien ’x’", "Two"] } as const;

/** Packages of a driver without a printer. */
const driverDeployments: Readonly<Record<string, DriverDeployment>> = {
  "a driver's own package": alone,
  "a driver by itself": { ...alone, download },
};

/** All scripts as they are served, by kind and deployment. */
export function renderAllScripts(): Map<string, string> {
  const texts = new Map<string, string>();
  for (const kind of scriptKinds) {
    for (const [name, deployment] of Object.entries(deployments)) {
      texts.set(`${kind}, ${name}`, renderScript(kind, deployment).toString());
    }
    for (const [name, deployment] of Object.entries(driverDeployments)) {
      texts.set(`${kind}, ${name}`, renderWithSettings(kind, driverScriptSettings(deployment)).toString());
    }
  }
  texts.set("publish, a client", renderPublishScript(makePublication("O'Brien ’x’ $(calc)")).toString());
  return texts;
}

/** The .ps1 files that make up the scripts, by path. */
export function readScriptBodies(): Map<string, string> {
  const folder = "src/pkg/scripts";
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ps1"),
  );
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
