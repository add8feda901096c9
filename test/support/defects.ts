import {
  addQueue,
  type Change,
  combine,
  loggedOnUsers,
  printEvent,
  setIppAttributes,
  setMachineValues,
  setPortValues,
  setPrintLog,
  setQueueValues,
  setRegistryKey,
  setSnmpState,
  setTcpState,
} from "./powershell/office-machine.ts";
import { markerPath, papyrusDriver, queue, tcpPort } from "./powershell/simulated-machine.ts";

const job = (JobStatus: unknown, Minutes: number) => ({ Id: 1, JobStatus, Minutes });
const print = "HKLM:\\SYSTEM\\CurrentControlSet\\Control\\Print";
const enumerated = "HKLM:\\SYSTEM\\CurrentControlSet\\Enum\\SWD\\DAFWSDProvider";
const policy = "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP";
const offline = "so Windows shows the queue offline and keeps its jobs";
const notLookedAt = "warn queue: not looked at";
const jam = {
  "printer-make-and-model": ["P 1"],
  "printer-state": ["5"],
  "printer-state-reasons": ["media-jam-error"],
};
const stopped = { Status: "Stopped", StartType: "Automatic" };

/** Defects of a machine, each with the beginnings of the diagnosis lines that it must cause. */
export const defects: readonly (readonly [what: string, change: Change, ...lines: string[]])[] = [
  ["no elevation", setMachineValues({ Admin: false }), "warn rights: runs without elevation"],
  [
    "a spooler that is started by hand",
    setMachineValues({ Spooler: { Status: "Running", StartType: "Manual" } }),
    "warn spooler: runs and answers, but start type Manual",
  ],
  [
    "a stopped spooler",
    setMachineValues({ Spooler: stopped }),
    "bad  spooler: is Stopped, start type Automatic",
    notLookedAt,
  ],
  [
    "a disabled spooler",
    setMachineValues({ Spooler: { Status: "Stopped", StartType: "Disabled" } }),
    "bad  spooler: is Stopped, start type Disabled",
    notLookedAt,
  ],
  [
    "a spooler that dies at the first question",
    setMachineValues({ SpoolerDiesAt: 1, SpoolerKeepsDying: true }),
    "bad  spooler: is Stopped since it was asked: something in it, mostly a driver, ends it",
    notLookedAt,
  ],
  [
    "a spooler that dies at the fourth",
    setMachineValues({ SpoolerDiesAt: 4, SpoolerKeepsDying: true }),
    "bad  spooler: stopped answering: Der Spoolerdienst",
    notLookedAt,
  ],
  [
    "protected print mode",
    setRegistryKey(policy, { WindowsProtectedPrintGroupPolicyState: 1 }),
    "bad  protected-print: the mode is on",
  ],
  ["a missing queue", setMachineValues({ Queues: [] }), "bad  queue: there is no such queue"],
  [
    "a connection of the same name",
    setMachineValues({ Queues: [{ ...queue("Office", "IP_10.0.0.9"), Type: "Connection" }] }),
    "bad  queue: there is no such queue",
    "warn doubles: Office is connected too",
  ],
  [
    "another driver",
    setQueueValues({ DriverName: "X" }),
    "bad  queue: DriverName is X, not Papyrus 100 PCL6",
  ],
  ["another location", setQueueValues({ Location: "Attic" }), "warn queue: Location is Attic, not Room 1"],
  [
    "a missing driver",
    setMachineValues({ Drivers: [] }),
    "bad  driver: the driver Papyrus 100 PCL6 is not there",
  ],
  [
    "an older driver",
    setMachineValues({ Drivers: [papyrusDriver("1.2.3.3")] }),
    "bad  driver: the driver's version is 1.2.3.3, not",
  ],
  ["a missing port", setMachineValues({ Ports: [] }), "bad  port: its port IP_10.0.0.9 is not there"],
  [
    "another address, number and index",
    setPortValues({ PrinterHostAddress: "10.0.0.8", PortNumber: 9101, SNMPIndex: 2 }),
    "bad  port: port IP_10.0.0.9: its address is 10.0.0.8, not 10.0.0.9",
    "bad  port: port IP_10.0.0.9: its number is 9101, not 9100",
    "bad  port: port IP_10.0.0.9: its SNMP index is 2, not 1",
  ],
  ["a missing marker", setRegistryKey(markerPath, {}), "warn marker: it was not installed by these scripts"],
  ["another revision", setRegistryKey(markerPath, { Revision: "0" }), "warn marker: its revision is 0, not "],
  [
    "a silent device",
    setTcpState("silent"),
    "bad  tcp: 10.0.0.9 port 9100 does not answer within 5 s: off, asleep",
  ],
  ["a device that refuses", setTcpState("refused"), "bad  tcp: 10.0.0.9 port 9100 refuses the connection"],
  ["a network far away", setTcpState("unreachable"), "bad  tcp: 10.0.0.9 port 9100 cannot be reached"],
  [
    "silent SNMP",
    setSnmpState("silent"),
    `bad  snmp: status is on for the port, but the device does not answer within 5 s, ${offline}`,
  ],
  [
    "refused SNMP",
    setSnmpState("refused"),
    `bad  snmp: status is on for the port, but the device refuses SNMP, ${offline}`,
  ],
  [
    "SNMP that is none",
    setSnmpState("broken"),
    "bad  snmp: status is on for the port, but what the device answers is no SNMP",
  ],
  [
    "SNMP of another index",
    setSnmpState("no-such-name"),
    "bad  snmp: status is on for the port, but the device knows no device of index 1",
  ],
  ["a device that is down", setSnmpState("answers", 5), "bad  snmp: the device answers: down"],
  [
    "a device with a warning",
    setSnmpState("answers", 3),
    "warn snmp: the device answers: running with a warning",
  ],
  ["a jam that IPP tells of", setIppAttributes(jam), "warn ipp: P 1 says it is stopped (media-jam-error)"],
  [
    "an offline queue",
    setQueueValues({ PrinterStatus: "Offline" }),
    "bad  status: Windows calls the queue Offline",
  ],
  [
    "a status as a number",
    setQueueValues({ PrinterStatus: 0x11 }),
    "bad  status: Windows calls the queue Paused, PaperOut",
  ],
  [
    "little toner",
    setQueueValues({ PrinterStatus: "TonerLow, Printing" }),
    "warn status: Windows calls the queue TonerLow, Printing",
  ],
  [
    "a queue that somebody set offline",
    setRegistryKey(`${print}\\Printers\\Office`, { Attributes: 0x448 }),
    "bad  status: somebody has set the queue to be used offline",
  ],
  [
    "stuck jobs",
    setQueueValues({ Jobs: [job("Error, Printing", 45), job("Normal", 30), job(0x200, 3)] }),
    "bad  jobs: 3 open, the oldest for 45 minutes, 2 stuck (Error, Blocked)",
  ],
  [
    "jobs of yesterday",
    setQueueValues({ Jobs: [job("Normal", 1500)] }),
    "bad  jobs: 1 open, the oldest for 1500 minutes, which",
  ],
  [
    "jobs of an hour ago",
    setQueueValues({ Jobs: [job("Spooling", 61)] }),
    "warn jobs: 1 open, the oldest for 61 minutes",
  ],
  [
    "a last job that failed",
    setPrintLog(
      printEvent(842, 5, "9", "Office", 2147500037),
      printEvent(307, 60, "8", "office"),
      printEvent(842, 60, "8", "Office", 0),
    ),
    "bad  log: 1 failures and 1 printed jobs in the last seven days, the last failure at 2",
  ],
  [
    "a failure that was printed since",
    setPrintLog(printEvent(307, 5, "9", "Office"), printEvent(372, 60, "8", "Office")),
    "warn log: 1 failures and 1 printed jobs in the last seven days, the last failure at 2",
  ],
  [
    "a log that nobody may read",
    setMachineValues({ PrintLog: { IsEnabled: true, IsDenied: true, Events: [] } }),
    "warn log: could not be checked: Es wurde versucht",
  ],
  ["no such log", setMachineValues({ PrintLog: null }), "warn log: could not be checked: Es wurde kein"],
  [
    "another queue on the port",
    addQueue("Copy", { Name: "IP_10.0.0.9" }),
    "warn doubles: Copy prints to the same port",
  ],
  [
    "another port to the address",
    addQueue("By hand", tcpPort("Mine", "10.0.0.9")),
    "warn doubles: By hand prints to the same address, 10.0.0.9",
  ],
  [
    "a queue that Windows added by itself",
    combine(
      addQueue("Papyrus [A1]", { Name: "WSD-1", WSD: true }),
      setRegistryKey(`${print}\\Monitors\\WSD Port\\Ports\\WSD-1`, { "Printer UUID": "aa" }),
      setRegistryKey(`${enumerated}\\urn:uuid:aa`, { LocationInformation: "http://10.0.0.9:3911/" }),
    ),
    "warn doubles: Papyrus [A1] prints to the same address, 10.0.0.9",
  ],
  [
    "a queue to be replaced",
    addQueue("Old", { Name: "LPT1:" }),
    "warn doubles: Old was to be replaced and is still there",
  ],
  [
    "a queue to an address to be replaced",
    addQueue("Former", tcpPort("F", "10.9.9.9")),
    "warn doubles: Former was to be replaced and is still there",
  ],
  [
    "connections of users and of the machine",
    combine(
      setRegistryKey(`HKEY_USERS\\${loggedOnUsers[0]}\\Printers\\Connections\\,,srv,Office`, {}),
      setRegistryKey(`${print}\\Connections\\,,srv,Gang`, {}),
    ),
    "warn doubles: \\\\srv\\Gang is connected too",
    "warn doubles: \\\\srv\\Office is connected too",
  ],
];
