import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Deployable, deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { revisionOf } from "../../src/pkg/scripts/revision.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { getQueue, traces } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const onlyHere = { parameters: { OnlyHere: true } };

/** A printer with its own subnets, or those of its client. */
function placed(subnets: string, fields: Record<string, string> = {}, ofClient: string[] = []): Deployable {
  return { ...deployable({ subnets, ...fields }), client: { subnets: ofClient } };
}

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

  test("a client's subnets apply to its printers, unless a printer has its own", async () => {
    await windows.setMachine({ Addresses: ["10.1.2.3"] });
    const outputs = async (subnets: string, ofClient: string[]) =>
      (await windows.run("requirement", placed(subnets, {}, ofClient))).output;

    assert.deepEqual(await outputs("", ["10.1.2.0/24"]), ["applicable"]);
    assert.deepEqual(await outputs("", ["10.9.9.0/24"]), []);
    assert.deepEqual(await outputs("10.9.9.0/24", ["10.1.2.0/24"]), []);
    assert.deepEqual(await outputs("10.1.2.0/24", ["10.9.9.0/24"]), ["applicable"]);
  });

  test("a client's package is applicable where any of its printers belongs", async () => {
    await windows.setMachine({ Addresses: ["10.1.2.3"] });
    const [here, away, anywhere] = [placed("10.1.2.0/24"), placed("10.9.9.0/24"), placed("")];
    const outputs = async (...printers: Deployable[]) =>
      (await windows.run("requirement", deploymentOfMany("Client", printers))).output;

    assert.deepEqual(await outputs(away, here), ["applicable"]);
    assert.deepEqual(await outputs(away, anywhere), ["applicable"]);
    assert.deepEqual(await outputs(away, away), []);
  });

  test("a machine whose addresses cannot be read is not applicable, and install fails", async () => {
    await windows.setMachine({ AddressesFail: true });

    const requirement = await windows.run("requirement", placed("10.1.2.0/24"));
    const install = await windows.run("install", placed("10.1.2.0/24"), onlyHere);
    const detect = await windows.run("detect", placed("10.1.2.0/24"), onlyHere);

    assert.deepEqual([requirement.code, requirement.output], [0, []]);
    assert.equal(install.code, 1603);
    assert.deepEqual([detect.code, detect.output.length], [1, 1]);
    assert.deepEqual(traces(install), []);
  });

  test("install -OnlyHere outside the subnets changes nothing and prints the subnets", async () => {
    await windows.setMachine({ Spooler: { Status: "Stopped", StartType: "Manual" } });
    const office = placed("10.1.2.0/24\n10.1.3.0/24\n10.1.4.0/24\nfd00::/48");

    const skipped = await windows.run("install", office, onlyHere);
    const detected = await windows.run("detect", office, onlyHere);

    const line =
      "Skipped: not at this site (Office belongs in 10.1.2.0/24, 10.1.3.0/24, 10.1.4.0/24 and 1 more; this machine has 192.168.178.20)";
    assert.deepEqual([skipped.code, skipped.output], [0, [line]]);
    assert.deepEqual([detected.code, detected.output], [0, [line]]);
    assert.deepEqual([...skipped.calls, ...detected.calls], []);
    assert.deepEqual([traces(skipped), skipped.machine.Spooler.Status], [[], "Stopped"]);
    assert.match(skipped.log, /not at this site/);
  });

  test("install works without -OnlyHere or inside a subnet, and detect without -OnlyHere requires the printer", async () => {
    const office = placed("10.1.2.0/24");
    await windows.setMachine();
    const anyway = await windows.run("install", office);
    await windows.setMachine({ Addresses: ["10.1.2.3"] });
    const inside = await windows.run("install", office, onlyHere);
    const detected = await windows.run("detect", office, onlyHere);
    await windows.setMachine();
    const absent = await windows.run("detect", office);

    assert.deepEqual([anyway.code, inside.code, detected.code, absent.code], [0, 0, 0, 1]);
    assert.ok(getQueue(anyway) && getQueue(inside));
    assert.deepEqual(detected.output, ["Installed: Office"]);
    assert.match(absent.output.join(), /^Not installed: Office: there is no such queue$/);
  });

  test("-OnlyHere has no effect for a printer without subnets", async () => {
    await windows.setMachine();

    const installed = await windows.run("install", placed(""), onlyHere);
    const detected = await windows.run("detect", placed(""), onlyHere);

    assert.deepEqual([installed.code, detected.output], [0, ["Installed: Office"]]);
  });

  test("a 32-bit host passes -OnlyHere on", async () => {
    await windows.setMachine({ ProcessArchitecture: "x86", Wow64: "AMD64" });

    const skipped = await windows.run("install", placed("10.1.2.0/24"), onlyHere);
    const detected = await windows.run("detect", placed("10.1.2.0/24"), onlyHere);

    assert.match(skipped.output.join(), /^Skipped: not at this site/);
    assert.match(detected.output.join(), /^Skipped: not at this site/);
    assert.deepEqual(traces(skipped), []);
  });

  test("each printer in a client's package uses its own subnets, and the result counts the skipped ones", async () => {
    await windows.setMachine({ Addresses: ["10.1.2.3"] });
    const client = deploymentOfMany("Client", [
      placed("10.9.9.0/24", { name: "Away", id: "1" }),
      placed("", { name: "Anywhere", id: "2" }),
      placed("", { name: "Here", id: "3", address: "10.0.0.10" }, ["10.1.2.0/24"]),
    ]);

    const installed = await windows.run("install", client, onlyHere);
    const detected = await windows.run("detect", client, onlyHere);
    const strict = await windows.run("detect", client);

    assert.equal(installed.code, 0);
    assert.deepEqual(installed.output, [
      "Away: not at this site (Away belongs in 10.9.9.0/24; this machine has 10.1.2.3)",
      "Anywhere: installed",
      "Here: installed",
      "Installed: all 2 printers; 1 skipped: not at this site",
    ]);
    assert.deepEqual(
      installed.machine.Queues.map(({ Name }) => Name),
      ["Anywhere", "Here"],
    );
    assert.deepEqual(detected.output, ["Installed: all 2 printers; 1 skipped: not at this site"]);
    assert.deepEqual([strict.code, strict.output], [1, ["Not installed: Away: there is no such queue"]]);
  });

  test("the last line of a client's package counts the skipped printers if one is installed, none belongs here, or one fails", async () => {
    const printer = (name: string, subnets: string, id: string) => placed(subnets, { name, id });
    const run = async (...printers: Deployable[]) =>
      windows.run("install", deploymentOfMany("Client", printers), onlyHere);
    await windows.setMachine({ Addresses: ["10.1.2.3"] });
    const one = await run(printer("Away", "10.9.9.0/24", "1"), printer("Here", "10.1.2.0/24", "2"));
    const none = await run(printer("Away", "10.9.9.0/24", "1"), printer("Far", "10.8.8.0/24", "2"));
    await windows.setMachine({ Addresses: ["10.1.2.3"], PnpCode: 5 });
    const failed = await run(printer("Away", "10.9.9.0/24", "1"), printer("Here", "10.1.2.0/24", "2"));

    assert.deepEqual(
      [one.code, one.output.at(-1)],
      [0, "Installed: Here: installed; 1 skipped: not at this site"],
    );
    assert.deepEqual([none.code, none.output.at(-1)], [0, "Skipped: not at this site (all 2 printers)"]);
    assert.equal(failed.code, 1603);
    assert.match(
      failed.output.at(-1) ?? "",
      /^Failed: Here: .*\(pnputil 5\).*; 1 skipped: not at this site$/,
    );
  });

  test("-WhatIf with -OnlyHere skips too", async () => {
    await windows.setMachine();

    const result = await windows.run("install", placed("10.1.2.0/24"), {
      parameters: { OnlyHere: true, WhatIf: true },
    });

    assert.match(result.output.join(), /^Skipped: not at this site/);
  });
});

test("subnets are not part of the revision, so a change reinstalls nothing", () => {
  const plain = revisionOf(deployable());

  assert.equal(revisionOf(placed("10.1.2.0/24")), plain);
  assert.equal(revisionOf(placed("", {}, ["10.1.2.0/24"])), plain);
});
