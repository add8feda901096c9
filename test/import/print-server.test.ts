import assert from "node:assert/strict";
import { test } from "node:test";
import { readPrintServer } from "../../src/domain/import/print-server.ts";

/** The address of a queue on each of these ports, or the reason why it is left out. */
function targetsOf(ports: readonly Record<string, unknown>[]) {
  const printers = ports.map(({ Name }) => ({ Name: `On ${Name}`, PortName: Name, DriverName: "Papyrus" }));
  const { rows } = readPrintServer(JSON.stringify({ Printers: printers, Ports: ports }));
  return rows.map(({ values, leftOut }) => values.address ?? leftOut);
}

test("a port with a host address is never local, whatever its name", () => {
  const names = [
    "TS3480",
    "TS001",
    "COM3OG",
    "COM3:",
    "USB2",
    "LPT1-10.0.0.5",
    "NUL",
    "FILE:",
    "Microsoft.1",
  ];
  const ports = names.map((Name, i) => ({ Name, PrinterHostAddress: `10.0.0.${i + 1}`, Protocol: 1 }));

  const found = targetsOf(ports);

  assert.deepEqual(
    found,
    ports.map(({ PrinterHostAddress }) => PrinterHostAddress),
  );
});

test("ports without an address are local if their whole name matches; others are reported as unknown", () => {
  const local = [
    "PORTPROMPT:",
    "FILE:",
    "nul:",
    "XPSPort:",
    "SHRFAX:",
    "USB001",
    "DOT4_001",
    "LPT1:",
    "COM12:",
  ];
  const far = ["TS001", "\\\\other\\share", "Microsoft.Office.OneNote_1"];
  const other = ["TSCAN", "COM3OG", "USBPRINT_3", "lpt"];

  const found = targetsOf([...local, ...far, ...other].map((Name) => ({ Name })));
  const [named] = targetsOf([{ Name: "LPT1-10.0.0.5" }]);

  const isUnknown = (reason = "") => /a local port of that PC/.test(reason);
  assert.deepEqual(found.map(isUnknown), [...local, ...far].map(() => false).concat(other.map(() => true)));
  assert.equal(named, "10.0.0.5");
});

test("a queue whose port name is an IPP URL becomes a driverless printer; other IPP queues are left out", () => {
  const names = [
    "http://10.0.0.9:631/ipp/print",
    "ipp://printer.example/ipp/port1",
    "ipps://[fe80::9]/ipp/print",
    "https://10.0.0.8/ipp",
    "http://10.0.0.7/printers/Office/.printer",
    "http://10.0.0.6/ipp?queue=1",
    "IPP-0815",
  ];
  const printers = names.map((PortName) => ({ Name: PortName, PortName, DriverName: "Papyrus" }));
  const ports = names.map((Name) => ({ Name, PortMonitor: "IPP Port Monitor" }));

  const { rows } = readPrintServer(JSON.stringify({ Printers: printers, Ports: ports }));

  const found = rows.map(({ values, driver, leftOut }) => {
    const { protocol, address, port_number, ipp_path, ipp_tls } = values;
    return leftOut ?? [driver?.model, protocol, address, port_number, ipp_path, ipp_tls].join(" ");
  });
  const left = "Prints over IPP, but Windows does not report the address. Add the printer by hand.";
  assert.deepEqual(found, [
    "Microsoft IPP Class Driver ipp 10.0.0.9 631 /ipp/print ",
    "Microsoft IPP Class Driver ipp printer.example 631 /ipp/port1 ",
    left,
    "Microsoft IPP Class Driver ipp 10.0.0.8 443 /ipp on",
    "Microsoft IPP Class Driver ipp 10.0.0.7 80 /printers/Office/.printer ",
    left,
    left,
  ]);
});

test("a queue with the IPP class driver on a WSD port becomes a driverless printer with the address from Windows", () => {
  const Printers = [{ Name: "Hall", PortName: "WSD-1", DriverName: "Microsoft IPP class driver" }];
  const Ports = [{ Name: "WSD-1", PortMonitor: "WSD Port Monitor", DeviceURL: "http://10.0.0.9:80/wsd" }];

  const { rows } = readPrintServer(JSON.stringify({ Printers, Ports }));

  const [row] = rows;
  const { address, protocol, port_name } = row?.values ?? {};
  assert.deepEqual([address, protocol, port_name], ["10.0.0.9", "ipp", ""]);
  assert.match(row?.remarks.join() ?? "", /check its IPP path/);
});
