import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { UserError } from "../src/domain/errors.ts";
import type { Printer } from "../src/domain/printer.ts";
import { parsePrinter } from "../src/domain/printer-fields.ts";
import { deploymentOf, scriptSettings } from "../src/pkg/scripts/deployment.ts";
import { asciiPowershell, type PowerShellValue, powershell } from "../src/pkg/scripts/powershell.ts";
import { Simulation, withoutPowerShell } from "./support/powershell.ts";
import { seededRandom } from "./support/random.ts";
import { makeDriver } from "./support/records.ts";

test("the five quotes are doubled, and what a file could change is a number", () => {
  const text = powershell`$x = ${"a'b‘c’d‚e‛f"}; $y = ${"a\nb"}; $z = ${"\ud800"}`;

  assert.equal(
    text,
    "$x = 'a''b‘‘c’’d‚‚e‛‛f'; $y = ('' + 'a' + [char]0x000A + 'b'); $z = ('' + [char]0xD800)",
  );
});

test("the ASCII form is ASCII whatever it holds", () => {
  const text = asciiPowershell`$x = ${["Büro", "😀'", "’"]}`;

  assert.match(text, /^[\x20-\x7e]*$/);
  assert.equal(
    text,
    "$x = @(('' + 'B' + [char]0x00FC + 'ro'), ('' + [char]0xD83D + [char]0xDE00 + ''''), ('' + [char]0x2019))",
  );
});

test("numbers, truth values, nothing and tables have their own literals", () => {
  const text = powershell`${{ A: 1, B: true, C: null, D: [], E: [{ F: "g" }] }}`;

  assert.equal(
    text,
    "@{\n    A = 1\n    B = $true\n    C = $null\n    D = @()\n    E = @(\n        @{\n            F = 'g'\n        }\n    )\n}",
  );
  assert.throws(() => powershell`${1.5}`);
  assert.throws(() => powershell`${{ "a b": 1 }}`);
});

const nasty = [
  ...[
    "'",
    "‘",
    "’",
    "‚",
    "‛",
    '"',
    "`",
    "$",
    "$()",
    "$(calc)",
    "$" + "{x}",
    "@'",
    "'@",
    '@"',
    "#>",
    "<#",
    "%PATH%",
    ";",
    "|",
    "&",
    "\\",
    "/",
  ],
  ...[
    "\0",
    "\r",
    "\n",
    "\r\n",
    "\t",
    "\u0085",
    "\u2028",
    "\u200e",
    "\u202e",
    "\ufeff",
    "\ufffe",
    "\ud800",
    "\udc00",
    "😀",
    "ü",
    "é",
  ],
  ...["CON", "-Force", "--%", "{0}", "*", "?", "[", "]", " ", "x", "Büro", "1"],
];
const textFields = [
  "name",
  "address",
  "port_name",
  "lpr_queue",
  "snmp_community",
  "location",
  "comment",
  "share_name",
  "driver_desc",
  "arm64_driver_desc",
  "replaces",
] as const;
const wantedCases = 5000;
const seed = 20261121;

/** Forms of hostile text, as far as the door lets them in; and how many it refused. */
function hostilePrinters(): { printers: Printer[]; refused: number } {
  const random = seededRandom(seed);
  const printers: Printer[] = [];
  let refused = 0;
  const hostile = () => {
    if (random(50) === 0) return "ü".repeat(220);
    return Array.from({ length: 1 + random(6) }, () => nasty[random(nasty.length)]).join("");
  };
  while (printers.length + refused < wantedCases) {
    const values = Object.fromEntries(textFields.map((name) => [name, hostile()]));
    const input = { ...values, address: random(10) === 0 ? hostile() : "10.0.0.9" };
    try {
      const settings = parsePrinter(
        random(2) === 0 ? input : { ...input, name: `n${hostile().replace(/[\\,!]/g, "")}` },
      );
      printers.push({ ...settings, id: printers.length + 1, driver_id: 1, created_at: 0, updated_at: 0 });
    } catch (error) {
      assert.ok(error instanceof UserError);
      refused++;
    }
  }
  return { printers, refused };
}

describe("literals in a real PowerShell", { skip: withoutPowerShell }, () => {
  let windows: Simulation;
  before(() => {
    windows = new Simulation();
  });
  after(() => windows.close());

  async function evaluate(text: string): Promise<unknown> {
    const script = join(windows.folder, "literals.ps1");
    await writeFile(script, `\ufeff${text}`);
    return (await windows.ask<{ value: unknown }>({ do: "evaluate", script })).value;
  }

  for (const [form, tag] of [
    ["readable", powershell],
    ["ASCII", asciiPowershell],
  ] as const) {
    test(`${wantedCases} hostile forms come through unharmed or are refused at the door (${form})`, async (t) => {
      const { printers, refused } = hostilePrinters();
      const settings = printers.map((printer) =>
        scriptSettings(deploymentOf({ printer, driver: makeDriver(), arm64Driver: makeDriver({ id: 2 }) })),
      );

      const evaluated = await evaluate(tag`$Settings = ${settings}`);

      t.diagnostic(`seed ${seed}: ${printers.length} evaluated, ${refused} refused`);
      assert.ok(printers.length > 500 && refused > 500);
      assert.deepEqual(evaluated, settings);
    });
  }

  test("every single character is itself in a literal", async () => {
    const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
    const texts: PowerShellValue = Array.from({ length: 256 }, (_, i) =>
      units.slice(i * 256, i * 256 + 256).join("·"),
    );

    const evaluated = await evaluate(powershell`$Settings = ${texts}`);

    assert.deepEqual(evaluated, texts);
  });
});
