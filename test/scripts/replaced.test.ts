import { describe } from "node:test";
import { deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  papyrusDriver,
  queue,
  readyMachine,
  tcpPort,
} from "../support/powershell/simulated-machine.ts";
import { tellStories } from "../support/powershell/transcripts.ts";

const connection = { ...queue("\\\\server\\q", "Their port"), Type: "Connection" };
const atAddress: Machine = {
  Queues: [
    queue("Theirs", "Their port"),
    queue("Copy", "Their port"),
    queue("LPR", "10.0.0.5_LPR"),
    queue("Elsewhere", "Other"),
    queue("By name", "Host"),
    queue("Local", "LPT1:"),
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
const withConnection = { ...atAddress, Queues: [...(atAddress.Queues ?? []), connection] };
const byAddress = deployable({ replaces: "address:10.0.0.5" });
const both = deploymentOfMany("Client", [
  deployable({ id: "7", name: "PCL", replaces: "address:10.0.0.9" }),
  deployable({ id: "8", name: "PS", replaces: "address:10.0.0.9" }),
]);

const users = ["S-1-5-21-9-8-7-1001", "S-1-12-1-5-6-7-8"] as const;
const name = "\\\\server\\Old HP";
const theirs = { "\\\\server\\Other": "winspool,Ne05:" };
const print = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Print\\Connections";
const cache =
  "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Print\\Providers\\Client Side Rendering Print Provider";
const listed = (sid: string, list: string) => defaultPrinterKey(sid).replace(/Windows$/, list);

/** The keys of a connection, of the machine and of each user. */
const connectionKeys = (key: string): Record<string, Record<string, unknown>> => ({
  [`${print}\\${key}`]: { Server: "\\\\server", Provider: "win32spl.dll" },
  ...Object.fromEntries(
    users.flatMap((sid) => [
      [`HKEY_USERS\\${sid}\\Printers\\Connections\\${key}`, { Server: "\\\\server" }],
      [`${cache}\\${sid}\\Printers\\Connections\\${key}`, { GuidPrinter: "{1}" }],
    ]),
  ),
});
const lists = Object.fromEntries(
  users.flatMap((sid) => [
    [listed(sid, "Devices"), { "\\\\SERVER\\old hp": "winspool,Ne04:", Office: "winspool,Ne07:", ...theirs }],
    [listed(sid, "PrinterPorts"), { [name]: "winspool,Ne04:,15,45", ...theirs }],
  ]),
);
const Registry: Record<string, Record<string, unknown>> = {
  ...connectionKeys(",,server,Old HP"),
  ...connectionKeys(",,server,Other"),
  ...lists,
  [defaultPrinterKey(users[0])]: { Device: `${name},winspool,Ne04:` },
  [defaultPrinterKey(users[1])]: { Device: "\\\\server\\Other,winspool,Ne05:" },
};
const connected = readyMachine({}, {}, { Users: [...users], Registry });
const office = deployable({ replaces: name });

describe("what a printer replaces, on a simulated Windows", { skip: withoutPowerShell }, () => {
  tellStories("replaced", {
    "all queues at an address are removed, with the ports that no other queue uses": [
      atAddress,
      byAddress,
      "install, detect, install",
    ],
    "a connection is not a local queue at an address: it stays, and so does its port": [
      withConnection,
      byAddress,
      "install, detect",
    ],
    "at the printer's own address its duplicates are removed, and its own queue stays": [
      {
        Queues: [
          queue("Office", "IP_10.0.0.9"),
          queue("Office (Kopie 1)", "IP_10.0.0.9"),
          queue("HP123", "10.0.0.9_1"),
        ],
        Ports: [tcpPort("IP_10.0.0.9"), tcpPort("10.0.0.9_1")],
        Drivers: [papyrusDriver()],
      },
      deployable({ replaces: "address:10.0.0.9" }),
      "install, detect",
    ],
    "a replaced IPv6 address is the same in every spelling": [
      {
        Queues: [queue("Old", "six")],
        Ports: [tcpPort("six", "FE80:0:0:0::0005")],
        Drivers: [papyrusDriver()],
      },
      deployable({ replaces: "address:[fe80::5]" }),
      "install, detect",
    ],
    "queues that the same script deploys stay, also at that address": [
      { Queues: [queue("Old", "old")], Ports: [tcpPort("old")] },
      both,
      "install, install",
    ],
    "a queue with open jobs is removed when they are done, and its port by a later run": [
      {
        Queues: [{ ...queue("Old", "old"), Jobs: [1] }],
        Ports: [tcpPort("old", "10.0.0.5")],
        Drivers: [papyrusDriver()],
        ListLeaving: true,
      },
      byAddress,
      "install",
      (last) => ({ Queues: last.machine.Queues.filter(({ Name }) => Name === "Office") }),
      "install",
    ],
    "-WhatIf prints each queue at an address and removes none": [
      withConnection,
      byAddress,
      "install -WhatIf",
    ],
    "connections of the machine and of logged-on users are removed, others at log-on, and affected users get the printer":
      [connected, office, "install, detect, install"],
    "several connections are removed at log-on": [
      connected,
      office,
      "install",
      ["install", deployable({ replaces: `${name}\n\\\\10.0.0.5\\b` })],
    ],
    "the next run removes a connection that was added again": [
      connected,
      office,
      "install",
      { Registry },
      "install",
    ],
    "a driver-only deployment removes connections too, and clears a default printer that no longer exists": [
      { ...connected, Queues: [], Ports: [] },
      deployable({ address: "", replaces: name }),
      "install, detect, uninstall",
    ],
    "a failed installation removes no connection": [
      { ...connected, Queues: [], SilentAddFailures: 9 },
      office,
      "install",
    ],
    "-WhatIf prints each connection and removes none": [connected, office, "install -WhatIf"],
    "uninstall removes the command at log-on": [connected, office, "install, uninstall"],
    "a user's registry that cannot be written becomes a remark, and the next run removes the rest": [
      connected,
      ["install", office, { failAt: "registry Remove-ItemProperty" }],
      ["install", office],
    ],
  });
});
