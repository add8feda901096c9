import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  findPort,
  getQueue,
  papyrusDriver,
  queue,
  tcpPort,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("drift and ports on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  const drifts: Record<string, Machine> = {
    "the queue's driver": {
      Queues: [queue("Office", "IP_10.0.0.9", "Other")],
      Ports: [tcpPort("IP_10.0.0.9")],
    },
    "the queue's port": {
      Queues: [queue("Office", "LPT1:")],
      Ports: [{ Name: "LPT1:" }, tcpPort("IP_10.0.0.9")],
    },
    "its location": {
      Queues: [{ ...queue("Office", "IP_10.0.0.9"), Location: "Cellar" }],
      Ports: [tcpPort("IP_10.0.0.9")],
    },
    "its comment": {
      Queues: [{ ...queue("Office", "IP_10.0.0.9"), Comment: "old" }],
      Ports: [tcpPort("IP_10.0.0.9")],
    },
    "its sharing": { Queues: [queue("Office", "IP_10.0.0.9")], Ports: [tcpPort("IP_10.0.0.9")] },
    "its share name": {
      Queues: [{ ...queue("Office", "IP_10.0.0.9"), Shared: true, ShareName: "old" }],
      Ports: [tcpPort("IP_10.0.0.9")],
    },
    "the port's address": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [tcpPort("IP_10.0.0.9", "10.0.0.1")],
    },
    "the port's number": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ ...tcpPort("IP_10.0.0.9"), PortNumber: 9101 }],
    },
    "the port's protocol": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ ...tcpPort("IP_10.0.0.9"), PortNumber: 515, Protocol: 2, LprQueueName: "lp" }],
    },
    "the port's SNMP": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ ...tcpPort("IP_10.0.0.9"), SNMPEnabled: true }],
    },
    "a local port of its name": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ Name: "IP_10.0.0.9" }],
    },
  };
  for (const [what, machine] of Object.entries(drifts)) {
    test(`detect reports drift of ${what}, and install repairs it without a new queue`, async () => {
      const office = deployable({ location: "Hall", comment: "new", shared: "on", share_name: "office" });
      const jobs = [{ ...machine.Queues?.[0], Jobs: [1, 2] }];
      await windows.setMachine({
        ...machine,
        Queues: jobs,
        Drivers: [papyrusDriver(), { ...papyrusDriver(), Name: "Other" }],
      });

      const drifted = await windows.run("detect", office);
      const result = await windows.run("install", office);
      const after = await windows.run("detect", office);

      assert.equal(drifted.code, 1);
      assert.equal(result.code, 0, result.output.join());
      assert.equal(result.calls.includes("Add-Printer"), false);
      assert.equal(result.calls.includes("Remove-Printer"), false);
      const repaired = getQueue(result);
      assert.deepEqual(repaired.Jobs, [1, 2]);
      assert.deepEqual(
        [repaired.DriverName, repaired.Location, repaired.Comment],
        ["Papyrus 100 PCL6", "Hall", "new"],
      );
      assert.deepEqual([repaired.Shared, repaired.ShareName], [true, "office"]);
      const port = findPort(result, repaired.PortName);
      assert.deepEqual([port?.PrinterHostAddress, port?.PortNumber, port?.Protocol], ["10.0.0.9", 9100, 1]);
      assert.equal(after.code, 0, after.output.join());
    });
  }

  test("a port of the same name with another address is replaced when no queue uses it", async () => {
    const result = await windows.install({
      Ports: [tcpPort("IP_10.0.0.9", "10.0.0.1")],
      Drivers: [papyrusDriver()],
    });

    assert.deepEqual(
      result.machine.Ports.map(({ Name, PrinterHostAddress }) => [Name, PrinterHostAddress]),
      [["IP_10.0.0.9", "10.0.0.9"]],
    );
  });

  test("a port of the same name with another address stays when another queue uses it", async () => {
    const machine = {
      Queues: [queue("Theirs", "IP_10.0.0.9")],
      Ports: [tcpPort("IP_10.0.0.9", "10.0.0.1")],
      Drivers: [papyrusDriver()],
    };

    const result = await windows.install(machine);

    assert.equal(findPort(result, "IP_10.0.0.9")?.PrinterHostAddress, "10.0.0.1");
    assert.equal(getQueue(result, "Theirs").PortName, "IP_10.0.0.9");
    assert.equal(getQueue(result).PortName, "IP_10.0.0.9_2");
    assert.equal(findPort(result, "IP_10.0.0.9_2")?.PrinterHostAddress, "10.0.0.9");
    const second = await windows.run("install", deployable());
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
  });

  test("the own queue gets a correct port, and its wrong port is removed", async () => {
    const machine = {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [tcpPort("IP_10.0.0.9", "10.0.0.1")],
      Drivers: [papyrusDriver()],
    };

    const result = await windows.install(machine);

    const port = findPort(result, getQueue(result).PortName);
    assert.equal(port?.PrinterHostAddress, "10.0.0.9");
    assert.equal(result.machine.Ports.length, 1, JSON.stringify(result.machine.Ports));
  });

  test("the port gets LPR, SNMP, IPv6 and host names as configured", async () => {
    const lpr = await windows.install(
      {},
      deployable({ protocol: "lpr", lpr_queue: "lp1", address: "printer.example.lan" }),
    );
    const snmp = await windows.install(
      {},
      deployable({ snmp: "on", snmp_community: "geheim's", snmp_index: "3" }),
    );
    const six = await windows.install({}, deployable({ address: "fe80::1:2", port_number: "9101" }));

    const lprPort = findPort(lpr, "IP_printer.example.lan");
    assert.deepEqual(
      [lprPort?.Protocol, lprPort?.LprQueueName, lprPort?.PrinterHostAddress],
      [2, "lp1", "printer.example.lan"],
    );
    const snmpPort = findPort(snmp, "IP_10.0.0.9");
    assert.deepEqual(
      [snmpPort?.SNMPEnabled, snmpPort?.SNMPCommunity, snmpPort?.SNMPIndex],
      [true, "geheim's", 3],
    );
    assert.doesNotMatch(snmp.log, /geheim/, "the log contains no community");
    assert.deepEqual(
      [findPort(six, "IP_fe80::1:2")?.PrinterHostAddress, findPort(six, "IP_fe80::1:2")?.PortNumber],
      ["fe80::1:2", 9101],
    );
  });

  test("a port without an address is local, and an existing port is reused", async () => {
    const existing = await windows.install({}, deployable({ address: "", port_name: "LPT1:" }));
    const made = await windows.install({}, deployable({ address: "", port_name: "C:/out.prn" }));

    assert.equal(getQueue(existing).PortName, "LPT1:");
    assert.equal(existing.calls.includes("Add-PrinterPort"), false);
    assert.equal(getQueue(made).PortName, "C:/out.prn");
  });

  test("an IPv6 address is the same in every spelling", async () => {
    const spelled = { ...tcpPort("IP_fe80::1", "fe80::1") };
    const machine = { Queues: [queue("Office", "IP_fe80::1")], Ports: [spelled], Drivers: [papyrusDriver()] };

    const result = await windows.install(
      machine,
      deployable({ address: "FE80:0:0::0001", port_name: "IP_fe80::1" }),
    );

    assert.equal(result.calls.includes("Add-PrinterPort"), false);
  });
});
