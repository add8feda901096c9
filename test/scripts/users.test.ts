import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { device, windowsDeployable } from "../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  markerPath,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";
import { usersMachine, usersPrinter } from "../support/powershell/users-machine.ts";

const users = ["S-1-5-21-9-8-7-1001", "S-1-12-1-5-6-7-8"] as const;
const setups = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Active Setup\\Installed Components";
const own = (sid: string, path: string) => `HKEY_USERS\\${sid}\\${path}`;
const listed = (sid: string, list: string) => defaultPrinterKey(sid).replace(/Windows$/, list);

/** A machine that already has the printer of `deployable`. */
const ready: Machine = {
  Queues: [queue("Office", "IP_10.0.0.9")],
  Ports: [{ Name: "LPT1:" }, tcpPort("IP_10.0.0.9")],
  Drivers: [papyrusDriver()],
};

const registryWrites = (calls: readonly string[]) => calls.filter((call) => /registry/.test(call));

describe("users on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("a driverless printer with a ticket replaces everything, and a second run changes nothing", async () => {
    const { print_ticket, replaces } = usersPrinter.printer;
    const office = windowsDeployable({
      set_default: "on",
      reset_user_preferences: "on",
      print_ticket,
      replaces: replaces.join("\n"),
    });

    const result = await windows.install({ ...usersMachine, Drivers: [], Devices: [device()] }, office);
    const second = await windows.run("install", office);
    const removed = await windows.run("uninstall", office);

    assert.equal(result.output.at(-1), "Installed: Office: installed");
    assert.deepEqual(
      result.machine.Queues.map(({ Name }) => Name),
      ["Office"],
    );
    assert.match(JSON.stringify(result.machine.Queues[0]?.Ticket), /JobStaple/);
    assert.doesNotMatch(JSON.stringify(result.machine.Registry), /,,server,Theirs|"Office":"own"/);
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
    assert.deepEqual([removed.code, traces(removed)], [0, []]);
  });

  describe("their own preferences", () => {
    const others = { "Hall [1]": "own", "\\\\server\\Office": "own", Office2: "own" };
    const Registry = Object.fromEntries(
      [...users, "S-1-5-18"].flatMap((sid) => [
        [own(sid, "Printers\\DevModePerUser"), { Office: "own", ...others }],
        [own(sid, "Printers\\DevModes2"), { OFFICE: "own", "\\\\PC1\\Office": "own", ...others }],
      ]),
    );
    const machine: Machine = { ...ready, Users: [...users], Registry };

    test("preferences for this queue are deleted now for logged-on users, and at the next log-on for others", async () => {
      const office = deployable({ reset_user_preferences: "on" });

      const result = await windows.install(machine, office);

      for (const sid of users) {
        assert.deepEqual(result.machine.Registry[own(sid, "Printers\\DevModePerUser")], others);
        assert.deepEqual(result.machine.Registry[own(sid, "Printers\\DevModes2")], others);
        const setup = result.machine.Registry[`${setups}\\Platen`];
        assert.match(String(setup?.StubPath), /-File ".*Platen.logon\.ps1"$/);
        const { LogonReset, LogonSince, Revision } = result.machine.Registry[markerPath] ?? {};
        const done = result.machine.Registry[own(sid, "Software\\Platen\\7")];
        assert.equal(LogonReset, Revision);
        assert.equal(done?.Reset, `${LogonSince} ${Revision}`, "log-on skips users who are done");
      }
      const system = result.machine.Registry[own("S-1-5-18", "Printers\\DevModePerUser")];
      assert.equal(system?.Office, "own");
    });

    test("preferences are deleted once per revision", async () => {
      const office = deployable({ reset_user_preferences: "on" });
      await windows.install(machine, office);
      await windows.changeMachine({ Registry });

      const second = await windows.run("install", office);
      const changed = await windows.run(
        "install",
        deployable({ reset_user_preferences: "on", comment: "new" }),
      );

      const key = own(users[0], "Printers\\DevModePerUser");
      assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
      assert.equal(second.machine.Registry[key]?.Office, "own");
      assert.equal(changed.machine.Registry[key]?.Office, undefined);
    });

    test("a user's registry that cannot be written becomes a remark", async () => {
      const office = deployable({ reset_user_preferences: "on" });
      await windows.setMachine(machine);
      const whole = await windows.run("install", office);
      const failAt = whole.calls.indexOf("registry Remove-ItemProperty") + 1;
      await windows.setMachine(machine);

      const result = await windows.run("install", office, { failAt });
      const second = await windows.run("install", office);

      assert.equal(result.code, 0);
      assert.match(result.output.at(-1) ?? "", /; the own setting of S-1-12-1-5-6-7-8 stays: /);
      assert.deepEqual(
        second.output,
        ["Installed: Office: nothing to change"],
        "the command at log-on deletes them",
      );
    });

    test("a revision without the setting removes the command at log-on, and so does uninstall", async () => {
      const office = deployable({ reset_user_preferences: "on" });
      await windows.install(machine, office);
      const ended = await windows.run("install", deployable());
      await windows.install(machine, office);
      const removed = await windows.run("uninstall", office);

      for (const result of [ended, removed])
        assert.equal(result.machine.Registry[`${setups}\\Platen`], undefined);
      const left = Object.keys(removed.machine.Registry).filter((key) => /Platen/.test(key));
      assert.deepEqual(left, []);
    });
  });

  describe("connections that a printer replaces", () => {
    const connection = ",,server,Old HP";
    const perMachine = `HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Print\\Connections`;
    const name = "\\\\server\\Old HP";
    const theirs = { "\\\\server\\Other": "winspool,Ne05:" };
    const cached = (sid: string, key: string) =>
      `HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\Print\\Providers\\Client Side Rendering Print Provider\\${sid}\\Printers\\Connections\\${key}`;
    const Registry: Record<string, Record<string, unknown>> = {
      [`${perMachine}\\${connection}`]: { Server: "\\\\server", Provider: "win32spl.dll" },
      [`${perMachine}\\,,server,Other`]: { Server: "\\\\server" },
    };
    for (const sid of users) {
      Registry[own(sid, `Printers\\Connections\\${connection}`)] = { Server: "\\\\server" };
      Registry[own(sid, "Printers\\Connections\\,,server,Other")] = { Server: "\\\\server" };
      Registry[cached(sid, connection)] = { GuidPrinter: "{1}" };
      Registry[cached(sid, ",,server,Other")] = { GuidPrinter: "{2}" };
      Registry[listed(sid, "Devices")] = {
        "\\\\SERVER\\old hp": "winspool,Ne04:",
        Office: "winspool,Ne07:",
        ...theirs,
      };
      Registry[listed(sid, "PrinterPorts")] = { [name]: "winspool,Ne04:,15,45", ...theirs };
    }
    Registry[defaultPrinterKey(users[0])] = { Device: `${name},winspool,Ne04:` };
    Registry[defaultPrinterKey(users[1])] = { Device: "\\\\server\\Other,winspool,Ne05:" };
    const machine: Machine = { ...ready, Users: [...users], Registry };
    const office = deployable({ replaces: name });

    test("connections of the machine and of logged-on users are removed, and affected users get the printer as default", async () => {
      const result = await windows.install(machine, office);

      const after = result.machine.Registry;
      assert.equal(after[`${perMachine}\\${connection}`], undefined);
      assert.ok(after[`${perMachine}\\,,server,Other`]);
      for (const sid of users) {
        assert.equal(after[own(sid, `Printers\\Connections\\${connection}`)], undefined);
        assert.ok(after[own(sid, "Printers\\Connections\\,,server,Other")]);
        assert.equal(after[cached(sid, connection)], undefined, "the cache of the print provider");
        assert.ok(after[cached(sid, ",,server,Other")]);
        assert.deepEqual(after[listed(sid, "Devices")], { Office: "winspool,Ne07:", ...theirs });
        assert.deepEqual(after[listed(sid, "PrinterPorts")], theirs);
      }
      assert.equal(after[defaultPrinterKey(users[0])]?.Device, "Office,winspool,Ne07:");
      assert.equal(after[defaultPrinterKey(users[1])]?.Device, "\\\\server\\Other,winspool,Ne05:");
      assert.equal(result.machine.Restarts, 0);
    });

    test("other users' connections are removed at the next log-on", async () => {
      const result = await windows.install(machine, office);
      const second = await windows.run("install", office);
      const two = await windows.run("install", deployable({ replaces: `${name}\n\\\\10.0.0.5\\b` }));

      assert.ok(result.machine.Registry[`${setups}\\Platen`]);
      assert.equal(result.machine.Registry[markerPath]?.LogonConnections, name);
      assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
      assert.deepEqual(registryWrites(second.calls), []);
      assert.equal(two.machine.Registry[markerPath]?.LogonConnections, `${name}|\\\\10.0.0.5\\b`);
    });

    test("the next run removes a connection that was added again", async () => {
      const first = await windows.install(machine, office);
      await windows.setMachine({ ...machine, Registry: { ...first.machine.Registry, ...Registry } });

      const second = await windows.run("install", office);

      assert.equal(second.machine.Registry[`${perMachine}\\${connection}`], undefined);
      assert.equal(second.machine.Registry[own(users[0], `Printers\\Connections\\${connection}`)], undefined);
    });

    test("a driver-only deployment removes them too, and clears a default printer that no longer exists", async () => {
      const only = deployable({ address: "", replaces: name });

      const result = await windows.install({ ...machine, Queues: [], Ports: [] }, only);
      const removed = await windows.run("uninstall", only);

      assert.equal(result.machine.Registry[defaultPrinterKey(users[0])]?.Device, undefined);
      assert.equal(removed.machine.Registry[`${setups}\\Platen`], undefined);
    });

    test("a failed installation removes none, and -WhatIf prints what it would remove", async () => {
      await windows.setMachine({ ...machine, Queues: [], SilentAddFailures: 9 });
      const failed = await windows.run("install", office);
      await windows.setMachine(machine);
      const dryRun = await windows.run("install", office, { parameters: { WhatIf: true } });

      assert.equal(failed.code, 1603);
      assert.ok(failed.machine.Registry[`${perMachine}\\${connection}`]);
      assert.deepEqual(
        dryRun.output.filter((line) => /connection|log-on/.test(line)),
        [
          `What if: remove the machine's connection ${name}`,
          `What if: remove the connection ${name} of ${users[1]}`,
          `What if: remove the connection ${name} of ${users[0]}`,
          `What if: remove ${name} at log-on`,
        ],
      );
      assert.deepEqual(registryWrites(dryRun.calls), []);
    });

    test("a user's registry that cannot be written becomes a remark, and the next run removes the rest", async () => {
      await windows.setMachine(machine);
      const whole = await windows.run("install", office);
      const last = whole.calls.lastIndexOf("registry Remove-ItemProperty") + 1;
      await windows.setMachine(machine);

      const result = await windows.run("install", office, { failAt: last });
      const second = await windows.run("install", office);

      assert.equal(result.code, 0, result.output.join());
      assert.match(result.output.at(-1) ?? "", /; the connection \\\\server\\Old HP of S-1-.* stays: /);
      assert.deepEqual(second.machine.Registry[listed(users[0], "PrinterPorts")], theirs);
    });

    test("uninstall removes the command at log-on", async () => {
      await windows.install(machine, office);

      const removed = await windows.run("uninstall", office);

      const left = Object.keys(removed.machine.Registry).filter((key) => /Platen/.test(key));
      assert.deepEqual(left, []);
    });
  });
});
