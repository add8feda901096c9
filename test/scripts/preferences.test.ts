import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrus, queue, queueOf, userPath } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("preferences and the default printer on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("preferences that the driver refuses or ignores are warnings; the others are set", async () => {
    const office = deployable({ duplex: "short_edge", color: "mono", collate: "off", paper_size: "A4" });

    const result = await windows.installed({ Refuses: ["DuplexingMode"], Ignores: ["Color"] }, office);

    assert.deepEqual(queueOf(result).Configuration, {
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

  test("monochrome and no collating are set also where nothing else is chosen", async () => {
    const mono = await windows.installed({}, deployable({ color: "mono" }));
    const loose = await windows.installed({}, deployable({ collate: "off" }));

    const usual = { DuplexingMode: "OneSided", Color: true, Collate: true, PaperSize: "Letter" };
    assert.deepEqual(queueOf(mono).Configuration, { ...usual, Color: false });
    assert.deepEqual(queueOf(loose).Configuration, { ...usual, Collate: false });
  });

  test("users of a printer that was renamed get back the default printer that they had before its first name", async () => {
    const sid = "S-1-5-21-9-8-7-1001";
    const old = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
    const Registry = { [userPath(sid)]: old };
    const machine = { Users: [sid], Registry, Queues: [queue("Theirs", "LPT1:")], Drivers: [papyrus()] };
    const after = deployable({ name: "After", set_default: "on" });
    await windows.installed(machine, deployable({ name: "Before", set_default: "on" }));

    const renamed = await windows.done("install", after);
    const removed = await windows.done("uninstall", after);

    assert.match(String(renamed.machine.Registry[userPath(sid)]?.Device), /^After,winspool,/);
    assert.deepEqual(removed.machine.Registry[userPath(sid)], old);
  });

  for (const count of [0, 1, 3]) {
    test(`the default printer is set for ${count} logged-on users and for those who come later, and given back`, async () => {
      const users = Array.from({ length: count }, (_, i) => `S-1-5-21-9-8-7-100${i}`);
      const old = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
      const Registry: Record<string, Record<string, unknown>> = {
        "HKEY_USERS\\S-1-5-18\\Software": { a: "b" },
      };
      for (const sid of users) {
        Registry[userPath(sid)] = old;
        Registry[userPath(sid).replace(/Windows$/, "Devices")] = { Office: "winspool,Ne07:" };
      }
      const office = deployable({ set_default: "on" });
      const machine = { Users: users, Registry, Queues: [queue("Theirs", "LPT1:")], Drivers: [papyrus()] };

      const result = await windows.installed(machine, office);
      const removed = await windows.run("uninstall", office);

      for (const sid of users) {
        assert.equal(result.machine.Registry[userPath(sid)]?.Device, "Office,winspool,Ne07:");
        assert.equal(result.machine.Registry[userPath(sid)]?.LegacyDefaultPrinterMode, 1);
        assert.deepEqual(removed.machine.Registry[userPath(sid)], old);
      }
      const setup = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Active Setup\\Installed Components\\Platen-7";
      assert.match(String(result.machine.Registry[setup]?.StubPath), /Printers\\7'\)\.Queue/);
      assert.doesNotMatch(String(result.machine.Registry[setup]?.StubPath), /Office/);
      assert.equal(removed.machine.Registry[setup], undefined);
      assert.equal(result.machine.Registry[userPath("S-1-5-18")], undefined);
    });
  }
});
