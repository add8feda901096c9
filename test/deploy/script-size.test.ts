import assert from "node:assert/strict";
import { test } from "node:test";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { renderScript } from "../../src/pkg/scripts/render.ts";
import { selectCases } from "../support/depth.ts";
import { printerKinds, settingChoices } from "../support/powershell/printer-kinds.ts";

/** Intune's script installer accepts 50 KB. The rest is for names that are longer than in this test. */
const maxBytes = 49_500;

for (const [kind, deploymentOf] of Object.entries(printerKinds)) {
  test(`Intune's script installer accepts the install.ps1 of one printer with any settings: ${kind}`, () => {
    const choices = selectCases(settingChoices, 16);

    const sizes = choices.map(({ names, fields }) => {
      // The PrintTicket does not count, because the page says if it makes the script too large.
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
