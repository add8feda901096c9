import assert from "node:assert/strict";
import { test } from "node:test";
import { readTicket, ticketLimitBytes } from "../src/domain/print-ticket.ts";
import { makeTicket, ticketAround } from "./support/tickets.ts";

/** The ticket that is kept. */
function kept(typed: string): string {
  const read = readTicket(typed);
  assert.ok("ticket" in read, JSON.stringify(read));
  return read.ticket;
}

function problemOf(typed: string): string {
  const read = readTicket(typed);
  return "problem" in read ? read.problem : "";
}

test("a ticket is kept in one line of ASCII, without what means nothing, and is read as itself", () => {
  const typed = ticketAround(`
    <!-- a comment -->
    <psf:ParameterInit name='ns0000:Text' >
      <psf:Value xsi:type="xsd:string">Büro ‘1’
\t“😀” &#x41;&lt;&#10;</psf:Value><?a pi?>
    </psf:ParameterInit>
    <psf:Value>  </psf:Value><psf:Value></psf:Value><psf:Value><![CDATA[<&amp;]]></psf:Value>`);

  const ticket = kept(typed);

  assert.match(
    ticket,
    /^<\?xml version="1\.0" encoding="UTF-8"\?><psf:PrintTicket [ -~]*<\/psf:PrintTicket>$/,
  );
  assert.ok(
    ticket.includes(
      '<psf:ParameterInit name="ns0000:Text"><psf:Value xsi:type="xsd:string">B&#xFC;ro &#x2018;1&#x2019;&#xA;&#x9;&#x201C;&#x1F600;&#x201D; A&lt;&#xA;</psf:Value></psf:ParameterInit>',
    ),
    ticket,
  );
  assert.ok(
    ticket.includes("<psf:Value>  </psf:Value><psf:Value/><psf:Value>&lt;&amp;amp;</psf:Value></psf:P"),
    ticket,
  );
  assert.doesNotMatch(ticket, /comment|pi|\n/);
  assert.equal(kept(ticket), ticket);
});

test("blanks between elements go, and what an attribute holds over two lines is one line", () => {
  const ticket = kept(makeTicket({ "psk:A": "psk:B", "psk:C": "psk:\n\tD" }));

  assert.ok(
    ticket.endsWith(
      'version="1"><psf:Feature name="psk:A"><psf:Option name="psk:B"/></psf:Feature><psf:Feature name="psk:C"><psf:Option name="psk:  D"/></psf:Feature></psf:PrintTicket>',
    ),
    ticket,
  );
});

test("a declaration may name any encoding, because what is pasted has none; a mark and blanks before it mean nothing", () => {
  const plain = kept(makeTicket());

  for (const beginning of [
    "",
    '<?xml version="1.0"?>',
    '\n\n <?xml version="1.0" encoding="utf-16"?>',
    "\ufeff<?xml version='1.0' encoding='UTF-16LE' standalone='yes' ?>\r\n",
    '<?xml version="1.0" encoding="iso-8859-1"?><!-- x -->',
  ]) {
    const typed = makeTicket().replace(/^<\?xml.*\?>\r\n/, beginning);
    assert.equal(kept(typed), plain, beginning);
  }
});

test("nothing but blanks is no ticket", () => {
  for (const typed of ["", " \r\n\t", "\ufeff"]) assert.equal(kept(typed), "");
});

const refused: Record<string, [typed: string, problem: RegExp]> = {
  "a ticket that is cut off": [makeTicket().slice(0, -20), /in line 2: <psf:PrintTicket> is not closed\.$/],
  "tags that do not nest": [ticketAround("<a><b></a></b>"), /in line \d: <\/a> stands where <\/b> should\.$/],
  "a document type definition": [`<!DOCTYPE x [<!ENTITY a "b">]>${makeTicket()}`, /in line 1: .*definition/],
  "an entity of its own": [ticketAround("<a>&nbsp;</a>"), /The entity &nbsp; is not known: .* &apos; alone/],
  "an entity that JavaScript knows": [
    ticketAround("<a>&constructor;</a>"),
    /entity &constructor; is not known/,
  ],
  "an ampersand by itself": [ticketAround("<a>\n\n\n&</a>"), /in line 7: “&” stands alone/],
  "a reference to nothing": [ticketAround("<a>&#0;</a>"), /&#0; is no character of XML/],
  "a reference to half a character": [ticketAround("<a>&#xD800;</a>"), /&#xD800; is no character/],
  "a reference beyond all characters": [ticketAround("<a>&#99999999;</a>"), /&#99999999; is no character/],
  "a control character": [ticketAround("<a>\u0007</a>"), /XML has not \(U\+0007\)/],
  "a control character in a comment": [ticketAround("<!-- \0 -->"), /XML has not \(U\+0000\)/],
  "a control character in an instruction": [ticketAround("<?a \0?>"), /XML has not \(U\+0000\)/],
  "half a character": [ticketAround("<a>\ud83d</a>"), /XML has not \(U\+D83D\)/],
  "no value": [ticketAround("<a b></a>"), /attribute b has no value/],
  "a value without quotes": [ticketAround("<a b=c></a>"), /value of b stands in no quotes/],
  "a value that does not end": [ticketAround("<a b='c></a>"), /in line 4: The value of b does not end/],
  "a tag in a value": [ticketAround("<a b='c></a>'/>"), /“<” cannot stand in the value of b/],
  "an attribute twice": [ticketAround("<a b='1' b='2'/>"), /attribute b twice/],
  "an attribute twice by its meaning": [
    ticketAround("<a xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>"),
    /y:b is there under another prefix/,
  ],
  "attributes without a blank between": [ticketAround("<a b='1'c='2'/>"), /neither a blank nor its end/],
  "a prefix that nothing declares": [ticketAround("<x:a/>"), /prefix x is not declared/],
  "a prefix whose element is over": [ticketAround("<a xmlns:x='u'/><x:b/>"), /prefix x is not declared/],
  "a prefix declared for nothing": [ticketAround("<a xmlns:x=''/>"), /declared for nothing/],
  "a prefix that is XML’s own": [ticketAround("<a xmlns:xml='u'/>"), /cannot be declared/],
  "text outside": [`${makeTicket()}text`, /outside of the root/],
  "a second root": [`${makeTicket()}<a/>`, /second root element, <a>/],
  "a declaration inside": [ticketAround('<?xml version="1.0"?>'), /does not stand at the beginning/],
  "a declaration of another version": [makeTicket().replace("1.0", "1.1"), /does not say version 1\.0/],
  "a comment that does not end": [`${makeTicket()}<!-- a`, /comment does not end/],
  "two hyphens in a comment": [ticketAround("<!-- a -- b -->"), /cannot stand in a comment/],
  "the end of a section in a text": [ticketAround("<a>]]></a>"), /“\]\]>” cannot stand/],
  "a name that is none": [ticketAround("<1a/>"), /no name that can be read in a tag/],
  "too many levels": [ticketAround("<a>".repeat(100) + "</a>".repeat(100)), /More than 100 elements/],
  "a tag that does not end": [`${makeTicket()}`.replace(/>\r\n<\/psf.*$/s, " "), /does not end/],
  "another document": ["<html/>", /This is no PrintTicket: its root element is html\./],
  "no document": ["Office", /in line 1: Text stands outside/],
  capabilities: [
    makeTicket().replaceAll("PrintTicket", "PrintCapabilities"),
    /This is no PrintTicket but PrintCapabilities/,
  ],
  "a ticket of another namespace": [
    '<PrintTicket xmlns="urn:wsd"/>',
    /its namespace is “urn:wsd”, not “http/,
  ],
  "a ticket without a namespace": ["<PrintTicket/>", /its namespace is none, not “http/],
};
for (const [what, [typed, problem]] of Object.entries(refused)) {
  test(`refused, with the line and the reason: ${what}`, () => {
    assert.match(problemOf(typed), problem);
  });
}

test("256 KB are taken, typed and as they are kept, and a byte more is not", () => {
  const fill = (character: string, bytes: number) => {
    const empty = ticketAround("<a></a>");
    const room = bytes - Buffer.byteLength(empty.replaceAll("\r\n", "\n"));
    return empty.replace("<a>", `<a>${character.repeat(Math.ceil(room / Buffer.byteLength(character)))}`);
  };

  assert.equal(problemOf(fill("x", ticketLimitBytes)), "");
  assert.equal(
    problemOf(fill("x", ticketLimitBytes + 1)),
    "The PrintTicket has 257 KB; at most 256 KB are possible.",
  );
  assert.match(problemOf(fill("ü", ticketLimitBytes - 1)), /has 7\d\d KB; at most 256 KB/);
});
