import { makeTicket } from "../printers/tickets.ts";
import type { Machine } from "./powershell.ts";
import { deployable } from "./powershell.ts";
import { defaultPrinterKey, papyrusDriver, queue, tcpPort } from "./simulated-machine.ts";

const sid = "S-1-5-21-1-2-3-1001";

/** A printer that changes users' settings in every way, and replaces a queue, a connection and an address. */
export const usersPrinter = deployable({
  duplex: "long_edge",
  set_default: "on",
  print_ticket: makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" }),
  reset_user_preferences: "on",
  replaces: "Old\n\\\\server\\Theirs\naddress:10.0.0.5",
});

/** A machine on which `usersPrinter` changes something of every kind. */
export const usersMachine: Machine = {
  Users: [sid],
  Queues: [queue("Old", "OLD_1"), queue("Double", "double")],
  Ports: [{ Name: "LPT1:" }, tcpPort("OLD_1", "10.0.0.1"), tcpPort("double", "10.0.0.5")],
  Drivers: [papyrusDriver()],
  Registry: {
    [defaultPrinterKey(sid)]: { Device: "\\\\server\\Theirs,winspool,Ne04:" },
    [defaultPrinterKey(sid).replace(/Windows$/, "Devices")]: { "\\\\server\\Theirs": "winspool,Ne04:" },
    [`HKEY_USERS\\${sid}\\Printers\\DevModePerUser`]: { Office: "own" },
    [`HKEY_USERS\\${sid}\\Printers\\Connections\\,,server,Theirs`]: { Server: "\\\\server" },
    "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Print\\Connections\\,,server,Theirs": {
      Server: "\\\\server",
    },
  },
};
