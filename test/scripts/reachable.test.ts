import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { ownWindows, simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("the check whether a printer is reachable, on a real network", { skip: withoutPowerShell }, () => {
  test("an open port is reachable; a closed, missing or unresolved one is not, within half a minute", async () => {
    const listener = createServer((socket) => socket.destroy());
    await once(listener.listen(0, "127.0.0.1"), "listening");
    const { port } = listener.address() as AddressInfo;
    const windows = ownWindows();
    const part = resolve("src/pkg/scripts/shared/reachable.ps1");
    const targets = [
      ["127.0.0.1", port],
      ["localhost", port],
      ["::1", port],
      ["127.0.0.1", 1],
      ["192.0.2.1", 631],
      ["no-such-host.invalid", 631],
    ];
    const script = join(windows.folder, "reachable.ps1");
    // A listener with a full backlog does not answer.
    const silent = [
      "$full = [Net.Sockets.TcpListener]::new([Net.IPAddress]::Loopback, 0)",
      "$full.Start(0)",
      "$taken = foreach ($i in 1..8) { [Net.Sockets.TcpClient]::new().ConnectAsync('127.0.0.1', $full.LocalEndpoint.Port) }",
    ].join("\n");
    // The simulation's alias takes precedence over the function's name.
    const lines = targets.map(([address, at]) => `(& $ask -Address '${address}' -Port ${at})`);
    lines.push("(& $ask -Address '127.0.0.1' -Port $full.LocalEndpoint.Port)");
    await writeFile(
      script,
      `function Write-Log { param($Message) }\n. '${part}'\n$ask = Get-Command -Name 'Test-Reachable' -CommandType Function\n${silent}\n$Settings = @(${lines.join(", ")})\n`,
    );
    const started = Date.now();

    const { value } = await windows.request<{ value: boolean[] }>({ do: "evaluate", script });

    listener.close();
    assert.deepEqual(value, [true, true, false, false, false, false, false]);
    assert.ok(Date.now() - started < 30_000);
  });

  test("at most four addresses of a name are tried", async () => {
    const windows = simulatedWindows();
    const part = resolve("src/pkg/scripts/shared/reachable.ps1");
    const script = join(windows.folder, "addresses.ps1");
    const addresses = Array.from({ length: 40 }, (_, i) => `10.0.0.${i + 1}`);
    // Replaces the function of this name; only the address in `$open` answers.
    const connect =
      "function Test-Connect { param($Address) $tried.Add([string]$Address); [string]$Address -eq $open }";
    const ask = "@{ Is = (& $ask -Address 'many.example.org' -Port 631); Tried = @($tried) }";
    await writeFile(
      script,
      `. '${part}'
function Write-Log { param($Message) throw $Message }
${connect}
$ask = Get-Command -Name 'Test-Reachable' -CommandType Function
$Settings = @(foreach ($open in '10.0.0.4', '10.0.0.5') { $tried = [Collections.Generic.List[string]]::new(); ${ask} })
`,
    );
    await windows.setMachine({ Network: { Names: { "many.example.org": addresses } } });

    const { value } = await windows.request<{ value: unknown }>({ do: "evaluate", script });

    const Tried = addresses.slice(0, 4);
    assert.deepEqual(value, [
      { Is: true, Tried },
      { Is: false, Tried },
    ]);
  });
});
