import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOf, scriptSettings } from "../../src/pkg/scripts/deployment.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { getQueue, papyrusDriver, queue, tcpPort } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const sddl = "D:(A;;GA;;;BA)(A;;SWRC;;;WD)";
const ready: Machine = {
  Queues: [queue("Office", "IP_10.0.0.9")],
  Ports: [{ Name: "LPT1:" }, tcpPort("IP_10.0.0.9")],
  Drivers: [papyrusDriver()],
};

describe("permissions, kept and held documents, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("install sets the permissions once, although Windows spells them differently, and repairs them", async () => {
    const office = deployable({ permission_sddl: sddl });

    const first = await windows.install(ready, office);
    const second = await windows.runSuccessfully("install", office);
    await windows.changeMachine({
      Queues: first.machine.Queues.map((each) => ({ ...each, PermissionSDDL: "D:" })),
    });
    const repaired = await windows.runSuccessfully("install", office);

    assert.equal(getQueue(first).PermissionSDDL, sddl.replace("GA", "0xf000c"));
    assert.equal(second.output.at(-1), "Installed: Office: nothing to change");
    assert.equal(second.calls.includes("Set-Printer"), false);
    assert.equal(getQueue(repaired).PermissionSDDL, sddl.replace("GA", "0xf000c"));
  });

  test("install switches on what is wanted, once, and leaves the rest alone", async () => {
    const both = await windows.install(ready, deployable({ keep_printed: "on", hold_mismatched: "on" }));
    const second = await windows.runSuccessfully(
      "install",
      deployable({ keep_printed: "on", hold_mismatched: "on" }),
    );
    const one = await windows.install(ready, deployable({ keep_printed: "on" }));

    const options = (run: typeof both) => [getQueue(run).KeepPrintedJobs, getQueue(run).EnableDevQueryPrint];
    assert.deepEqual(
      [options(both), options(one)],
      [
        [true, true],
        [true, undefined],
      ],
    );
    assert.equal(second.output.at(-1), "Installed: Office: nothing to change");
  });

  test("an option that Windows ignores is a remark, and -WhatIf changes nothing", async () => {
    const office = deployable({ hold_mismatched: "on", permission_sddl: sddl });
    const ignored = await windows.install({ ...ready, Ignores: ["EnableDevQueryPrint"] }, office);
    await windows.setMachine(ready);
    const dryRun = await windows.run("install", office, { parameters: { WhatIf: true } });

    assert.match(ignored.output.at(-1) ?? "", /; Windows does not switch on EnableDevQueryPrint$/);
    assert.deepEqual(dryRun.output.slice(0, 2), [
      "What if: switch on for Office: EnableDevQueryPrint",
      "What if: set the permissions of Office",
    ]);
  });
});

describe("a file of vendor preferences, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  const content = "[Office] tray 2, stapler";
  const sha256 = createHash("sha256").update(content).digest("hex");
  const office = (fields: Record<string, string> = {}) => {
    const { printer, ...rest } = deployable(fields);
    return { ...rest, printer: { ...printer, preferences_sha256: sha256 } };
  };

  /** Installs a package with the file beside the script. */
  async function install(
    machine: Machine,
    what = office(),
    files: Record<string, string> = { "preferences.dat": content },
  ) {
    await windows.setMachine(machine);
    return windows.run("install", what, { files });
  }

  test("install restores it once per revision, after the queue and before other preferences", async () => {
    const first = await install(ready, office({ duplex: "long_edge" }));
    const second = await windows.runSuccessfully("install", office({ duplex: "long_edge" }));

    assert.equal(first.code, 0, first.output.join());
    assert.equal(getQueue(first).Vendor, content);
    const at = (call: string) => first.calls.indexOf(call);
    assert.ok(at("Start-Process rundll32.exe") < at("Set-PrintConfiguration"));
    assert.equal(second.output.at(-1), "Installed: Office: nothing to change");
    assert.deepEqual([first.left, second.calls.includes("Start-Process rundll32.exe")], [0, false]);
  });

  test("a queue that was deleted and added again gets it again", async () => {
    await install(ready);
    await windows.changeMachine({ Queues: [] });

    const again = await windows.run("install", office(), { files: { "preferences.dat": content } });

    assert.equal(again.code, 0, again.output.join());
    assert.equal(getQueue(again).Vendor, content);
  });

  for (const [why, quirk, remark] of [
    [
      "changes nothing",
      { PrintUi: "refuses" },
      /Windows did not restore the vendor's preferences: they may be of another driver/,
    ],
    [
      "saves nothing",
      { PrintUi: "silent" },
      /Windows does not say whether it restored the vendor's preferences/,
    ],
    ["does not end", { PrintUiHangs: true }, /Windows did not finish restoring the vendor's preferences/],
  ] as const) {
    test(`if printui ${why}, the printer is installed with a remark`, async () => {
      const result = await install({ ...ready, ...quirk });

      assert.equal(result.code, 0, result.output.join());
      assert.match(result.output.at(-1) ?? "", remark);
    });
  }

  test("a missing or changed file fails, and nothing is restored", async () => {
    const missing = await install(ready, office(), {});
    const changed = await install(ready, office(), { "preferences.dat": "other" });

    assert.deepEqual([missing.code, changed.code], [1603, 1603]);
    assert.match(
      missing.output.at(-1) ?? "",
      /The preferences file is missing: expected preferences\.dat beside this script/,
    );
    assert.match(changed.output.at(-1) ?? "", /The preferences file is not the expected one: its SHA-256 is/);
    assert.deepEqual([getQueue(changed).Vendor, changed.left], [undefined, 0]);
  });

  test("a script fetched alone downloads it, and checks its digest", async () => {
    const path = join(windows.folder, "preferences-download.dat");
    await writeFile(path, content);
    const url = "http://platen.lan:8080/printers/7/preferences";
    const deployment = { ...deploymentOf(office()), preferencesUrl: () => url };

    await windows.setMachine({ ...ready, Download: path });
    const result = await windows.run("install", deployment, { withoutFiles: true });

    assert.equal(result.code, 0, result.output.join());
    assert.deepEqual([getQueue(result).Vendor, result.machine.Requested, result.left], [content, [url], 0]);
    assert.equal(JSON.stringify(scriptSettings(deployment)).includes(url), true);
  });

  test("the name of a queue with a quotation mark is never put into a command", async () => {
    const result = await install({ ...ready, Queues: [] }, office({ name: 'A" /a "evil' }));

    assert.match(result.output.at(-1) ?? "", /were not restored: the name of the queue has a quotation mark/);
    assert.equal(result.calls.includes("Start-Process rundll32.exe"), false);
  });
});
