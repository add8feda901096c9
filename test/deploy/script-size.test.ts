import assert from "node:assert/strict";
import { test } from "node:test";
import { deploymentOf, scriptSettings } from "../../src/pkg/scripts/deployment.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { packagedScripts, renderScript, scriptKinds, templateOf } from "../../src/pkg/scripts/render.ts";
import { nSight, scriptForTool, scriptInstaller } from "../../src/pkg/scripts/tool-scripts.ts";
import { selectCases } from "../support/depth.ts";
import { deployable } from "../support/powershell/powershell.ts";
import { printerKinds, settingChoices } from "../support/powershell/printer-kinds.ts";

/** Intune's script installer accepts 50 KB. The rest is for names that are longer than in this test. */
const maxBytes = 49_000;
/** N-able N-sight accepts this many characters a script. */
const maxCharacters = 65_535;

test("the scripts of one printer are small enough for Intune's script installer and for N-sight, with any kind of printer", () => {
  assert.equal(settingChoices.length, 128);
  const few = selectCases(settingChoices, 16).filter(({ names }) => names.length <= 2);

  for (const [kind, deploymentFor] of Object.entries(printerKinds)) {
    const tooLarge = few.filter(({ fields }) => {
      // The PrintTicket does not count, because the page says if it makes the script too large.
      const ticket = Buffer.byteLength(powershell`${fields.print_ticket ?? ""}`);
      const script = scriptForTool(scriptInstaller, renderScript("install", deploymentFor(fields)));
      return script.length - ticket > maxBytes;
    });
    const tooLong = selectCases(settingChoices, 8).filter(({ fields }) => {
      const script = scriptForTool(nSight, renderScript("diagnose", deploymentFor(fields)));
      return script.length > maxCharacters;
    });

    assert.deepEqual([tooLarge, tooLong], [[], []], kind);
  }
});

test("the install.ps1 of a RAW printer has at most 800 lines, and a comment in nearly each function", () => {
  const lines = renderScript("install", deploymentOf(deployable())).toString().split("\r\n");

  const functions = lines.filter((line) => line.startsWith("function "));
  const commented = lines.filter(
    (line, i) => lines[i - 1]?.startsWith("function ") && /^\t# [A-Z$]/.test(line),
  );
  assert.ok(lines.length <= 800, `${lines.length} lines`);
  assert.ok(functions.length > 40 && commented.length > 0.8 * functions.length, `${commented.length}`);
});

test("a script contains only the settings that it reads, and only install contains the SNMP community", () => {
  const fields = { snmp: "on", snmp_community: "geheim", set_default: "on", location: "Hall" };
  const texts = [...packagedScripts, "diagnose" as const].map(
    (kind) => [kind, renderScript(kind, deploymentOf(deployable(fields))).toString()] as const,
  );

  const settingsOf = (text: string) =>
    [...(text.split("$Settings = ")[1]?.split("\r\n}")[0] ?? "").matchAll(/^\t+(\w+) = /gm)].map(
      ([, name]) => name ?? "",
    );
  for (const [kind, text] of texts) {
    const code = text.slice(text.indexOf("\r\n}\r\n", text.indexOf("$Settings = ")));
    const unread = settingsOf(text).filter((name) => !new RegExp(`\\.${name}\\b|'${name}'`).test(code));
    assert.deepEqual(unread, [], kind);
  }
  const counts = Object.fromEntries(texts.map(([kind, text]) => [kind, settingsOf(text).length]));
  assert.ok((counts.uninstall ?? 99) <= 15, JSON.stringify(counts));
  assert.deepEqual(
    texts.filter(([, text]) => text.includes("geheim")).map(([kind]) => kind),
    ["install"],
  );
});

/** Properties of Windows’ own objects with the name of a setting. */
const windowsProperties =
  /\$(?:entry\.Address|queue\.(?:Name|PortName|DriverName|Location|Comment|Shared|ShareName)|port\.(?:Name|PortNumber|Address)|Installed\.(?:Version|Date)|\w*user\w*\.Name)\b/gi;

test("no script reads a setting that it does not contain, with any kind of printer", () => {
  for (const [name, deploymentFor] of Object.entries(printerKinds)) {
    for (const { names, fields } of selectCases(settingChoices, 3)) {
      const settings = scriptSettings(deploymentFor(fields));
      const records = [...(settings.Drivers as object[]), ...(settings.Printers as object[])];
      const all = [...new Set(records.flatMap(Object.keys))];
      for (const kind of scriptKinds) {
        const { after, usedSettings } = templateOf(kind, settings);
        const code = after.toString().replace(windowsProperties, "");

        const missing = all.filter(
          (each) => !usedSettings.has(each) && new RegExp(`\\.${each}\\b`, "i").test(code),
        );

        assert.deepEqual(missing, [], `${kind}, ${name}: ${names.join()}`);
      }
    }
  }
});
