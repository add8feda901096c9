import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import {
  device,
  ippPort,
  ippPortNotes,
  ippQueue,
  windowsDeployable,
  withIppQueue,
} from "../../support/powershell/ipp-machine.ts";
import { type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { queue, queueOf, tcp, traces } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();

describe("other queues on an IPP printer's device, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  test('a queue that Windows says is there already is named; only "replaces" removes it', async () => {
    const machine: Machine = {
      ...withIppQueue("Papyrus 100 (WSD)"),
      Devices: [device({ Known: "Papyrus 100 (WSD)" })],
      Registry: ippPortNotes("WSD-1", 0),
    };
    await windows.machine(machine);
    const refused = await windows.run("install", office);
    const replacing = windowsDeployable({ replaces: "Papyrus 100 (WSD)" });
    const replaced = await windows.installed(machine, replacing);
    await windows.machine({
      ...machine,
      Devices: [device({ Known: "Papyrus 100 (WSD)", Path: "/ipp" })],
      Queues: [...(machine.Queues ?? []), queue("Old", "OLD_1")],
      Ports: [...(machine.Ports ?? []), tcp("OLD_1")],
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
      "it cannot be the cause",
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

  test("a queue that Windows adds by itself while it refuses ours is left alone", async () => {
    await windows.machine({ Devices: [device({ Code: "0x80070057", Meanwhile: "By Windows" })] });

    const result = await windows.run("install", office);

    assert.equal(result.code, 1603);
    assert.deepEqual(
      result.machine.Queues.map(({ Name }) => Name),
      ["By Windows"],
    );
  });

  test('a double that Windows made is named by its port or its id, and removed only by "replaces"', async () => {
    const onPort = await windows.installed(withIppQueue("Double"), office);
    const machine = withIppQueue("Double");
    await windows.machine({ Devices: [device()] });
    await windows.run("install", office);
    await windows.change({
      Queues: [ippQueue("Office", "WSD-00000000-0000-4000-8000-000000000001"), ...(machine.Queues ?? [])],
    });
    const replaced = await windows.run("install", windowsDeployable({ replaces: "Double" }));
    const byId = await windows.installed(
      {
        ...machine,
        Queues: [ippQueue("Double"), ippQueue("Other device", "WSD-2")],
        Ports: [ippPort(), ippPort("WSD-2")],
        Registry: {
          ...ippPortNotes("WSD-1", 1, "IPP-00000000-0000-4000-8000-000000000001"),
          ...ippPortNotes("WSD-2", 1, "IPP-2"),
        },
        Devices: [device()],
      },
      office,
    );

    assert.match(onPort.output.at(-1) ?? "", /installed; the queue Double is on the same device/);
    assert.ok(queueOf(onPort, "Double"));
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

  test("two printers of ours on one device are no doubles, and the port stays for the second", async () => {
    const [a, b] = [windowsDeployable({ id: "7", name: "A" }), windowsDeployable({ id: "8", name: "B" })];
    await windows.machine({ Devices: [device()] });
    const both = await windows.run("install", deploymentOfMany("Client", [a, b]));
    const again = await windows.run("install", deploymentOfMany("Client", [a, b]));

    const first = await windows.run("uninstall", a);
    const still = await windows.run("detect", b);
    const second = await windows.run("uninstall", b);

    assert.deepEqual([both.output[0], both.output[1]], ["A: installed", "B: installed"]);
    assert.deepEqual(again.output.slice(0, 2), ["A: nothing to change", "B: nothing to change"]);
    assert.deepEqual([first.code, still.code, first.machine.Drivers.length], [0, 0, 1]);
    assert.deepEqual([second.code, traces(second)], [0, []]);
  });

  test("a renamed printer gets its new queue on the device, and the old one goes", async () => {
    await windows.installed({ Devices: [device()] }, windowsDeployable({ name: "Before" }));

    const result = await windows.run("install", office);
    const detected = await windows.run("detect", office);

    assert.deepEqual(
      result.machine.Queues.map(({ Name }) => Name),
      ["Office"],
    );
    assert.deepEqual([result.code, detected.code], [0, 0], detected.output.join());
  });
});
