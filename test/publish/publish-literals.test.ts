import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { renderPublishScript } from "../../src/pkg/scripts/publish-script.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { nasty } from "../support/powershell/nasty.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { powershellParser, walk } from "../support/powershell/powershell-syntax.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { makePublication } from "../support/publish/publications.ts";
import {
  findBlock,
  type ReadApp,
  type ReadSettings,
  readBlock,
  readSettings,
  scriptText,
} from "../support/publish/published.ts";
import { seededRandom } from "../support/random.ts";

const seed = 20261123;

/** Every piece of hostile text alone, then combinations. */
function hostileTexts(count: number): string[] {
  const random = seededRandom(seed);
  const mixed = () => Array.from({ length: 1 + random(8) }, () => nasty[random(nasty.length)]).join("");
  return [...nasty, ...Array.from({ length: count }, mixed)];
}

/** All texts of fields in the settings. */
function textsIn({ Title, Client, Apps, LeftOut, Together, TogetherRefusal }: ReadSettings): string[] {
  const ofApp = ({ Revision, Package, Fields }: ReadApp) => [
    ...[Revision, Package.Url, Package.ETag, Package.FileName],
    ...[Fields.displayName, Fields.description, Fields.publisher, Fields.displayVersion, Fields.fileName],
  ];
  const apps = [...Apps, ...(Together === null ? [] : [Together])].flatMap(ofApp);
  const left = LeftOut.flatMap(({ Name, Reason }) => [Name, Reason]);
  return [Title, Client, TogetherRefusal, ...left, ...apps].map(String);
}

/** The settings block without the script around it. */
function blockOf(script: string): string {
  const { start, end } = findBlock(script);
  return `${script.slice(start, end)}\r\n`;
}

test("the script is ASCII, contains any field as a literal, and its own scripts are exact for any field", () => {
  for (const text of selectCases(hostileTexts(500), 12)) {
    const script = renderPublishScript(makePublication(text)).toString("latin1");
    const settings = readSettings(script);

    assert.match(script, /^[\x20-\x7e\t\r\n]*$/);
    const found = new Set(textsIn(settings));
    assert.deepEqual([...found], [text], JSON.stringify(text));
    assert.equal(textsIn(settings).length, 5 + 3 * 9);
    const [driver, printer] = settings.Apps as [ReadApp, ReadApp];
    const detect = scriptText(settings, printer.Detection);
    assert.match(detect, /^[\x20-\x7e\t\r\n]*$/);
    assert.equal((readBlock(detect) as unknown as { Printers: { Name: string }[] }).Printers[0]?.Name, text);
    assert.notEqual(driver.Detection.Frame, printer.Detection.Frame);
  }
});

test("the script parses with any fields", async () => {
  const parse = await powershellParser();

  for (const text of selectCases([nasty.join(""), ...hostileTexts(5), hostileTexts(40).join("")], 1)) {
    const block = blockOf(renderPublishScript(makePublication(text)).toString("latin1"));
    const wrong = [...walk(parse(block))].filter((node) => node.type === "ERROR" || node.isMissing);
    const texts = wrong.map((node) => node.text.slice(0, 80));
    assert.deepEqual(texts, [], JSON.stringify(text));
  }
});

describe("in a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  deepTest("hostile fields reach PowerShell unchanged", async () => {
    const all = [...selectCases(hostileTexts(100), 20), nasty.join("")];
    const scripts = all.map((text) => renderPublishScript(makePublication(text)).toString("latin1"));
    const blocks = scripts.map((script) => `${blockOf(script).replace("$Settings = ", "$all += ")}`);

    const script = join(windows.folder, "publish-literals.ps1");
    await writeFile(script, `$all = @()\r\n${blocks.join("")}\r\n$Settings = $all\r\n`);
    const { value } = await windows.request<{ value: unknown }>({ do: "evaluate", script });

    assert.deepEqual(
      value,
      scripts.map((text) => readBlock(text)),
    );
  });
});
