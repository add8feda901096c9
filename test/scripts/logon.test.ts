import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withoutPowerShell } from "../support/powershell/powershell.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { usersMachine, usersPrinter } from "../support/powershell/users-machine.ts";

/** Replaces Windows’ objects in the command at log-on. Each call is recorded in `$calls`. */
const substitutes = `
$global:calls = [Collections.ArrayList]@()
$network = [pscustomobject]@{}
Add-Member -InputObject $network ScriptMethod RemovePrinterConnection { param($n, $force, $profile) $null = $global:calls.Add("remove $n $force $profile") }
Add-Member -InputObject $network ScriptMethod SetDefaultPrinter { param($n) $null = $global:calls.Add("default $n") }
function New-Object { param($ComObject) if ($ComObject -eq 'WScript.Network') { $network } }
$hive = [pscustomobject]@{}
Add-Member -InputObject $hive ScriptMethod OpenSubKey {
    param($path, $writable)
    if ($path -like '*DevModes2') { return $null }
    $key = [pscustomobject]@{ Path = $path }
    Add-Member -InputObject $key ScriptMethod DeleteValue { param($n, $throws) $null = $global:calls.Add("delete $($this.Path) $n $throws") }
    $key
}
`;

describe("commands at log-on, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  /** Runs the command in Active Setup for a user. @param device the user's default printer */
  async function logOn(task: string, device: string): Promise<string[]> {
    await windows.setMachine(usersMachine);
    const { machine } = await windows.run("install", usersPrinter);
    const setups = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Active Setup\\Installed Components";
    const key = `${setups}\\Platen-7${task}`;
    const stub = String(machine.Registry[key]?.StubPath);
    const code =
      /^powershell\.exe -NoProfile -NonInteractive -WindowStyle Hidden -ExecutionPolicy Bypass -Command "([^"]*)"$/.exec(
        stub,
      )?.[1];
    assert.ok(code, stub);
    const user = "HKCU:\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows";
    const prepared = `$null = New-Item -Path '${user}' -Force\n$null = New-ItemProperty -LiteralPath '${user}' -Name Device -Value '${device}'\n`;
    // The simulated registry provider lacks this parameter.
    const text = code
      .replace(" -Type DWord", "")
      .replaceAll("[Microsoft.Win32.Registry]::CurrentUser", "$hive");
    const { output, errors } = await windows.paste(`${substitutes}${prepared}${text}\n$global:calls`);
    assert.deepEqual(errors, []);
    return output;
  }

  test("connections are removed, and users whose default was one of them get the printer", async () => {
    const theirs = await logOn("-connections", "\\\\SERVER\\theirs,winspool,Ne04:");
    const other = await logOn("-connections", "\\\\server\\Theirs too,winspool,Ne04:");

    assert.deepEqual(theirs, ["remove \\\\server\\Theirs True True", "default Office"]);
    assert.deepEqual(other, ["remove \\\\server\\Theirs True True"]);
  });

  test("a user's preferences for the queue are deleted under both of its names", async () => {
    const output = await logOn("-reset", "");

    assert.deepEqual(output, [
      "delete Printers\\DevModePerUser Office False",
      "delete Printers\\DevModePerUser \\\\PC1\\Office False",
    ]);
  });

  test("the default printer is the queue in the marker", async () => {
    assert.deepEqual(await logOn("", ""), ["default Office"]);
  });
});
