import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Deployable, deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { device } from "../support/powershell/ipp-machine.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { tellStories } from "../support/powershell/transcripts.ts";

/** A printer with its own subnets, or those of its client. */
function placed(subnets: string, fields: Record<string, string> = {}, ofClient: string[] = []): Deployable {
  return { ...deployable({ subnets, ...fields }), client: { subnets: ofClient } };
}

const inside = { Addresses: ["10.1.2.3"] };
const away = placed("10.9.9.0/24", { name: "Away", id: "1" });
const here = placed("10.1.2.0/24", { name: "Here", id: "2" });

describe("subnets on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  const cases: [what: string, subnets: string, addresses: string[], isHere: boolean][] = [
    ["anywhere", "", [], true],
    ["the subnet", "10.1.2.0/24", ["10.1.2.77"], true],
    ["its first address", "10.1.2.0/24", ["10.1.2.0"], true],
    ["its last address", "10.1.2.0/24", ["10.1.2.255"], true],
    ["the address after its last", "10.1.2.0/24", ["10.1.3.0"], false],
    ["the address before its first", "10.1.2.0/24", ["10.1.1.255"], false],
    ["an odd prefix", "10.1.4.0/22", ["10.1.7.255"], true],
    ["the address after an odd prefix", "10.1.4.0/22", ["10.1.8.0"], false],
    ["a single address", "10.1.2.3", ["10.1.2.3"], true],
    ["another single address", "10.1.2.3", ["10.1.2.4"], false],
    ["all of IPv4", "0.0.0.0/0", ["8.8.8.8"], true],
    ["IPv6 with a subnet for all of IPv4", "0.0.0.0/0", ["fd00::1"], false],
    ["the second of two subnets", "10.1.2.0/24\nfd00:1::/48", ["fd00:1:0:9::77"], true],
    ["an IPv6 neighbour", "fd00:1::/48", ["fd00:1:1::1"], false],
    ["IPv4 with a subnet for all of IPv6", "::/0", ["10.1.2.3"], false],
    ["the second of two addresses", "10.1.2.0/24", ["192.168.1.7", "10.1.2.9"], true],
    ["no address at all", "10.1.2.0/24", [], false],
  ];
  test("requirement.ps1 prints only “applicable” on a machine in a subnet, and nothing elsewhere", async () => {
    await windows.setMachine();
    for (const [what, subnets, Addresses, isHere] of cases) {
      await windows.changeMachine({ Addresses });

      const result = await windows.run("requirement", placed(subnets));

      assert.deepEqual(
        [result.code, result.output, result.calls],
        [0, isHere ? ["applicable"] : [], []],
        what,
      );
    }
  });

  test("a client's subnets apply to its printers, unless a printer has its own, and its package where any belongs", async () => {
    await windows.setMachine(inside);
    const [here, away, anywhere] = [placed("10.1.2.0/24"), placed("10.9.9.0/24"), placed("")];
    const rows: [isApplicable: boolean, ...printers: Deployable[]][] = [
      [true, placed("", {}, ["10.1.2.0/24"])],
      [false, placed("", {}, ["10.9.9.0/24"])],
      [false, placed("10.9.9.0/24", {}, ["10.1.2.0/24"])],
      [true, placed("10.1.2.0/24", {}, ["10.9.9.0/24"])],
      [true, away, here],
      [true, away, anywhere],
      [false, away, away],
    ];
    for (const [i, [isApplicable, ...printers]] of rows.entries()) {
      const [only = here, ...others] = printers;
      const what = others.length === 0 ? only : deploymentOfMany("Client", printers);

      const { output } = await windows.run("requirement", what);

      assert.deepEqual(output, isApplicable ? ["applicable"] : [], `row ${i}`);
    }
  });

  tellStories("sites", {
    "a printer that must be reachable is applicable where only LPR’s port answers, if it uses LPR": [
      { Devices: [device({ Port: 515 })] },
      ["requirement", placed("", { requires_reachable: "on", protocol: "lpr", lpr_queue: "lp" })],
      ["requirement", placed("", { requires_reachable: "on" })],
    ],
    "a machine whose addresses cannot be read is not applicable, and install fails": [
      { AddressesFail: true },
      placed("10.1.2.0/24"),
      "requirement, install -OnlyHere, detect -OnlyHere",
    ],
    "install -OnlyHere outside the subnets changes nothing and prints the subnets": [
      { Spooler: { Status: "Stopped", StartType: "Manual" } },
      placed("10.1.2.0/24\n10.1.3.0/24\n10.1.4.0/24\nfd00::/48"),
      "install -OnlyHere, detect -OnlyHere",
    ],
    "install works without -OnlyHere outside the subnets": [placed("10.1.2.0/24"), "install"],
    "install -OnlyHere works inside a subnet": [
      inside,
      placed("10.1.2.0/24"),
      "install -OnlyHere, detect -OnlyHere",
    ],
    "detect without -OnlyHere requires the printer": [placed("10.1.2.0/24"), "detect"],
    "-OnlyHere has no effect for a printer without subnets": [
      placed(""),
      "install -OnlyHere, detect -OnlyHere",
    ],
    "a 32-bit host passes -OnlyHere on": [
      { ProcessArchitecture: "x86", Wow64: "AMD64" },
      placed("10.1.2.0/24"),
      "install -OnlyHere, detect -OnlyHere",
    ],
    "each printer in a client's package uses its own subnets, and the result counts the skipped ones": [
      inside,
      deploymentOfMany("Client", [
        away,
        placed("", { name: "Anywhere", id: "2" }),
        placed("", { name: "Here", id: "3", address: "10.0.0.10" }, ["10.1.2.0/24"]),
      ]),
      "install -OnlyHere, detect -OnlyHere, detect",
    ],
    "the last line of a client's package counts the skipped printers if one is installed": [
      inside,
      deploymentOfMany("Client", [away, here]),
      "install -OnlyHere",
    ],
    "the last line of a client's package counts the skipped printers if none belongs here": [
      inside,
      deploymentOfMany("Client", [away, placed("10.8.8.0/24", { name: "Far", id: "2" })]),
      "install -OnlyHere",
    ],
    "the last line of a client's package counts the skipped printers if one fails": [
      { ...inside, PnpCode: 5 },
      deploymentOfMany("Client", [away, here]),
      "install -OnlyHere",
    ],
    "-WhatIf with -OnlyHere skips too": [placed("10.1.2.0/24"), "install -OnlyHere -WhatIf"],
  });
});
