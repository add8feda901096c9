import type { Printer } from "../domain/printer.ts";
import { type Html, html } from "./html.ts";
import { type Note, noteBlock } from "./notes.ts";

interface PrinterNote extends Note {
  readonly isFor: (printer: Printer) => boolean;
}

const notes: readonly PrinterNote[] = [
  {
    title: "IPP queues",
    isFor: ({ protocol }) => protocol === "ipp",
    known: [
      "Windows 11 or Windows Server 2022 and later. On older ones the script fails before it touches anything, and says so.",
      "The printer must be awake and reachable when the queue is made: Windows asks it. Otherwise the script ends with 1618, leaves nothing behind, and Intune tries again.",
      "Windows names the port, and gives it another name whenever the queue is made anew. A queue that is right is not asked for again.",
      "They work under Windows protected print mode, which takes no vendor’s driver.",
    ],
    unseen: [
      "which builds of Windows 10 can do it: the script asks the machine itself",
      "what Windows says of a certificate that it does not trust: where TLS fails, try without",
      "every name that Windows gives the port’s monitor: the script takes those that are known, and names any other",
    ],
  },
  {
    title: "A PrintTicket",
    isFor: ({ print_ticket }) => print_ticket !== "",
    known: [
      "The driver decides what it takes of it. The script reads it back: what the driver ignores or refuses is a remark on the last line, no failure.",
    ],
    unseen: ["how each vendor’s driver words what it took: try it on one machine first"],
  },
  {
    title: "ARM64 machines",
    isFor: ({ arm64_driver_id }) => arm64_driver_id !== null,
    known: ["Each machine gets its own driver. A script that is fetched alone downloads that one alone."],
    unseen: ["an ARM64 machine: the scripts ran on a simulated one"],
  },
  {
    title: "Users’ own settings",
    isFor: ({ reset_user_preferences, replaces }) =>
      reset_user_preferences || replaces.some((old) => old.startsWith("\\\\")),
    known: [
      "Users’ preferences and connections go at once for who is logged on, and for everybody else at their next log-on, by Active Setup.",
    ],
    unseen: ["what Active Setup makes of the commands at a real log-on: look at one user’s machine first"],
  },
];

/** What is to be known of a printer's settings; nothing for most. */
export function printerNotes(printer: Printer): Html {
  return html`${notes.filter(({ isFor }) => isFor(printer)).map(noteBlock)}`;
}
