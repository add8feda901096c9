import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
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

describe("the scripts' syntax", () => {
  let parse: (text: string) => SyntaxNode;
  before(async () => {
    parse = await powershellParser();
  });

  /** All nodes of a script's syntax tree. Asserts that it has no error. */
  function nodesOf(name: string, text: string): readonly SyntaxNode[] {
    const nodes = [...walk(parse(text))];
    const wrong = nodes.filter((node) => node.type === "ERROR" || node.isMissing);
    assert.deepEqual(
      wrong.map((node) => `${name}:${node.startPosition.row + 1} ${node.text.slice(0, 80)}`),
      [],
    );
    return nodes;
  }

  /** Files of the simulated print subsystem, which a Windows job runs with Windows PowerShell 5.1. */
  function readSimulation(): [string, string][] {
    const names = readdirSync("test/powershell").filter((name) => /\.psm?1$/.test(name));
    return names.map((name) => [name, readFileSync(join("test/powershell", name), "utf8")]);
  }

  deepTest("scripts and simulation parse, and use nothing that Windows PowerShell 5.1 lacks", () => {
    const simulation = readSimulation();
    assert.ok(simulation.length > 5);
    for (const [name, text] of [...readScriptBodies(), ...simulation]) {
      const code = nodesOf(name, text)
        .filter((node) => node.type === "comment")
        .reduce((rest, node) => rest.replace(node.text, ""), text);
      const found = lacking.filter(([, pattern]) => pattern.test(code.replace(/'[^'\n]*'|"[^"\n]*"/g, "''")));
      assert.deepEqual(
        found.map(([what]) => `${name}: ${what}`),
        [],
      );
    }
  });

  test("ForEach-Object always gets a block: its other form only prints with -WhatIf", () => {
    for (const [name, text] of readScriptBodies())
      assert.doesNotMatch(text, /ForEach-Object (?!(?:-Process )?\{)/, name);
  });

  test("no automatic variable is assigned", () => {
    for (const [name, text] of readScriptBodies()) {
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

  deepTest("each rendered script parses, and contains exactly the functions that it calls", () => {
    const own = new Set([...readScriptBodies().values()].flatMap((text) => functionsOf(text)));
    for (const [name, whole] of selectCases([...scripts()], 6)) {
      nodesOf(name, whole);
      // The here-strings of publish.ps1 are halves of scripts, which are tested as such.
      for (const text of name.startsWith("publish") ? withEmbedded(whole).slice(0, 1) : withEmbedded(whole)) {
        const defined = functionsOf(text);
        const called = nodesOf(name, text)
          .filter((node) => node.type === "command")
          .map((node) => node.childForFieldName("command_name")?.text ?? "")
          .filter((command) => own.has(command));
        assert.deepEqual(defined.sort(), [...new Set(called)].sort(), name);
      }
    }
  });

  test("each kind of printer with any settings contains exactly the functions that it calls", () => {
    const own = [...readScriptBodies().values()].flatMap((text) => functionsOf(text));
    const calls = new RegExp(`(?<!function )(?<![\\w$-])(?:${own.join("|")})(?![\\w-])`, "g");
    const choices = selectCases(settingChoices, 8);
    const cases = Object.values(printerKinds).flatMap((deploymentFrom) =>
      choices.flatMap(({ names, fields }) => {
        const settings = scriptSettings(deploymentFrom(fields));
        return scriptKinds.map((kind) => ({ name: `${kind}: ${names.join(", ")}`, kind, settings }));
      }),
    );
    for (const { name, kind, settings } of cases) {
      const { before, after } = templateOf(kind, settings);
      for (const part of withEmbedded(`${before}${after}`)) {
        const code = part.replace(/^\s*#.*$/gm, "");

        const called = new Set(code.match(calls));
        assert.deepEqual(functionsOf(code).sort(), [...called].sort(), name);
      }
    }
  });

  test("each script sets the variables that it reads", () => {
    const setAtMargin = /^\$(?:script:)?(\w+) = /gm;
    const constants = new Set(
      [...readScriptBodies().values()].flatMap((text) =>
        [...text.matchAll(/^\$([A-Z]\w+) = /gm)].map(([, name]) => name),
      ),
    );
    for (const [name, text] of scripts()) {
      const set = new Set([...text.matchAll(setAtMargin)].map((match) => match[1]));
      const changed = new Set([...text.matchAll(/\$script:(\w+) [+]?=/g)].map((match) => match[1]));
      const read = [...text.matchAll(/\$(script:)?(\w+)/g)]
        .filter(([, scope, variable]) => scope !== undefined || constants.has(variable))
        .map(([, , variable]) => variable);

      assert.deepEqual(
        [...new Set(read)].filter((variable) => !set.has(variable) && !changed.has(variable)),
        [],
        name,
      );
    }
  });

  test("no function assigns a variable that has the name of a parameter of publish.ps1, because it would hide it", () => {
    const bodies = readScriptBodies();
    const parameters = [...(bodies.get("publish.ps1") ?? "").matchAll(/^ {4}\[[^\n]*\]\$(\w+)/gm)];
    const names = parameters.map(([, name = ""]) => name.toLowerCase());
    assert.ok(names.includes("tenant"));
    for (const [name, text] of bodies) {
      if (!name.startsWith("publish/")) continue;
      const assigned = [...text.matchAll(/\$(\w+)(?:, \$\w+)* = /g)].map(([, variable = ""]) => variable);
      assert.deepEqual(
        assigned.filter((variable) => names.includes(variable.toLowerCase())),
        [],
        name,
      );
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
});

test("install and uninstall start with a byte order mark, the others are ASCII, and all lines end with CRLF", () => {
  for (const [name, text] of scripts()) {
    const bytes = Buffer.from(text, "utf8");
    if (!/^(un)?install/.test(name))
      assert.ok(
        bytes.every((byte) => byte < 0x80),
        name,
      );
    else assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf], name);
    assert.doesNotMatch(text.replaceAll("\r\n", ""), /[\r\n]/, name);
  }
});

test("the .ps1 files are ASCII, so every encoding reads them the same", () => {
  const files = readScriptBodies();

  assert.ok(files.size >= 5);
  for (const [name, text] of files) assert.match(text, /^[\x00-\x7f]+$/, name);
});
