import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { cleanText, type FormInput } from "../../src/domain/fields.ts";
import {
  effectiveDescription,
  ippUrlOf,
  isDriverOnly,
  printerNeeds,
  shareNameOf,
} from "../../src/domain/printers/printer.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { html } from "../../src/html/html.ts";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { renderScript, scriptKinds } from "../../src/pkg/scripts/render.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { startApp } from "../support/app.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { makeDriver, makePrinter, settingDefaults } from "../support/records.ts";

/** A printer from a form with a name, an address and these fields. */
const parse = (fields: FormInput = {}) => parsePrinter({ name: "Office", address: "10.0.0.9", ...fields });

/** The fields with problems. */
function refused(fields: FormInput, ...missing: [Parameters<typeof parsePrinter>[1]?]): string[] {
  try {
    parsePrinter({ name: "Office", address: "10.0.0.9", ...fields }, ...missing);
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
  const wrong = ["10.0.0.300", "1.2.3", "-a", "a-", "a..b", "a b", "http://x", "x".repeat(64), "[x", "a/b"];
  for (const address of wrong) assert.deepEqual(refused({ address }), ["address"], address);
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
  const lines = ["\\\\server\\HP 4000", "\\\\print.contoso.com\\q$", "\\\\10.0.0.5\\Büro"];
  lines.push(`\\\\s\\${"x".repeat(80)}`);

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
  const typed =
    "address:10.1.2.3\nAddress: 10.1.2.3 \nADDRESS:[FE80:0:0::0001]\naddress:fe80::1\naddress:::1";
  const kept = ["address:10.1.2.3", "address:fe80::1", "address:::1"];
  const own = "address:10.0.0.9";
  const short = ["", "10.1.2", "*", "[::1"];

  assert.deepEqual(parse({ replaces: typed }).replaces, kept);
  assert.deepEqual(parse({ replaces: own }).replaces, [own], "its own: doubles");
  for (const address of [...short, "10.1.2.300", "10.1.2.0/24", "010.1.2.3", "printer.lan", "fe80::1%eth0"])
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

test("an IPP queue has no SNMP status, which belongs to TCP/IP ports", () => {
  assert.deepEqual([parse({ protocol: "ipp", snmp: "on" }).snmp, parse({ snmp: "on" }).snmp], [false, true]);
});

const ippUrl = (ipp_path: string) => ippUrlOf(parse({ protocol: "ipp", ipp_path }));

test("an IPP path that URL parsers change, or that names another host, is refused at its field", () => {
  const paths = [
    ...["/..", "/.", "/../x", "/ipp/./print", "/ipp/../print", "/%2e%2e/x", "/.%2E/x", "/ipp/%2E"],
    ...["/%", "/%2", "/%zz", "/a%", "/a%2", "/%u0041"],
    ...["/%00", "/a%0d%0aHost:x", "/%1f", "/%7F"],
    ...["//evil/x", "/a//b", "http://evil/ipp/print", "/http://evil/"],
    ...["/a\\..\\b", "/a?b", "/a#b", "/a b", "/’", '/"', "/`n", "/ä", "/\u2028a", "/\ud800"],
  ];

  for (const path of paths) {
    assert.throws(() => ippUrl(path), /is not a valid IPP path/, JSON.stringify(path));
    assert.deepEqual(refused({ protocol: "ipp", ipp_path: path }), ["ipp_path"]);
  }
});

test("an accepted IPP path is in the URL as typed, and URL parsers leave it unchanged", () => {
  const paths = [
    ...["/ipp/print", "/ipp/port1", "/", "/a%20b", "/printers/B%C3%BCro", "/a:b@c;d=1,e"],
    ...["/..a", "/a..", "/...", "/.well-known", "/$(calc)&('x')", "/%2Fipp", `/${"a".repeat(254)}`],
  ];

  for (const path of paths) {
    const url = ippUrl(path);
    assert.equal(url, `http://10.0.0.9:631${path}`);
    assert.deepEqual([new URL(url).pathname, new URL(url).href], [path, url]);
  }
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
  const wrong = { name: "", address: "a b", port_number: "x", client_id: "zero", driver_id: "x" };

  assert.deepEqual(refused(wrong).sort(), ["address", "client_id", "driver_id", "name", "port_number"]);
});

test("missing records are named together with all other problems, in the form's order", () => {
  const missing = () => ({ driver_desc: "no such model", client_id: "no such client" });
  const input = { name: "a,b", address: "10.0.0.300", protocol: "lpr", replaces: "x,y", port_number: "x" };
  const fields = ["name", "client_id", "driver_desc", "address", "port_number", "replaces"];

  assert.deepEqual(refused(input, missing), fields);
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

const directionCharacters = [..."\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"];

test("characters that change the text direction are refused in every field, with their code points", () => {
  const fields = ["name", "location", "comment", "port_name", "lpr_queue", "snmp_community", "share_name"];
  for (const character of directionCharacters) {
    for (const field of [...fields, "replaces"]) {
      const code = `U+${character.charCodeAt(0).toString(16).toUpperCase()}`;
      assert.throws(
        () => parsePrinter({ name: "Office", [field]: `a${character}b` }),
        (error) => error instanceof UserError && (error.fields[field] ?? "").includes(code),
        `${field} ${code}`,
      );
    }
  }
});

test("direction marks at the ends, which come with pasted text, are trimmed like spaces", () => {
  const typed = "\u200e \u200f10.0.0.9\u061c \u200e";

  assert.equal(cleanText(typed), "10.0.0.9");
  assert.equal(parse({ address: typed }).address, "10.0.0.9");
  assert.equal(cleanText("شركة\u200f (2)"), "شركة\u200f (2)", "inside a name they stay");
});

test("long runs of combining marks are cut, and ordinary text is unchanged", () => {
  const marks = "\u0301\u0316".repeat(500);
  const words = "Zoë, ก็, हिन्दी, שָׁלוֹם, Tiếng Việt".normalize("NFD");

  assert.ok(cleanText(`a${marks}b`).length <= 32);
  assert.equal(cleanText(words), words.normalize("NFC"));
});

test("pages contain no character that changes the direction of the text after it", () => {
  const markup = html`<p title="${"a\u202eb"}">${directionCharacters.join("x")}</p>`.toString();

  assert.doesNotMatch(markup, /[\u202a-\u202e\u2066-\u2069]/);
  assert.match(markup, /<p title="a\ufffdb">(?:\ufffdx){8}\ufffd<\/p>/);
});

test("scripts of printers saved with such a name contain it as a number, and keep their revision", () => {
  const printer = { ...makePrinter(), name: "a\u202eb\u2066c" };
  const deployed = { printer, driver: makeDriver(), arm64Driver: undefined };

  for (const kind of scriptKinds)
    assert.doesNotMatch(
      renderScript(kind, deploymentOf(deployed)).toString(),
      /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
    );
  assert.equal(powershell`${"a\u202eb"}`, "(-join ('a', [char]0x202E, 'b'))");
  assert.equal(revisionOf(deployed), "585569bb2545");
});

test("names from outside are isolated from the direction of the text around them", async (t) => {
  const { post, fetch, addPrinter } = await startApp(t);
  const name = "مكتب 1";
  await post("/clients", { name });
  await addPrinter({ name, client_id: "1" });
  const isolated: Record<string, RegExp> = {
    "/printers/1": /<h1><bdi>مكتب 1<\/bdi><\/h1>/,
    "/printers/1/edit": /<h1>Edit <bdi>مكتب 1<\/bdi><\/h1>/,
    "/clients/1": /<h1>(?:Edit )?<bdi>مكتب 1<\/bdi><\/h1>/,
    "/printers/1?done=saved": /Saved: <a href="[^"]*"><bdi>مكتب 1<\/bdi><\/a>/,
    "/clients?saved=1": /Saved: <a href="[^"]*"><bdi>مكتب 1<\/bdi><\/a>/,
  };

  for (const [path, text] of Object.entries(isolated)) assert.match(await (await fetch(path)).text(), text);
});
