import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { renderScript } from "../../src/pkg/scripts/render.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import { runFile } from "../support/powershell/powershell-process.ts";

/** The addresses of this machine according to Node. */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, address }) => !internal && !/^(fe[89ab]|169\.254\.)/i.test(address));

describe("the addresses of this machine", { skip: withoutPowerShell }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "platen-addresses-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function run(text: string | Buffer) {
    const script = join(folder, `${Math.random()}.ps1`);
    writeFileSync(script, text);
    const { code, stdout, stderr } = await runFile(script);
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout.split(/\r?\n/).filter((line) => line !== "");
  }

  const requirement = (...subnets: string[]) =>
    run(renderScript("requirement", deploymentOf(deployable({ subnets: subnets.join("\n") }))));

  test("the script reads the same addresses as Node, without loopback and link-local ones", async () => {
    const subnets = readFileSync("src/pkg/scripts/shared/subnets.ps1", "utf8");

    const found = await run(`Set-StrictMode -Version 2.0\n${subnets}\nGet-MachineAddress`);

    assert.deepEqual(found.sort(), ownAddresses.map(({ address }) => address).sort());
  });

  test("requirement.ps1 prints applicable only when the machine has an address in a subnet", async () => {
    const subnets = ownAddresses.map(({ address }) => address);
    const elsewhere = ["198.51.100.0/24", "2001:db8:ffff::/48"];

    const [here, away, second, anywhere] = await Promise.all([
      subnets.length > 0 ? requirement(...subnets) : ["applicable"],
      requirement(...elsewhere),
      subnets.length > 0 ? requirement(...elsewhere, subnets.at(-1) ?? "") : ["applicable"],
      requirement(),
    ]);

    assert.deepEqual([here, away, second, anywhere], [["applicable"], [], ["applicable"], ["applicable"]]);
  });

  test("the whole output is the value that Intune's rule compares with", async () => {
    const script = join(folder, "requirement.ps1");
    writeFileSync(script, renderScript("requirement", deploymentOf(deployable())));

    const { code, stdout, stderr } = await runFile(script);

    assert.deepEqual([code, stdout.trimEnd(), stderr], [0, "applicable", ""]);
    assert.match(stdout, /^applicable\r?\n$/);
  });
});
