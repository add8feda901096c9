import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrus, queue, queueOf, tcp, traces } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("uninstalling on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("what is not there is removed already", async () => {
    await windows.machine();

    const result = await windows.run("uninstall", deployable());

    assert.deepEqual([result.code, result.output], [0, ["Removed: Office: nothing was there"]]);
  });

  test("everything that install made goes, and a second run has nothing to do", async () => {
    const before = await windows.installed({});
    const removed = await windows.run("uninstall", deployable());
    const again = await windows.run("uninstall", deployable());
    const detected = await windows.run("detect", deployable());

    assert.ok(traces(before).length > 3);
    assert.deepEqual([removed.code, traces(removed), removed.errors], [0, [], []]);
    assert.match(again.output.join(), /nothing was there/);
    assert.equal(detected.code, 1);
  });

  test("ports and drivers that Windows still calls busy are waited for, then get one restart", async () => {
    const patient = await windows.installed({ LingerMs: 4000 });
    const soon = await windows.run("uninstall", deployable());
    await windows.installed({ LingerMs: 10 * 60_000, ListLeaving: true });
    const late = await windows.run("uninstall", deployable());

    assert.ok(patient);
    assert.deepEqual([soon.code, traces(soon), soon.machine.Restarts], [0, [], 0]);
    assert.deepEqual([late.code, traces(late), late.machine.Restarts], [0, [], 1], late.output.join());
  });

  test("a port or driver that others use stays, and so does a port that we did not make", async () => {
    await windows.installed({
      Ports: [tcp("IP_10.0.0.9")],
      Queues: [queue("Theirs", "LPT1:")],
      Drivers: [papyrus()],
    });

    const result = await windows.run("uninstall", deployable());

    assert.equal(result.code, 0);
    assert.deepEqual(traces(result), ["queue Theirs", "port IP_10.0.0.9", "driver Papyrus 100 PCL6"]);
  });

  test("keep_driver leaves the driver", async () => {
    await windows.installed({}, deployable({ keep_driver: "on" }));

    const result = await windows.run("uninstall", deployable({ keep_driver: "on" }));

    assert.deepEqual([result.code, traces(result)], [0, ["driver Papyrus 100 PCL6"]]);
  });

  test("open jobs get a while, then 1618; -Force removes the queue all the same", async () => {
    const busy = { Queues: [{ ...queue("Office", "LPT1:"), Jobs: [1, 2] }], Drivers: [papyrus()] };
    await windows.machine({ ...busy, JobsDoneAt: 20_000 });
    const waited = await windows.run("uninstall", deployable());
    await windows.machine(busy);
    const refused = await windows.run("uninstall", deployable());
    await windows.change({ JobsDoneAt: 1 });
    const forced = await windows.run("uninstall", deployable(), { parameters: { Force: true } });

    assert.equal(waited.code, 0);
    assert.equal(refused.code, 1618);
    assert.match(refused.output.at(-1) ?? "", /still has 2 open jobs/);
    assert.ok(queueOf(refused));
    assert.equal(forced.code, 0);
  });
});
