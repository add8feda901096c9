import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { type Deployment, deploymentOf, deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { renderScript, scriptKinds } from "../../src/pkg/scripts/render.ts";
import { windowsDeployable } from "./ipp-machine.ts";
import { makeDriver, makePrinter } from "./records.ts";

// What web-tree-sitter gives, as far as it is used here.
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

/** Gives a function from PowerShell's text to its syntax tree. */
export async function powershellParser(): Promise<(text: string) => SyntaxNode> {
  const { Parser, Language } = await import("web-tree-sitter");
  await Parser.init();
  const grammar = createRequire(resolve("package.json")).resolve(
    "tree-sitter-powershell/tree-sitter-powershell.wasm",
  );
  const parser = new Parser().setLanguage(await Language.load(grammar));
  return (text) => parser.parse(text.replace(/^\ufeff/, ""))?.rootNode as unknown as SyntaxNode;
}

/** A node and all below it. */
export function* walk(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const child of node.children) if (child !== null) yield* walk(child);
}

const uploaded = {
  printer: makePrinter({ id: "1", name: "O'Brien ’x’" }),
  driver: makeDriver(),
  arm64Driver: undefined,
};
const second = {
  printer: makePrinter({ id: "2", name: "Zweiter", replaces: "a\nb" }),
  driver: makeDriver({ id: 2 }),
  arm64Driver: makeDriver({ id: 3 }),
};
const ipp = windowsDeployable({ id: "3", name: "IPP" });
const text = windowsDeployable({ id: "4", name: "Text" }, "Generic / Text Only");
const all = { duplex: "long_edge", set_default: "on" };
const download = { url: "http://host:8080/drivers/1/files", sha256: "a".repeat(64) };

/** Printers of every kind, by themselves and together. */
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
  "a client with every kind": deploymentOfMany("Every", [uploaded, ipp, text]),
};

/** The scripts as they are handed out, by kind and deployment. */
export function rendered(): Map<string, string> {
  const texts = new Map<string, string>();
  for (const kind of scriptKinds) {
    for (const [name, deployment] of Object.entries(deployments)) {
      texts.set(`${kind}, ${name}`, renderScript(kind, deployment).toString());
    }
  }
  return texts;
}

/** The PowerShell files of which the scripts are composed, by their paths. */
export function bodies(): Map<string, string> {
  const folder = "src/pkg/scripts";
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ps1"),
  );
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
