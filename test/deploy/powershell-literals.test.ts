import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import type { Printer } from "../../src/domain/printers/printer.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { deploymentOf, scriptSettings } from "../../src/pkg/scripts/deployment.ts";
import { asciiPowershell, powershell } from "../../src/pkg/scripts/powershell.ts";
import { rounds, seedOr } from "../support/depth.ts";
import { nasty } from "../support/powershell/nasty.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { ticketAround } from "../support/printers/tickets.ts";
import { seededRandom } from "../support/random.ts";
import { makeDriver } from "../support/records.ts";

test("each kind of value has its own literal, quotes are doubled, and what a file could change is a number", () => {
  const [quotes, lines] = ["a'b‘c’d‚e‛f", "a\n\tb\r"];
  const table = { A: 1, B: true, C: null, D: [], E: [{ F: "g" }] };

  const readable = powershell`$x = ${quotes}; $y = ${lines}; $z = ${"\ud800"}; ${table}`;
  const ascii = asciiPowershell`$x = ${["Büro", "😀'", "’"]}`;

  assert.equal(
    readable,
    "$x = 'a''b‘‘c’’d‚‚e‛‛f'; $y = (-join ('a', \"`n`t\", 'b', [char]0x000D)); $z = (-join ([char]0xD800)); " +
      "@{\n\tA = 1\n\tB = $true\n\tC = $null\n\tD = @()\n\tE = @(\n\t\t@{\n\t\t\tF = 'g'\n\t\t}\n\t)\n}",
  );
  assert.match(ascii, /^[\x20-\x7e]*$/);
  assert.equal(
    ascii,
    "$x = @((-join ('B', [char]0x00FC, 'ro')), (-join ([char]0xD83D, [char]0xDE00, '''')), (-join ([char]0x2019)))",
  );
  assert.throws(() => powershell`${1.5}`);
  assert.throws(() => powershell`${{ "a b": 1 }}`);
});

const textFields = [
  ...["name", "address", "port_name", "lpr_queue", "snmp_community", "location", "comment", "share_name"],
  ...["driver_desc", "arm64_driver_desc"],
];
const wantedCases = rounds(120, 5000);
const seed = seedOr(20261121);

/** PrintTickets with a text: escaped in an element and in an attribute, in CDATA, and unescaped. */
function printTickets(text: string): string[] {
  const escaped = text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return [
    `<psf:Value>${escaped}</psf:Value>`,
    `<psf:Value name="${escaped}"/>`,
    `<psf:Value><![CDATA[${text.replaceAll("]", "")}]]></psf:Value>`,
    text,
  ].map(ticketAround);
}

/** Hostile values of newer fields, of which some must be accepted: the test is not empty. */
const accepted: Readonly<Record<string, (printer: Printer) => boolean>> = {
  paths: ({ protocol, ipp_path }) => protocol === "ipp" && /[$&'();%]/.test(ipp_path),
  subnets: ({ subnets }) => subnets.length > 0,
  tickets: ({ print_ticket }) => /['‘’‚‛`$]/.test(print_ticket),
  models: ({ arm64_driver_desc }) => /['‘’‚‛`$]/.test(arm64_driver_desc),
  replaced: ({ replaces }) => replaces.some((old) => /['‘’‚‛`$]/.test(old)),
};

/** The printers from forms with hostile text that were accepted, and the number of refused forms. */
function hostilePrinters(): { printers: Printer[]; refused: number } {
  const random = seededRandom(seed);
  const printers: Printer[] = [];
  let refused = 0;
  const hostile = () => {
    if (random(50) === 0) return "ü".repeat(220);
    return Array.from({ length: 1 + random(6) }, () => nasty[random(nasty.length)]).join("");
  };
  const one = (...choices: (() => string)[]) => choices[random(choices.length)]?.() ?? "";
  /** Fields with strict rules: most of these values are ordinary, because otherwise nearly all forms would be refused. */
  const careful = () => ({
    address: random(10) === 0 ? hostile() : "10.0.0.9",
    ...(random(4) === 0 && {
      protocol: "ipp",
      ipp_path: random(3) === 0 ? `/${hostile()}` : "/ipp/$&'();%27",
    }),
    subnets: random(30) === 0 ? hostile() : one(String, () => "10.1.2.0/24\nfd00:1::/48"),
    print_ticket: one(String, () => printTickets(hostile())[random(4)] ?? ""),
    arm64_driver_id: one(String, () => "2"),
    replaces: one(
      String,
      hostile,
      () => `\\\\server\\${hostile()}`,
      () => `address:10.0.0.${1 + random(250)}`,
    ),
  });
  while (printers.length + refused < wantedCases) {
    const values = Object.fromEntries(textFields.map((name) => [name, hostile()]));
    const input = { ...values, ...careful() };
    try {
      const name = random(2) === 0 ? values.name : `n${hostile().replace(/[\\,!]/g, "")}`;
      const settings = parsePrinter({ ...input, name: name ?? "" });
      const record = { driver_id: 1, created_at: 0, updated_at: 0, preferences_sha256: "" };
      printers.push({ ...settings, ...record, id: printers.length + 1 });
    } catch (error) {
      assert.ok(error instanceof UserError);
      refused++;
    }
  }
  return { printers, refused };
}

describe("literals in a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  async function evaluate(text: string): Promise<unknown> {
    const script = join(windows.folder, "literals.ps1");
    await writeFile(script, `\ufeff${text}`);
    return (await windows.request<{ value: unknown }>({ do: "evaluate", script })).value;
  }

  for (const [form, tag] of [
    ["readable", powershell],
    ["ASCII", asciiPowershell],
  ] as const) {
    test(`${wantedCases} hostile forms are refused, or reach PowerShell unchanged (${form})`, async (t) => {
      const { printers, refused } = hostilePrinters();
      const settings = printers.map((printer) => {
        const arm64Driver = printer.arm64_driver_id === null ? undefined : makeDriver({ id: 2 });
        const deployable = { printer, driver: makeDriver(), arm64Driver };
        return scriptSettings(deploymentOf(deployable));
      });

      const evaluated = await evaluate(tag`$Settings = ${settings}`);

      t.diagnostic(`seed ${seed}: ${printers.length} evaluated, ${refused} refused`);
      for (const [what, isSo] of Object.entries(accepted))
        assert.ok(printers.filter(isSo).length > rounds(0, 50), what);
      assert.ok(printers.length > wantedCases / 10 && refused > wantedCases / 10);
      assert.deepEqual(evaluated, settings);
    });
  }

  test("every character, and a text of 256 KB in 8,000 lines, is unchanged in a literal", {
    timeout: 60_000,
  }, async () => {
    const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
    const texts = Array.from({ length: 256 }, (_, i) => units.slice(i * 256, i * 256 + 256).join("·"));
    const long = Array.from({ length: 8000 }, (_, i) => `\t\t<psf:Feature name="F${i}">`).join("\n");

    const evaluated = await evaluate(powershell`$Settings = ${[...texts, long]}`);

    assert.deepEqual(evaluated, [...texts, long]);
  });
});
