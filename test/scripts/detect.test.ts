import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { markerPath, papyrus, queue, queueOf } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("detection on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  const detections: [string, (machine: Machine) => void, RegExp][] = [
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
        m.Drivers = [{ ...papyrus(), Name: "Other" }];
      },
      /the driver Papyrus 100 PCL6 is not there/,
    ],
    [
      "an older driver",
      (m) => {
        m.Drivers = [papyrus("1.2.3.3")];
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
  for (const [what, spoil, line] of detections) {
    test(`detection names ${what} on one line, without an error`, async () => {
      const result = await windows.installed({});
      const machine: Machine = {
        Queues: result.machine.Queues,
        Ports: result.machine.Ports,
        Drivers: [papyrus()],
        Registry: result.machine.Registry,
      };
      spoil(machine);
      await windows.machine(machine);

      const detected = await windows.run("detect", deployable());

      assert.deepEqual([detected.code, detected.output.length, detected.errors], [1, 1, []]);
      assert.match(detected.output[0] ?? "", line);
    });
  }

  test("a queue's name full of wildcards and quotes is only itself", async () => {
    const name = "[Office]*? $(x) `n 'y'";
    const machine = { Queues: [queue("Office", "LPT1:"), queue("O", "LPT1:")], Drivers: [papyrus()] };

    const result = await windows.installed(machine, deployable({ name }));
    const removed = await windows.run("uninstall", deployable({ name }));

    assert.ok(queueOf(result, name));
    assert.deepEqual(
      removed.machine.Queues.map(({ Name }) => Name),
      ["Office", "O"],
    );
  });
});
