import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { getQueue, papyrusDriver, queue, tcpPort, traces } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("uninstalling on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("uninstall succeeds when nothing is installed", async () => {
    await windows.setMachine();

    const result = await windows.run("uninstall", deployable());

    assert.deepEqual([result.code, result.output], [0, ["Removed: Office: nothing was there"]]);
  });

  test("uninstall removes everything that install added, and a second run finds nothing", async () => {
    const before = await windows.install({});
    const removed = await windows.run("uninstall", deployable());
    const repeated = await windows.run("uninstall", deployable());
    const detected = await windows.run("detect", deployable());

    assert.ok(traces(before).length > 3);
    assert.deepEqual([removed.code, traces(removed), removed.errors], [0, [], []]);
    assert.match(repeated.output.join(), /nothing was there/);
    assert.equal(detected.code, 1);
  });

  test("uninstall waits for busy ports and drivers, then restarts the spooler once", async () => {
    const patient = await windows.install({ LingerMs: 4000 });
    const soon = await windows.run("uninstall", deployable());
    await windows.install({ LingerMs: 10 * 60_000, ListLeaving: true });
    const late = await windows.run("uninstall", deployable());

    assert.ok(patient);
    assert.deepEqual([soon.code, traces(soon), soon.machine.Restarts], [0, [], 0]);
    assert.deepEqual([late.code, traces(late), late.machine.Restarts], [0, [], 1], late.output.join());
  });

  test("a driver that other queues use stays, and so does a port that install did not add", async () => {
    await windows.install({
      Ports: [tcpPort("IP_10.0.0.9")],
      Queues: [queue("Theirs", "LPT1:")],
      Drivers: [papyrusDriver()],
    });

    const result = await windows.run("uninstall", deployable());

    assert.equal(result.code, 0);
    assert.deepEqual(traces(result), ["queue Theirs", "port IP_10.0.0.9", "driver Papyrus 100 PCL6"]);
  });

  test("keep_driver keeps the driver", async () => {
    await windows.install({}, deployable({ keep_driver: "on" }));

    const result = await windows.run("uninstall", deployable({ keep_driver: "on" }));

    assert.deepEqual([result.code, traces(result)], [0, ["driver Papyrus 100 PCL6"]]);
  });

  test("uninstall waits for open jobs, then ends with 1618; -Force removes the queue anyway", async () => {
    const busy = { Queues: [{ ...queue("Office", "LPT1:"), Jobs: [1, 2] }], Drivers: [papyrusDriver()] };
    await windows.setMachine({ ...busy, JobsDoneAt: 20_000 });
    const waited = await windows.run("uninstall", deployable());
    await windows.setMachine(busy);
    const refused = await windows.run("uninstall", deployable());
    await windows.changeMachine({ JobsDoneAt: 1 });
    const forced = await windows.run("uninstall", deployable(), { parameters: { Force: true } });

    assert.equal(waited.code, 0);
    assert.equal(refused.code, 1618);
    assert.match(refused.output.at(-1) ?? "", /still has 2 open jobs/);
    assert.ok(getQueue(refused));
    assert.equal(forced.code, 0);
  });
});
