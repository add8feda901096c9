import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { readPrintServer } from "../../src/domain/import/print-server.ts";
import { isDeep, rounds } from "../support/depth.ts";

/** The address of a queue on each of these ports, or the reason why it is left out. */
function targetsOf(ports: readonly Record<string, unknown>[]) {
  const printers = ports.map(({ Name }) => ({ Name: `On ${Name}`, PortName: Name, DriverName: "Papyrus" }));
  const { rows } = readPrintServer(JSON.stringify({ Printers: printers, Ports: ports }));
  return rows.map(({ values, leftOut }) => values.address ?? leftOut);
}

test("a port with an address is never local; others are local if their whole name matches, else reported as unknown", () => {
  const named = "TS3480 TS001 COM3OG COM3: USB2 LPT1-10.0.0.5 NUL FILE: Microsoft.1".split(" ");
  const local = "PORTPROMPT: FILE: nul: XPSPort: SHRFAX: USB001 DOT4_001 LPT1: COM12:".split(" ");
  const far = ["TS001", "\\\\other\\share", "Microsoft.Office.OneNote_1"];
  const other = ["TSCAN", "COM3OG", "USBPRINT_3", "lpt"];
  const addresses = named.map((_, i) => `10.0.0.${i + 1}`);
  const isUnknown = (reason = "") => /a local port of that PC/.test(reason);

  const placed = targetsOf(named.map((Name, i) => ({ Name, PrinterHostAddress: addresses[i], Protocol: 1 })));
  const known = targetsOf([...local, ...far].map((Name) => ({ Name })));
  const unknown = targetsOf(other.map((Name) => ({ Name })));

  assert.deepEqual(placed, addresses);
  assert.deepEqual(known.map(isUnknown), Array(local.length + far.length).fill(false), known.join());
  assert.deepEqual(unknown.map(isUnknown), Array(other.length).fill(true), unknown.join());
  assert.deepEqual(targetsOf([{ Name: "LPT1-10.0.0.5" }]), ["10.0.0.5"]);
});

test("a queue whose port name is an IPP URL becomes a driverless printer; other IPP queues are left out", () => {
  const left = "Prints over IPP, but Windows does not report the address. Add the printer by hand.";
  const targets: [port: string, target: string][] = [
    ["http://10.0.0.9:631/ipp/print", "10.0.0.9 631 /ipp/print "],
    ["ipp://printer.example/ipp/port1", "printer.example 631 /ipp/port1 "],
    ["ipps://[fe80::9]/ipp/print", left],
    ["https://10.0.0.8/ipp", "10.0.0.8 443 /ipp on"],
    ["http://10.0.0.7/printers/Office/.printer", "10.0.0.7 80 /printers/Office/.printer "],
    ["http://10.0.0.6/ipp?queue=1", left],
    ["IPP-0815", left],
  ];
  const Printers = targets.map(([PortName]) => ({ Name: PortName, PortName, DriverName: "Papyrus" }));
  const Ports = targets.map(([Name]) => ({ Name, PortMonitor: "IPP Port Monitor" }));

  const { rows } = readPrintServer(JSON.stringify({ Printers, Ports }));

  const found = rows.map(({ values, driver, leftOut }) => {
    const { protocol, address, port_number, ipp_path, ipp_tls } = values;
    const target = [driver?.model, protocol, address, port_number, ipp_path, ipp_tls].join(" ");
    return leftOut ?? target.replace("Microsoft IPP Class Driver ipp ", "");
  });
  const expected = targets.map(([, target]) => target);
  assert.deepEqual(found, expected);
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

test("of pooled ports the first TCP/IP port is taken, with its settings from the list or its address from its name", () => {
  const lpr = { PrinterHostAddress: "printer.example", Protocol: 2, LprQueueName: "lp" };
  const pools: [ports: string, target: string, remark: RegExp][] = [
    [
      "USB001,Hall,IP_10.0.0.3",
      "printer.example Hall lpr",
      /^Prints to a pool of 3 ports: “USB001”, “Hall”,.*“Hall”\.$/,
    ],
    [
      "192.168.1.5_1, 192.168.1.6",
      "192.168.1.5  ",
      /of 2 ports: .* takes .*port, “192\.168\.1\.5_1”\..*from the port’s name/,
    ],
    [
      "USB001,USB002",
      "Is connected by USB to that PC only.",
      /^Prints to a pool of 2 ports: “USB001”, “USB002”\.$/,
    ],
    ["http://10.0.0.9/a,b", "10.0.0.9  ipp", /^Prints over IPP/],
  ];
  const Printers = pools.map(([PortName]) => ({ Name: PortName, PortName, DriverName: "Papyrus" }));

  const { rows } = readPrintServer(JSON.stringify({ Printers, Ports: [{ Name: "Hall", ...lpr }] }));

  for (const [i, [ports, target, remark]] of pools.entries()) {
    const { values = {}, leftOut, remarks = [] } = rows[i] ?? {};
    const { address, port_name, protocol = "" } = values;
    assert.equal(leftOut ?? `${address} ${port_name} ${protocol}`, target, ports);
    assert.match(remarks.join(" "), remark);
  }
});

/** The message with which a text is refused; empty if it is not. */
function refusal(text: string): string {
  try {
    readPrintServer(text);
    return "";
  } catch (error) {
    if (error instanceof UserError && error.code === "invalid") return error.message;
    throw error;
  }
}

test("JSON that is cut off, deeply nested, endless or of more than 5000 printers is refused, and cannot change prototypes", () => {
  const brackets = rounds(50_000, 400_000);
  const broken = '{ [1,] {"a":1,} ["a ["a\\" [nul [01 [1]] {1:2} {"a":} [+1'.split(" ");
  broken.push('{"a" 1}', "[1 2]", '["\u0001"]', "[".repeat(brackets));
  const endless = isDeep ? ["[".repeat(4_000_000), '{"a":'.repeat(1_000_000)] : [];
  endless.push(`[${"{},".repeat(rounds(510_000, 1_000_000))}1]`);
  const deep = `{"Printers":[{"Name":${'{"value":'.repeat(brackets)}"Deep"${"}".repeat(brackets)}}]}`;

  for (const text of broken) assert.match(refusal(text), /incomplete or damaged/, text.slice(0, 20));
  for (const text of endless) assert.match(refusal(text), /more than 500000 values/);
  assert.equal(readPrintServer(deep).rows[0]?.values.name, "Deep");
  for (const text of ['{"a":1}', "[]", '["Printers"]', '{"__proto__":{"Printers":[]}}'])
    assert.match(refusal(text), /contains no “Printers”/);
  assert.equal(({} as Record<string, unknown>).Printers, undefined);
  const Printers = Array.from({ length: 5001 }, (_, i) => ({ Name: `P${i}` }));
  assert.match(refusal(JSON.stringify({ Printers })), /more than 5000 printers/);
  assert.equal(refusal(JSON.stringify({ Printers: Printers.slice(1) })), "");
});

test("values of unexpected types are read as text or ignored", () => {
  const value = [
    { Name: 7, DriverName: null, PortName: { value: "IP_1" }, Comment: ["a"], Location: { x: 1 } },
    "no printer",
    { Name: { value: { value: "Deep" } }, PortName: "IP_1" },
  ];
  const port = { Name: "IP_1", PrinterHostAddress: "10.0.0.1", Protocol: "LPR", LprQueueName: "lp" };
  const Ports = { ...port, PortNumber: "515" };

  const { rows } = readPrintServer(JSON.stringify({ Printers: { value, Count: 3 }, Ports, Drivers: "none" }));

  const found = rows.map(({ values: { name, address, protocol, comment, location } }) =>
    [name, address, protocol, comment, location].join("|"),
  );
  assert.deepEqual(found, ["7|10.0.0.1|lpr||", "Deep|10.0.0.1|lpr||"]);
});
