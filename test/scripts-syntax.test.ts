import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { before, describe, test } from "node:test";
import { deploymentOf, deploymentOfMany } from "../src/pkg/scripts/deployment.ts";
import { renderScript, scriptKinds } from "../src/pkg/scripts/render.ts";
import { makeDriver, makePrinter } from "./support/records.ts";
import { shared, withoutShared } from "./support/shared.ts";

// What web-tree-sitter gives, as far as it is used here.
interface SyntaxNode {
  readonly type: string;
  readonly text: string;
  readonly hasError: boolean;
  readonly isMissing: boolean;
  readonly startPosition: { readonly row: number };
  readonly parent: SyntaxNode | null;
  readonly children: (SyntaxNode | null)[];
  childForFieldName(name: string): SyntaxNode | null;
}

/** Every command that the scripts may call, with its parameters: the only words that reach Windows. */
const allowedCommands: Readonly<Record<string, readonly string[]>> = {
  "Add-Content": ["LiteralPath", "Value", "Encoding", "WhatIf"],
  "Add-Printer": [
    "ErrorAction",
    "Name",
    "DriverName",
    "PortName",
    "Location",
    "Comment",
    "Shared",
    "ShareName",
  ],
  "Add-PrinterDriver": ["Name", "InfPath", "ErrorAction"],
  "Add-PrinterPort": [
    "Name",
    "LprHostAddress",
    "LprQueueName",
    "LprByteCounting",
    "PrinterHostAddress",
    "PortNumber",
    "SNMP",
    "SNMPCommunity",
  ],
  "Add-Type": ["AssemblyName"],
  "ForEach-Object": ["Process"],
  "Get-AuthenticodeSignature": ["FilePath"],
  "Get-ChildItem": ["LiteralPath", "Filter", "ErrorAction"],
  "Get-Date": [],
  "Get-FileHash": ["LiteralPath", "Algorithm"],
  "Get-Item": ["LiteralPath", "ErrorAction"],
  "Get-PrintConfiguration": ["PrinterName", "ErrorAction"],
  "Get-PrintJob": ["PrinterName", "ErrorAction"],
  "Get-Printer": ["ErrorAction"],
  "Get-PrinterDriver": ["ErrorAction"],
  "Get-PrinterPort": ["ErrorAction"],
  "Get-Service": ["Name", "ErrorAction"],
  "Invoke-WebRequest": ["Uri", "OutFile", "UseBasicParsing", "TimeoutSec"],
  "Move-Item": ["LiteralPath", "Destination", "Force", "WhatIf"],
  "New-Item": ["Path", "ItemType", "Force", "ErrorAction", "WhatIf"],
  "New-ItemProperty": ["LiteralPath", "Name", "Value", "PropertyType", "Force", "ErrorAction"],
  "New-Object": ["TypeName", "ArgumentList"],
  "Out-String": [],
  "Remove-Item": ["LiteralPath", "Recurse", "Force", "ErrorAction", "WhatIf"],
  "Remove-ItemProperty": ["LiteralPath", "Name", "Force", "ErrorAction"],
  "Remove-Printer": ["InputObject", "ErrorAction"],
  "Remove-PrinterDriver": ["Name", "RemoveFromDriverStore", "ErrorAction"],
  "Remove-PrinterPort": ["InputObject", "ErrorAction"],
  "Restart-Service": ["Name", "Force", "ErrorAction"],
  "Select-Object": ["Unique"],
  "Set-PrintConfiguration": ["PrinterName"],
  "Set-Printer": [
    "InputObject",
    "ErrorAction",
    "DriverName",
    "PortName",
    "Location",
    "Comment",
    "Shared",
    "ShareName",
  ],
  "Set-StrictMode": ["Version"],
  "Sort-Object": ["Property", "Descending"],
  "Split-Path": ["Path", "Parent"],
  "Start-Service": ["Name", "ErrorAction"],
  "Start-Sleep": ["Milliseconds"],
  "Test-Path": ["LiteralPath", "PathType"],
  "Where-Object": ["FilterScript"],
  "Write-Output": ["InputObject"],
  "Write-Verbose": ["Message"],
};

const printCmdlets = /^(?:Add|Get|Remove|Set)-Print/;
const automatic = [
  "args",
  "error",
  "host",
  "input",
  "matches",
  "myinvocation",
  "pid",
  "psitem",
  "pscmdlet",
  "home",
  "_",
];

const deployables = [
  { printer: makePrinter({ id: "1", name: "O'Brien ’x’" }), driver: makeDriver() },
  { printer: makePrinter({ id: "2", name: "Zweiter", replaces: "a\nb" }), driver: makeDriver({ id: 2 }) },
];

function rendered(): Map<string, string> {
  const texts = new Map<string, string>();
  for (const kind of scriptKinds) {
    const [first] = deployables;
    if (first === undefined) throw new Error("no printer");
    texts.set(
      `${kind}, one printer`,
      renderScript(
        kind,
        deploymentOf(first, { url: "http://host:8080/drivers/1/files", sha256: "a".repeat(64) }),
      ).toString(),
    );
    texts.set(`${kind}, a client`, renderScript(kind, deploymentOfMany("Client", deployables)).toString());
  }
  return texts;
}

function bodies(): Map<string, string> {
  const folder = "src/pkg/scripts";
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function* walk(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const child of node.children) if (child !== null) yield* walk(child);
}

describe("the scripts' syntax", () => {
  let parse: (text: string) => SyntaxNode;
  before(async () => {
    const { Parser, Language } = await import("web-tree-sitter");
    await Parser.init();
    const grammar = createRequire(resolve("package.json")).resolve(
      "tree-sitter-powershell/tree-sitter-powershell.wasm",
    );
    const parser = new Parser().setLanguage(await Language.load(grammar));
    parse = (text) => parser.parse(text.replace(/^\ufeff/, ""))?.rootNode as unknown as SyntaxNode;
  });

  const all = () => [...bodies(), ...rendered()];

  test("bodies and rendered scripts parse without an error", () => {
    for (const [name, text] of all()) {
      const wrong = [...walk(parse(text))].filter((node) => node.type === "ERROR" || node.isMissing);
      assert.deepEqual(
        wrong.map((node) => `${name}:${node.startPosition.row + 1} ${node.text.slice(0, 80)}`),
        [],
      );
    }
  });

  test("nothing is used that Windows PowerShell 5.1 lacks", () => {
    const lacking: [string, RegExp][] = [
      ["??", /\?\?/],
      ["?.", /\$\w+\?\./],
      ["&& or ||", /&&|\|\|/],
      ["ternary", /\s\?\s[^:\n]+\s:\s/],
      ["$IsWindows", /\$Is(?:Windows|Linux|MacOS|CoreCLR)\b/i],
      ["-AsByteStream", /-AsByteStream/i],
      ["-Parallel", /-Parallel\b/i],
      ["clean block", /\bclean\s*\{/i],
      ["utf8NoBOM", /utf8NoBOM/i],
      ["Get-Error", /Get-Error\b/],
    ];
    for (const [name, text] of bodies()) {
      const code = [...walk(parse(text))]
        .filter((node) => node.type === "comment")
        .reduce((rest, node) => rest.replace(node.text, ""), text);
      const found = lacking.filter(([, pattern]) => pattern.test(code.replace(/'[^'\n]*'|"[^"\n]*"/g, "''")));
      assert.deepEqual(
        found.map(([what]) => `${name}: ${what}`),
        [],
      );
    }
  });

  test("no automatic variable is assigned", () => {
    for (const [name, text] of bodies()) {
      const assigned = [...text.matchAll(/\$(\w+)\s*(?:=(?!=)|\+=|-=)/g)].map((match) =>
        (match[1] ?? "").toLowerCase(),
      );
      assert.deepEqual(
        assigned.filter((each) => automatic.includes(each)),
        [],
        name,
      );
    }
  });

  test("only listed commands are called, by their full names and with listed parameters", () => {
    const own = new Set(
      [...bodies().values()].flatMap((text) =>
        [...text.matchAll(/^function ([\w-]+)/gm)].map((match) => match[1] ?? ""),
      ),
    );
    const wrong: string[] = [];
    const called = new Set<string>();
    for (const [name, text] of bodies()) {
      for (const node of walk(parse(text))) {
        if (node.type !== "command") continue;
        const command = node.childForFieldName("command_name")?.text ?? "";
        if (command === "" || own.has(command) || command.startsWith("$") || command.startsWith('"'))
          continue;
        const allowed = allowedCommands[command];
        called.add(command);
        if (allowed === undefined) wrong.push(`${name}: ${command}`);
        const elements = node.childForFieldName("command_elements")?.children ?? [];
        for (const element of elements) {
          if (element?.type !== "command_parameter") continue;
          const parameter = element.text.replace(/^-|:.*$/g, "");
          if (allowed !== undefined && !allowed.includes(parameter))
            wrong.push(`${name}: ${command} -${parameter}`);
        }
        if (printCmdlets.test(command) && !/-ErrorAction Stop|@\w+/.test(node.text)) {
          wrong.push(`${name}: ${command} without -ErrorAction Stop`);
        }
      }
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      [...called].sort(),
      Object.keys(allowedCommands).sort(),
      "the list names nothing that is not called",
    );
  });

  test("every listed command and parameter exists in Windows PowerShell 5.1", { skip: withoutShared }, () => {
    const table = JSON.parse(readFileSync(join(shared, "ps51-commands.json"), "utf8"));
    const common = Object.keys(table.commonParameters ?? {}).concat(table.commonParameters ?? []);
    // Parameters that the registry's and the file system's provider add are not in the table.
    const dynamic = ["Force", "Encoding", "ErrorAction", "WhatIf", "ItemType", "PropertyType", "Filter"];
    const wrong = Object.entries(allowedCommands).flatMap(([command, parameters]) => {
      const known = table.commands[command]?.parameters;
      if (known === undefined) return [command];
      const all = [...Object.keys(known), ...common, ...dynamic];
      return parameters
        .filter((parameter) => !all.includes(parameter))
        .map((parameter) => `${command} -${parameter}`);
    });
    assert.deepEqual(wrong, []);
  });

  test("no text of a setting stands in double quotes: the rendered block holds literals alone", () => {
    for (const [name, text] of rendered()) {
      const block = text.slice(
        text.indexOf("$Settings = "),
        text.indexOf("\r\n}\r\n", text.indexOf("$Settings = ")),
      );
      assert.ok(block.length > 200, name);
      assert.doesNotMatch(block, /["`]/, name);
    }
  });
});

test("install and uninstall carry a byte order mark, detect is ASCII, and all lines end with CRLF", () => {
  for (const [name, text] of rendered()) {
    const bytes = Buffer.from(text, "utf8");
    if (name.startsWith("detect"))
      assert.ok(
        bytes.every((byte) => byte < 0x80),
        name,
      );
    else assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf], name);
    assert.doesNotMatch(text.replaceAll("\r\n", ""), /[\r\n]/, name);
  }
});

test("the bodies themselves are ASCII: they mean the same in every encoding", () => {
  const files = bodies();

  assert.ok(files.size >= 5);
  for (const [name, text] of files) assert.match(text, /^[\x00-\x7f]+$/, name);
});
