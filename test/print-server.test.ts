import assert from "node:assert/strict";
import { test } from "node:test";
import { readPrintServer } from "../src/domain/print-server.ts";
import { stepped } from "./support/lists.ts";

/** What becomes of a queue on each of these ports. */
function placed(ports: readonly Record<string, unknown>[]) {
  const printers = ports.map(({ Name }) => ({ Name: `On ${Name}`, PortName: Name, DriverName: "Papyrus" }));
  const { rows } = stepped(readPrintServer(JSON.stringify({ Printers: printers, Ports: ports })));
  return rows.map(({ values, leftOut }) => values.address ?? leftOut);
}

test("a port with a host address is never a local one, whatever it is called", () => {
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

  const found = placed(ports);

  assert.deepEqual(
    found,
    ports.map(({ PrinterHostAddress }) => PrinterHostAddress),
  );
});

test("ports without an address are local by their whole names, and others are said to be unknown", () => {
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

  const found = placed([...local, ...far, ...other].map((Name) => ({ Name })));
  const [named] = placed([{ Name: "LPT1-10.0.0.5" }]);

  const isUnknown = (reason = "") => /a port that only that computer knows/.test(reason);
  assert.deepEqual(found.map(isUnknown), [...local, ...far].map(() => false).concat(other.map(() => true)));
  assert.equal(named, "10.0.0.5");
});
