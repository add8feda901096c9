import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, test } from "node:test";
import { deepTest } from "../support/depth.ts";
import { evaluate } from "../support/powershell/diagnosis.ts";
import { type Simulation, withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows, windowsOnNetwork } from "../support/powershell/simulated-windows.ts";

/** The addresses of this machine according to Node, without loopback and link-local ones. */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ internal, address }) => !internal && !/^(fe[89ab]|169\.254\.)/i.test(address))
  .map(({ address }) => address);

/** A shared function of scripts. The simulation's alias takes precedence over its name. */
const functionNamed = (name: string) => `(Get-Command -Name '${name}' -CommandType Function)`;

async function assertReachability(windows: Simulation): Promise<void> {
  const listener = createServer((socket) => socket.destroy());
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const { port } = listener.address() as AddressInfo;
  const targets = [
    ...["127.0.0.1", "localhost", "::1"].map((Address) => ({ Address, Port: port })),
    { Address: "127.0.0.1", Port: 1 },
    ...["192.0.2.1", "no-such-host.invalid"].map((Address) => ({ Address, Port: 631 })),
  ];
  const started = Date.now();

  // A listener with a full backlog does not answer.
  const found = await evaluate(
    windows,
    ["shared/reachable"],
    targets,
    `& {
  $full = [Net.Sockets.TcpListener]::new([Net.IPAddress]::Loopback, 0)
  $full.Start(0)
  $taken = foreach ($i in 1..8) { [Net.Sockets.TcpClient]::new().ConnectAsync('127.0.0.1', $full.LocalEndpoint.Port) }
  $ask = ${functionNamed("Test-Reachable")}
  foreach ($target in $Values) { & $ask -Address $target.Address -Port $target.Port }
  & $ask -Address '127.0.0.1' -Port $full.LocalEndpoint.Port
}`,
  );

  listener.close();
  assert.deepEqual(found, [true, true, false, false, false, false, false]);
  assert.ok(Date.now() - started < 30_000);
}

describe("the network of this machine", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("scripts read the same addresses as Node, without loopback and link-local ones", async () => {
    const command = `@(& ${functionNamed("Get-MachineAddress")})`;
    const found = await evaluate<string[]>(windows, ["shared/subnets"], {}, command);

    assert.deepEqual(found.sort(), ownAddresses.toSorted());
  });

  test("an open port is reachable; a closed, missing or unresolved one is not, within half a minute", async () => {
    await windows.setMachine({ Network: { Names: { localhost: ["::1", "127.0.0.1"] } } });

    await assertReachability(windows);
  });

  deepTest("a printer's name is resolved as this machine resolves it", async () => {
    await assertReachability(windowsOnNetwork());
  });

  test("at most four addresses of a name are tried", async () => {
    const addresses = Array.from({ length: 40 }, (_, i) => `10.0.0.${i + 1}`);
    await windows.setMachine({ Network: { Names: { "many.example.org": addresses } } });

    // Replaces the function of this name; only the address in `$open` answers.
    const found = await evaluate(
      windows,
      ["shared/reachable"],
      {},
      `& {
  function Test-Connect { param($Address) $tried.Add([string]$Address); [string]$Address -eq $open }
  $ask = ${functionNamed("Test-Reachable")}
  foreach ($open in '10.0.0.4', '10.0.0.5') {
    $tried = [Collections.Generic.List[string]]::new()
    & $ask -Address 'many.example.org' -Port 631
    $tried -join ' '
  }
}`,
    );

    const tried = addresses.slice(0, 4).join(" ");
    assert.deepEqual(found, [true, tried, false, tried]);
  });
});
