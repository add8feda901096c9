import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import {
  device,
  ippPort,
  ippPortKeys,
  ippQueue,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { getQueue, queue, tcpPort, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();

describe("other queues on an IPP printer's device, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  test('a queue that already uses the device is named, and only "replaces" removes it', async () => {
    const machine: Machine = {
      ...withIppQueue("Papyrus 100 (WSD)"),
      Devices: [device({ Known: "Papyrus 100 (WSD)" })],
      Registry: ippPortKeys("WSD-1", 0),
    };
    await windows.setMachine(machine);
    const refused = await windows.run("install", office);
    const replacing = windowsDeployable({ replaces: "Papyrus 100 (WSD)" });
    const replaced = await windows.install(machine, replacing);
    await windows.setMachine({
      ...machine,
      Devices: [device({ Known: "Papyrus 100 (WSD)", Path: "/ipp" })],
      Queues: [...(machine.Queues ?? []), queue("Old", "OLD_1")],
      Ports: [...(machine.Ports ?? []), tcpPort("OLD_1")],
    });
    const both = windowsDeployable({ replaces: "Old\nPapyrus 100 (WSD)" });
    const inVain = await windows.run("install", both);

    assert.match(
      inVain.output.at(-1) ?? "",
      /none\. Is the path right\? Removed already: Papyrus 100 \(WSD\)\. The/,
    );
    assert.deepEqual(
      inVain.machine.Queues.map(({ Name }) => Name),
      ["Old"],
      "the queue Old is not on the device",
    );
    assert.equal(refused.code, 1603);
    assert.match(refused.output.at(-1) ?? "", /\(0x8007070a\).*\(on WSD ports: Papyrus 100 \(WSD\)\)/);
    assert.deepEqual(
      refused.machine.Queues.map(({ Name }) => Name),
      ["Papyrus 100 (WSD)"],
    );
    assert.deepEqual(
      replaced.machine.Queues.map(({ Name }) => Name),
      ["Office"],
    );
  });

  test("a queue that Windows adds by itself while it refuses ours stays", async () => {
    await windows.setMachine({ Devices: [device({ Code: "0x80070057", Meanwhile: "By Windows" })] });

    const result = await windows.run("install", office);

    assert.equal(result.code, 1603);
    assert.deepEqual(
      result.machine.Queues.map(({ Name }) => Name),
      ["By Windows"],
    );
  });

  test('a duplicate queue from Windows is found by its port or its id, and removed only by "replaces"', async () => {
    const onPort = await windows.install(withIppQueue("Double"), office);
    const machine = withIppQueue("Double");
    await windows.setMachine({ Devices: [device()] });
    await windows.run("install", office);
    await windows.changeMachine({
      Queues: [ippQueue("Office", "WSD-00000000-0000-4000-8000-000000000001"), ...(machine.Queues ?? [])],
    });
    const replaced = await windows.run("install", windowsDeployable({ replaces: "Double" }));
    const byId = await windows.install(
      {
        ...machine,
        Queues: [ippQueue("Double"), ippQueue("Other device", "WSD-2")],
        Ports: [ippPort(), ippPort("WSD-2")],
        Registry: {
          ...ippPortKeys("WSD-1", 1, "IPP-00000000-0000-4000-8000-000000000001"),
          ...ippPortKeys("WSD-2", 1, "IPP-2"),
        },
        Devices: [device()],
      },
      office,
    );

    assert.match(onPort.output.at(-1) ?? "", /installed; the queue Double is on the same device/);
    assert.ok(getQueue(onPort, "Double"));
    assert.equal(replaced.code, 0);
    assert.deepEqual(
      replaced.machine.Queues.map(({ Name }) => Name),
      ["Office"],
    );
    assert.match(
      byId.output.at(-1) ?? "",
      /installed; the queue Double is on the same device; "replaces" removes it$/,
    );
  });

  test("two deployed printers on one device are no duplicates, and the second keeps the port", async () => {
    const [a, b] = [windowsDeployable({ id: "7", name: "A" }), windowsDeployable({ id: "8", name: "B" })];
    await windows.setMachine({ Devices: [device()] });
    const both = await windows.run("install", deploymentOfMany("Client", [a, b]));
    const repeated = await windows.run("install", deploymentOfMany("Client", [a, b]));

    const first = await windows.run("uninstall", a);
    const still = await windows.run("detect", b);
    const second = await windows.run("uninstall", b);

    assert.deepEqual([both.output[0], both.output[1]], ["A: installed", "B: installed"]);
    assert.deepEqual(repeated.output.slice(0, 2), ["A: nothing to change", "B: nothing to change"]);
    assert.deepEqual([first.code, still.code, first.machine.Drivers.length], [0, 0, 1]);
    assert.deepEqual([second.code, traces(second)], [0, []]);
  });

  test("a renamed printer gets a new queue on the device, and the old queue is removed", async () => {
    await windows.install({ Devices: [device()] }, windowsDeployable({ name: "Before" }));

    const result = await windows.run("install", office);
    const detected = await windows.run("detect", office);

    assert.deepEqual(
      result.machine.Queues.map(({ Name }) => Name),
      ["Office"],
    );
    assert.deepEqual([result.code, detected.code], [0, 0], detected.output.join());
  });
});
