import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { cleanText, type FormInput } from "../../src/domain/fields.ts";
import {
  effectiveDescription,
  ippUrlOf,
  isDriverOnly,
  isQueueName,
  printerNeeds,
  shareNameOf,
} from "../../src/domain/printers/printer.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { html } from "../../src/html/html.ts";
import { printerForm } from "../../src/html/printers/printer-form.ts";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { renderScript, scriptKinds } from "../../src/pkg/scripts/render.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { startApp } from "../support/app.ts";
import { makeTicket } from "../support/printers/tickets.ts";
import { makeDriver, makePrinter } from "../support/records.ts";

const needed = { name: "Office", address: "10.0.0.9" };
const parse = (fields: FormInput = {}) => parsePrinter({ ...needed, ...fields });

/** The problems of a form with a name, an address and these fields, by field. */
function problemsOf(fields: FormInput, ...missing: [Parameters<typeof parsePrinter>[1]?]) {
  try {
    parsePrinter({ ...needed, ...fields }, ...missing);
    return {};
  } catch (error) {
    assert.ok(error instanceof UserError);
    return error.fields;
  }
}

const refused = (fields: FormInput) => Object.keys(problemsOf(fields));

test("a valid value is saved as it was typed, or in its usual spelling", () => {
  const names = ["a/b:c\"d<e>f|g*h?;%$'", "x".repeat(220)];
  const hosts = ["10.0.0.9", "fe80::1", "printer", "printer-1.lan", "a_b.example.com.", "x".repeat(63)];
  const preferences = { duplex: "long_edge", color: "mono", paper_size: "A4" };
  const taken: [fields: FormInput, kept: object][] = [
    ...hosts.map((address): [FormInput, object] => [{ address }, { address }]),
    [{}, { port_name: "IP_10.0.0.9" }],
    [{ address: "[fe80::1]" }, { address: "fe80::1" }],
    ...names.map((name): [FormInput, object] => [{ name: ` ${name} ` }, { name }]),
    ...names.map((name): [FormInput, object] => [{ replaces: name }, { replaces: [name] }]),
    [{ port_number: " 515 " }, { port_number: 515 }],
    [{ port_number: "" }, { port_number: 9100 }],
    [{ snmp_index: "999" }, { snmp_index: 999 }],
    [{ snmp_index: "" }, { snmp_index: 1 }],
    [preferences, preferences],
    ...["on", "1", "yes"].map((collate): [FormInput, object] => [{ collate }, { collate: "on" }]),
    ...["off", "0", "no"].map((collate): [FormInput, object] => [{ collate }, { collate: "off" }]),
    [{ collate: "" }, { collate: "" }],
    [{ protocol: "lpr", lpr_queue: "lp" }, { lpr_queue: "lp" }],
    [{ replaces: " One \r\n\r\nTwo\nOne" }, { replaces: ["One", "Two"] }],
    [{ snmp: "on" }, { snmp: true }],
    // The SNMP status belongs to TCP/IP ports.
    [{ protocol: "ipp", snmp: "on" }, { snmp: false }],
    [{ print_ticket: makeTicket() }, { print_ticket: makeTicket().replaceAll("\r\n", "\n").trim() }],
  ];

  for (const [fields, kept] of taken) {
    const parsed = parse(fields);
    assert.deepEqual({ ...parsed, ...kept }, parsed, JSON.stringify(fields));
  }
  assert.equal(isDriverOnly(parse({ address: "", protocol: "lpr" })), true);
  for (const name of names) assert.ok(isQueueName(name));
});

test("an invalid value is refused at its field", () => {
  const hosts = ["10.0.0.300", "1.2.3", "-a", "a-", "a..b", "a b", "http://x", "x".repeat(64), "[x", "a/b"];
  const forbidden = ["a\\b", "a,b", "a!b"];
  const zone = /zone \(%\) works on one PC only\. Remove the zone, or enter a host name/;
  const wrong: [field: string, values: string[], problem?: RegExp][] = [
    ["address", hosts],
    ["address", ["fe80::1%eth0", "[fe80::1%12]", "fe80::1%"], zone],
    ["address", ["10.0.0.009", "010.000.0.009"], /has leading zeros, .* Remove the zeros: 10\.0\.0\.9\.$/],
    ["name", ["", "   ", "\u0007", "x".repeat(221), ...forbidden]],
    ["replaces", ["office", "\\server", "x".repeat(221), ...forbidden]],
    ["port_number", ["0", "65536", "-1", "9100.0", "0x10", "1e3", "99999999999"]],
    ["print_ticket", [makeTicket().slice(0, -9)]],
    ["permission_sddl", ["D:(A;;SW;;;Everyone)"]],
    ["client_id", ["zero"]],
    ["driver_id", ["x"]],
  ];

  for (const [field, values, problem = /./] of wrong) {
    for (const value of values) {
      assert.deepEqual(refused({ [field]: value }), [field], value);
      assert.match(problemsOf({ [field]: value })[field] ?? "", problem, value);
    }
  }
  for (const field of ["protocol", "duplex", "color", "collate", "paper_size"])
    assert.deepEqual(refused({ [field]: "nonsense" }), [field]);
  assert.deepEqual(refused({ protocol: "lpr" }), ["lpr_queue"]);
  assert.deepEqual(refused({ protocol: "ipp", address: "" }), ["address"]);
  const nowhere = problemsOf({ address: "", port_name: "LPT1:", requires_reachable: "on" });
  assert.match(Object.values(nowhere).join(), /^Only a printer with an address can be reachable\. Enter its/);
  const form = printerForm({ clients: [], drivers: [] }, { values: {}, problems: {} }).toString();
  assert.match(form, /id="f-name-hint">The queue’s name on Windows, without \\ , and !\.</);
  for (const name of forbidden) assert.equal(isQueueName(name), false);
});

test("replaced connections consist of server and share, and replaced addresses are whole, in one spelling", () => {
  const lines = ["\\\\server\\HP 4000", "\\\\print.contoso.com\\q$", `\\\\10.0.0.5\\${"x".repeat(80)}`];
  const taken: [lines: string[], kept: string[]][] = [
    [lines, lines],
    [[" \\\\server \\ queue "], ["\\\\server\\queue"]],
    [["address:10.1.2.3", "Address: 10.1.2.3 "], ["address:10.1.2.3"]],
    [
      ["ADDRESS:[FE80:0:0::0001]", "address:fe80::1", "address:::1"],
      ["address:fe80::1", "address:::1"],
    ],
    // Its own address: Windows may have a double.
    [["address:10.0.0.9"], ["address:10.0.0.9"]],
  ];
  const notShared = ["\\\\server", "\\\\server\\", "\\\\\\queue", "\\\\server\\a\\b"];
  const noServer = ["\\\\ser ver\\q", "\\\\10.0.0.300\\q", `\\\\${"a.".repeat(127)}b\\q`];
  const addresses = ["", "10.1.2", "*", "[::1", "10.1.2.300", "10.1.2.0/24", "a.lan", "::1%e"];
  const reasons: [lines: string[], reason: RegExp][] = [
    [["\\\\"], /Write \\\\server\\queue/],
    [notShared, /is not a shared printer/],
    [noServer, /has no valid server name/],
    [["address:010.1.2.3", "\\\\10.01.2.3\\q"], /^Line 1 .*has leading zeros, .*: 10\.1\.2\.3\.$/],
    [["\\\\server\\a,b"], /“,”, which Windows does not allow/],
    [["\\\\server\\a/b"], /“\/”, which Windows does not allow/],
    [[`\\\\s\\${"x".repeat(81)}`], /81 characters\. The limit is 80/],
    [addresses.map((address) => `address:${address}`), /is not a valid IP address\. Example: address:/],
    [["One\r\n\r\naddress:10.1.2\r\na,b"], /^Line 3 \(“address:10\.1\.2”\) is .*3\. Line 4 \(“a,b”\)/],
    [["a,b\nc,d\n\\\\e\nf!\ng!"], /Line 3 .*\. And 2 more\.$/],
  ];

  for (const [typed, kept] of taken)
    assert.deepEqual(parse({ replaces: typed.join("\n") }).replaces, kept, typed.join());
  for (const [texts, reason] of reasons)
    for (const replaces of texts) assert.match(problemsOf({ replaces }).replaces ?? "", reason, replaces);
});

const ippUrl = (ipp_path: string) => ippUrlOf(parse({ protocol: "ipp", ipp_path }));

test("an IPP path that URL parsers change, or that names another host, is refused at its field", () => {
  const paths = [
    ...["/..", "/.", "/../x", "/ipp/./print", "/ipp/../print", "/%2e%2e/x", "/.%2E/x", "/ipp/%2E"],
    ...["/%", "/%2", "/%zz", "/a%", "/a%2", "/%u0041", "/%00", "/a%0d%0aHost:x", "/%1f", "/%7F"],
    ...["//evil/x", "/a//b", "http://evil/ipp/print", "/http://evil/"],
    ...["/a\\..\\b", "/a?b", "/a#b", "/a b", "/’", '/"', "/`n", "/ä", "/\u2028a", "/\ud800"],
  ];

  for (const ipp_path of paths)
    assert.match(
      problemsOf({ protocol: "ipp", ipp_path }).ipp_path ?? "",
      /is not a valid IPP path/,
      ipp_path,
    );
});

test("an accepted IPP path is in the URL as typed, and URL parsers leave it unchanged", () => {
  const paths = [
    ...["/ipp/print", "/ipp/port1", "/", "/a%20b", "/printers/B%C3%BCro", "/a:b@c;d=1,e"],
    ...["/..a", "/a..", "/...", "/.well-known", "/$(calc)&('x')", "/%2Fipp", `/${"a".repeat(254)}`],
  ];

  assert.equal(ippUrl("ipp/print"), "http://10.0.0.9:631/ipp/print");
  for (const path of paths) {
    const url = ippUrl(path);
    assert.equal(url, `http://10.0.0.9:631${path}`);
    assert.deepEqual([new URL(url).pathname, new URL(url).href], [path, url]);
  }
});

test("a share's name is the typed one, else the queue's with “-” for forbidden characters", () => {
  const long = `a/b:c"d<e>f|g*h?${"x".repeat(100)}`;

  assert.equal(shareNameOf(parse({ share_name: "hall" })), "hall");
  assert.equal(shareNameOf(parse({ name: long })), `a-b-c-d-e-f-g-h-${"x".repeat(64)}`);
});

test("missing records are named together with all other problems, in the form's order", () => {
  const missing = () => ({ driver_desc: "no such model", client_id: "no such client" });
  const input = { name: "a,b", address: "10.0.0.300", protocol: "lpr", replaces: "x,y", port_number: "x" };
  const fields = ["name", "client_id", "driver_desc", "address", "port_number", "replaces"];

  assert.deepEqual(Object.keys(problemsOf(input, missing)), fields);
});

test("a printer's own model is installed, else its driver's, and without both it cannot be deployed", () => {
  const [own, none] = [{ driver_desc: "Papyrus PS" }, { driver_desc: "" }];
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

test("characters that change the text direction are refused in every field, with their code points, and never in a page", () => {
  const fields = ["name", "location", "comment", "port_name", "lpr_queue", "snmp_community", "share_name"];
  const markup = html`<p title="${"a\u202eb"}">${directionCharacters.join("x")}</p>`.toString();

  for (const character of directionCharacters) {
    const code = `U+${character.charCodeAt(0).toString(16).toUpperCase()}`;
    for (const field of [...fields, "replaces"])
      assert.ok(problemsOf({ [field]: `a${character}b` })[field]?.includes(code), `${field} ${code}`);
  }
  assert.equal(markup, `<p title="a\ufffdb">${"\ufffdx".repeat(8)}\ufffd</p>`);
});

test("direction marks at the ends are trimmed like spaces, and long runs of combining marks are cut", () => {
  const typed = "\u200e \u200f10.0.0.9\u061c \u200e";
  const words = "Zoë, ก็, हिन्दी, שָׁלוֹם, Tiếng Việt".normalize("NFD");

  assert.equal(parse({ address: typed }).address, "10.0.0.9");
  assert.equal(cleanText("شركة\u200f (2)"), "شركة\u200f (2)", "inside a name they stay");
  assert.ok(cleanText(`a${"\u0301\u0316".repeat(500)}b`).length <= 32);
  assert.equal(cleanText(words), words.normalize("NFC"));
});

test("scripts of printers saved with such a name contain it as a number, and keep their revision", () => {
  const printer = { ...makePrinter(), name: "a\u202eb\u2066c" };
  const deployed = { printer, driver: makeDriver(), arm64Driver: undefined };

  for (const kind of scriptKinds) {
    const script = renderScript(kind, deploymentOf(deployed)).toString();
    assert.doesNotMatch(script, /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  }
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
