import assert from "node:assert/strict";
import { test } from "node:test";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { renderScript } from "../../src/pkg/scripts/render.ts";
import { some } from "../support/depth.ts";
import { printerKinds, settingChoices } from "../support/powershell/printer-kinds.ts";

/** Of what Intune's script installer takes, less a little for names that are longer than those here. */
const maxBytes = 49_000;

for (const [kind, deploymentOf] of Object.entries(printerKinds)) {
  test(`Intune's script installer takes the install.ps1 of one printer, whatever its settings: ${kind}`, () => {
    const choices = some(settingChoices, 16);

    const sizes = choices.map(({ names, fields }) => {
      // A ticket may be as large as it is: the page says so.
      const ticket = Buffer.byteLength(powershell`${fields.print_ticket ?? ""}`);
      return { names, bytes: renderScript("install", deploymentOf(fields)).length - ticket };
    });

    assert.equal(settingChoices.length, 128);
    assert.deepEqual(
      sizes.filter(({ bytes }) => bytes > maxBytes),
      [],
    );
  });
}
