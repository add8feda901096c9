import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { FieldReader } from "../../src/domain/fields.ts";
import { parseClient } from "../../src/domain/printers/client.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { readSddl } from "../../src/domain/printers/sddl.ts";
import { combineRequirements, combineSubnets } from "../../src/domain/subnet.ts";
import { rounds } from "../support/depth.ts";
import { seededRandom } from "../support/random.ts";

const read = (subnets: string) => parseClient({ name: "Alpha", subnets }).subnets;

/** The problem of a client's form with these subnets; empty where there is none. */
function problemOf(subnets: string): string {
  try {
    read(subnets);
    return "";
  } catch (error) {
    assert.ok(error instanceof UserError);
    assert.deepEqual(Object.keys(error.fields), ["subnets"]);
    return error.fields.subnets ?? "";
  }
}

test("subnets are read one a line in one spelling, and an address becomes a subnet of one address", () => {
  const spellings: [typed: string, ...kept: string[]][] = [
    ["10.1.2.0/24", "10.1.2.0/24"],
    ["10.1.2.3", "10.1.2.3/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["128.0.0.0/1", "128.0.0.0/1"],
    ["172.16.0.0/12", "172.16.0.0/12"],
    ["FD00:0001:0:0::/48", "fd00:1::/48"],
    ["2001:db8::1.2.3.4", "2001:db8::102:304/128"],
    ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6/128"],
    ["2001:db8:0:0:1:0:0:0/80", "2001:db8:0:0:1::/80"],
    ["::/0", "::/0"],
    [" 10.1.2.0/24 \r\n\r\n10.1.2.0/24\nfd00::/64\nFD00:0::/64", "10.1.2.0/24", "fd00::/64"],
    [""],
  ];

  for (const [subnets, ...kept] of spellings) {
    assert.deepEqual(read(subnets), kept, subnets);
    assert.deepEqual(parsePrinter({ name: "Office", subnets }).subnets, kept, subnets);
  }
});

test("a subnet with bits set after its prefix is refused, and both possible meanings are offered", () => {
  assert.equal(
    problemOf("10.1.2.0/24\n10.1.20.7/16"),
    "Line 2: “10.1.20.7/16” is an address inside a subnet. Write 10.1.0.0/16 for the subnet, or 10.1.20.7 for this address.",
  );
  assert.match(problemOf("fd00:0:0:1::/48"), /Write fd00::\/48 for the subnet, or fd00:0:0:1:: for this/);
});

test("a subnet that is none, that is not a place or contains no machine is refused with its line and an example", () => {
  const none = /^Line 1: “.*” is not a subnet\. Write 10\.1\.2\.0\/24 or fd00:1::\/48\.$/;
  const lengths = ["33", "", "024", "255.255.255.0", "-1", "1e1"];
  const here = "127.0.0.0/8 127.0.0.1 169.254.0.0/16 169.254.7.0/24 fe80::/10 fe80::/64 ::1";
  const wrong: [texts: string[], problem: RegExp][] = [
    ["x 10.1.2 10.1.2.0/24/1 fd00::1%eth0 1.2.3.4.5 [fd00::]/64 /24".split(" "), none],
    [["010.1.2.3", "10.1.002.0/24"], /has leading zeros, .* Remove the zeros: 10\.1\.2\.[03]\.$/],
    [lengths.map((length) => `10.1.2.0/${length}`), /has no prefix length from 0 to 32/],
    [["fd00::/129"], /has no prefix length from 0 to 128/],
    [["a\nb\n10.0.0.0/8\nc\nd\ne"], /^Line 1.* Line 2.* Line 4.* And 2 more\.$/],
    [here.split(" "), /is a loopback or link-local range/],
    [["224.0.0.0/4", "255.255.255.0", "ff02::/16"], /is a multicast or reserved range/],
    [["::ffff:10.1.2.0/120"], /is an IPv4 subnet written as IPv6/],
  ];
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `10.1.${i}.0/24`).join("\n");

  for (const [texts, problem] of wrong)
    for (const text of texts) assert.match(problemOf(text), problem, text);
  assert.equal(read(lines(100)).length, 100);
  assert.equal(problemOf(lines(101)), "101 subnets are too many. The limit is 100.");
});

test("random text is refused, or becomes a subnet that is accepted unchanged", () => {
  const random = seededRandom(12);
  const pieces = [..."10 . 0 1 255 : :: fd00 / 24 8 ' $(x) \u2019 % -".split(" "), " "];
  const count = rounds(4000, 20_000);
  let taken = 0;

  for (let i = 0; i < count; i++) {
    const typed = Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join("");
    if (problemOf(typed) !== "") continue;
    const kept = read(typed);
    taken += kept.length;
    for (const subnet of kept) assert.match(subnet, /^[0-9a-f.:]+\/\d{1,3}$/, typed);
    assert.deepEqual(read(kept.join("\n")), kept, typed);
  }

  assert.ok(taken > count / 1000, `${taken} taken`);
});

test("several printers have the same subnets, different subnets, or partly none", () => {
  const [a, b] = [["10.1.0.0/16", "10.2.0.0/16"], ["10.3.0.0/16"]];

  assert.equal(combineSubnets([]), undefined);
  assert.equal(combineSubnets([[], []]), undefined);
  assert.deepEqual(combineSubnets([a, a.toReversed()]), { subnets: a, withoutSubnets: 0, areSame: true });
  assert.deepEqual(combineSubnets([a, b]), { subnets: [...a, ...b], withoutSubnets: 0, areSame: false });
  assert.deepEqual(combineSubnets([a, []]), { subnets: a, withoutSubnets: 1, areSame: false });
});

test("a printer that must be reachable has a requirement of its own, with subnets or without", () => {
  const asked = { subnets: [], requires_reachable: true };
  const inside = { subnets: ["10.1.0.0/16"], requires_reachable: false };
  const anywhere = { subnets: [], requires_reachable: false };
  const combined = [[asked], [asked, asked], [inside, inside], [asked, anywhere], [anywhere, anywhere]];

  assert.deepEqual(combined.map(combineRequirements), [
    { isPartial: false, areSame: true, asksReachable: true },
    { isPartial: false, areSame: false, asksReachable: true },
    { isPartial: false, areSame: true, asksReachable: false },
    { isPartial: true, areSame: false, asksReachable: true },
    undefined,
  ]);
});

/** The text that was read, or the problem with it. */
function sddlOf(text: string): string {
  const form = new FieldReader({ permission_sddl: text });
  const value = readSddl(form, "permission_sddl");
  return form.problems.permission_sddl ?? value;
}

test("security descriptors that Windows shows for queues are taken as they are", () => {
  const taken = [
    "G:SYD:(A;;LCSWSDRCWDWO;;;BA)(A;OIIO;RPWPSDRCWDWO;;;BA)(A;;SWRC;;;WD)(A;CIIO;RC;;;CO)(A;OIIO;RPWPSDRCWDWO;;;CO)(A;CIIO;RC;;;AC)(A;OIIO;RPWPSDRCWDWO;;;AC)(A;;SWRC;;;AC)",
    "O:BAG:SYD:PAI(A;;GA;;;BA)(D;;SW;;;BG)(A;;0x20008;;;S-1-5-21-1-2-3-1104)",
    "D:(A;;GX;;;S-1-12-1-4294967295-2-3-4)S:(AU;SAFA;GA;;;WD)",
    "D:(A;;0xF0000000;;;AU)",
  ];

  assert.deepEqual(taken.map(sddlOf), taken);
  assert.equal(sddlOf("  "), "");
});

test("a wrong security descriptor is refused with what was found and the rule", () => {
  const refused: readonly (readonly [text: string, problem: RegExp])[] = [
    [
      "everyone",
      /^Queue permissions is “everyone”, not the parts O:, G:, D: and S: in this order\. Example: /,
    ],
    ["D:(A;;SW;;;WD)O:BA", /not the parts O:, G:, D: and S: in this order/],
    ["D:(A;;SW;;;WD)D:(A;;SW;;;WD)", /not the parts/],
    ["O:Bob D:(A;;SW;;;WD)", /names “Bob ”, which is no SID/],
    ["G:SY", /has no list of permissions\. Add a part D:/],
    ["D:X(A;;SW;;;WD)", /has the unknown flags “X”/],
    ["D:NO_ACCESS_CONTROL", /has the unknown flags/],
    ["D:(A;;SW;;;WD", /has “\(A;;SW;;;WD” outside its entries/],
    ["D:(A;;SW;;;WD)x", /has “x” outside its entries/],
    ["D:(A;;SW;;WD)", /has the entry “A;;SW;;WD” with 5 fields instead of 6/],
    ['D:(XA;;SW;;;WD;(Title=="VP"))', /outside its entries/],
    ["D:(AU;;SW;;;WD)", /of the type “AU”\. Use A or D/],
    ["D:(A;;SW;;;WD)S:(A;;SW;;;WD)", /of the type “A”\. Use AU/],
    ["D:(A;XX;SW;;;WD)", /with the unknown flags “XX”/],
    ["D:(A;;SX;;;WD)", /with the unknown rights “SX”/],
    ["D:(A;;S;;;WD)", /with the unknown rights “S”/],
    ["D:(A;;;;;WD)", /with the unknown rights “”/],
    ["D:(A;;0x123456789;;;WD)", /with the unknown rights/],
    ["D:(A;;SW;bf967aba-0de6-11d0-a285-00aa003049e2;;WD)", /for an object\. Leave its fields 4 and 5 empty/],
    ["D:(A;;SW;;;Everyone)", /with “Everyone”, which is no SID/],
    ["D:(A;;SW;;;S-1-5)", /with “S-1-5”, which is no SID/],
    ["D:(A;;SW;;;S-1-5-4294967296)", /which is no SID/],
    ["D:", /lets nobody print\. Allow SW to a SID/],
    ["D:(A;;RC;;;WD)(D;;SW;;;BG)", /lets nobody print/],
    ["D:(A;OIIO;SW;;;WD)", /lets nobody print/],
    [`D:(A;;SW;;;WD)${"(A;;SW;;;WD)".repeat(200)}`, /has 2414 characters\. The limit is 2000/],
  ];

  for (const [text, problem] of refused) assert.match(sddlOf(text), problem);
});

test("any security descriptor is read in no time", () => {
  const texts = ["(".repeat(2000), "D:".repeat(1000), `D:${"P".repeat(1998)}`, `D:${"(;".repeat(999)}`];

  const start = performance.now();
  for (const text of texts) sddlOf(text);

  assert.ok(performance.now() - start < 200);
});
