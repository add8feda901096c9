import assert from "node:assert/strict";
import { test } from "node:test";
import { FieldReader } from "../../src/domain/fields.ts";
import { readSddl } from "../../src/domain/printers/sddl.ts";

/** The text that was read, or the problem with it. */
function read(text: string): string {
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

  assert.deepEqual(taken.map(read), taken);
  assert.equal(read("  "), "");
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

  for (const [text, problem] of refused) assert.match(read(text), problem);
});

test("any text is read in no time", () => {
  const texts = ["(".repeat(2000), "D:".repeat(1000), `D:${"P".repeat(1998)}`, `D:${"(;".repeat(999)}`];

  const start = performance.now();
  for (const text of texts) read(text);

  assert.ok(performance.now() - start < 200);
});
