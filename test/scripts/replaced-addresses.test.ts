import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../support/powershell/powershell.ts";
import { findPort, papyrusDriver, queue, tcpPort } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const names = (result: RunResult) => result.machine.Queues.map(({ Name }) => Name).sort();
const ports = (result: RunResult) => result.machine.Ports.map(({ Name }) => Name).sort();

describe("queues at an address that a printer replaces, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  const windows = simulatedWindows();

  const machine: Machine = {
    Queues: [
      queue("Theirs", "Their port"),
      queue("Copy", "Their port"),
      queue("LPR", "10.0.0.5_LPR"),
      queue("Elsewhere", "Other"),
      queue("By name", "Host"),
      queue("Local", "LPT1:"),
      { ...queue("\\\\server\\q", "Their port"), Type: "Connection" },
    ],
    Ports: [
      { Name: "LPT1:" },
      tcpPort("Their port", "10.0.0.5"),
      { ...tcpPort("10.0.0.5_LPR", "10.0.0.5"), Protocol: 2, LprQueueName: "lp", PortNumber: 515 },
      tcpPort("Other", "10.0.0.50"),
      tcpPort("Host", "printer.lan"),
    ],
    Drivers: [papyrusDriver()],
  };

  test("all of them are removed, with the ports that no other queue uses", async () => {
    const office = deployable({ replaces: "address:10.0.0.5" });

    const result = await windows.install({ ...machine, Queues: machine.Queues?.slice(0, -1) ?? [] }, office);
    const second = await windows.run("install", office);

    assert.deepEqual(names(result), ["By name", "Elsewhere", "Local", "Office"]);
    assert.deepEqual(ports(result), ["Host", "IP_10.0.0.9", "LPT1:", "Other"]);
    assert.ok(result.calls.indexOf("Remove-Printer") > result.calls.indexOf("Add-Printer"));
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
  });

  test("a connection is not a local queue: it stays, and so does its port", async () => {
    const result = await windows.install(machine, deployable({ replaces: "address:10.0.0.5" }));

    assert.ok(names(result).includes("\\\\server\\q"));
    assert.ok(findPort(result, "Their port"));
  });

  test("at the printer's own address its duplicates are removed, and its own queue stays", async () => {
    const duplicates: Machine = {
      Queues: [
        queue("Office", "IP_10.0.0.9"),
        queue("Office (Kopie 1)", "IP_10.0.0.9"),
        queue("HP123", "10.0.0.9_1"),
      ],
      Ports: [tcpPort("IP_10.0.0.9"), tcpPort("10.0.0.9_1")],
      Drivers: [papyrusDriver()],
    };

    const result = await windows.install(duplicates, deployable({ replaces: "address:10.0.0.9" }));

    assert.deepEqual(names(result), ["Office"]);
    assert.deepEqual(ports(result), ["IP_10.0.0.9"]);
    assert.equal(result.calls.includes("Add-Printer"), false);
  });

  test("an IPv6 address is the same in every spelling", async () => {
    const six: Machine = {
      Queues: [queue("Old", "six")],
      Ports: [tcpPort("six", "FE80:0:0:0::0005")],
      Drivers: [papyrusDriver()],
    };

    const result = await windows.install(six, deployable({ replaces: "address:[fe80::5]" }));

    assert.deepEqual([names(result), findPort(result, "six")], [["Office"], undefined]);
  });

  test("queues that the same script deploys stay, also at that address", async () => {
    const pcl = deployable({ id: "7", name: "PCL", replaces: "address:10.0.0.9" });
    const ps = deployable({ id: "8", name: "PS", replaces: "address:10.0.0.9" });
    await windows.setMachine({ Queues: [queue("Old", "old")], Ports: [tcpPort("old")] });
    const both = deploymentOfMany("Client", [pcl, ps]);

    const result = await windows.run("install", both);
    const second = await windows.run("install", both);

    assert.equal(result.code, 0, result.output.join());
    assert.deepEqual(
      [names(result), names(second)],
      [
        ["PCL", "PS"],
        ["PCL", "PS"],
      ],
    );
    assert.equal(second.output.at(-1), "Installed: all 2 printers");
  });

  test("a queue with open jobs is removed when they are done, and its port by a later run", async () => {
    const busy: Machine = {
      Queues: [{ ...queue("Old", "old"), Jobs: [1] }],
      Ports: [tcpPort("old", "10.0.0.5")],
      Drivers: [papyrusDriver()],
      ListLeaving: true,
    };
    const office = deployable({ replaces: "address:10.0.0.5" });

    const result = await windows.install(busy, office);
    await windows.changeMachine({ Queues: result.machine.Queues.filter(({ Name }) => Name === "Office") });
    const later = await windows.run("install", office);

    assert.equal(
      result.output.at(-1),
      "Installed: Office: installed; the old queue Old goes when its jobs are done",
    );
    assert.ok(findPort(result, "old"));
    assert.deepEqual([names(later), findPort(later, "old")], [["Office"], undefined]);
  });

  test("-WhatIf prints each queue and removes none", async () => {
    await windows.setMachine(machine);

    const result = await windows.run("install", deployable({ replaces: "address:10.0.0.5" }), {
      parameters: { WhatIf: true },
    });

    assert.deepEqual(
      result.output.filter((line) => /old queue/.test(line)),
      ["Theirs", "Copy", "LPR"].map((name) => `What if: remove the old queue ${name}`),
    );
    assert.equal(result.calls.includes("Remove-Printer"), false);
  });
});
