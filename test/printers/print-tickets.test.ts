import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { readTicket, ticketLimitBytes } from "../../src/domain/printers/print-ticket.ts";
import { powershell } from "../../src/pkg/scripts/powershell.ts";
import { navigation, startApp } from "../support/app.ts";
import { statusesOf, textOf } from "../support/deploy/answers.ts";
import { deepTest, rounds, seedOr } from "../support/depth.ts";
import { without } from "../support/drivers/foreign.ts";
import { withOnePrinter } from "../support/printers/one-printer.ts";
import { makeTicket, ticketAround } from "../support/printers/tickets.ts";
import { seededRandom } from "../support/random.ts";
import { assertWithin } from "../support/times.ts";

/** @returns the normalised ticket */
function kept(typed: string): string {
  const read = readTicket(typed);
  assert.ok("ticket" in read, JSON.stringify(read));
  return read.ticket;
}

function problemOf(typed: string): string {
  const read = readTicket(typed);
  return "problem" in read ? read.problem : "";
}

test("a ticket keeps its text except for line ends and the declaration, and is unchanged when it is read again", () => {
  const inside = `
    <!-- a comment -->
    <psf:ParameterInit name='ns0000:Text' >
      <psf:Value xsi:type="xsd:string">Büro ‘1’\t“😀” &#x41;&lt;&#10;</psf:Value><?a pi?>
    </psf:ParameterInit>
    <psf:Value>  </psf:Value><psf:Value><![CDATA[<&amp;]]></psf:Value>`;
  const typed = `  ${ticketAround(inside).replace(/\r?\n/g, "\r\n")}\r\n\t`;

  const ticket = kept(typed);

  assert.equal(ticket, ticketAround(inside).replaceAll("\r\n", "\n").trim());
  assert.ok(ticket.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<psf:PrintTicket '));
  assert.equal(kept(ticket), ticket);
  assert.equal(kept(ticket.replaceAll("\n", "\r\n")), ticket);
});

test("a declaration may name any encoding, and a byte order mark or spaces before it are ignored", () => {
  const body = makeTicket().replace(/^<\?xml.*\?>\r\n/, "");
  const inOneLine = makeTicket().replace(/>\s+</g, "><").trim();

  for (const beginning of [
    "",
    '<?xml version="1.0"?>',
    '\n\n <?xml version="1.0" encoding="utf-16"?>',
    "\ufeff<?xml version='1.0' encoding='UTF-16LE' standalone='yes' ?>",
    '<?xml version="1.1" encoding="iso-8859-1"?>',
  ]) {
    const expected = `<?xml version="1.0" encoding="UTF-8"?>${body.replaceAll("\r\n", "\n").trim()}`;
    assert.equal(kept(beginning + body), expected, beginning);
  }
  assert.equal(kept(inOneLine), inOneLine, "as an older version saved it");
  for (const typed of ["", " \r\n\t", "\ufeff"]) assert.equal(kept(typed), "", "spaces alone are no ticket");
});

/** Problems of tickets, by the content of their root element. */
const refusedInside: [content: string, problem: RegExp][] = [
  ["<a><b></a></b>", /line 4 of the PrintTicket: unexpected close tag\. Copy the PrintTicket again\.$/],
  ["<a>&nbsp;</a>", /undefined entity/],
  ["<a>&constructor;</a>", /undefined entity/],
  ["<a>\n\n\n& </a>", /in line 7 /],
  ["<a>&#0;</a>", /malformed character entity/],
  ["<a>&#xD800;</a>", /malformed character entity/],
  ["<a>&#99999999;</a>", /malformed character entity/],
  ["<a>\u0007</a>", /disallowed character/],
  ["<!-- \0 -->", /disallowed character/],
  ["<?a \0?>", /disallowed character/],
  ["<a b=c></a>", /unquoted attribute value/],
  ["<a b='1' b='2'/>", /duplicate attribute/],
  ["<a xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>", /duplicate attribute/],
  ["<x:a/>", /unbound namespace prefix/],
  ["<a xmlns:x='u'/><x:b/>", /unbound namespace prefix/],
  ["<a xmlns:x=''/>", /undefine prefix/],
  ['<?xml version="1.0"?>', /must be at the start/],
  ["<1a/>", /disallowed character in tag name/],
  ["<a>".repeat(100) + "</a>".repeat(100), /more than 100 elements/],
  [`<a xmlns:x='${"u".repeat(1001)}'/>`, /a namespace has more than/],
];
const unclosed = /line 6 of the PrintTicket: unclosed tag: psf:PrintTicket\. Copy the PrintTicket again\.$/;
const outside = /line 1 of the PrintTicket: text data outside of root node\. Copy the PrintTicket again\.$/;
const refused: [typed: string, problem: RegExp][] = [
  [makeTicket().slice(0, -20), unclosed],
  [`<!DOCTYPE x [<!ENTITY a "b">]>${makeTicket()}`, /in line 1 .*definition/],
  [`${makeTicket()}text`, /outside of root/],
  [`${makeTicket()}<a/>`, /only one root/],
  [`${makeTicket()}<!-- a`, /unexpected end/],
  ["<html/>", /This is not a PrintTicket \(root element html\)\./],
  ["Office", outside],
  [makeTicket().replaceAll("PrintTicket", "PrintCapabilities"), /This is a PrintCapabilities file/],
  ['<PrintTicket xmlns="urn:wsd"/>', /its namespace is “urn:wsd”, not “http/],
  ["<PrintTicket/>", /its namespace is none, not “http/],
  [
    ticketAround(`<a>${"ü".repeat(ticketLimitBytes / 2)}</a>`),
    /^The PrintTicket has 257 KB\. The limit is 256/,
  ],
];
test("a ticket that is no ticket is refused, with the line and the reason", () => {
  for (const [content, problem] of refusedInside) assert.match(problemOf(ticketAround(content)), problem);
  for (const [typed, problem] of refused) assert.match(problemOf(typed), problem);
});

test("problems with very long names in a ticket have short messages", () => {
  const name = "n".repeat(100_000);

  for (const text of [
    ...[`<${name}>`, `<${name}></b>`, `<b></${name}>`, `<${name}:b/>`, `<b ${name}/>`, `<b ${name}='`],
    ...[`<b xmlns:${name}=''/>`, `<b>&${name};</b>`, `<b ${name}='' ${name}=''/>`, `<b/><${name}/>`],
  ]) {
    const problem = problemOf(text);
    assert.ok(problem !== "" && problem.length < 300, text.slice(0, 20));
  }
});

const longNamespace = (prefix: string, length: number) => `xmlns:${prefix}='${"u".repeat(length)}'`;
const attributes = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join(" ");
const prefixed = (prefix: string, count: number) => attributes(count, (i) => `${prefix}:a${i}=''`);

/** Texts for which careless XML parsers need more than linear time. */
const shapes: Record<string, (size: number) => string> = {
  "open tags": (size) => "<a>".repeat(size / 3),
  "tags in each other": (size) => "<a>".repeat(size / 7) + "</a>".repeat(size / 7),
  "empty tags": (size) => `<r>${"<a/>".repeat(size / 4)}</r>`,
  "marks alone": (size) => "<".repeat(size),
  "ends alone": (size) => "</".repeat(size / 2),
  ampersands: (size) => `<r>${"&".repeat(size)}</r>`,
  "ampersands in a section": (size) => `<r><![CDATA[${"&amp".repeat(size / 4)}]]></r>`,
  "a reference that does not end": (size) => `<r>&#${"1".repeat(size)}</r>`,
  "zeros before a reference": (size) => `<r>&#${"0".repeat(size)}65;</r>`,
  "references that do not end": (size) => `<r><![CDATA[${"&#x1".repeat(size / 4)}]]></r>`,
  entities: (size) => `<r>${"&lt;".repeat(size / 4)}</r>`,
  comments: (size) => `<r>${"<!---->".repeat(size / 7)}</r>`,
  "a comment that does not end": (size) => `<r><!--${"- ".repeat(size / 2)}`,
  sections: (size) => `<r>${"<![CDATA[]]>".repeat(size / 12)}</r>`,
  instructions: (size) => `<r>${"<?a?>".repeat(size / 5)}</r>`,
  "blanks in a tag": (size) => `<r${" ".repeat(size)}x`,
  "blanks and tags": (size) => `<r>${"  \n<a/>".repeat(size / 7)}</r>`,
  "blanks outside": (size) => `${" \n".repeat(size / 2)}x`,
  "attributes of a tag": (size) => `<r ${attributes(size / 10, (i) => `a${i}=''`)}/>`,
  "prefixes of a tag": (size) => `<r ${attributes(size / 20, (i) => `xmlns:p${i}='u'`)}/>`,
  "one prefix again and again": (size) => `<r>${"<a xmlns:p='u' p:x=''/>".repeat(size / 23)}</r>`,
  "attributes of a long namespace": (size) =>
    `<r ${longNamespace("p", size / 2)} ${prefixed("p", size / 20)}/>`,
  "attributes of a long namespace with two prefixes": (size) =>
    `<r ${longNamespace("p", size / 4)} ${longNamespace("q", size / 4)} ${prefixed("q", size / 20)}/>`,
  "a long name": (size) => `<${"a".repeat(size)}`,
  "a long value": (size) => `<r a='${"b".repeat(size)}'/>`,
  "a value that does not end": (size) => `<r a='${"b ".repeat(size / 2)}`,
  "letters of Chinese": (size) => `<r>${"印".repeat(size)}</r>`,
  quotes: (size) => `<r a="${"'‘".repeat(size / 2)}"/>`,
  "line breaks": (size) => `<r>${"\r\n".repeat(size / 2)}x</r>`,
};

deepTest("hostile tickets of the largest size are read within a second", async (t) => {
  for (const [shape, make] of Object.entries(shapes)) {
    const started = performance.now();
    readTicket(ticketAround(make(ticketLimitBytes - 1000)));
    const took = performance.now() - started;
    t.diagnostic(`${shape}: ${took.toFixed(0)} ms`);
    await assertWithin(1000, { [shape]: took });
  }
});

/** Canonical XML by Python's parser, without spaces between elements; null where it refuses the text. */
function canonical(texts: readonly string[]): (string | null)[] {
  const program = `
import json, sys, xml.etree.ElementTree as ET
def judged(text):
    try:
        root = ET.fromstring(text.encode("utf-8"))
    except (ET.ParseError, ValueError):
        return None
    for each in root.iter():
        if len(each):
            if not (each.text or "").strip(" \\t\\n"): each.text = None
            for child in each:
                if not (child.tail or "").strip(" \\t\\n"): child.tail = None
    return ET.canonicalize(ET.tostring(root, encoding="unicode"))
print(json.dumps([judged(text) for text in json.load(sys.stdin)]))
`;
  const input = JSON.stringify(texts);
  const { stdout } = spawnSync("python3", ["-c", program], { input, maxBuffer: 1024 * 1024 * 1024 });
  return JSON.parse(stdout.toString());
}

const snippets = [
  ..."< > </ /> <!-- --> <![CDATA[ ]]> <? ?> & &lt; &#10; &#x110000; &#0; &a; \" ' = x - :".split(" "),
  ..."xmlns:a='u' a:b='1' xmlns='' <a/> <a> </a> </psf:Value> <psf:Value> ü 😀 印 ‘".split(" "),
  ...["<!DOCTYPE a>", " ", "\n", "\t", "\u0000", "\u0085", "\u2028"],
];

function mutated(random: (bound: number) => number): string {
  let text = ticketAround(
    '<psf:ParameterInit name="ns0000:Text"><psf:Value xsi:type="a">b<!-- c --> d</psf:Value></psf:ParameterInit>',
  )
    .replace(/^<\?xml.*\?>\r\n/, "")
    .replaceAll("\r\n", "\n");
  for (let n = 1 + random(3); n > 0; n--) {
    const at = random(text.length);
    text = text.slice(0, at) + (snippets[random(snippets.length)] ?? "") + text.slice(at + random(3));
  }
  return text;
}

/** Messages of refusals that well-formed XML can get. */
const stricter = /definition|not a PrintTicket|not of the Print Schema/;

test("mutated tickets are accepted only where Python's parser accepts them, and their meaning is unchanged", {
  skip: without.python,
}, (t) => {
  const seed = seedOr(20261122);
  const random = seededRandom(seed);
  const texts = Array.from({ length: rounds(500, 10_000) }, () => mutated(random));

  const reads = texts.map((text) => readTicket(text));
  const originals = canonical(texts.map((text) => text.trim()));
  const taken = reads.flatMap((each, i) => ("ticket" in each ? [{ ticket: each.ticket, i }] : []));
  const keptOnes = canonical(taken.map(({ ticket }) => ticket));

  const refused = reads.flatMap((each, i) => ("problem" in each ? [{ problem: each.problem, i }] : []));
  const wrongly = refused.filter(({ problem, i }) => originals[i] !== null && !stricter.test(problem));
  t.diagnostic(`seed ${seed}: ${taken.length} taken, ${refused.length} refused`);
  for (const { problem, i } of wrongly) assert.fail(`${problem} ${texts[i]}`);
  for (const { problem } of refused) assert.match(problem, /, in line \d+: .*\.$|PrintTicket/);
  for (const [k, { ticket, i }] of taken.entries()) {
    assert.equal(keptOnes[k], originals[i], texts[i]);
    assert.deepEqual(readTicket(ticket), { ticket });
  }
  assert.ok(taken.length > texts.length / 20 && refused.length > texts.length / 20);
});

deepTest("tickets that are small only when packed fill neither memory nor a package", async (t) => {
  const { app, fetch, post, addPrinter } = await startApp(t);
  await post("/clients", { name: "Large" });
  const { printer } = app.store.printers.get(await addPrinter());
  const read = readTicket(ticketAround(`<a>${"x".repeat(ticketLimitBytes - 1000)}</a>`));
  const print_ticket = "ticket" in read ? read.ticket : "";
  const add = (i: number) => app.store.printers.add({ ...printer, name: `${i}`, client_id: 1, print_ticket });
  await Promise.all(Array.from({ length: 400 }, (_, i) => add(i)));

  const before = process.memoryUsage();
  const printers = app.store.printers.withSettings();
  const after = process.memoryUsage();
  const [list, refused, page] = await Promise.all(
    ["/export/printers.csv", "/clients/1/packages/rmm", "/clients/1"].map((path) => fetch(path)),
  );

  const grown = after.heapUsed + after.external - before.heapUsed - before.external;
  assert.ok(grown < 20_000_000, `${grown} bytes`);
  assert.equal(printers.at(-1)?.print_ticket, print_ticket);
  assert.deepEqual([list?.status, refused?.status, page?.status], [200, 422, 200]);
  assert.match(
    (await refused?.text()) ?? "",
    /The PrintTickets of these printers are too large for one package/,
  );
});

const ticket = makeTicket({ "ns0000:JobStaple": "ns0000:TopLeft" });
const office = { name: "Office", address: "10.0.0.9" };

/** A request with a multipart form, as `curl -F` sends it. */
function multipart(fields: Record<string, string>, files: Record<string, Blob>): RequestInit {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...office, ...fields })) body.append(name, value);
  for (const [name, file] of Object.entries(files)) body.append(name, file, "ticket.xml");
  return { method: "POST", body };
}

test("a pasted ticket is saved, appears on the page, in the install script and in the revision, and the form sends it back unchanged", async (t) => {
  const { app, fetch, post } = await withOnePrinter(t);
  const page = (path = "") => textOf(fetch(`/printers/1${path}`));
  const revision = async () => /<code>(\w{12})<\/code>/.exec(await page())?.[1];
  const before = await revision();

  const answer = await post("/printers/1", { ...office, driver_id: "1", print_ticket: ticket });
  const { print_ticket } = app.store.printers.get(1).printer;
  const after = await revision();
  const escaped = /<textarea id="f-print_ticket"[^>]*>([^<]*)</.exec(await page("/edit"))?.[1] ?? "";
  const unescaped = escaped.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"');
  const typed = unescaped.replaceAll("&amp;", "&");
  await post("/printers/1", { ...office, driver_id: "1", print_ticket: typed.replaceAll("\n", "\r\n") });

  assert.equal(answer.status, 200);
  assert.match(print_ticket, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<psf:PrintTicket [^\r]*JobStaple/);
  assert.match(print_ticket, /^[^\r]*<\/psf:PrintTicket>$/);
  assert.match(await page(), /<dt>PrintTicket<\/dt><dd>\d+ bytes of XML/);
  assert.ok((await page("/scripts/install")).includes(powershell`PrintTicket = ${print_ticket}`));
  for (const kind of ["uninstall", "detect"])
    assert.doesNotMatch(await page(`/scripts/${kind}`), /JobStaple/);
  assert.notEqual(after, before);
  assert.deepEqual([typed, app.store.printers.get(1).printer.print_ticket], [print_ticket, print_ticket]);
});

test("a ticket may be a file, also in UTF-16, and overrides the typed one; an empty file field is ignored", async (t) => {
  const { app, fetch } = await startApp(t);
  const utf16 = Buffer.from(`\ufeff${ticket.replace("UTF-8", "utf-16")}`, "utf16le");
  const forms = [
    multipart({}, { print_ticket: new Blob([ticket]) }),
    multipart({ print_ticket: "<no-ticket/>" }, { print_ticket: new Blob([utf16]) }),
    multipart({ print_ticket: ticket }, { print_ticket: new Blob([]) }),
    multipart({ print_ticket: ticket }, { other: new Blob(["<no-ticket/>"]) }),
  ];

  const answers = await Promise.all(forms.map((form) => fetch("/printers", form)));

  const tickets = app.store.printers.findMany([1, 2, 3, 4]).map(({ print_ticket }) => print_ticket);
  assert.deepEqual(statusesOf(answers), [200, 200, 200, 200]);
  assert.equal(new Set(tickets).size, 1);
  assert.match(tickets[0] ?? "", /JobStaple/);
});

test("an invalid ticket is refused with 422, with place and reason beside the field, and the form keeps its text", async (t) => {
  const { app, post } = await startApp(t);
  const wrong = { ...office, print_ticket: ticket.replace("</psf:Feature>", "") };

  const line = await post("/printers", wrong);
  const fragment = await post("/printers", wrong, { "hx-request": "true" });
  const page = await post("/printers", wrong, navigation);

  const reason = "Error in line 7 of the PrintTicket: unexpected close tag. Copy the PrintTicket again.";
  assert.deepEqual(statusesOf([line, fragment, page]), [422, 422, 422]);
  for (const text of [await fragment.text(), await page.text()]) {
    assert.ok(text.includes(`id="f-print_ticket-problem">${reason}<`), text.slice(0, 2000));
    assert.match(text, /<textarea id="f-print_ticket"[^>]*aria-invalid="true"[^>]*>&lt;\?xml[^<]*JobStaple/);
  }
  assert.deepEqual(app.store.printers.withSettings(), []);
});

test("a ticket of 256 KB is accepted in every form encoding, also in pages and scripts, and one byte more is refused", async (t) => {
  const { app, fetch, post } = await startApp(t);
  const empty = ticketAround("<a></a>").replaceAll("\r\n", "\n").trim();
  const filled = (bytes: number) => empty.replace("<a>", `<a>${"x".repeat(bytes - empty.length)}`);
  const largest = filled(ticketLimitBytes);

  const typed = await post("/printers", { ...office, driver_id: "1000002", print_ticket: largest });
  const file = await fetch("/printers", multipart({}, { print_ticket: new Blob([largest]) }));
  const larger = await post("/printers", { ...office, print_ticket: filled(ticketLimitBytes + 1) });
  const huge = await post("/printers", { ...office, print_ticket: "x".repeat(1_200_000) });
  const pages = [await fetch("/printers/1"), await fetch("/printers/1/edit")];
  const script = await textOf(fetch("/printers/1/scripts/install"));

  assert.deepEqual(statusesOf([typed, file, larger, huge, ...pages]), [200, 200, 422, 413, 200, 200]);
  const tickets = app.store.printers.findMany([1, 2]).map(({ print_ticket }) => print_ticket);
  assert.deepEqual(tickets, [largest, largest]);
  assert.ok(script.includes(powershell`PrintTicket = ${largest}`));
});
