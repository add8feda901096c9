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

const makeUploaded = (fields: Parameters<typeof makePrinter>[0] = {}) => ({
  printer: makePrinter({ id: "1", ...fields }),
  driver: makeDriver(),
  arm64Driver: undefined,
});
const uploaded = makeUploaded({ name: "O'Brien ’x’" });
const named = makeDriver({ trust_publisher: true, name: "O'Brien ’x’ $(calc)" });
const second = {
  printer: makePrinter({ id: "2", name: "Zweiter", replaces: "a\nb" }),
  driver: makeDriver({ id: 2 }),
  arm64Driver: makeDriver({ id: 3 }),
};
const ipp = windowsDeployable({ id: "3", name: "IPP" });
const text = windowsDeployable({ id: "4", name: "Text" }, "Generic / Text Only");
const download = { url: "http://host:8080/drivers/1/files", sha256: "a".repeat(64) };
const every = deploymentOfMany("Every", [uploaded, ipp, text]);

/** Printers together, apart from their drivers, and without a queue; `printerKinds` has single printers with any setting. */
const deployments: Readonly<Record<string, Deployment>> = {
  "one printer": deploymentOf(uploaded, new Map([[1, download]])),
  "a client": deploymentOfMany("Client", [uploaded, second]),
  "a client with every kind": every,
  "a client with every kind apart": withoutDrivers(every),
  "a printer whose driver is apart": withoutDrivers(deploymentOf({ ...uploaded, driver: named })),
  "a driver alone": deploymentOf(makeUploaded({ address: "" })),
  "a driver apart alone": withoutDrivers(deploymentOf(makeUploaded({ address: "" }))),
  "a driver alone that replaces": deploymentOf(
    makeUploaded({ address: "", replaces: "\\\\server\\queue\naddress:10.0.0.5" }),
  ),
  "Windows' own driver alone": deploymentOf(windowsDeployable({ address: "" }, "Generic / Text Only")),
  "an IPP printer that changes users' settings": deploymentOf(
    windowsDeployable({
      ...{ name: "Users", duplex: "long_edge", set_default: "on", reset_user_preferences: "on" },
      print_ticket: makeTicket(),
      replaces: "\\\\s\\q\naddress:10.0.0.5",
    }),
  ),
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
    for (const [name, deployment] of Object.entries(deployments))
      texts.set(`${kind}, ${name}`, renderScript(kind, deployment).toString());
    for (const [name, deployment] of Object.entries(driverDeployments))
      texts.set(`${kind}, ${name}`, renderWithSettings(kind, driverScriptSettings(deployment)).toString());
  }
  texts.set("publish, a client", renderPublishScript(makePublication("O'Brien ’x’ $(calc)")).toString());
  return texts;
}

/** The .ps1 files that make up the scripts, by path. */
export function readScriptBodies(): Map<string, string> {
  const folder = "src/pkg/scripts";
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const names = files.filter((name) => name.endsWith(".ps1"));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
