import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  deployable,
  type Machine,
  type RunResult,
  withoutPowerShell,
} from "../support/powershell/powershell.ts";
import { defaultPrinterKey, markerPath, readyMachine } from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { usersMachine, usersPrinter } from "../support/powershell/users-machine.ts";

/** Replaces Windows’ objects in the script for log-on. Each call is recorded in `$calls`. */
const substitutes = `
$global:calls = [Collections.ArrayList]@()
$global:network = [pscustomobject]@{}
Add-Member -InputObject $network ScriptMethod RemovePrinterConnection { param($n, $force, $profile) $null = $global:calls.Add("remove $n $force $profile") }
Add-Member -InputObject $network ScriptMethod SetDefaultPrinter { param($n) $null = $global:calls.Add("default $n") }
function New-Object { param($ComObject) if ($ComObject -eq 'WScript.Network') { $network } }
function Start-Process { param($FilePath, $ArgumentList, $WindowStyle) $null = $global:calls.Add("start $($ArgumentList -replace '.* ')") }
`;
const components = "SOFTWARE\\Microsoft\\Active Setup\\Installed Components";
const machineComponents = `HKEY_LOCAL_MACHINE\\${components}`;
const runKey = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Run";

describe("the script at log-on, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  /** Runs the script as Windows starts it for a user. @param registry the user’s values below HKCU: */
  async function logOn(
    parameters = "",
    registry: Record<string, Record<string, unknown>> = {},
  ): Promise<string[]> {
    const text = await readFile(join(windows.folder, "Program Files", "Platen", "logon.ps1"), "utf8");
    const Registry = Object.fromEntries(
      Object.entries(registry).map(([key, values]) => [`HKEY_CURRENT_USER\\${key}`, values]),
    );
    await windows.changeMachine({ Registry });
    const pasted = `${substitutes}& {\n${text}\n} ${parameters}\n$global:calls`;
    const { output, errors } = await windows.paste(pasted);
    assert.deepEqual(errors, []);
    return output;
  }
  const stateOf = async () => (await windows.request<Pick<RunResult, "machine">>({ do: "state" })).machine;
  const install = async (what = usersPrinter, machine: Machine = usersMachine) => {
    await windows.setMachine(machine);
    return windows.runSuccessfully("install", what);
  };

  test("a user gets the default printer once, own preferences go, and connections are left to another process", async () => {
    await install();
    const own = { "Printers\\DevModePerUser": { Office: "own", "\\\\PC1\\Office": "own", Other: "own" } };

    const first = await logOn("", own);
    const second = await logOn();
    const { Registry } = await stateOf();

    assert.deepEqual([first, second], [["default Office", "start -Later"], ["start -Later"]]);
    assert.deepEqual(Registry["HKEY_CURRENT_USER\\Printers\\DevModePerUser"], { Other: "own" });
  });

  test("connections are removed once, and users whose default was one of them get the printer", async () => {
    await install();
    const user = "Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows";

    const first = await logOn("-Later", { [user]: { Device: "\\\\SERVER\\theirs,winspool,Ne04:" } });
    const second = await logOn("-Later");
    await install();
    const other = await logOn("-Later", { [user]: { Device: "\\\\server\\Theirs too,winspool,Ne04:" } });

    assert.deepEqual(first, ["default Office", "remove \\\\server\\Theirs True True", "default Office"]);
    assert.deepEqual(second, []);
    assert.deepEqual(other, ["default Office", "remove \\\\server\\Theirs True True"]);
  });

  test("users who have done it with an earlier version of Platen do not do it again", async () => {
    const former = { StubPath: 'powershell.exe -Command "…"', Version: "2026,1001,0800,00" };
    const office = deployable({ set_default: "on" });
    const deployed = await install(office, {});
    const { LogonDefault: _, ...marker } = deployed.machine.Registry[markerPath] ?? {};
    const Registry = { [markerPath]: marker, [`${machineComponents}\\Platen-7`]: former };
    await install(office, readyMachine({}, {}, { Registry }));

    const done = await logOn("", { [`${components}\\Platen-7`]: { Version: former.Version } });
    const renamed = deployable({ set_default: "on", name: "Renamed" });
    const changed = await windows.runSuccessfully("install", renamed);
    const again = await logOn();

    assert.deepEqual([done, again], [[], ["default Renamed"]]);
    const keys = Object.keys(changed.machine.Registry).filter((key) =>
      key.startsWith(`${machineComponents}\\`),
    );
    assert.deepEqual(keys, [`${machineComponents}\\Platen`]);
  });

  test("with subnets, every log-on inside sets the default printer, and outside it stays as it is", async () => {
    const office = deployable({ set_default: "on", subnets: "10.1.2.0/24" });
    const outside = ["192.168.178.20"];
    const sid = "S-1-5-21-1-2-3-1001";
    const { machine } = await install(office, { Users: [sid], Addresses: outside });

    const once = await logOn();
    const away = await logOn("-AtEveryLogon");
    await windows.changeMachine({ Addresses: ["10.1.2.7"] });
    const inside = await logOn("-AtEveryLogon");
    const still = await logOn("-AtEveryLogon");
    await windows.changeMachine({ Addresses: outside });
    await logOn("-AtEveryLogon");
    await windows.changeMachine({ Addresses: ["10.1.2.7"] });
    const back = await logOn("-AtEveryLogon");
    const everywhere = await windows.runSuccessfully("install", deployable({ set_default: "on" }));
    const removed = await windows.runSuccessfully("uninstall", office);

    assert.equal(machine.Registry[defaultPrinterKey(sid)]?.Device, undefined, "the machine is outside");
    assert.match(String(machine.Registry[runKey]?.Platen), /logon\.ps1" -AtEveryLogon$/);
    assert.deepEqual([once, away, inside, still, back], [[], [], ["default Office"], [], ["default Office"]]);
    assert.equal(everywhere.machine.Registry[runKey]?.Platen, undefined, "no printer has subnets any more");
    assert.equal(removed.machine.Registry[runKey]?.Platen, undefined);
  });

  test("log-on waits for the network at most a minute", async () => {
    await install(deployable({ set_default: "on", subnets: "10.1.2.0/24" }), { Addresses: [] });
    const before = await stateOf();

    const output = await logOn("-AtEveryLogon");

    assert.deepEqual([output, (await stateOf()).Slept - before.Slept], [[], 60_000]);
  });

  test("versions are in the Gregorian calendar under every culture, so they never run backwards", async () => {
    for (const culture of ["th-TH", "ar-SA"]) {
      await windows.setMachine();
      await windows.paste(`[Threading.Thread]::CurrentThread.CurrentCulture = '${culture}'`);

      const { machine } = await windows.runSuccessfully("install", deployable({ set_default: "on" }));

      await windows.paste("[Threading.Thread]::CurrentThread.CurrentCulture = ''");
      assert.match(String(machine.Registry[`${machineComponents}\\Platen`]?.Version), /^20\d\d,/, culture);
      assert.match(String(machine.Registry[markerPath]?.Deployed), /^20\d\d-/, culture);
    }
  });

  test("a damaged script is written again, and the last printer without need of it removes it", async () => {
    const first = await install();
    await windows.paste("Set-Content -LiteralPath \"$env:ProgramFiles/Platen/logon.ps1\" -Value 'damaged'");

    const second = await windows.runSuccessfully("install", usersPrinter);
    const third = await windows.runSuccessfully("install", usersPrinter);
    const ended = await windows.runSuccessfully("install", deployable());

    const results = [first, second, third].map(({ output }) => output.at(-1)?.split(": ").at(-1));
    assert.deepEqual(results, ["installed", "installed", "nothing to change"]);
    assert.equal(ended.machine.Registry[`${machineComponents}\\Platen`], undefined);
    await assert.rejects(readFile(join(windows.folder, "Program Files", "Platen", "logon.ps1")), /ENOENT/);
  });
});
