import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { preferencesCommand } from "../../src/domain/printers/preferences.ts";
import { ticketCommand } from "../../src/domain/printers/print-ticket.ts";
import { deepTest } from "../support/depth.ts";
import {
  powershellParser,
  readScriptBodies,
  type SyntaxNode,
  walk,
} from "../support/powershell/powershell-syntax.ts";

/** Every command that the scripts may call, with the parameters that they may use. */
const allowedCommands = parametersByCommand(
  `
Add-Content LiteralPath Value Encoding WhatIf
Add-Printer ErrorAction Name DriverName PortName Location Comment Shared ShareName IppURL
Add-PrinterDriver Name InfPath ErrorAction
Add-PrinterPort Name LprHostAddress LprQueueName LprByteCounting PrinterHostAddress PortNumber SNMP \
SNMPCommunity
Add-Type AssemblyName
Copy-Item LiteralPath Destination Recurse
ConvertFrom-Json InputObject
ConvertTo-Json InputObject Depth Compress
ForEach-Object Process
Get-AuthenticodeSignature LiteralPath
Get-ChildItem LiteralPath Filter ErrorAction
Get-CimInstance ClassName ErrorAction
Get-Command Name ErrorAction
Get-Content LiteralPath Raw TotalCount
Get-FileHash LiteralPath InputStream Algorithm
Get-MgContext
Get-Item LiteralPath ErrorAction
Get-PrintConfiguration PrinterName ErrorAction
Get-PrintJob PrinterName ErrorAction
Get-Printer ErrorAction Full
Get-PrinterDriver ErrorAction
Get-PrinterPort ErrorAction
Get-Service Name ErrorAction
Get-WinEvent ListLog LogName FilterXPath MaxEvents ErrorAction
Import-Csv LiteralPath Delimiter Encoding
Invoke-MgGraphRequest Method Uri OutputType SkipHttpErrorCheck
Invoke-WebRequest Uri OutFile UseBasicParsing TimeoutSec
Join-Path
New-Item Path ItemType Force ErrorAction WhatIf
New-ItemProperty LiteralPath Name Value PropertyType Force ErrorAction
New-Object TypeName ArgumentList ComObject
Out-String
Remove-Item LiteralPath Recurse Force ErrorAction WhatIf
Remove-ItemProperty LiteralPath Name Force ErrorAction
Remove-Printer InputObject ErrorAction
Remove-PrintJob InputObject ErrorAction
Remove-PrinterDriver Name RemoveFromDriverStore ErrorAction
Remove-PrinterPort InputObject ErrorAction
Rename-Printer InputObject NewName ErrorAction
Select-Object Unique Property First Skip
Set-AuthenticodeSignature
Set-CimInstance InputObject Property ErrorAction
Set-Clipboard
Set-Content LiteralPath Value Encoding NoNewline
Set-PrintConfiguration PrinterName PrintTicketXml ErrorAction
Set-Printer InputObject ErrorAction DriverName PortName Location Comment Shared ShareName PermissionSDDL
Set-StrictMode Version
Sort-Object Property Descending
Split-Path Path Parent Leaf
Start-Service Name ErrorAction
Start-Process FilePath ArgumentList PassThru WindowStyle
Start-Sleep Milliseconds Seconds
Stop-Process Name Force ErrorAction
Stop-Service Name Force NoWait
Test-Path LiteralPath PathType
Where-Object EQ
Write-Output InputObject
Write-Host
Write-Progress Activity Status PercentComplete Completed
Write-Verbose Message
`.split("\n"),
);

/** Missing in the Windows of the table. Scripts check for them first and fail if they are missing. */
const checkedFirst = ["Add-Printer -IppURL", "Get-MgContext", "Invoke-MgGraphRequest"];

/** The parameters of each command of Windows PowerShell 5.1. */
const tableLines = readFileSync("test/foreign/powershell-5.1-commands.txt", "utf8").split("\n");
const table = parametersByCommand(tableLines);
const commonParameters = tableLines.find((line) => line.startsWith("# common: "))?.split(" ") ?? [];

/** Reads lines with a command and its parameters. */
function parametersByCommand(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    lines
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.split(" "))
      .map(([command = "", ...parameters]) => [command, parameters]),
  );
}

const printCmdlets = /^(?:Add|Get|Remove|Rename|Set)-Print/;

/** The commands that a script calls, with their nodes. Own functions, script blocks and variables are left out. */
function commandsIn(script: SyntaxNode, own: ReadonlySet<string>): [string, SyntaxNode][] {
  return [...walk(script)]
    .filter(({ type }) => type === "command")
    .map((node): [string, SyntaxNode] => [node.childForFieldName("command_name")?.text ?? "", node])
    .filter(([command]) => command !== "" && !own.has(command) && !/^[$"{]/.test(command));
}

/** The violations of a call: an unlisted command or parameter, or a missing -ErrorAction Stop. */
function faultsOf(command: string, node: SyntaxNode): string[] {
  const allowed = allowedCommands.get(command);
  const unlisted = parametersOf(node).filter(
    (parameter) => allowed?.some((each) => each.toLowerCase() === parameter.toLowerCase()) === false,
  );
  return [
    ...(allowed === undefined ? [command] : []),
    ...unlisted.map((parameter) => `${command} -${parameter}`),
    ...(printCmdlets.test(command) && !/-ErrorAction Stop|@\w+/.test(node.text)
      ? [`${command} without -ErrorAction Stop`]
      : []),
  ];
}

function parametersOf(command: SyntaxNode): string[] {
  const elements = command.childForFieldName("command_elements")?.children ?? [];
  return elements.flatMap((element) =>
    element?.type === "command_parameter" ? [element.text.replace(/^-|:.*$/g, "")] : [],
  );
}

describe("the scripts' commands", () => {
  let parse: (text: string) => SyntaxNode;
  before(async () => {
    parse = await powershellParser();
  });

  deepTest("only listed commands are called, by their full names and with listed parameters", () => {
    const own = new Set(
      [...readScriptBodies().values()].flatMap((text) =>
        [...text.matchAll(/^function ([\w-]+)/gm)].map((match) => match[1] ?? ""),
      ),
    );
    const wrong: string[] = [];
    const called = new Set<string>();

    for (const [name, text] of readScriptBodies()) {
      for (const [command, node] of commandsIn(parse(text), own)) {
        called.add(command);
        wrong.push(...faultsOf(command, node).map((fault) => `${name}: ${fault}`));
      }
    }

    assert.deepEqual(wrong, []);
    assert.deepEqual(
      [...called].sort(),
      [...allowedCommands.keys()].sort(),
      "the list names nothing that is not called",
    );
  });

  test("every listed command and parameter exists in Windows PowerShell 5.1", () => {
    // The table lacks the parameters that the registry and file system providers add.
    const dynamic = ["Force", "Encoding", "ErrorAction", "WhatIf", "ItemType", "PropertyType", "Filter"];
    const wrong = [...allowedCommands].flatMap(([command, parameters]) => {
      const known = table.get(command);
      if (known === undefined) return [command];
      return parameters
        .filter((parameter) => ![...known, ...commonParameters, ...dynamic].includes(parameter))
        .map((parameter) => `${command} -${parameter}`);
    });
    assert.deepEqual(wrong, checkedFirst);
  });

  test("every command and parameter of the commands to paste exists in Windows PowerShell 5.1", () => {
    const calls = [ticketCommand, preferencesCommand].flatMap((text) => commandsIn(parse(text), new Set()));
    const wrong = calls.flatMap(([command, node]) =>
      parametersOf(node).filter((parameter) => table.get(command)?.includes(parameter) !== true),
    );

    assert.deepEqual(
      calls.map(([command]) => command).filter((command) => !table.has(command)),
      [],
    );
    assert.deepEqual([calls.length, wrong], [12, []]);
  });
});
