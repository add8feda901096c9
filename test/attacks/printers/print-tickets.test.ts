import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { readTicket, ticketLimitBytes } from "../../../src/domain/printers/print-ticket.ts";
import { startApp } from "../../support/app.ts";
import { deepTest, rounds, seedOr } from "../../support/depth.ts";
import { without } from "../../support/drivers/foreign.ts";
import { makeTicket, ticketAround } from "../../support/printers/tickets.ts";
import { seededRandom } from "../../support/random.ts";
import { assertWithin } from "../../support/times.ts";

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
  "attributes of a tag": (size) =>
    `<r ${Array.from({ length: size / 10 }, (_, i) => `a${i}=''`).join(" ")}/>`,
  "prefixes of a tag": (size) =>
    `<r ${Array.from({ length: size / 20 }, (_, i) => `xmlns:p${i}='u'`).join(" ")}/>`,
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

function longNamespace(prefix: string, length: number): string {
  return `xmlns:${prefix}='${"u".repeat(length)}'`;
}

function prefixed(prefix: string, count: number): string {
  return Array.from({ length: count }, (_, i) => `${prefix}:a${i}=''`).join(" ");
}

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
  const { stdout } = spawnSync("python3", ["-c", program], {
    input: JSON.stringify(texts),
    maxBuffer: 1024 * 1024 * 1024,
  });
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
  ...[
    "<a/>",
    "<a>",
    "</a>",
    "</psf:Value>",
    "<psf:Value>",
    "ü",
    "😀",
    "\u0000",
    "\u0085",
    "\u2028",
    "印",
    "‘",
    "-",
    ":",
  ],
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
  assert.deepEqual(
    wrongly.map(({ problem, i }) => [problem, texts[i]]),
    [],
  );
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
    assert.ok(
      "ticket" in found || /, in line \d+: .*\.$|PrintTicket/.test(found.problem),
      JSON.stringify(found),
    );
  }
  assert.ok("ticket" in readTicket(makeTicket()));
});
