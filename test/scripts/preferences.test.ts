import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("preferences and the default printer on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("preferences that the driver refuses or ignores become remarks, and the others are set", async () => {
    const office = deployable({ duplex: "short_edge", color: "mono", collate: "off", paper_size: "A4" });

    const result = await windows.install({ Refuses: ["DuplexingMode"], Ignores: ["Color"] }, office);

    assert.deepEqual(getQueue(result).Configuration, {
      DuplexingMode: "OneSided",
      Color: true,
      Collate: false,
      PaperSize: "A4",
    });
    assert.match(
      result.output.at(-1) ?? "",
      /^Installed: .*ignores Color = False; the driver refuses DuplexingMode = TwoSidedShortEdge/,
    );
  });

  test("monochrome and uncollated are set without any other preference", async () => {
    const mono = await windows.install({}, deployable({ color: "mono" }));
    const loose = await windows.install({}, deployable({ collate: "off" }));

    const usual = { DuplexingMode: "OneSided", Color: true, Collate: true, PaperSize: "Letter" };
    assert.deepEqual(getQueue(mono).Configuration, { ...usual, Color: false });
    assert.deepEqual(getQueue(loose).Configuration, { ...usual, Collate: false });
  });

  test("uninstalling a renamed printer restores the default printer from before its first name", async () => {
    const sid = "S-1-5-21-9-8-7-1001";
    const old = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
    const Registry = { [defaultPrinterKey(sid)]: old };
    const machine = {
      Users: [sid],
      Registry,
      Queues: [queue("Theirs", "LPT1:")],
      Drivers: [papyrusDriver()],
    };
    const after = deployable({ name: "After", set_default: "on" });
    await windows.install(machine, deployable({ name: "Before", set_default: "on" }));

    const renamed = await windows.runSuccessfully("install", after);
    const removed = await windows.runSuccessfully("uninstall", after);

    assert.match(String(renamed.machine.Registry[defaultPrinterKey(sid)]?.Device), /^After,winspool,/);
    assert.deepEqual(removed.machine.Registry[defaultPrinterKey(sid)], old);
  });

  for (const count of [0, 1, 3]) {
    test(`the default printer is set for ${count} logged-on users and at later log-ons, and uninstall restores the old one`, async () => {
      const users = Array.from({ length: count }, (_, i) => `S-1-5-21-9-8-7-100${i}`);
      const old = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
      const Registry: Record<string, Record<string, unknown>> = {
        "HKEY_USERS\\S-1-5-18\\Software": { a: "b" },
      };
      for (const sid of users) {
        Registry[defaultPrinterKey(sid)] = old;
        Registry[defaultPrinterKey(sid).replace(/Windows$/, "Devices")] = { Office: "winspool,Ne07:" };
      }
      const office = deployable({ set_default: "on" });
      const machine = {
        Users: users,
        Registry,
        Queues: [queue("Theirs", "LPT1:")],
        Drivers: [papyrusDriver()],
      };

      const result = await windows.install(machine, office);
      const removed = await windows.run("uninstall", office);

      for (const sid of users) {
        assert.equal(result.machine.Registry[defaultPrinterKey(sid)]?.Device, "Office,winspool,Ne07:");
        assert.equal(result.machine.Registry[defaultPrinterKey(sid)]?.LegacyDefaultPrinterMode, 1);
        assert.deepEqual(removed.machine.Registry[defaultPrinterKey(sid)], old);
      }
      const setup = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Active Setup\\Installed Components\\Platen";
      assert.match(String(result.machine.Registry[setup]?.StubPath), /-File ".*Platen.logon\.ps1"$/);
      assert.equal(result.machine.Registry[markerPath]?.LogonDefault, "Office");
      assert.equal(removed.machine.Registry[setup], undefined);
      assert.equal(result.machine.Registry[defaultPrinterKey("S-1-5-18")], undefined);
    });
  }
});
