import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { preferencesCommand } from "../../src/domain/printers/preferences.ts";
import { ticketCommand } from "../../src/domain/printers/print-ticket.ts";
import { scriptSettings } from "../../src/pkg/scripts/deployment.ts";
import { scriptKinds, templateOf } from "../../src/pkg/scripts/render.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import {
  powershellParser,
  readScriptBodies,
  renderAllScripts,
  type SyntaxNode,
  walk,
} from "../support/powershell/powershell-syntax.ts";
import { printerKinds, settingChoices } from "../support/powershell/printer-kinds.ts";

const automatic = "args error host input matches myinvocation pid psitem pscmdlet home _".split(" ");

const lacking = [
  ...[/\?\?/, /\$\w+\?\./, /&&|\|\|/, /\s\?\s[^:\n]+\s:\s/, /\$Is(?:Windows|Linux|MacOS|CoreCLR)\b/i],
  ...[/-AsByteStream/i, /-Parallel\b/i, /\bclean\s*\{/i, /utf8NoBOM/i, /Get-Error\b/],
];

/** The commands that the scripts may call. */
const allowedCommands = new Set(
  `Add-Content Add-Printer Add-PrinterDriver Add-PrinterPort Add-Type Copy-Item ConvertFrom-Json ConvertTo-Json
ForEach-Object Get-AuthenticodeSignature Get-ChildItem Get-CimInstance Get-Command Get-Content Get-FileHash Get-MgContext
Get-Item Get-PrintConfiguration Get-PrintJob Get-Printer Get-PrinterDriver Get-PrinterPort Get-Service Get-WinEvent
Import-Csv Invoke-MgGraphRequest Invoke-WebRequest Join-Path New-Item New-ItemProperty New-Object Out-String Read-Host Remove-Item
Remove-ItemProperty Remove-Printer Remove-PrintJob Remove-PrinterDriver Remove-PrinterPort Rename-Printer Select-Object
Set-AuthenticodeSignature Set-CimInstance Set-Clipboard Set-Content Set-PrintConfiguration Set-Printer Set-StrictMode
Sort-Object Split-Path Start-Service Start-Process Start-Sleep Stop-Process Stop-Service Test-Path Where-Object
Write-Output Write-Host Write-Progress Write-Verbose`.split(/\s/),
);
/** Parameters that no call names, because they stand in a table. */
const splatted = {
  "Add-Printer": ["DriverName", "PortName", "Location", "Comment", "Shared", "ShareName"],
  "Add-PrinterDriver": ["InfPath"],
  "Add-PrinterPort": [
    "LprHostAddress",
    "LprQueueName",
    "LprByteCounting",
    "PrinterHostAddress",
    "PortNumber",
    "SNMP",
    "SNMPCommunity",
  ],
  "Set-Printer": ["DriverName", "PortName", "Location", "Comment", "Shared", "ShareName", "PermissionSDDL"],
};
/** Missing in the Windows of the table. Scripts check for them first and fail if they are missing. */
const checkedFirst = ["Get-MgContext", "Invoke-MgGraphRequest", "Add-Printer -IppURL"];

/** The parameters of each command of Windows PowerShell 5.1, in small letters. */
const tableLines = readFileSync("test/foreign/powershell-5.1-commands.txt", "utf8").split("\n");
const table = new Map(
  tableLines
    .filter((line) => /^\w/.test(line))
    .map((line) => [line.split(" ")[0], line.toLowerCase().split(" ").slice(1)]),
);
const common =
  tableLines
    .find((line) => line.startsWith("# common: "))
    ?.toLowerCase()
    .split(" ") ?? [];
// The table lacks the parameters that the registry and file system providers add.
const dynamic = ["force", "encoding", "erroraction", "whatif", "itemtype", "propertytype", "filter"];
const isKnown = (command: string, parameter: string) =>
  [...(table.get(command) ?? []), ...common, ...dynamic].includes(parameter.toLowerCase());

/** The commands that a script calls, with their nodes. Own functions, script blocks and variables are left out. */
function commandsIn(script: SyntaxNode, own: ReadonlySet<string>): [string, SyntaxNode][] {
  return [...walk(script)]
    .filter(({ type }) => type === "command")
    .map((node): [string, SyntaxNode] => [node.childForFieldName("command_name")?.text ?? "", node])
    .filter(([command]) => command !== "" && !own.has(command) && !/^[$"{]/.test(command));
}

function parametersOf(command: SyntaxNode): string[] {
  const elements = command.childForFieldName("command_elements")?.children ?? [];
  const named = elements.filter((element) => element?.type === "command_parameter");
  return named.map((element) => element?.text.replace(/^-|:.*$/g, "") ?? "");
}

let texts: ReturnType<typeof renderAllScripts> | undefined;

/** All scripts as they are served; rendered once. */
function scripts(): ReturnType<typeof renderAllScripts> {
  texts ??= renderAllScripts();
  return texts;
}

/** A script, and the scripts that it contains as here-strings. */
function withEmbedded(text: string): string[] {
  const embedded = [...text.matchAll(/@'\r?\n([\s\S]*?)\r?\n'@/g)].map(([, inner]) => inner ?? "");
  return [text.replace(/@'\r?\n[\s\S]*?\r?\n'@/g, "''"), ...embedded];
}

function functionsOf(text: string): string[] {
  return [...text.matchAll(/^function ([\w-]+)/gm)].map(([, name]) => name ?? "");
}

describe("the scripts' syntax and commands", () => {
  let parse: (text: string) => SyntaxNode;
  before(async () => {
    parse = await powershellParser();
  });

  /** All nodes of a script's syntax tree. Asserts that it has no error. */
  function nodesOf(name: string, text: string): readonly SyntaxNode[] {
    const nodes = [...walk(parse(text))];
    const wrong = nodes.find((node) => node.type === "ERROR" || node.isMissing);
    assert.equal(wrong && `${name}:${wrong.startPosition.row + 1} ${wrong.text.slice(0, 80)}`, undefined);
    return nodes;
  }

  deepTest("scripts and simulation parse, and use nothing that Windows PowerShell 5.1 lacks", () => {
    // A Windows job runs the simulated print subsystem with Windows PowerShell 5.1.
    const names = readdirSync("test/powershell").filter((name) => /\.psm?1$/.test(name));
    const simulation = names.map(
      (name) => [name, readFileSync(join("test/powershell", name), "utf8")] as const,
    );
    assert.ok(simulation.length > 5);
    for (const [name, text] of [...readScriptBodies(), ...simulation]) {
      const comments = nodesOf(name, text).filter((node) => node.type === "comment");
      const code = comments.reduce((rest, node) => rest.replace(node.text, ""), text);
      const plain = code.replace(/'[^'\n]*'|"[^"\n]*"/g, "''");
      const found = lacking.filter((pattern) => pattern.test(plain));
      assert.deepEqual(found, [], name);
    }
    for (const [name, text] of scripts()) for (const part of withEmbedded(text)) nodesOf(name, part);
  });

  test("ForEach-Object always gets a block: its other form only prints with -WhatIf", () => {
    for (const [name, text] of readScriptBodies())
      assert.doesNotMatch(text, /ForEach-Object (?!(?:-Process )?\{)/, name);
  });

  test("no automatic variable is assigned", () => {
    for (const [name, text] of readScriptBodies()) {
      const assigned = [...text.matchAll(/\$(\w+)\s*(?:=(?!=)|\+=|-=)/g)];
      const wrong = assigned.filter(([, variable = ""]) => automatic.includes(variable.toLowerCase()));
      assert.deepEqual(wrong, [], name);
    }
  });

  test("each script, of each kind of printer with any settings, contains exactly the functions that it calls", () => {
    const own = [...readScriptBodies().values()].flatMap((text) => functionsOf(text));
    const calls = new RegExp(`(?<!function )(?<![\\w$-])(?:${own.join("|")})(?![\\w-])`, "g");
    const choices = selectCases(settingChoices, 8);
    const ofKinds = Object.values(printerKinds).flatMap((deploymentFrom) =>
      choices.flatMap(({ names, fields }) => {
        const settings = scriptSettings(deploymentFrom(fields));
        return scriptKinds.map((kind) => {
          const { before, after } = templateOf(kind, settings);
          return [`${kind}: ${names.join(", ")}`, `${before}${after}`] as const;
        });
      }),
    );
    for (const [name, text] of [...scripts(), ...ofKinds]) {
      // The here-strings of publish.ps1 are halves of scripts.
      const parts = name.startsWith("publish") ? withEmbedded(text).slice(0, 1) : withEmbedded(text);
      for (const part of parts) {
        const code = part.replace(/^\s*#.*$/gm, "");
        const called = new Set(code.match(calls));
        assert.deepEqual(functionsOf(code).sort(), [...called].sort(), name);
      }
    }
  });

  test("each script sets the variables that it reads", () => {
    const setAtMargin = /^\$(?:script:)?(\w+) = /gm;
    const bodies = [...readScriptBodies().values()].join("\n");
    const constants = new Set([...bodies.matchAll(/^\$([A-Z]\w+) = /gm)].map(([, name]) => name));
    for (const [name, text] of scripts()) {
      const assigned = [...text.matchAll(setAtMargin), ...text.matchAll(/\$script:(\w+) [+]?=/g)];
      const set = new Set(assigned.map(([, variable]) => variable));
      const unset = [...text.matchAll(/\$(script:)?(\w+)/g)].filter(
        ([, scope, variable]) => (scope !== undefined || constants.has(variable)) && !set.has(variable),
      );

      assert.deepEqual(unset, [], name);
    }
  });

  test("no function assigns a variable that has the name of a parameter of publish.ps1, because it would hide it", () => {
    const bodies = readScriptBodies();
    const parameters = [...(bodies.get("publish.ps1") ?? "").matchAll(/^ {4}\[[^\n]*\]\$(\w+)/gm)];
    const names = parameters.map(([, name = ""]) => name.toLowerCase());
    assert.ok(names.includes("tenant"));
    for (const [name, text] of bodies) {
      if (!name.startsWith("publish/")) continue;
      const assigned = [...text.matchAll(/\$(\w+)(?:, \$\w+)* = /g)];
      const hiding = assigned.filter(([, variable = ""]) => names.includes(variable.toLowerCase()));
      assert.deepEqual(hiding, [], name);
    }
  });

  test("the settings block contains only literals, and no setting is in double quotes", () => {
    for (const [name, text] of scripts()) {
      const [own = ""] = withEmbedded(text);
      const start = own.indexOf("$Settings = ");
      const block = own.slice(start, own.indexOf("\r\n}\r\n", start));
      assert.ok(block.length > 30, name);
      // Double quotes contain only line feeds and tabs.
      const outside = block.replace(/'(?:[^']|'')*'/g, "").replace(/"(?:`[nt])+"/g, "");
      assert.doesNotMatch(outside, /["`]/, name);
    }
  });

  deepTest(
    "only commands and parameters of Windows PowerShell 5.1 are called, and print commands with -ErrorAction Stop",
    () => {
      const bodies = readScriptBodies();
      const own = new Set(functionsOf([...bodies.values()].join("\n")));
      for (const [name, text] of bodies) {
        const calls = commandsIn(parse(text), own);
        const wrong = calls.flatMap(([command, node]) =>
          parametersOf(node)
            .filter((each) => !isKnown(command, each))
            .map((each) => `${command} -${each}`),
        );
        assert.deepEqual(
          wrong.filter((each) => !/MgGraph/.test(each) && !checkedFirst.includes(each)),
          [],
          name,
        );
        const strict = calls.filter(([command]) => /^(?:Add|Get|Remove|Rename|Set)-Print/.test(command));
        const lax = strict.filter(([, node]) => !/-ErrorAction Stop|@\w+/.test(node.text));
        assert.deepEqual([lax, calls.filter(([command]) => !allowedCommands.has(command))], [[], []], name);
      }
    },
  );

  test("scripts call each listed command and no other, and Windows PowerShell 5.1 has it with every parameter", () => {
    const bodies = [...readScriptBodies().values()].join("\n");
    const own = functionsOf(bodies);
    const code = bodies.replace(/<#[\s\S]*?#>|^\s*#.*$/gm, "").replace(/'[^'\n]*'|"[^"\n]*"/g, "");
    const words = code.match(/(?<![\w$-])[A-Z]\w+-[A-Z]\w+(?![\w-])/g);
    const called = new Set(words?.filter((word) => !own.includes(word)));
    const missing = [...allowedCommands].filter((command) => !table.has(command));
    const unknown = Object.entries({
      ...splatted,
      "Add-Printer": [...splatted["Add-Printer"], "IppURL"],
    }).flatMap(([command, names]) =>
      names.filter((each) => !isKnown(command, each)).map((each) => `${command} -${each}`),
    );

    assert.deepEqual([...called].sort(), [...allowedCommands].sort());
    assert.deepEqual([...missing, ...unknown], checkedFirst);
  });

  test("every command and parameter of the commands to paste exists in Windows PowerShell 5.1", () => {
    const calls = [ticketCommand, preferencesCommand].flatMap((text) => commandsIn(parse(text), new Set()));
    const wrong = calls.flatMap(([command, node]) =>
      parametersOf(node).filter((each) => !table.get(command)?.includes(each.toLowerCase())),
    );

    const missing = calls.filter(([command]) => !table.has(command));
    assert.deepEqual([calls.length, missing, wrong], [12, [], []]);
  });
});

test("install and uninstall start with a byte order mark, the others are ASCII, and all lines end with CRLF", () => {
  for (const [name, text] of scripts()) {
    if (/^(un)?install/.test(name)) assert.match(text, /^\ufeff/, name);
    else assert.match(text, /^[\x00-\x7f]+$/, name);
    assert.doesNotMatch(text.replaceAll("\r\n", ""), /[\r\n]/, name);
  }
});

test("the .ps1 files are ASCII, so every encoding reads them the same", () => {
  const files = readScriptBodies();

  assert.ok(files.size >= 5);
  for (const [name, text] of files) assert.match(text, /^[\x00-\x7f]+$/, name);
});
