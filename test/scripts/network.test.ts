import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { deploymentOf } from "../../src/pkg/scripts/deployment.ts";
import { renderScript } from "../../src/pkg/scripts/render.ts";
import { deepTest } from "../support/depth.ts";
import { deployable, type Simulation, withoutPowerShell } from "../support/powershell/powershell.ts";
import { runFile } from "../support/powershell/powershell-process.ts";
import { ownWindows, simulatedWindows } from "../support/powershell/simulated-windows.ts";

/** The addresses of this machine according to Node, without loopback and link-local ones. */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, address }) => !internal && !/^(fe[89ab]|169\.254\.)/i.test(address))
  .map(({ address }) => address);

/** Evaluates a script that uses a shared part. The simulation's aliases take precedence over the functions' names. */
async function evaluate(windows: Simulation, part: string, script: string): Promise<unknown> {
  const path = join(windows.folder, `${part}-evaluated.ps1`);
  writeFileSync(path, `. '${resolve(`src/pkg/scripts/shared/${part}.ps1`)}'\n${script}`);
  return (await windows.request<{ value: unknown }>({ do: "evaluate", script: path })).value;
}
const functionNamed = (name: string) => `(Get-Command -Name '${name}' -CommandType Function)`;

async function assertReachability(windows: Simulation): Promise<void> {
  const listener = createServer((socket) => socket.destroy());
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  const targets = [
    ["127.0.0.1", port],
    ["localhost", port],
    ["::1", port],
    ["127.0.0.1", 1],
    ["192.0.2.1", 631],
    ["no-such-host.invalid", 631],
  ];
  // A listener with a full backlog does not answer.
  const silent = `$full = [Net.Sockets.TcpListener]::new([Net.IPAddress]::Loopback, 0)
$full.Start(0)
$taken = foreach ($i in 1..8) { [Net.Sockets.TcpClient]::new().ConnectAsync('127.0.0.1', $full.LocalEndpoint.Port) }
`;
  const lines = targets.map(([address, at]) => `(& $ask -Address '${address}' -Port ${at})`);
  lines.push("(& $ask -Address '127.0.0.1' -Port $full.LocalEndpoint.Port)");
  const started = Date.now();

  const ask = `$ask = ${functionNamed("Test-Reachable")}\n$Settings = @(${lines.join(", ")})\n`;
  const found = await evaluate(windows, "reachable", `${silent}${ask}`);

  listener.close();
  assert.deepEqual(found, [true, true, false, false, false, false, false]);
  assert.ok(Date.now() - started < 30_000);
}

describe("the network of this machine", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("scripts read the same addresses as Node, without loopback and link-local ones", async () => {
    const found = await evaluate(
      windows,
      "subnets",
      `$Settings = @(& ${functionNamed("Get-MachineAddress")})`,
    );

    assert.deepEqual((found as string[]).sort(), ownAddresses.toSorted());
  });

  deepTest(
    "requirement.ps1 prints applicable only when the machine has an address in a subnet",
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), "platen-addresses-"));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const elsewhere = ["198.51.100.0/24", "2001:db8:ffff::/48"];
      const places = [ownAddresses, elsewhere, [...elsewhere, ownAddresses.at(-1) ?? "0.0.0.0/0"], []];

      const outputs = places.map(async (subnets, i) => {
        const script = join(folder, `${i}.ps1`);
        const office = deployable({ subnets: subnets.join("\n") });
        writeFileSync(script, renderScript("requirement", deploymentOf(office)));
        const { code, stdout, stderr } = await runFile(script);
        assert.deepEqual([code, stderr], [0, ""]);
        return stdout.trimEnd();
      });

      const here = "applicable";
      assert.deepEqual(await Promise.all(outputs), [here, "", ownAddresses.length > 0 ? here : "", here]);
    },
  );

  test("an open port is reachable; a closed, missing or unresolved one is not, within half a minute", async () => {
    await windows.setMachine({ Network: { Names: { localhost: ["::1", "127.0.0.1"] } } });

    await assertReachability(windows);
  });

  deepTest("a printer's name is resolved as this machine resolves it", async () => {
    await assertReachability(ownWindows());
  });

  test("at most four addresses of a name are tried", async () => {
    const addresses = Array.from({ length: 40 }, (_, i) => `10.0.0.${i + 1}`);
    await windows.setMachine({ Network: { Names: { "many.example.org": addresses } } });

    // Replaces the function of this name; only the address in `$open` answers.
    const found = await evaluate(
      windows,
      "reachable",
      `function Test-Connect { param($Address) $tried.Add([string]$Address); [string]$Address -eq $open }
$ask = ${functionNamed("Test-Reachable")}
$Settings = @(foreach ($open in '10.0.0.4', '10.0.0.5') {
  $tried = [Collections.Generic.List[string]]::new()
  @{ Is = (& $ask -Address 'many.example.org' -Port 631); Tried = @($tried) }
})
`,
    );

    const Tried = addresses.slice(0, 4);
    assert.deepEqual(found, [
      { Is: true, Tried },
      { Is: false, Tried },
    ]);
  });
});
