import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { interrupted } from "../../support/powershell/interruptions.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { arm, arm64, pair } from "../../support/powershell/simulated-arm64.ts";
import { queue, queueOf, tcp, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

describe("interrupted runs on a simulated ARM64 machine", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  for (const failWith of ["error", "cut"] as const) {
    test(`a failure (${failWith}) at every call on ARM64 in turn: the next installation heals, and uninstall cleans`, async () => {
      const office = pair(
        { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old", snmp: "on" },
        {},
        { trust_publisher: true },
      );
      const machine: Machine = {
        ...arm64,
        Users: ["S-1-5-21-1-2-3-1001"],
        Queues: [queue("Old", "OLD_1", arm)],
        Ports: [{ Name: "LPT1:" }, tcp("OLD_1", "10.0.0.1"), tcp("IP_10.0.0.9", "10.9.9.9")],
        Drivers: [{ Name: arm, Version: "1.0.0.0", Date: "01/01/2020" }],
      };
      const runs = interrupted(windows, ["install", office], {
        prepare: () => windows.machine(machine),
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
        assert.equal(queueOf(healed).DriverName, arm, where);
        assert.deepEqual([traces(removed), removed.machine.Publishers, broken.left], [[], [], 0], where);
      }
    });
  }

  test("a failure at every call of uninstall on ARM64 in turn: the next one cleans", async () => {
    const office = pair({ set_default: "on" }, {}, { trust_publisher: true });
    const machine = { ...arm64, Users: ["S-1-5-21-1-2-3-1001"] };
    const runs = interrupted(windows, ["uninstall", office], {
      prepare: () => windows.installed(machine, office),
      moreThan: 10,
    });

    for await (const { where } of runs) {
      const cleaned = await windows.run("uninstall", office);

      assert.deepEqual([cleaned.code, traces(cleaned), cleaned.machine.Publishers], [0, [], []], where);
    }
  });
});
