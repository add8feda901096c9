import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { selectCases } from "../support/depth.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

/** Texts that would change the exit code of a script if it evaluated them. */
const texts = [
  "$(exit 7)",
  "'; exit 7; '",
  "’; exit 7; #‘",
  "`$(exit 7)`r`n",
  "#> exit 7 <#",
  "@(exit 7)",
  "&{exit 7}",
  "%windir%",
  "[a-z]",
  "-Force",
  "{0}{1}",
  "a ; exit 7",
  "emoji \u{1f5a8} \u202fx",
];

describe("a vendor's names on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const text of selectCases(texts, 4)) {
    test(`${text} as a version of the driver or its date is not evaluated`, async () => {
      await windows.setMachine({});
      const office = deployable({}, { inf: { driverVer: { date: text, version: text } } });

      const { code, output } = await windows.run("install", office);

      assert.ok([0, 1603].includes(code), `${code}: ${output.join(" ")}`);
    });

    test(`${text} as a model, an INF, a folder, a catalog, a provider and a date stays text`, async () => {
      const inf = {
        path: `${text}/x${text}.inf`,
        catalogFiles: [`${text}/${text}.cat`],
        descriptions: [`Papyrus ${text}`],
        provider: text,
        driverVer: { date: "06/21/2025", version: "1.2.3.4" },
      };
      const driver = { driver_desc: `Papyrus ${text}`, inf_path: inf.path, trust_publisher: true, inf };
      const office = deployable({}, driver);

      const result = await windows.install({}, office);
      const repeated = await windows.runSuccessfully("install", office);
      await windows.runSuccessfully("uninstall", office);

      assert.equal(result.machine.Drivers[0]?.Name, `Papyrus ${text}`);
      assert.match(repeated.output.join(), /nothing to change/);
      assert.equal(result.left, 0);
    });
  }
});
