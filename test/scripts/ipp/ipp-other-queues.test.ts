import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { device, windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { type RunResult, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { getQueue, markerPath } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const office = windowsDeployable();
/** A queue of another device, which Windows adds while the script waits for ours. */
const otherDevice = { Name: "Lobby", Location: "http://10.0.0.77:5357/wsd" };

const names = ({ machine }: RunResult) => machine.Queues.map(({ Name }) => Name);

describe("queues that Windows adds by itself beside an IPP printer's, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  test("the queue of another device is not taken for ours, even when Windows renames ours", async () => {
    const machine = { Devices: [device({ Meanwhile: otherDevice })], IgnoresQueueName: true };

    const result = await windows.install(machine, office);

    assert.deepEqual(names(result), ["Lobby", "Office"]);
    const port = getQueue(result).PortName;
    assert.equal(result.machine.Registry[markerPath]?.PortName, port);
    assert.notEqual(getQueue(result, "Lobby").PortName, port);
    assert.match(result.log, /Windows named the queue Papyrus 100\./);
  });

  test("when Windows adds no queue of ours, the queue of another device is not touched", async () => {
    await windows.setMachine({ Devices: [device({ Meanwhile: otherDevice, Path: "/elsewhere" })] });

    const result = await windows.run("install", office);

    assert.equal(result.code, 1603);
    assert.match(result.output.at(-1) ?? "", /but there is none\. Is the path right\?$/);
    assert.deepEqual(names(result), ["Lobby"]);
    assert.equal(result.machine.Registry[markerPath], undefined);
  });

  for (const [what, Location] of [
    ["at our address", "http://10.0.0.9:5357/wsd"],
    ["only over IPv6, where ours is an address of IPv4", "http://[fe80::9]:5357/wsd"],
    ["by a name", "http://papyrus:5357/wsd"],
  ] as const) {
    test(`our queue is found when Windows located the device ${what}`, async () => {
      const machine = { Devices: [device({ Location })], IgnoresQueueName: true };

      const result = await windows.install(machine, office);

      assert.deepEqual(names(result), ["Office"]);
    });
  }

  test("of two possible queues, the one at our address is used", async () => {
    const Meanwhile = { ...otherDevice, Location: "http://[fe80::77]:5357/wsd" };
    const Devices = [device({ Meanwhile, Location: "http://10.0.0.9:5357/wsd" })];

    const result = await windows.install({ Devices, IgnoresQueueName: true }, office);

    assert.deepEqual(names(result), ["Lobby", "Office"]);
  });

  test("a printer with a host name is found by any address of that host", async () => {
    const named = windowsDeployable({ address: "papyrus.example.org" });
    const Network = { Names: { "papyrus.example.org": ["10.0.0.8", "10.0.0.9"] } };
    const Location = "http://10.0.0.9:5357/wsd";
    const Devices = [device({ Address: "papyrus.example.org", Location, Meanwhile: otherDevice })];

    const result = await windows.install({ Devices, Network, IgnoresQueueName: true }, named);

    assert.deepEqual(names(result), ["Lobby", "Office"]);
  });

  test("a host name without an address is a printer that does not answer, whatever Windows adds meanwhile", async () => {
    const named = windowsDeployable({ address: "papyrus.example.org" });
    const Devices = [device({ Address: "papyrus.example.org", Meanwhile: otherDevice, Code: "0x80072ee2" })];
    await windows.setMachine({ Devices });

    const result = await windows.run("install", named);

    assert.equal(result.code, 1618);
    assert.match(result.output.at(-1) ?? "", /The printer does not answer at http:\/\/papyrus\.example\.org/);
    assert.deepEqual([names(result), result.machine.Registry[markerPath]], [["Lobby"], undefined]);
  });
});
