import assert from "node:assert/strict";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../src/pkg/scripts/deployment.ts";
import { deployable, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  findPort,
  getQueue,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

describe("installing on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("install adds driver, port, queue and marker to a fresh machine, and detect finds them", async () => {
    const office = deployable({ name: "Büro “1” — O'Brien ’x’", location: "Hall", comment: "2nd floor" });
    await windows.setMachine();

    const before = await windows.run("detect", office);
    const result = await windows.run("install", office);
    const after = await windows.run("detect", office);

    assert.deepEqual([before.code, before.errors.length], [1, 0]);
    assert.match(before.output.join(), /^Not installed: .*there is no such queue$/);
    assert.equal(result.code, 0);
    assert.equal(result.output.at(-1), "Installed: Büro “1” — O'Brien ’x’: installed");
    const made = getQueue(result, "Büro “1” — O'Brien ’x’");
    assert.deepEqual([made.Location, made.Comment, made.PortName], ["Hall", "2nd floor", "IP_10.0.0.9"]);
    assert.equal(findPort(result, "IP_10.0.0.9")?.PrinterHostAddress, "10.0.0.9");
    assert.equal(result.machine.Registry[markerPath]?.Revision, /revision (\w{12})/.exec(result.log)?.[1]);
    assert.deepEqual(
      [after.code, after.output, after.errors],
      [0, ["Installed: Büro “1” — O'Brien ’x’"], []],
    );
    assert.equal(
      after.calls.some((call) => /Add-|Set-|Remove-|registry/.test(call)),
      false,
      "detection only reads",
    );
  });

  test("a second run reports nothing to change", async () => {
    const office = deployable({
      duplex: "long_edge",
      color: "mono",
      paper_size: "A4",
      set_default: "on",
      shared: "on",
    });
    const first = await windows.install({ Users: ["S-1-5-21-1-2-3-1001"] }, office);

    const second = await windows.run("install", office);

    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
    assert.equal(
      second.calls.some((call) => /Add-|Set-|Remove-|Restart-|pnputil|registry/.test(call)),
      false,
    );
    assert.deepEqual(second.machine, first.machine);
  });

  test("sharing, location and comment stay unless the printer sets them", async () => {
    const own = {
      ...queue("Office", "IP_10.0.0.9"),
      Shared: true,
      ShareName: "theirs",
      Location: "L",
      Comment: "C",
    };

    const result = await windows.install({
      Queues: [own],
      Ports: [tcpPort("IP_10.0.0.9")],
      Drivers: [papyrusDriver()],
    });

    const after = getQueue(result);
    assert.deepEqual(
      [after.Shared, after.ShareName, after.Location, after.Comment],
      [true, "theirs", "L", "C"],
    );
    assert.equal(result.calls.includes("Set-Printer"), false);
  });

  test("replaced queues are removed after success, with the ports that only they used", async () => {
    const machine = {
      Queues: [queue("Old", "OLD_1"), queue("Older", "SHARED"), queue("Theirs", "SHARED")],
      Ports: [tcpPort("OLD_1", "10.0.0.1"), tcpPort("SHARED", "10.0.0.2")],
      Drivers: [papyrusDriver()],
    };

    const result = await windows.install(machine, deployable({ replaces: "Old\nOlder\nNever there" }));

    assert.deepEqual(result.machine.Queues.map(({ Name }) => Name).sort(), ["Office", "Theirs"]);
    assert.deepEqual(result.machine.Ports.map(({ Name }) => Name).sort(), ["IP_10.0.0.9", "SHARED"]);
    assert.ok(result.calls.indexOf("Remove-Printer") > result.calls.indexOf("Add-Printer"));
  });

  test("nothing is replaced when the installation fails", async () => {
    await windows.setMachine({ Queues: [queue("Old", "LPT1:", "Other")], SilentAddFailures: 9 });

    const result = await windows.run("install", deployable({ replaces: "Old" }));

    assert.equal(result.code, 1603);
    assert.ok(getQueue(result, "Old"));
  });

  test("a renamed printer leaves no second queue behind", async () => {
    await windows.install({}, deployable({ name: "Before" }));

    const result = await windows.run("install", deployable({ name: "After", address: "10.0.0.77" }));

    assert.equal(result.code, 0);
    assert.deepEqual(
      result.machine.Queues.map(({ Name }) => Name),
      ["After"],
    );
    assert.deepEqual(
      result.machine.Ports.map(({ Name }) => Name),
      ["LPT1:", "IP_10.0.0.77"],
    );
  });

  test("a printer that becomes driver-only loses its queue and port", async () => {
    await windows.install({});

    const result = await windows.run("install", deployable({ address: "" }));

    assert.equal(result.code, 0, result.output.join());
    assert.deepEqual(result.machine.Queues, []);
    assert.deepEqual(
      result.machine.Ports.map(({ Name }) => Name),
      ["LPT1:"],
    );
  });

  test("the driver of two printers stays until the second one is uninstalled", async () => {
    const [a, b] = [deployable({ id: "7", name: "A" }), deployable({ id: "8", name: "B" })];
    await windows.setMachine();
    await windows.run("install", a);
    await windows.run("install", b);

    const first = await windows.run("uninstall", a);
    const still = await windows.run("detect", b);
    const second = await windows.run("uninstall", b);

    assert.equal(first.code, 0);
    assert.equal(first.machine.Drivers.length, 1);
    assert.equal(
      findPort(first, "IP_10.0.0.9")?.PrinterHostAddress,
      "10.0.0.9",
      "the other queue uses the port",
    );
    assert.equal(still.code, 0, still.output.join());
    assert.deepEqual([second.code, traces(second)], [0, []]);
  });

  test("a driver-only deployment installs, detects and removes the driver alone", async () => {
    const only = deployable({ name: "Papyrus driver", address: "" });

    const result = await windows.install({}, only);
    const removed = await windows.run("uninstall", only);

    assert.deepEqual([result.machine.Queues, result.machine.Drivers.length], [[], 1]);
    assert.deepEqual([removed.code, traces(removed)], [0, []]);
  });

  test("when one of several printers fails, the others are installed and each result is reported", async () => {
    const good = deployable({ id: "7", name: "Good" });
    const bad = deployable(
      { id: "8", name: "Bad" },
      { id: 2, sha256: "b".repeat(64), inf: { architectures: ["x86"] } },
    );
    const also = deployable({ id: "9", name: "Also good", address: "10.0.0.10" });
    await windows.setMachine();
    const many = deploymentOfMany("Client", [good, bad, also]);

    const result = await windows.run("install", many);
    const detected = await windows.run("detect", many);
    const removed = await windows.run("uninstall", many);

    assert.equal(result.code, 1603);
    assert.deepEqual(
      result.output.slice(0, 3).map((line) => line.split(":")[0]),
      ["Good", "Bad", "Also good"],
    );
    assert.match(result.output.at(-1) ?? "", /^Failed: 1 of 3 printers, first Bad: This machine is amd64/);
    assert.equal(result.calls.filter((call) => call === "pnputil").length, 1, "each driver once");
    assert.match(detected.output.join(), /^Not installed: Bad/);
    assert.deepEqual([removed.code, traces(removed)], [0, []]);
  });

  test("the log is written beside Intune's or in Windows' folder; the run continues without a log", async () => {
    const service = "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\IntuneManagementExtension";

    const intune = await windows.install({ Registry: { [service]: { Type: 16 } } });
    const plain = await windows.install({});
    const blocked = await windows.install({ LogsBlocked: true });

    assert.match(intune.log, /Changed: queue Office added/);
    assert.deepEqual(intune.logFolders, ["ProgramData/Microsoft/IntuneManagementExtension/Logs"]);
    assert.deepEqual(plain.logFolders, ["Windows/Logs/Platen"]);
    assert.deepEqual([blocked.code, blocked.log], [0, ""]);
  });

  test("no log is written to a folder that any user can create", async () => {
    const result = await windows.install({ IntuneFolder: true });

    assert.deepEqual(result.logFolders, ["Windows/Logs/Platen"]);
  });

  test("a log over 1 MB is renamed, and a folder with the name of the old log stays empty", async () => {
    const path = join(windows.folder, "run.log");
    const aside = join(windows.folder, "run.log.old");
    const run = async () => {
      await windows.setMachine();
      await writeFile(path, "x".repeat(1_100_000));
      return windows.run("install", deployable(), { parameters: { LogPath: path } });
    };

    const first = await run();
    const kept = (await stat(aside)).size;
    const repeated = await run();
    await rm(aside);
    await mkdir(aside);
    const blocked = await run();

    assert.deepEqual([first.code, repeated.code, blocked.code], [0, 0, 0]);
    assert.equal(kept, 1_100_000);
    assert.deepEqual(await readdir(aside), []);
  });

  test("-WhatIf prints the changes and makes none", async () => {
    await windows.setMachine({ Queues: [queue("Office", "LPT1:")] });

    const result = await windows.run("install", deployable(), { parameters: { WhatIf: true } });

    assert.equal(result.code, 0, result.output.join());
    assert.ok(result.output.some((line) => /^What if: install driver/.test(line)));
    assert.ok(result.output.some((line) => /^What if: repair queue Office/.test(line)));
    assert.equal(
      result.calls.some((call) => /Add-|Set-|Remove-|pnputil|registry/.test(call)),
      false,
      result.calls.join(),
    );
  });
});
