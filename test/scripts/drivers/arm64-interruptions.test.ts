import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { interruptEachCall } from "../../support/powershell/interruptions.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { arm64Machine, arm64Model, driverPair } from "../../support/powershell/simulated-arm64.ts";
import { getQueue, queue, tcpPort, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

describe("interrupted runs on a simulated ARM64 machine", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const failWith of ["error", "cut"] as const) {
    test(`after a failure (${failWith}) at any call on ARM64, install completes and uninstall leaves nothing`, async () => {
      const office = driverPair(
        { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old", snmp: "on" },
        {},
        { trust_publisher: true },
      );
      const machine: Machine = {
        ...arm64Machine,
        Users: ["S-1-5-21-1-2-3-1001"],
        Queues: [queue("Old", "OLD_1", arm64Model)],
        Ports: [{ Name: "LPT1:" }, tcpPort("OLD_1", "10.0.0.1"), tcpPort("IP_10.0.0.9", "10.9.9.9")],
        Drivers: [{ Name: arm64Model, Version: "1.0.0.0", Date: "01/01/2020" }],
      };
      const runs = interruptEachCall(windows, ["install", office], {
        prepare: () => windows.setMachine(machine),
        moreThan: 40,
        failWith,
      });

      for await (const { broken, where } of runs) {
        const healed = await windows.run("install", office);
        const detected = await windows.run("detect", office);
        const removed = await windows.run("uninstall", office);

        assert.deepEqual(
          [healed.code, detected.code, removed.code],
          [0, 0, 0],
          `${where}: ${healed.output.join(" ")}`,
        );
        assert.equal(getQueue(healed).DriverName, arm64Model, where);
        assert.deepEqual([traces(removed), removed.machine.Publishers, broken.left], [[], [], 0], where);
      }
    });
  }

  test("after a failure at any call of uninstall on ARM64, the next uninstall leaves nothing", async () => {
    const office = driverPair({ set_default: "on" }, {}, { trust_publisher: true });
    const machine = { ...arm64Machine, Users: ["S-1-5-21-1-2-3-1001"] };
    const runs = interruptEachCall(windows, ["uninstall", office], {
      prepare: () => windows.install(machine, office),
      moreThan: 10,
    });

    for await (const { where } of runs) {
      const cleaned = await windows.run("uninstall", office);

      assert.deepEqual([cleaned.code, traces(cleaned), cleaned.machine.Publishers], [0, [], []], where);
    }
  });
});
