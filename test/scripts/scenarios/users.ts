import { deployable, type Machine } from "../../support/powershell/powershell.ts";
import type { ScenarioGroup } from "../../support/powershell/scenario.ts";
import { papyrus, queue, tcp, userPath } from "../../support/powershell/simulated-machine.ts";
import { makeTicket } from "../../support/printers/tickets.ts";

const people = ["S-1-5-21-9-8-7-1001", "S-1-12-1-5-6-7-8"] as const;
const stapled = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft", "psk:PageInputBin": "psk:Cassette" });
const ownPreferences = Object.fromEntries(
  people.map((sid) => [`HKEY_USERS\\${sid}\\Printers\\DevModePerUser`, { Office: "own", Hall: "own" }]),
);
const reset = deployable({ reset_user_preferences: "on" });

const preferences: ScenarioGroup = {
  title: "Preferences",
  about: "_Office_ with a PrintTicket that staples at the top left and takes paper from the cassette.",
  what: deployable({ print_ticket: stapled }),
  scenarios: [
    { before: "the driver takes the ticket", run: "install" },
    { before: "installed with the ticket", run: "install", after: ["install"] },
    { before: "the driver refuses the ticket", run: "install", machine: { Refuses: ["PrintTicketXml"] } },
    {
      before:
        "no ticket, but users’ own preferences are to go; two users are logged on and have their own for _Office_ and for _Hall_",
      run: "install",
      machine: { Users: [...people], Registry: ownPreferences },
      what: reset,
    },
    {
      before: "the same, installed; both users have set their own again",
      run: "install",
      machine: { Users: [...people], Registry: ownPreferences },
      after: ["install"],
      since: { Registry: ownPreferences },
      what: reset,
    },
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
    [userPath(people[0])]: { Device: "\\\\server\\Old,winspool,Ne04:" },
    [userPath(people[0]).replace(/Windows$/, "Devices")]: { "\\\\server\\Old": "winspool,Ne04:" },
  },
};
const byHand: Machine = {
  Queues: [queue("By hand", "10.0.0.5_1"), queue("LPR", "lpr"), queue("Elsewhere", "10.0.0.50_1")],
  Ports: [
    tcp("10.0.0.5_1", "10.0.0.5"),
    { ...tcp("lpr", "10.0.0.5"), Protocol: 2, LprQueueName: "lp", PortNumber: 515 },
    tcp("10.0.0.50_1", "10.0.0.50"),
  ],
  Drivers: [papyrus()],
};

const replaced: ScenarioGroup = {
  title: "What a printer replaces",
  about: "_Office_ at 10.0.0.9, with something under _Replaces_.",
  what: deployable({ replaces: "\\\\server\\Old" }),
  scenarios: [
    {
      before:
        "_Replaces_ has `\\\\server\\Old`: a connection of the machine and of two users who are logged on, the first one’s default printer",
      run: "install",
      machine: connections,
    },
    {
      before:
        "_Replaces_ has `address:10.0.0.5`: two queues are on ports to it, a third is on one to 10.0.0.50",
      run: "install",
      machine: byHand,
      what: deployable({ replaces: "address:10.0.0.5" }),
    },
    {
      before: "the same, but the installation fails",
      run: "install",
      code: 1603,
      machine: { ...byHand, AddPrinterLies: 9 },
      what: deployable({ replaces: "address:10.0.0.5" }),
    },
  ],
};

/** What is between a printer and the users of the machine. */
export const users: readonly ScenarioGroup[] = [preferences, replaced];
