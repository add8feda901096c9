import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { readTicket, ticketLimitBytes } from "../../src/domain/printers/print-ticket.ts";
import { startApp } from "../support/app.ts";
import { deepTest, rounds, seedOr } from "../support/depth.ts";
import { without } from "../support/drivers/foreign.ts";
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

test("a ticket in one line, as an older version saved it, is unchanged", () => {
  const old = makeTicket({ "psk:A": "psk:B" }).replace(/>\s+</g, "><").trim();

  assert.equal(kept(old), old);
});

test("a declaration may name any encoding, and a byte order mark or spaces before it are ignored", () => {
  const body = makeTicket().replace(/^<\?xml.*\?>\r\n/, "");

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
});

test("spaces alone are no ticket", () => {
  for (const typed of ["", " \r\n\t", "\ufeff"]) assert.equal(kept(typed), "");
});

/** Problems of tickets whose root element has this content. */
const refusedInside: Record<string, [content: string, problem: RegExp]> = {
  "tags that do not nest": [
    "<a><b></a></b>",
    /line 4 of the PrintTicket: unexpected close tag\. Copy the PrintTicket again\.$/,
  ],
  "an entity of its own": ["<a>&nbsp;</a>", /undefined entity/],
  "an entity that JavaScript knows": ["<a>&constructor;</a>", /undefined entity/],
  "an ampersand by itself": ["<a>\n\n\n& </a>", /in line 7 /],
  "a reference to nothing": ["<a>&#0;</a>", /malformed character entity/],
  "a reference to half a character": ["<a>&#xD800;</a>", /malformed character entity/],
  "a reference beyond all characters": ["<a>&#99999999;</a>", /malformed character entity/],
  "a control character": ["<a>\u0007</a>", /disallowed character/],
  "a control character in a comment": ["<!-- \0 -->", /disallowed character/],
  "a control character in an instruction": ["<?a \0?>", /disallowed character/],
  "a value without quotes": ["<a b=c></a>", /unquoted attribute value/],
  "an attribute twice": ["<a b='1' b='2'/>", /duplicate attribute/],
  "an attribute twice by its meaning": [
    "<a xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>",
    /duplicate attribute/,
  ],
  "a prefix that nothing declares": ["<x:a/>", /unbound namespace prefix/],
  "a prefix whose element is over": ["<a xmlns:x='u'/><x:b/>", /unbound namespace prefix/],
  "a prefix declared for nothing": ["<a xmlns:x=''/>", /undefine prefix/],
  "a declaration inside": ['<?xml version="1.0"?>', /must be at the start/],
  "a name that is none": ["<1a/>", /disallowed character in tag name/],
  "too many levels": ["<a>".repeat(100) + "</a>".repeat(100), /more than 100 elements/],
  "a namespace without end": [`<a xmlns:x='${"u".repeat(1001)}'/>`, /a namespace has more than/],
};
const refused: Record<string, [typed: string, problem: RegExp]> = {
  "a ticket that is cut off": [
    makeTicket().slice(0, -20),
    /line 6 of the PrintTicket: unclosed tag: psf:PrintTicket\. Copy the PrintTicket again\.$/,
  ],
  "a document type definition": [`<!DOCTYPE x [<!ENTITY a "b">]>${makeTicket()}`, /in line 1 .*definition/],
  "text outside": [`${makeTicket()}text`, /outside of root/],
  "a second root": [`${makeTicket()}<a/>`, /only one root/],
  "a comment that does not end": [`${makeTicket()}<!-- a`, /unexpected end/],
  "another document": ["<html/>", /This is not a PrintTicket \(root element html\)\./],
  "no document": [
    "Office",
    /line 1 of the PrintTicket: text data outside of root node\. Copy the PrintTicket again\.$/,
  ],
  capabilities: [
    makeTicket().replaceAll("PrintTicket", "PrintCapabilities"),
    /This is a PrintCapabilities file/,
  ],
  "a ticket of another namespace": [
    '<PrintTicket xmlns="urn:wsd"/>',
    /its namespace is “urn:wsd”, not “http/,
  ],
  "a ticket without a namespace": ["<PrintTicket/>", /its namespace is none, not “http/],
};
test("a ticket that is no ticket is refused, with the line and the reason", () => {
  for (const [what, [content, problem]] of Object.entries(refusedInside))
    assert.match(problemOf(ticketAround(content)), problem, what);
  for (const [what, [typed, problem]] of Object.entries(refused))
    assert.match(problemOf(typed), problem, what);
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

test("256 KB are accepted, and one byte more is refused", () => {
  const fill = (character: string, bytes: number) => {
    const empty = ticketAround("<a></a>").replaceAll("\r\n", "\n").trim();
    const room = bytes - Buffer.byteLength(empty);
    return empty.replace("<a>", `<a>${character.repeat(Math.ceil(room / Buffer.byteLength(character)))}`);
  };

  assert.equal(problemOf(fill("x", ticketLimitBytes)), "");
  assert.equal(problemOf(fill("ü", ticketLimitBytes - 1)), "");
  assert.equal(
    problemOf(fill("x", ticketLimitBytes + 1)),
    "The PrintTicket has 257 KB. The limit is 256 KB.",
  );
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
  ...[
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<!DOCTYPE a>",
    "&",
    "&lt;",
    "&#10;",
  ],
  ...["&#x110000;", "&#0;", "&a;", '"', "'", "=", " ", "\n", "\t", "x", "xmlns:a='u'", "a:b='1'", "xmlns=''"],
  ...["<a/>", "<a>", "</a>", "</psf:Value>", "<psf:Value>", "ü", "😀", "\u0000", "\u0085", "\u2028"],
  ...["印", "‘", "-", ":"],
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

test("random texts become a ticket, or a problem with a line number", () => {
  const random = seededRandom(7);
  for (let i = 0; i < rounds(500, 5000); i++) {
    const text = Array.from({ length: random(40) }, () => snippets[random(snippets.length)]).join("");
    const found = readTicket(random(2) === 0 ? text : ticketAround(text));
    const isClear = "ticket" in found || /, in line \d+: .*\.$|PrintTicket/.test(found.problem);
    assert.ok(isClear, JSON.stringify(found));
  }
  assert.ok("ticket" in readTicket(makeTicket()));
});
