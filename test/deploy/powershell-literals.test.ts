import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { UserError } from "../../src/domain/errors.ts";
import type { Printer } from "../../src/domain/printers/printer.ts";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { deploymentOf, scriptSettings } from "../../src/pkg/scripts/deployment.ts";
import { asciiPowershell, type PowerShellValue, powershell } from "../../src/pkg/scripts/powershell.ts";
import { rounds, seedOr } from "../support/depth.ts";
import { nasty } from "../support/powershell/nasty.ts";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { ticketAround } from "../support/printers/tickets.ts";
import { seededRandom } from "../support/random.ts";
import { makeDriver } from "../support/records.ts";

test("the five quotes are doubled, and characters that a file could change are numbers", () => {
  const text = powershell`$x = ${"a'b‘c’d‚e‛f"}; $y = ${"a\n\tb\r"}; $z = ${"\ud800"}`;

  assert.equal(
    text,
    "$x = 'a''b‘‘c’’d‚‚e‛‛f'; $y = (-join ('a', \"`n`t\", 'b', [char]0x000D)); $z = (-join ([char]0xD800))",
  );
});

test("the ASCII form is ASCII for any text", () => {
  const text = asciiPowershell`$x = ${["Büro", "😀'", "’"]}`;

  assert.match(text, /^[\x20-\x7e]*$/);
  assert.equal(
    text,
    "$x = @((-join ('B', [char]0x00FC, 'ro')), (-join ([char]0xD83D, [char]0xDE00, '''')), (-join ([char]0x2019)))",
  );
});

test("numbers, booleans, null and tables have their own literals", () => {
  const text = powershell`${{ A: 1, B: true, C: null, D: [], E: [{ F: "g" }] }}`;

  assert.equal(
    text,
    "@{\n\tA = 1\n\tB = $true\n\tC = $null\n\tD = @()\n\tE = @(\n\t\t@{\n\t\t\tF = 'g'\n\t\t}\n\t)\n}",
  );
  assert.throws(() => powershell`${1.5}`);
  assert.throws(() => powershell`${{ "a b": 1 }}`);
});

const textFields = [
  ...["name", "address", "port_name", "lpr_queue", "snmp_community", "location", "comment", "share_name"],
  ...["driver_desc", "arm64_driver_desc"],
];
const wantedCases = rounds(60, 5000);
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

/** How many hostile values of each newer field were accepted, which shows that the test is not empty. */
function acceptedCounts(printers: readonly Printer[]) {
  const count = (isSo: (printer: Printer) => boolean) => printers.filter(isSo).length;
  return {
    paths: count(({ protocol, ipp_path }) => protocol === "ipp" && /[$&'();%]/.test(ipp_path)),
    subnets: count(({ subnets }) => subnets.length > 0),
    tickets: count(({ print_ticket }) => /['‘’‚‛`$]/.test(print_ticket)),
    models: count(({ arm64_driver_desc }) => /['‘’‚‛`$]/.test(arm64_driver_desc)),
    replaced: count(({ replaces }) => replaces.some((old) => /['‘’‚‛`$]/.test(old))),
  };
}

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

      const counts = acceptedCounts(printers);
      t.diagnostic(
        `seed ${seed}: ${printers.length} evaluated, ${refused} refused, ${JSON.stringify(counts)}`,
      );
      for (const [what, count] of Object.entries(counts))
        assert.ok(count > rounds(0, 50), `${count} ${what}`);
      assert.ok(printers.length > wantedCases / 10 && refused > wantedCases / 10);
      assert.deepEqual(evaluated, settings);
    });
  }

  test("a text of 256 KB in 8,000 lines is unchanged in a literal, and is read quickly", {
    timeout: 60_000,
  }, async () => {
    const text = Array.from({ length: 8000 }, (_, i) => `\t\t<psf:Feature name="F${i}">`).join("\n");

    const evaluated = await evaluate(powershell`$Settings = ${{ Text: text }}`);

    assert.deepEqual(evaluated, { Text: text });
  });

  test("every character is unchanged in a literal", async () => {
    const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
    const texts: PowerShellValue = Array.from({ length: 256 }, (_, i) =>
      units.slice(i * 256, i * 256 + 256).join("·"),
    );

    const evaluated = await evaluate(powershell`$Settings = ${texts}`);

    assert.deepEqual(evaluated, texts);
  });
});
