import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
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

  test("a spooler that hangs while it stops is ended after a minute and started again", async () => {
    await windows.install({ LingerMs: 10 * 60_000, ListLeaving: true });
    await windows.changeMachine({ SpoolerHangs: true });
    const before = (await windows.request<{ machine: { Slept: number } }>({ do: "state" })).machine.Slept;

    const result = await windows.run("uninstall", deployable());

    assert.deepEqual([result.code, traces(result)], [0, []], result.output.join());
    assert.equal(result.calls.filter((call) => call === "Stop-Process spoolsv").length, 1);
    assert.match(result.log, /The print spooler hangs\. Ending its process\./);
    assert.equal(result.machine.Spooler.Status, "Running");
    assert.ok(result.machine.Slept - before <= 90_000, `${result.machine.Slept - before}`);
  });

  test("services that depend on the spooler start again, even if the spooler does not", async () => {
    const Dependents = [
      { Name: "Fax", Status: "Running" },
      { Name: "Other", Status: "Stopped" },
    ];
    await windows.install({ LingerMs: 10 * 60_000, ListLeaving: true });
    await windows.changeMachine({ Dependents, SpoolerNeverStarts: true });

    const result = await windows.run("uninstall", deployable());

    assert.equal(result.code, 1618, result.output.join());
    assert.deepEqual(
      result.calls.filter((call) => call.startsWith("Start-Service ")),
      ["Start-Service Fax"],
    );
  });

  test("a queue that Windows already deletes ends no run", async () => {
    await windows.install({});
    await windows.changeMachine({ QueuesLeave: true });

    const result = await windows.run("uninstall", deployable());

    assert.deepEqual([result.code, traces(result)], [0, []], result.output.join());
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

  test("a driver stays while an interrupted exchange has queues that need it back", async () => {
    const { machine } = await windows.install({});
    const exchange = { "HKLM:\\SOFTWARE\\Platen\\Exchange": { Driver: "Papyrus 100 PCL6" } };
    await windows.changeMachine({ Registry: { ...machine.Registry, ...exchange } });

    const result = await windows.run("uninstall", deployable());

    assert.deepEqual([result.code, result.machine.Queues], [0, []], result.output.join());
    assert.equal(result.machine.Drivers.length, 1);
  });

  test("uninstall waits for open jobs, then ends with 1618; -Force removes the queue anyway", async () => {
    const busy = { Queues: [{ ...queue("Office", "LPT1:"), Jobs: [1, 2] }], Drivers: [papyrusDriver()] };
    await windows.setMachine({ ...busy, JobsDoneAt: 20_000 });
    const waited = await windows.run("uninstall", deployable());
    await windows.setMachine(busy);
    const refused = await windows.run("uninstall", deployable());
    const forced = await windows.run("uninstall", deployable(), { parameters: { Force: true } });

    assert.equal(waited.code, 0);
    assert.equal(refused.code, 1618);
    assert.equal(forced.output.at(-1), "Removed: Office: removed; unprinted jobs deleted: 2");
    assert.match(refused.output.at(-1) ?? "", /still has 2 open jobs/);
    assert.ok(getQueue(refused));
    assert.equal(forced.code, 0);
  });

  describe("jobs that do not print", () => {
    const withJobs = (...jobs: Record<string, unknown>[]): Machine => ({
      Queues: [{ ...queue("Office", "LPT1:"), Jobs: jobs }],
      Drivers: [papyrusDriver()],
    });
    const stuck: [string, Record<string, unknown>][] = [
      ["an error", { JobStatus: "Error, Printing", Minutes: 5 }],
      ["an offline printer, as a number", { JobStatus: 0x20, Minutes: 5 }],
      ["a deletion that hangs", { JobStatus: "Deleting", Minutes: 5 }],
      ["an age of two days", { JobStatus: "Normal", Minutes: 2 * 24 * 60 }],
      ["a pause of two days", { JobStatus: "Paused", Minutes: 2 * 24 * 60 }],
    ];

    for (const [why, job] of stuck) {
      test(`a job with ${why} is deleted after a minute, with a remark, and the queue goes`, async () => {
        await windows.setMachine(withJobs({ Id: 1, ...job }));

        const result = await windows.run("uninstall", deployable());

        assert.equal(result.code, 0, result.output.join());
        assert.equal(result.output.at(-1), "Removed: Office: removed; unprinted jobs deleted: 1");
        assert.ok(result.machine.Slept >= 60_000);
        assert.deepEqual(result.machine.Queues, []);
      });
    }

    test("printed documents that the queue keeps neither count nor wait, and go without a remark", async () => {
      const kept = ["Printed", "Printed, Retained", "Complete"].map((JobStatus, Id) => ({
        Id,
        JobStatus,
        Minutes: 9999,
      }));
      await windows.setMachine(withJobs(...kept));

      const result = await windows.run("uninstall", deployable());

      assert.deepEqual([result.code, result.output], [0, ["Removed: Office: removed"]]);
      assert.deepEqual([result.machine.Slept, result.machine.Queues], [0, []]);
    });

    test("a retained job that still prints or waits keeps the queue", async () => {
      const states = ["Printing, Retained", "Spooling, Retained", 8192 + 2048];
      await windows.setMachine(withJobs(...states.map((JobStatus, Id) => ({ Id, JobStatus, Minutes: 1 }))));

      const result = await windows.run("uninstall", deployable());

      assert.equal(result.code, 1618, result.output.join());
      assert.match(result.output.at(-1) ?? "", /The queue Office still has 3 open jobs/);
      assert.equal((getQueue(result).Jobs as unknown[]).length, 3);
    });

    test("a job that waits behind a stuck one keeps the queue, and the stuck one is deleted", async () => {
      await windows.setMachine(
        withJobs({ Id: 1, JobStatus: "Error", Minutes: 90 }, { Id: 2, JobStatus: "Normal", Minutes: 9 }),
      );

      const result = await windows.run("uninstall", deployable());

      assert.equal(result.code, 1618);
      assert.match(result.output.at(-1) ?? "", /The queue Office still has 1 open jobs\. Try again later/);
      assert.deepEqual(
        (getQueue(result).Jobs as { Id: number }[]).map(({ Id }) => Id),
        [2],
      );
    });

    test("jobs that Windows refuses to delete do not count as deleted", async () => {
      await windows.setMachine({ ...withJobs({ Id: 1, JobStatus: "Error", Minutes: 5 }), JobsRefused: true });

      const result = await windows.run("uninstall", deployable());

      assert.doesNotMatch(result.output.join(), /unprinted jobs deleted/);
      assert.match(result.log, /A job stays: Zugriff verweigert/);
    });

    test("jobs that Windows does not delete leave the queue until they are done", async () => {
      await windows.setMachine({
        ...withJobs({ Id: 1, JobStatus: "Deleting", Minutes: 5 }),
        JobsStay: true,
        ListLeaving: true,
      });

      const result = await windows.run("uninstall", deployable());

      assert.equal(result.code, 0);
      assert.match(
        result.output.at(-1) ?? "",
        /; Windows has not removed the queue Office yet, so its port stays/,
      );
    });
  });
});
