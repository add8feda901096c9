import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import type { FormInput } from "../../src/domain/fields.ts";
import {
  effectiveDescription,
  isDriverOnly,
  printerNeeds,
  shareNameOf,
} from "../../src/domain/printers/printer.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { settingDefaults } from "../support/records.ts";

/** A printer from a form with a name, an address and these fields. */
const parse = (fields: FormInput = {}) => parsePrinter({ name: "Office", address: "10.0.0.9", ...fields });

/** The fields with problems. */
function refused(fields: FormInput): string[] {
  try {
    parse(fields);
    return [];
  } catch (error) {
    assert.ok(error instanceof UserError);
    return Object.keys(error.fields);
  }
}

test("a form with only a name and an address gets every default", () => {
  const { name, client_id, driver_id, ...rest } = parse();

  assert.deepEqual([name, client_id, driver_id], ["Office", null, null]);
  assert.deepEqual(rest, { ...settingDefaults, address: "10.0.0.9", port_name: "IP_10.0.0.9" });
});

test("an address is IPv4, IPv6 with or without brackets, or a host name", () => {
  for (const address of [
    "10.0.0.9",
    "fe80::1",
    "printer",
    "printer-1.lan",
    "a_b.example.com.",
    "x".repeat(63),
  ])
    assert.equal(parse({ address }).address, address);
  assert.equal(parse({ address: "[fe80::1]" }).address, "fe80::1");
  for (const address of [
    "10.0.0.300",
    "1.2.3",
    "-a",
    "a-",
    "a..b",
    "a b",
    "http://x",
    "x".repeat(64),
    "[x",
    "a/b",
  ])
    assert.deepEqual(refused({ address }), ["address"], address);
});

test("an address with a zone, which names a network card of one machine, is refused with a remedy", () => {
  for (const address of ["fe80::1%eth0", "[fe80::1%12]", "fe80::1%"]) {
    assert.throws(
      () => parse({ address }),
      /zone \(%\) works on one PC only\. Remove the zone, or enter a host name/,
    );
  }
});

test("a queue's name has 1 to 220 characters and none that Windows forbids", () => {
  assert.equal(parse({ name: ` ${"x".repeat(220)} ` }).name.length, 220);
  for (const name of ["", "   ", "\u0007", "x".repeat(221), "a\\b", "a,b", "a!b"])
    assert.deepEqual(refused({ name }), ["name"], name);
});

test("numbers are integers within their range, and an empty field gets the default", () => {
  assert.deepEqual(
    [parse({ port_number: " 515 " }).port_number, parse({ port_number: "" }).port_number],
    [515, 9100],
  );
  assert.deepEqual([parse({ snmp_index: "999" }).snmp_index, parse({ snmp_index: "" }).snmp_index], [999, 1]);
  for (const port_number of ["0", "65536", "-1", "9100.0", "0x10", "1e3", "99999999999"])
    assert.deepEqual(refused({ port_number }), ["port_number"], port_number);
});

test("only the form's choices are accepted, and collate also accepts yes and no in several words", () => {
  assert.equal(parse({ duplex: "long_edge", color: "mono", paper_size: "A4" }).duplex, "long_edge");
  assert.deepEqual(
    ["on", "1", "yes", "off", "0", "no", ""].map((collate) => parse({ collate }).collate),
    ["on", "on", "on", "off", "off", "off", ""],
  );
  for (const field of ["protocol", "duplex", "color", "collate", "paper_size"])
    assert.deepEqual(refused({ [field]: "nonsense" }), [field]);
});

test("LPR needs a queue where the printer has an address", () => {
  assert.deepEqual(refused({ protocol: "lpr" }), ["lpr_queue"]);
  assert.equal(parse({ protocol: "lpr", lpr_queue: "lp" }).lpr_queue, "lp");
  assert.equal(isDriverOnly(parse({ address: "", protocol: "lpr" })), true);
});

test("replaced queues are read one a line without duplicates, and the printer itself is refused", () => {
  assert.deepEqual(parse({ replaces: " One \r\n\r\nTwo\nOne" }).replaces, ["One", "Two"]);
  for (const replaces of ["office", "a,b", "\\server", "x".repeat(221)])
    assert.deepEqual(refused({ replaces }), ["replaces"], replaces);
});

test("replaced connections consist of server and share", () => {
  const lines = [
    "\\\\server\\HP 4000",
    "\\\\print.contoso.com\\q$",
    "\\\\10.0.0.5\\Büro",
    `\\\\s\\${"x".repeat(80)}`,
  ];

  assert.deepEqual(parse({ replaces: lines.join("\n") }).replaces, lines);
  assert.deepEqual(parse({ replaces: " \\\\server \\ queue " }).replaces, ["\\\\server\\queue"]);
  for (const [line, reason] of [
    ["\\\\", /Write \\\\server\\queue/],
    ["\\\\server", /is not a shared printer/],
    ["\\\\server\\", /is not a shared printer/],
    ["\\\\\\queue", /is not a shared printer/],
    ["\\\\server\\a\\b", /is not a shared printer/],
    ["\\\\ser ver\\q", /has no valid server name/],
    ["\\\\10.0.0.300\\q", /has no valid server name/],
    [`\\\\${"a.".repeat(127)}b\\q`, /has no valid server name/],
    ["\\\\server\\a,b", /“,”, which Windows does not allow/],
    ["\\\\server\\a/b", /“\/”, which Windows does not allow/],
    [`\\\\s\\${"x".repeat(81)}`, /81 characters\. The limit is 80/],
  ] as const)
    assert.throws(() => parse({ replaces: line }), { name: "UserError", message: reason }, line);
});

test("replaced addresses are whole IP addresses, saved in one spelling", () => {
  const lines = [
    "address:10.1.2.3",
    "Address: 10.1.2.3 ",
    "ADDRESS:[FE80:0:0::0001]",
    "address:fe80::1",
    "address:::1",
  ];

  assert.deepEqual(parse({ replaces: lines.join("\n") }).replaces, [
    "address:10.1.2.3",
    "address:fe80::1",
    "address:::1",
  ]);
  assert.deepEqual(
    parse({ replaces: "address:10.0.0.9" }).replaces,
    ["address:10.0.0.9"],
    "its own: doubles",
  );
  for (const address of [
    "",
    "10.1.2",
    "10.1.2.300",
    "10.1.2.0/24",
    "010.1.2.3",
    "printer.lan",
    "fe80::1%eth0",
    "[::1",
    "*",
  ])
    assert.throws(
      () => parse({ replaces: `address:${address}` }),
      /is not a valid IP address\. Example: address:/,
      address,
    );
});

test("every invalid line of “replaces” is named", () => {
  assert.throws(
    () => parse({ replaces: "One\r\n\r\naddress:10.1.2\r\na,b" }),
    /Line 3 \(“address:10\.1\.2”\) is not a valid IP address\. [^.]*10\.1\.2\.3\. Line 4 \(“a,b”\)/,
  );
  assert.throws(() => parse({ replaces: "a,b\nc,d\n\\\\e\nf!\ng!" }), /Line 3 .*\. And 2 more\.$/);
});

test("an IPP queue has no SNMP status, which belongs to TCP/IP ports, and broken escapes in its path are refused", () => {
  const ipp = { protocol: "ipp", snmp: "on" };

  assert.deepEqual([parse(ipp).snmp, parse({ snmp: "on" }).snmp], [false, true]);
  assert.equal(parse({ ...ipp, ipp_path: "/a%20b" }).ipp_path, "/a%20b");
  for (const ipp_path of ["/%", "/%zz", "/a%2"])
    assert.deepEqual(refused({ ...ipp, ipp_path }), ["ipp_path"]);
});

test("a PrintTicket is saved unchanged, and a refused one has a message at its field", () => {
  const print_ticket = makeTicket();

  assert.equal(parse({ print_ticket }).print_ticket, print_ticket.replaceAll("\r\n", "\n").trim());
  assert.deepEqual(refused({ print_ticket: print_ticket.slice(0, -9) }), ["print_ticket"]);
  assert.throws(
    () => parse({ print_ticket: "\n<a>" }),
    /Error in line 1 of the PrintTicket: unclosed tag: a\./,
  );
});

test("a share's name is the typed one, else the queue's with “-” for forbidden characters", () => {
  assert.equal(shareNameOf(parse({ share_name: "hall" })), "hall");
  assert.equal(
    shareNameOf(parse({ name: `a/b:c"d<e>f|g*h?${"x".repeat(100)}` })),
    `a-b-c-d-e-f-g-h-${"x".repeat(64)}`,
  );
});

test("all problems are named at once", () => {
  assert.deepEqual(refused({ name: "", address: "a b", port_number: "x", client_id: "zero" }).sort(), [
    "address",
    "client_id",
    "name",
    "port_number",
  ]);
});

test("missing records are named together with all other problems, in the form's order", () => {
  const missing = () => ({ driver_desc: "no such model", client_id: "no such client" });
  const input = { name: "a,b", address: "a b", protocol: "lpr", replaces: "x,y", port_number: "x" };

  assert.throws(
    () => parsePrinter({ ...input, address: "10.0.0.300" }, missing),
    (error) => {
      assert.ok(error instanceof UserError);
      assert.deepEqual(Object.keys(error.fields), [
        "name",
        "client_id",
        "driver_desc",
        "address",
        "port_number",
        "replaces",
      ]);
      return true;
    },
  );
});

test("a printer's own model is installed, else its driver's, and without both it cannot be deployed", () => {
  const own = { driver_desc: "Papyrus PS" };
  const none = { driver_desc: "" };
  const driver = (driver_desc: string, inf_path = "papyrus.inf") => ({ driver_desc, inf_path });

  const models = [own, none].flatMap((printer) =>
    [driver("Papyrus PCL"), driver("")].map((chosen) => effectiveDescription(printer, chosen)),
  );

  assert.deepEqual(models, ["Papyrus PS", "Papyrus PS", "Papyrus PCL", ""]);
  assert.equal(printerNeeds(own, driver("")), undefined);
  assert.equal(printerNeeds(none, driver("Papyrus PCL")), undefined);
  assert.match(printerNeeds(none, driver("")) ?? "", /has no model\. Choose one/);
  assert.match(printerNeeds(own, driver("Papyrus PCL", "")) ?? "", /Choose the printer’s INF/);
});
