import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import { parseClient } from "../../src/domain/printers/client.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { combineRequirements, combineSubnets, effectiveSubnets } from "../../src/domain/subnet.ts";
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

test("subnets are saved in one spelling, and an address becomes a subnet of one address", () => {
  const spellings: [typed: string, kept: string][] = [
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
  ];

  for (const [typed, kept] of spellings) assert.deepEqual(read(typed), [kept], typed);
});

test("subnets are read one a line, without duplicates, for clients and printers", () => {
  const typed = " 10.1.2.0/24 \r\n\r\n10.1.2.0/24\nfd00::/64\nFD00:0::/64";

  assert.deepEqual(read(typed), ["10.1.2.0/24", "fd00::/64"]);
  assert.deepEqual(parsePrinter({ name: "Office", subnets: typed }).subnets, ["10.1.2.0/24", "fd00::/64"]);
  assert.deepEqual(parsePrinter({ name: "Office" }).subnets, []);
});

test("a subnet with bits set after its prefix is refused, and both possible meanings are offered", () => {
  assert.equal(
    problemOf("10.1.2.0/24\n10.1.20.7/16"),
    "Line 2: “10.1.20.7/16” is an address inside a subnet. Write 10.1.0.0/16 for the subnet, or 10.1.20.7 for this address.",
  );
  assert.match(problemOf("fd00:0:0:1::/48"), /Write fd00::\/48 for the subnet, or fd00:0:0:1:: for this/);
});

test("an invalid subnet is refused with its line number and an example", () => {
  for (const wrong of [
    "x",
    "10.1.2",
    "10.1.2.0/24/1",
    "010.1.2.3",
    "fd00::1%eth0",
    "1.2.3.4.5",
    "[fd00::]/64",
    "/24",
  ])
    assert.match(
      problemOf(wrong),
      /^Line 1: “.*” is not a subnet\. Write 10\.1\.2\.0\/24 or fd00:1::\/48\.$/,
      wrong,
    );
  for (const wrong of [
    "10.1.2.0/33",
    "10.1.2.0/",
    "10.1.2.0/024",
    "10.1.2.0/255.255.255.0",
    "10.1.2.0/-1",
    "10.1.2.0/1e1",
  ])
    assert.match(problemOf(wrong), /has no prefix length from 0 to 32/, wrong);
  assert.match(problemOf("fd00::/129"), /has no prefix length from 0 to 128/);
  assert.match(problemOf("a\nb\n10.0.0.0/8\nc\nd\ne"), /^Line 1.* Line 2.* Line 4.* And 2 more\.$/);
});

test("subnets that do not identify a place, or contain no machine, are refused", () => {
  for (const everywhere of [
    "127.0.0.0/8",
    "127.0.0.1",
    "169.254.0.0/16",
    "169.254.7.0/24",
    "fe80::/10",
    "fe80::/64",
    "::1",
  ])
    assert.match(problemOf(everywhere), /is a loopback or link-local range/, everywhere);
  for (const unusable of ["224.0.0.0/4", "255.255.255.0", "ff02::/16"])
    assert.match(problemOf(unusable), /is a multicast or reserved range/, unusable);
  assert.match(problemOf("::ffff:10.1.2.0/120"), /is an IPv4 subnet written as IPv6/);
});

test("a hundred subnets are accepted, one more is refused", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `10.1.${i}.0/24`).join("\n");

  assert.equal(read(lines(100)).length, 100);
  assert.equal(problemOf(lines(101)), "101 subnets are too many. The limit is 100.");
});

test("random text is refused, or becomes a subnet that is accepted unchanged", () => {
  const random = seededRandom(12);
  const pieces = [
    "10",
    ".",
    "0",
    "1",
    "255",
    ":",
    "::",
    "fd00",
    "/",
    "24",
    "8",
    "'",
    "$(x)",
    "\u2019",
    " ",
    "%",
    "-",
  ];
  let taken = 0;

  for (let i = 0; i < 20_000; i++) {
    const typed = Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join("");
    if (problemOf(typed) !== "") continue;
    const kept = read(typed);
    taken += kept.length;
    for (const subnet of kept) assert.match(subnet, /^[0-9a-f.:]+\/\d{1,3}$/, typed);
    assert.deepEqual(read(kept.join("\n")), kept, typed);
  }

  assert.ok(taken > 20, `${taken} taken`);
});

test("a printer's own subnets apply, else its client's, else none", () => {
  const [own, none] = [{ subnets: ["10.1.0.0/16"] }, { subnets: [] }];
  const client = { subnets: ["10.2.0.0/16"] };

  assert.deepEqual(
    [effectiveSubnets(own, client), effectiveSubnets(none, client), effectiveSubnets(none, undefined)],
    [own.subnets, client.subnets, []],
  );
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
  const [subnets, none] = [["10.1.0.0/16"], []];
  const asked = { subnets: none, requires_reachable: true };
  const inside = { subnets, requires_reachable: false };
  const anywhere = { subnets: none, requires_reachable: false };

  assert.equal(combineRequirements([anywhere, anywhere]), undefined);
  assert.deepEqual(combineRequirements([asked]), { isPartial: false, areSame: true, asksReachable: true });
  assert.deepEqual(combineRequirements([asked, asked]), {
    isPartial: false,
    areSame: false,
    asksReachable: true,
  });
  assert.deepEqual(combineRequirements([inside, inside]), {
    isPartial: false,
    areSame: true,
    asksReachable: false,
  });
  assert.deepEqual(combineRequirements([asked, anywhere]), {
    isPartial: true,
    areSame: false,
    asksReachable: true,
  });
});
