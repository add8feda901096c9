import assert from "node:assert/strict";
import { test } from "node:test";
import { readTicket, ticketLimitBytes } from "../../src/domain/printers/print-ticket.ts";
import { makeTicket, ticketAround } from "../support/printers/tickets.ts";

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

const refused: Record<string, [typed: string, problem: RegExp]> = {
  "a ticket that is cut off": [
    makeTicket().slice(0, -20),
    /line 6 of the PrintTicket: unclosed tag: psf:PrintTicket\. Copy the PrintTicket again\.$/,
  ],
  "tags that do not nest": [
    ticketAround("<a><b></a></b>"),
    /line 4 of the PrintTicket: unexpected close tag\. Copy the PrintTicket again\.$/,
  ],
  "a document type definition": [`<!DOCTYPE x [<!ENTITY a "b">]>${makeTicket()}`, /in line 1 .*definition/],
  "an entity of its own": [ticketAround("<a>&nbsp;</a>"), /undefined entity/],
  "an entity that JavaScript knows": [ticketAround("<a>&constructor;</a>"), /undefined entity/],
  "an ampersand by itself": [ticketAround("<a>\n\n\n& </a>"), /in line 7 /],
  "a reference to nothing": [ticketAround("<a>&#0;</a>"), /malformed character entity/],
  "a reference to half a character": [ticketAround("<a>&#xD800;</a>"), /malformed character entity/],
  "a reference beyond all characters": [ticketAround("<a>&#99999999;</a>"), /malformed character entity/],
  "a control character": [ticketAround("<a>\u0007</a>"), /disallowed character/],
  "a control character in a comment": [ticketAround("<!-- \0 -->"), /disallowed character/],
  "a control character in an instruction": [ticketAround("<?a \0?>"), /disallowed character/],
  "a value without quotes": [ticketAround("<a b=c></a>"), /unquoted attribute value/],
  "an attribute twice": [ticketAround("<a b='1' b='2'/>"), /duplicate attribute/],
  "an attribute twice by its meaning": [
    ticketAround("<a xmlns:x='u' xmlns:y='u' x:b='1' y:b='2'/>"),
    /duplicate attribute/,
  ],
  "a prefix that nothing declares": [ticketAround("<x:a/>"), /unbound namespace prefix/],
  "a prefix whose element is over": [ticketAround("<a xmlns:x='u'/><x:b/>"), /unbound namespace prefix/],
  "a prefix declared for nothing": [ticketAround("<a xmlns:x=''/>"), /undefine prefix/],
  "text outside": [`${makeTicket()}text`, /outside of root/],
  "a second root": [`${makeTicket()}<a/>`, /only one root/],
  "a declaration inside": [ticketAround('<?xml version="1.0"?>'), /must be at the start/],
  "a comment that does not end": [`${makeTicket()}<!-- a`, /unexpected end/],
  "a name that is none": [ticketAround("<1a/>"), /disallowed character in tag name/],
  "too many levels": [ticketAround("<a>".repeat(100) + "</a>".repeat(100)), /more than 100 elements/],
  "a namespace without end": [
    ticketAround(`<a xmlns:x='${"u".repeat(1001)}'/>`),
    /a namespace has more than/,
  ],
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
for (const [what, [typed, problem]] of Object.entries(refused)) {
  test(`refused, with the line and the reason: ${what}`, () => {
    assert.match(problemOf(typed), problem);
  });
}

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
