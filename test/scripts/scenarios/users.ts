import { createHash } from "node:crypto";
import { deployable, type Machine } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import {
  defaultPrinterKey,
  papyrusDriver,
  queue,
  tcpPort,
} from "../../support/powershell/simulated-machine.ts";
import { makeTicket } from "../../support/printers/tickets.ts";

const people = ["S-1-5-21-9-8-7-1001", "S-1-12-1-5-6-7-8"] as const;
const stapled = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft", "psk:PageInputBin": "psk:Cassette" });
const perUser = people.map((sid) => [
  `HKEY_USERS\\${sid}\\Printers\\DevModePerUser`,
  { Office: "own", Hall: "own" },
]);
const withOwn: Machine = { Registry: Object.fromEntries(perUser) };
const files = { "preferences.dat": "trays" };
const sha256 = createHash("sha256").update("trays").digest("hex");
const plain = deployable();
const withFile = { ...plain, printer: { ...plain.printer, preferences_sha256: sha256 } };
const reset = deployable({ reset_user_preferences: "on" });

const preferences: ScenarioGroup = {
  title: "Preferences",
  about: "_Office_ with a PrintTicket that staples at the top left and takes paper from the cassette.",
  what: deployable({ print_ticket: stapled }),
  scenarios: [
    ["the driver takes the ticket", 0, "install"],
    ["installed with the ticket", 0, "install, install"],
    ["the driver refuses the ticket", 0, { Refuses: ["PrintTicketXml"] }, "install"],
    ["no ticket, but a file of vendor preferences", 0, ["install", withFile, { files }]],
    [
      "the same, and Windows does not restore the file",
      0,
      { PrintUi: "refuses" },
      ["install", withFile, { files }],
    ],
    [
      "no ticket, but users’ own preferences are deleted; two logged-on users have their own for _Office_ and _Hall_",
      0,
      { Users: [...people], ...withOwn },
      ["install", reset],
    ],
    [
      "the same, installed; both users have set preferences again",
      0,
      { Users: [...people], ...withOwn },
      ["install", reset],
      withOwn,
      ["install", reset],
    ],
  ],
};

const connections: Machine = {
  Users: [...people],
  Registry: {
    "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Print\\Connections\\,,server,Old": {
      Server: "\\\\server",
    },
    ...Object.fromEntries(
      people.map((sid) => [
        `HKEY_USERS\\${sid}\\Printers\\Connections\\,,server,Old`,
        { Server: "\\\\server" },
      ]),
    ),
    [defaultPrinterKey(people[0])]: { Device: "\\\\server\\Old,winspool,Ne04:" },
    [defaultPrinterKey(people[0]).replace(/Windows$/, "Devices")]: { "\\\\server\\Old": "winspool,Ne04:" },
  },
};
const byHand: Machine = {
  Queues: [queue("By hand", "10.0.0.5_1"), queue("LPR", "lpr"), queue("Elsewhere", "10.0.0.50_1")],
  Ports: [
    tcpPort("10.0.0.5_1", "10.0.0.5"),
    { ...tcpPort("lpr", "10.0.0.5"), Protocol: 2, LprQueueName: "lp", PortNumber: 515 },
    tcpPort("10.0.0.50_1", "10.0.0.50"),
  ],
  Drivers: [papyrusDriver()],
};

const replaced: ScenarioGroup = {
  title: "What a printer replaces",
  about: "_Office_ at 10.0.0.9 with a value in _Old queues to remove_.",
  what: deployable({ replaces: "\\\\server\\Old" }),
  scenarios: [
    [
      "_Old queues to remove_ has `\\\\server\\Old`, a connection of the machine and of two logged-on users; it is the first user’s default printer",
      0,
      connections,
      "install",
    ],
    [
      "_Old queues to remove_ has `address:10.0.0.5`: two queues use ports to it, a third uses a port to 10.0.0.50",
      0,
      byHand,
      ["install", deployable({ replaces: "address:10.0.0.5" })],
    ],
    [
      "the same, but the installation fails",
      1603,
      { ...byHand, SilentAddFailures: 9 },
      ["install", deployable({ replaces: "address:10.0.0.5" })],
    ],
  ],
};

/** Users' preferences, connections and queues. */
export const users: readonly ScenarioGroup[] = [preferences, replaced];
