import { describe } from "node:test";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { papyrusDriver, queue, readyMachine, tcpPort } from "../support/powershell/simulated-machine.ts";
import { storiesOf, tellStories } from "../support/powershell/transcripts.ts";

const other = { ...papyrusDriver(), Name: "Other" };
const right = { Location: "Hall", Comment: "new", Shared: true, ShareName: "office", Jobs: [1, 2] };
const office = deployable({ location: "Hall", comment: "new", shared: "on", share_name: "office" });

/** Removes the values of a TCP/IP port. */
const localPort = Object.fromEntries(
  Object.keys(tcpPort(""))
    .map((name) => [name, undefined])
    .slice(1),
);

/** What differs on the queue, and on its port. */
const drifts: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  "the queue's driver": [{ DriverName: "Other" }],
  "the queue's port": [{ PortName: "LPT1:" }],
  "its location": [{ Location: "Cellar" }],
  "its comment": [{ Comment: "old" }],
  "its sharing": [{ Shared: false, ShareName: "" }],
  "its share name": [{ ShareName: "old" }],
  "the port's address": [{}, { PrinterHostAddress: "10.0.0.1" }],
  "the port's number": [{}, { PortNumber: 9101 }],
  "the port's protocol": [{}, { PortNumber: 515, Protocol: 2, LprQueueName: "lp" }],
  "the port's SNMP": [{}, { SNMPEnabled: true }],
  "a local port of its name": [{}, localPort],
};

const elsewhere = { PrinterHostAddress: "10.0.0.1" };

describe("drift and ports on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("repairs", {
    // Without a new queue, its jobs stay.
    ...storiesOf(
      drifts,
      (what) => `detect reports drift of ${what}, and install repairs it without a new queue`,
      ([ofQueue, ofPort]) => [
        readyMachine({ ...right, ...ofQueue }, ofPort, { Drivers: [papyrusDriver(), other] }),
        office,
        "detect, install, detect",
      ],
    ),
    "a port of the same name with another address is replaced when no queue uses it": [
      readyMachine({}, elsewhere, { Queues: [] }),
      "install, detect",
    ],
    "a port of the same name with another address stays when another queue uses it": [
      readyMachine({ Name: "Theirs" }, elsewhere),
      "install, install",
    ],
    "the own queue gets a correct port, and its wrong port is removed": [
      readyMachine({}, elsewhere),
      "install, detect",
    ],
    "the port gets LPR and a host name as configured": [
      deployable({ protocol: "lpr", lpr_queue: "lp1", address: "printer.example.lan" }),
      "install, detect",
    ],
    // Neither output nor log has the community.
    "the port gets SNMP as configured": [
      deployable({ snmp: "on", snmp_community: "geheim's", snmp_index: "3" }),
      "install, detect",
    ],
    "the port gets an IPv6 address and its number as configured": [
      deployable({ address: "fe80::1:2", port_number: "9101" }),
      "install, detect",
    ],
    "an existing local port is used": [deployable({ address: "", port_name: "LPT1:" }), "install, detect"],
    "a port without an address is local": [
      deployable({ address: "", port_name: "C:/out.prn" }),
      "install, detect",
    ],
    "an IPv6 address is the same in every spelling": [
      {
        Queues: [queue("Office", "IP_fe80::1")],
        Ports: [tcpPort("IP_fe80::1", "fe80::1")],
        Drivers: [papyrusDriver()],
      },
      deployable({ address: "FE80:0:0::0001", port_name: "IP_fe80::1" }),
      "install, detect",
    ],
  });
});
