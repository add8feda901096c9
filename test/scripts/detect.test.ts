import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { getQueue, markerPath, papyrusDriver, queue } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("detection on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  const defects: [string, (machine: Machine) => void, RegExp][] = [
    [
      "a missing queue",
      (m) => {
        m.Queues = [];
      },
      /there is no such queue/,
    ],
    [
      "a connection of the same name",
      (m) => {
        m.Queues = [{ ...queue("Office", "IP_10.0.0.9"), Type: "Connection" }];
      },
      /there is no such queue/,
    ],
    [
      "a missing driver",
      (m) => {
        m.Drivers = [{ ...papyrusDriver(), Name: "Other" }];
      },
      /the driver Papyrus 100 PCL6 is not there/,
    ],
    [
      "an older driver",
      (m) => {
        m.Drivers = [papyrusDriver("1.2.3.3")];
      },
      /the driver's version is 1\.2\.3\.3, not 1\.2\.3\.4/,
    ],
    [
      "a missing marker",
      (m) => {
        m.Registry = {};
      },
      /not installed by these scripts/,
    ],
    [
      "another revision",
      (m) => {
        m.Registry = { [markerPath]: { Revision: "000000000000" } };
      },
      /its revision is 000000000000/,
    ],
    [
      "a stopped spooler",
      (m) => {
        m.Spooler = { Status: "Stopped", StartType: "Automatic" };
      },
      /Windows does not answer: Der Spoolerdienst/,
    ],
  ];
  for (const [what, spoil, line] of defects) {
    test(`detection reports ${what} on one line, without an error`, async () => {
      const result = await windows.install({});
      const machine: Machine = {
        Queues: result.machine.Queues,
        Ports: result.machine.Ports,
        Drivers: [papyrusDriver()],
        Registry: result.machine.Registry,
      };
      spoil(machine);
      await windows.setMachine(machine);

      const detected = await windows.run("detect", deployable());

      assert.deepEqual([detected.code, detected.output.length, detected.errors], [1, 1, []]);
      assert.match(detected.output[0] ?? "", line);
    });
  }

  test("a queue name with wildcards and quotes matches only itself", async () => {
    const name = "[Office]*? $(x) `n 'y'";
    const machine = { Queues: [queue("Office", "LPT1:"), queue("O", "LPT1:")], Drivers: [papyrusDriver()] };

    const result = await windows.install(machine, deployable({ name }));
    const removed = await windows.run("uninstall", deployable({ name }));

    assert.ok(getQueue(result, name));
    assert.deepEqual(
      removed.machine.Queues.map(({ Name }) => Name),
      ["Office", "O"],
    );
  });
});
