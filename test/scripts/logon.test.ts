import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import { markerPath } from "../support/powershell/simulated-machine.ts";
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
    const { output, errors } = await windows.paste(
      `${substitutes}& {\n${text}\n} ${parameters}\n$global:calls`,
    );
    assert.deepEqual(errors, []);
    return output;
  }
  const install = async (what = usersPrinter, machine: Machine = usersMachine) => {
    await windows.setMachine(machine);
    return windows.runSuccessfully("install", what);
  };

  test("one component runs one script for all printers of the machine, with full paths and no names", async () => {
    const first = await install();
    const { machine } = await windows.runSuccessfully(
      "install",
      deployable({ id: "8", name: "Two", set_default: "on" }),
    );

    const keys = Object.keys(machine.Registry).filter((key) => key.startsWith(`${machineComponents}\\`));
    const { StubPath, Version } = machine.Registry[`${machineComponents}\\Platen`] ?? {};
    assert.deepEqual(keys, [`${machineComponents}\\Platen`]);
    assert.match(
      String(StubPath),
      /^.*Windows.*powershell\.exe .* -ExecutionPolicy Bypass -File ".*Platen.logon\.ps1"$/,
    );
    assert.match(String(Version), /^20\d\d,\d{4},\d{4},\d\d$/);
    assert.equal(first.machine.Registry[runKey], undefined);
  });

  test("a user gets the default printer once, own preferences go, and connections are left to another process", async () => {
    await install();
    const own = { "Printers\\DevModePerUser": { Office: "own", "\\\\PC1\\Office": "own", Other: "own" } };

    const first = await logOn("", own);
    const second = await logOn();
    const { machine } = await windows.request<{ machine: { Registry: Record<string, unknown> } }>({
      do: "state",
    });

    assert.deepEqual(first, ["default Office", "start -Later"]);
    assert.deepEqual(second, ["start -Later"]);
    assert.deepEqual(machine.Registry["HKEY_CURRENT_USER\\Printers\\DevModePerUser"], { Other: "own" });
  });

  test("connections are removed once, and users whose default was one of them get the printer", async () => {
    await install();
    const user = "Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows";

    const first = await logOn("-Later", { [user]: { Device: "\\\\SERVER\\theirs,winspool,Ne04:" } });
    const second = await logOn("-Later");
    await install();
    const other = await logOn("-Later", {
      [user]: { Device: "\\\\server\\Theirs too,winspool,Ne04:" },
    });

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
    const { Queues, Ports } = deployed.machine;
    await install(office, {
      Queues,
      Ports,
      Drivers: [{ Name: "Papyrus 100 PCL6", Version: "1.2.3.4", Date: "06/21/2025" }],
      Registry,
    });

    const done = await logOn("", { [`${components}\\Platen-7`]: { Version: former.Version } });
    const changed = await windows.runSuccessfully(
      "install",
      deployable({ set_default: "on", name: "Renamed" }),
    );
    const again = await logOn();

    assert.deepEqual([done, again], [[], ["default Renamed"]]);
    assert.deepEqual(
      Object.keys(changed.machine.Registry).filter((key) => key.startsWith(`${machineComponents}\\`)),
      [`${machineComponents}\\Platen`],
    );
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

    const { Device } =
      machine.Registry[`HKEY_USERS\\${sid}\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows`] ?? {};
    assert.equal(Device, undefined, "the machine is outside");
    assert.match(String(machine.Registry[runKey]?.Platen), /logon\.ps1" -AtEveryLogon$/);
    assert.deepEqual([once, away, inside, still, back], [[], [], ["default Office"], [], ["default Office"]]);
    assert.equal(everywhere.machine.Registry[runKey]?.Platen, undefined, "no printer has subnets any more");
    assert.equal(removed.machine.Registry[runKey]?.Platen, undefined);
  });

  test("log-on waits for the network at most a minute", async () => {
    await install(deployable({ set_default: "on", subnets: "10.1.2.0/24" }), { Addresses: [] });
    const before = (await windows.request<{ machine: { Slept: number } }>({ do: "state" })).machine.Slept;

    const output = await logOn("-AtEveryLogon");

    const after = (await windows.request<{ machine: { Slept: number } }>({ do: "state" })).machine.Slept;
    assert.deepEqual([output, after - before], [[], 60_000]);
  });

  test("versions are in the Gregorian calendar under every culture, so they never run backwards", async () => {
    for (const culture of ["th-TH", "ar-SA"]) {
      await windows.setMachine(usersMachine);
      await windows.paste(`[Threading.Thread]::CurrentThread.CurrentCulture = '${culture}'`);

      const { machine } = await windows.runSuccessfully("install", usersPrinter);

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

    assert.equal(first.output.at(-1), "Installed: Office: installed");
    assert.equal(second.output.at(-1), "Installed: Office: installed");
    assert.equal(third.output.at(-1), "Installed: Office: nothing to change");
    assert.equal(ended.machine.Registry[`${machineComponents}\\Platen`], undefined);
    await assert.rejects(readFile(join(windows.folder, "Program Files", "Platen", "logon.ps1")), /ENOENT/);
  });
});
