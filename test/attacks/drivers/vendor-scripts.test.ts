import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { some } from "../../support/depth.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

/** Would end the script with another code, or fail it, wherever it were more than a text. */
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

  for (const text of some(texts, 4)) {
    test(`${text} as a model, an INF, a folder, a catalog, a provider and a date stays a text`, async () => {
      const paths = { inf_path: `${text}/x${text}.inf`, catalogFiles: [`${text}/${text}.cat`] };
      const driver = {
        driver_desc: `Papyrus ${text}`,
        inf_path: paths.inf_path,
        trust_publisher: true,
        inf: {
          path: paths.inf_path,
          catalogFiles: paths.catalogFiles,
          descriptions: [`Papyrus ${text}`],
          provider: text,
          driverVer: { date: "06/21/2025", version: "1.2.3.4" },
        },
      };
      const office = deployable({}, driver);

      const result = await windows.installed({}, office);
      const again = await windows.done("install", office);
      await windows.done("uninstall", office);

      assert.equal(result.machine.Drivers[0]?.Name, `Papyrus ${text}`);
      assert.match(again.output.join(), /nothing to change/);
      assert.equal(result.left, 0);
    });

    test(`${text} as a version of the driver or its date installs what it installs`, async () => {
      const driverVer = { date: text, version: text };
      await windows.machine({});

      const { code, output } = await windows.run("install", deployable({}, { inf: { driverVer } }));

      assert.ok([0, 1603].includes(code), `${code}: ${output.join(" ")}`);
    });
  }
});
