import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { renderPublishScript } from "../../src/pkg/scripts/publish-script.ts";
import { rounds, some } from "../support/depth.ts";
import { nasty } from "../support/powershell/nasty.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { powershellParser, walk } from "../support/powershell/powershell-syntax.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { makePublication } from "../support/publish/publications.ts";
import { type ReadApp, type ReadSettings, scriptIn, settingsOf } from "../support/publish/published.ts";
import { seededRandom } from "../support/random.ts";

const seed = 20261123;

/** Every piece of hostile text by itself, then some together. */
function hostileTexts(count: number): string[] {
  const random = seededRandom(seed);
  const mixed = () => Array.from({ length: 1 + random(8) }, () => nasty[random(nasty.length)]).join("");
  return [...nasty, ...Array.from({ length: count }, mixed)];
}

/** Every place of the settings in which a text of a field stands. */
function textsIn({ Title, Service, Apps, LeftOut, Together, TogetherRefusal }: ReadSettings): string[] {
  const ofApp = ({ Revision, Package, Fields }: ReadApp) => [
    ...[Revision, Package.Url, Package.ETag, Package.FileName],
    ...[Fields.displayName, Fields.description, Fields.publisher, Fields.displayVersion, Fields.fileName],
  ];
  const apps = [...Apps, ...(Together === null ? [] : [Together])].flatMap(ofApp);
  const left = LeftOut.flatMap(({ Name, Reason }) => [Name, Reason]);
  return [Title, Service, TogetherRefusal, ...left, ...apps].map(String);
}

/** The block of literals, without what stands around it. */
function blockOf(script: string): string {
  const start = script.indexOf("$Settings = ");
  return script.slice(start, script.indexOf("\r\n}\r\n", start) + "\r\n}\r\n".length);
}

test("whatever stands in a field, the script is ASCII and holds it as a literal", () => {
  for (const text of hostileTexts(rounds(20, 500))) {
    const script = renderPublishScript(makePublication(text)).toString("latin1");
    const settings = settingsOf(script);

    assert.match(script, /^[\x20-\x7e\t\r\n]*$/);
    const found = new Set(textsIn(settings));
    assert.deepEqual([...found], [text], JSON.stringify(text));
    assert.equal(textsIn(settings).length, 5 + 3 * 9);
  }
});

test("what stands in a script inside the script is the text of that script, whatever a field holds", () => {
  for (const text of hostileTexts(rounds(0, 50))) {
    const settings = settingsOf(renderPublishScript(makePublication(text)).toString("latin1"));

    const [driver, printer] = settings.Apps as [ReadApp, ReadApp];
    const detect = scriptIn(settings, printer.Detection);
    assert.match(detect, /^[\x20-\x7e\t\r\n]*$/);
    assert.equal((settingsOf(detect) as unknown as { Printers: { Name: string }[] }).Printers[0]?.Name, text);
    assert.notEqual(driver.Detection.Frame, printer.Detection.Frame);
  }
});

test("the script parses whatever stands in its fields", async () => {
  const parse = await powershellParser();

  for (const text of some([...hostileTexts(5), hostileTexts(rounds(0, 40)).join("")], 4)) {
    const block = blockOf(renderPublishScript(makePublication(text)).toString("latin1"));
    const wrong = [...walk(parse(block))].filter((node) => node.type === "ERROR" || node.isMissing);
    assert.deepEqual(
      wrong.map((node) => node.text.slice(0, 80)),
      [],
      JSON.stringify(text),
    );
  }
});

describe("in a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("the settings of hostile fields come through unharmed", async () => {
    const all = [...some(hostileTexts(100), 20), nasty.join("")];
    const scripts = all.map((text) => renderPublishScript(makePublication(text)).toString("latin1"));
    const blocks = scripts.map((script) => `${blockOf(script).replace("$Settings = ", "$all += ")}`);

    const script = join(windows.folder, "publish-literals.ps1");
    await writeFile(script, `$all = @()\r\n${blocks.join("")}\r\n$Settings = $all\r\n`);
    const { value } = await windows.ask<{ value: unknown }>({ do: "evaluate", script });

    assert.deepEqual(
      value,
      scripts.map((text) => settingsOf(text)),
    );
  });
});
