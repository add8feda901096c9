import { describe } from "node:test";
import { deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import {
  device,
  ippDriver,
  ippPort,
  ippPortKeys,
  ippQueue,
  ippUrl,
  windowsDeployable,
  withIppQueue,
} from "../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { markerPath, papyrusDriver, queue, tcpPort } from "../support/powershell/simulated-machine.ts";
import type { Values } from "../support/powershell/steps.ts";
import { storiesOf, tellStories } from "../support/powershell/transcripts.ts";

const office = windowsDeployable();
const awake = { Devices: [device()] };
const asleep = { Devices: [device({ Awake: false })] };
const all = { location: "Hall", comment: "2nd floor", shared: "on", share_name: "office" };

const monitors = { "IPP Port Monitor": "IPP Port Monitor", "printer’s URL": "Internet Port" };
const failures: Record<string, Values> = {
  "that falls asleep meanwhile": { FallsAsleep: true },
  "that times out": { Code: "0x800705b4" },
  "that Windows cannot use": { Code: "0x80070057" },
  "that Windows knows without a queue": { Known: "device" },
};
const wrongUrls = {
  "no queue": "nothing",
  "one on a TCP/IP port": "tcp",
  "one on a WSD port": "wsd",
  "one with another driver": "driver",
};
const many = deploymentOfMany("Client", [
  office,
  deployable({ id: "8", name: "Label", address: "10.0.0.8" }),
]);
const stopping: Record<string, Machine> = {
  "before adding the queue": { SpoolerDiesAt: "Add-Printer" },
  "after adding the queue": { DiesAfterAdd: true },
  "after adding the queue under another name": { DiesAfterAdd: true, IgnoresQueueName: true },
};

describe("IPP queues on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("ipp", {
    "install adds the queue with all settings, and a second run does not contact the printer": [
      { ...awake, Users: ["S-1-5-21-1-2-3-1001"] },
      windowsDeployable({ ...all, duplex: "long_edge", set_default: "on" }),
      "install, install",
    ],
    ...storiesOf(
      monitors,
      (name) => `the queue is accepted with the ${name}, if Windows chooses that`,
      (IppMonitor) => [{ ...awake, IppMonitor }, office, "install, install, uninstall"],
    ),
    "Windows gets another port, another path and TLS as configured": [
      { Devices: [device({ Port: 443, Path: "/ipp/port1", Tls: true, Address: "fe80::1:2" })] },
      windowsDeployable({ port_number: "443", ipp_path: "/ipp/port1", ipp_tls: "on", address: "fe80::1:2" }),
      "install, detect",
    ],
    "protected print mode allows an IPP printer": [
      {
        ...awake,
        Registry: {
          "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP": { WindowsProtectedPrintMode: 1 },
        },
      },
      office,
      "install",
    ],
    "a Windows without -IppURL fails before any change, and the message names versions that have it": [
      { ...awake, WithoutIppUrl: true, Spooler: { Status: "Stopped", StartType: "Manual" } },
      office,
      "install",
    ],
    "a sleeping printer gives 1618 and leaves nothing, and is installed when it is awake": [
      asleep,
      office,
      "install",
      awake,
      "install",
    ],
    ...storiesOf(
      failures,
      (what) => `a printer ${what} fails with Windows' error, and leaves nothing`,
      (quirk) => [{ Devices: [device(quirk)] }, office, "install"],
    ),
    ...storiesOf(
      wrongUrls,
      (what) => `a wrong URL for which Windows adds ${what} and reports a success fails and leaves no queue`,
      (WrongUrl) => [{ Devices: [device({ Path: "/ipp" })], WrongUrl }, office, "install"],
    ),
    "a queue that Windows names after the device is renamed": [
      { ...awake, IgnoresQueueName: true },
      office,
      "install, detect",
    ],
    "a queue that Windows names after the device is removed when it cannot be renamed": [
      { ...awake, IgnoresQueueName: true, RenameRefused: true },
      office,
      "install",
    ],
    "uninstall names a queue that a cut left under another name, and keeps it": [
      { ...awake, IgnoresQueueName: true },
      ["install", office, { failAt: "Rename-Printer", failWith: "cut" }],
      ["uninstall", office],
    ],
    "preferences that the device lacks become a remark": [
      { ...awake, Refuses: ["DuplexingMode"] },
      windowsDeployable({ duplex: "long_edge" }),
      "install",
    ],
    "an IPP and a TCP/IP printer can share a package": [awake, many, "install, install, detect"],
    "of a package with a sleeping IPP printer the other printer is installed, and both are removed": [
      asleep,
      many,
      "install, uninstall",
    ],
    "-WhatIf with no queue prints the changes, and neither changes Windows nor contacts the printer": [
      awake,
      office,
      "install -WhatIf",
    ],
    "-WhatIf with a queue of another driver prints the changes, and neither changes Windows nor contacts the printer":
      [{ ...awake, Queues: [queue("Office", "LPT1:")] }, office, "install -WhatIf"],
    "uninstall keeps the driver for other queues": [withIppQueue("Theirs"), office, "install, uninstall"],
    "uninstall keeps the driver with keep_driver": [
      awake,
      windowsDeployable({ keep_driver: "on" }),
      "install, uninstall",
    ],
    "a busy driver is no failure of uninstall": [
      awake,
      office,
      "install",
      { LingerMs: 10 * 60_000 },
      "uninstall",
    ],
    ...storiesOf(
      stopping,
      (when) => `a spooler that stops ${when} is started again, and there is one queue`,
      (quirk) => [{ ...awake, ...quirk }, office, "install, detect"],
    ),
  });
});

const portId = "00000000-0000-4000-8000-000000000001";
const wsd = "Papyrus 100 (WSD)";
const known: Machine = {
  ...withIppQueue(wsd),
  Devices: [device({ Known: wsd })],
  Registry: ippPortKeys("WSD-1", 0),
};
const byId: Machine = {
  ...awake,
  Queues: [ippQueue("Double"), ippQueue("Other device", "WSD-2")],
  Ports: [ippPort(), ippPort("WSD-2")],
  Registry: { ...ippPortKeys("WSD-1", 1, `IPP-${portId}`), ...ippPortKeys("WSD-2", 1, "IPP-2") },
};
const [a, b] = [windowsDeployable({ id: "7", name: "A" }), windowsDeployable({ id: "8", name: "B" })];

/** A queue of another device, which Windows adds while the script waits for ours. */
const Meanwhile = { Name: "Lobby", Location: "http://10.0.0.77:5357/wsd" };
const host = "papyrus.example.org";
const named = windowsDeployable({ address: host });
const located = (at: string, more = {}) => device({ Location: `http://${at}:5357/wsd`, ...more });
const found: Record<string, readonly [Values, typeof office]> = {
  "Windows located the device at our address": [located("10.0.0.9"), office],
  "Windows located it only over IPv6, where ours is an address of IPv4": [located("[fe80::9]"), office],
  "Windows located it by a name": [located("papyrus"), office],
  "Windows adds another that is possible too, but not at our address": [
    located("10.0.0.9", { Meanwhile: { ...Meanwhile, Location: "http://[fe80::77]:5357/wsd" } }),
    office,
  ],
  "the printer has a host name with several addresses": [
    located("10.0.0.9", { Address: host, Meanwhile }),
    named,
  ],
};

describe("other queues on an IPP printer's device, on a simulated Windows", {
  skip: withoutPowerShell,
}, () => {
  tellStories("ipp-other-queues", {
    "a queue that already uses the device is named": [known, office, "install"],
    'only "replaces" removes a queue that already uses the device': [
      known,
      windowsDeployable({ replaces: wsd }),
      "install, detect",
    ],
    "a failure after a queue of the device was replaced names it, and no other queue is replaced": [
      {
        ...known,
        Devices: [device({ Known: wsd, Path: "/ipp" })],
        Queues: [ippQueue(wsd), queue("Old", "OLD_1")],
        Ports: [ippPort(), tcpPort("OLD_1")],
      },
      windowsDeployable({ replaces: `Old\n${wsd}` }),
      "install",
    ],
    "a queue that Windows adds by itself while it refuses ours stays": [
      { Devices: [device({ Code: "0x80070057", Meanwhile: "By Windows" })] },
      office,
      "install",
    ],
    ...storiesOf(
      { port: withIppQueue("Double"), id: byId },
      (by) => `a duplicate queue from Windows is found by its ${by}, and stays`,
      (machine) => [machine, office, "install"],
    ),
    '"replaces" removes a duplicate queue': [
      awake,
      office,
      "install",
      { Queues: [ippQueue("Office", `WSD-${portId}`), ippQueue("Double")] },
      ["install", windowsDeployable({ replaces: "Double" })],
    ],
    "two deployed printers on one device are no duplicates, and the second keeps the port": [
      awake,
      ["install, install", deploymentOfMany("Client", [a, b])],
      ["uninstall", a],
      ["detect, uninstall", b],
    ],
    "a renamed printer gets a new queue on the device, and the old queue is removed": [
      awake,
      ["install", windowsDeployable({ name: "Before" })],
      ["install, detect", office],
    ],
    "the queue of another device is not taken for ours, even when Windows renames ours": [
      { Devices: [device({ Meanwhile })], IgnoresQueueName: true },
      office,
      "install, detect",
    ],
    ...storiesOf(
      found,
      (when) => `our queue is found when ${when}`,
      ([Device, printer]) => [
        {
          Devices: [Device],
          Network: { Names: { [host]: ["10.0.0.8", "10.0.0.9"] } },
          IgnoresQueueName: true,
        },
        printer,
        "install, detect",
      ],
    ),
    "when Windows adds no queue of ours, the queue of another device is not touched": [
      { Devices: [device({ Meanwhile, Path: "/elsewhere" })] },
      office,
      "install",
    ],
    "when a host name has no address, the queue of another device is not touched": [
      { Devices: [device({ Meanwhile, Address: host, Code: "0x80072ee2" })] },
      named,
      "install",
    ],
  });
});

const Drivers = [{ Name: ippDriver, Version: "10.0.26100.1", Date: "06/21/2006" }];
const Ports = [tcpPort("IP_10.0.0.9")];
/** A machine with a queue that has a marker, except for these values. */
const marked = (values: Values, protocol = 1): Machine => ({
  ...withIppQueue("Office"),
  Registry: {
    ...ippPortKeys("WSD-1", protocol),
    [markerPath]: { IppUrl: ippUrl, PortName: "WSD-1", Queue: "Office", Revision: "000000000000", ...values },
  },
});
const wrong: Record<string, Machine> = {
  "a vendor's driver": { Queues: [queue("Office", "IP_10.0.0.9")], Ports, Drivers: [papyrusDriver()] },
  "a TCP/IP port": { Queues: [ippQueue("Office", "IP_10.0.0.9")], Ports, Drivers },
  "a local port": { Queues: [ippQueue("Office", "LPT1:")], Drivers },
  "a WSD port": marked({}, 0),
  "no port at all": { Queues: [ippQueue("Office", "gone")], Drivers },
  "an unknown URL": withIppQueue("Office"),
  "another URL": marked({ IppUrl: "https://10.0.0.9/ipp" }),
  "another port than the one it was given": marked({ PortName: "WSD-0" }),
};
const otherPath = windowsDeployable({ ipp_path: "/ipp/port1" });
const withJobs = {
  ...withIppQueue("Office"),
  Queues: [{ ...ippQueue("Office"), Jobs: [1, 2] }],
  ListLeaving: true,
};

describe("IPP queues that are wrong, on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("ipp-wrong-queues", {
    ...storiesOf(
      wrong,
      (what) => `detect reports ${what}, and install adds the queue again`,
      (machine) => [{ ...awake, ...machine }, office, "detect, install"],
    ),
    "a wrong queue of a sleeping printer stays until it is awake": [
      { ...marked({ IppUrl: "https://10.0.0.9/ipp" }), ...asleep },
      office,
      "install",
      awake,
      "install, install",
    ],
    "location, comment and sharing are repaired without a new queue while the printer is asleep": [
      awake,
      ["install", office],
      asleep,
      ["install", windowsDeployable(all)],
    ],
    "a failure after the removal names the removed queue, and the next run adds it": [
      awake,
      ["install", office],
      { Devices: [device({ Path: "/ipp/port1", Code: "0x80070057" })] },
      ["install", otherPath],
      { Devices: [device({ Path: "/ipp/port1" })] },
      ["install", otherPath],
    ],
    "a queue with open jobs is removed when they are done, and the next run adds it": [
      withJobs,
      office,
      "install",
      { Queues: [] },
      "install",
    ],
    "a queue that Windows keeps listing without a reason costs one restart of the spooler": [
      { ...withIppQueue("Office"), ListLeaving: true, LingerMs: 10 * 60_000 },
      office,
      "install",
    ],
    "a printer that changes from TCP/IP to IPP and back has one queue, and its old port is removed": [
      awake,
      ["install", deployable()],
      ["install", office],
      ["install, detect, uninstall", deployable()],
    ],
  });
});
