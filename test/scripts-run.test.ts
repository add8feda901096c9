import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { deploymentOf, deploymentOfMany } from "../src/pkg/scripts/deployment.ts";
import { driverZip, printerInf } from "./support/driver-zip.ts";
import { filesZip } from "./support/files-zip.ts";
import {
  deployable,
  type Machine,
  type RunResult,
  Simulation,
  withoutPowerShell,
} from "./support/powershell.ts";

const tcp = (Name: string, PrinterHostAddress = "10.0.0.9") => ({
  Name,
  PrinterHostAddress,
  PortNumber: 9100,
  Protocol: 1,
  SNMPEnabled: false,
});
const queue = (Name: string, PortName: string, DriverName = "Papyrus 100 PCL6") => ({
  Name,
  PortName,
  DriverName,
  Location: "",
  Comment: "",
  Shared: false,
  ShareName: "",
  Jobs: [],
  Configuration: { DuplexingMode: "OneSided", Color: true, Collate: true, PaperSize: "Letter" },
});
const papyrus = (Version = "1.2.3.4", date = "06/21/2025") => ({
  Name: "Papyrus 100 PCL6",
  Version,
  Date: date,
});
const markerPath = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Platen\\Printers\\7";
const userPath = (sid: string) =>
  `HKEY_USERS\\${sid}\\Software\\Microsoft\\Windows NT\\CurrentVersion\\Windows`;

function queueOf(result: RunResult, name = "Office"): Record<string, unknown> {
  const found = result.machine.Queues.find((each) => each.Name === name);
  assert.ok(found, `no queue ${name}: ${result.output.join(" ")}`);
  return found;
}

function portOf(result: RunResult, name: unknown): Record<string, unknown> | undefined {
  return result.machine.Ports.find((port) => port.Name === name);
}

/** What is left of us on a machine. */
function traces(result: RunResult): string[] {
  const keys = Object.keys(result.machine.Registry).filter((path) => /Platen/.test(path));
  const queues = result.machine.Queues.map(({ Name }) => `queue ${Name}`);
  const ports = result.machine.Ports.filter(({ PrinterHostAddress }) => PrinterHostAddress).map(
    ({ Name }) => `port ${Name}`,
  );
  return [...keys, ...queues, ...ports, ...result.machine.Drivers.map(({ Name }) => `driver ${Name}`)];
}

describe("scripts on a simulated Windows", { skip: withoutPowerShell }, () => {
  let windows: Simulation;
  before(() => {
    windows = new Simulation();
  });
  after(() => windows.close());

  /** Installs on a machine and expects it to work and to be detected. */
  async function installed(machine: Machine, office = deployable()): Promise<RunResult> {
    await windows.machine(machine);
    const result = await windows.run("install", office);
    assert.equal(result.code, 0, result.output.join("\n"));
    assert.deepEqual(result.errors, []);
    const detected = await windows.run("detect", office);
    assert.equal(detected.code, 0, detected.output.join("\n"));
    return result;
  }

  test("a fresh machine gets driver, port, queue and marker, and is detected", async () => {
    const office = deployable({ name: "Büro “1” — O'Brien ’x’", location: "Hall", comment: "2nd floor" });
    await windows.machine();

    const before = await windows.run("detect", office);
    const result = await windows.run("install", office);
    const after = await windows.run("detect", office);

    assert.deepEqual([before.code, before.errors.length], [1, 0]);
    assert.match(before.output.join(), /^Not installed: .*there is no such queue$/);
    assert.equal(result.code, 0);
    assert.equal(result.output.at(-1), "Installed: Büro “1” — O'Brien ’x’: installed");
    const made = queueOf(result, "Büro “1” — O'Brien ’x’");
    assert.deepEqual([made.Location, made.Comment, made.PortName], ["Hall", "2nd floor", "IP_10.0.0.9"]);
    assert.equal(portOf(result, "IP_10.0.0.9")?.PrinterHostAddress, "10.0.0.9");
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

  test("a second run changes nothing and says so", async () => {
    const office = deployable({
      duplex: "long_edge",
      color: "mono",
      paper_size: "A4",
      set_default: "on",
      shared: "on",
    });
    const first = await installed({ Users: ["S-1-5-21-1-2-3-1001"] }, office);

    const second = await windows.run("install", office);

    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
    assert.equal(
      second.calls.some((call) => /Add-|Set-|Remove-|Restart-|pnputil|registry/.test(call)),
      false,
    );
    assert.deepEqual(second.machine, first.machine);
  });

  const drifts: Record<string, Machine> = {
    "the queue's driver": { Queues: [queue("Office", "IP_10.0.0.9", "Other")], Ports: [tcp("IP_10.0.0.9")] },
    "the queue's port": {
      Queues: [queue("Office", "LPT1:")],
      Ports: [{ Name: "LPT1:" }, tcp("IP_10.0.0.9")],
    },
    "its location": {
      Queues: [{ ...queue("Office", "IP_10.0.0.9"), Location: "Cellar" }],
      Ports: [tcp("IP_10.0.0.9")],
    },
    "its comment": {
      Queues: [{ ...queue("Office", "IP_10.0.0.9"), Comment: "old" }],
      Ports: [tcp("IP_10.0.0.9")],
    },
    "its sharing": { Queues: [queue("Office", "IP_10.0.0.9")], Ports: [tcp("IP_10.0.0.9")] },
    "its share name": {
      Queues: [{ ...queue("Office", "IP_10.0.0.9"), Shared: true, ShareName: "old" }],
      Ports: [tcp("IP_10.0.0.9")],
    },
    "the port's address": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [tcp("IP_10.0.0.9", "10.0.0.1")],
    },
    "the port's number": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ ...tcp("IP_10.0.0.9"), PortNumber: 9101 }],
    },
    "the port's protocol": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ ...tcp("IP_10.0.0.9"), PortNumber: 515, Protocol: 2, LprQueueName: "lp" }],
    },
    "the port's SNMP": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ ...tcp("IP_10.0.0.9"), SNMPEnabled: true }],
    },
    "a local port of its name": {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [{ Name: "IP_10.0.0.9" }],
    },
  };
  for (const [what, machine] of Object.entries(drifts)) {
    test(`drift of ${what} is seen and repaired without a new queue`, async () => {
      const office = deployable({ location: "Hall", comment: "new", shared: "on", share_name: "office" });
      const jobs = [{ ...machine.Queues?.[0], Jobs: [1, 2] }];
      await windows.machine({
        ...machine,
        Queues: jobs,
        Drivers: [papyrus(), { ...papyrus(), Name: "Other" }],
      });

      const seen = await windows.run("detect", office);
      const result = await windows.run("install", office);
      const after = await windows.run("detect", office);

      assert.equal(seen.code, 1);
      assert.equal(result.code, 0, result.output.join());
      assert.equal(result.calls.includes("Add-Printer"), false);
      assert.equal(result.calls.includes("Remove-Printer"), false);
      const repaired = queueOf(result);
      assert.deepEqual(repaired.Jobs, [1, 2]);
      assert.deepEqual(
        [repaired.DriverName, repaired.Location, repaired.Comment],
        ["Papyrus 100 PCL6", "Hall", "new"],
      );
      assert.deepEqual([repaired.Shared, repaired.ShareName], [true, "office"]);
      const port = portOf(result, repaired.PortName);
      assert.deepEqual([port?.PrinterHostAddress, port?.PortNumber, port?.Protocol], ["10.0.0.9", 9100, 1]);
      assert.equal(after.code, 0, after.output.join());
    });
  }

  test("sharing, location and comment that nobody asked for are left alone", async () => {
    const own = {
      ...queue("Office", "IP_10.0.0.9"),
      Shared: true,
      ShareName: "theirs",
      Location: "L",
      Comment: "C",
    };

    const result = await installed({ Queues: [own], Ports: [tcp("IP_10.0.0.9")], Drivers: [papyrus()] });

    const after = queueOf(result);
    assert.deepEqual(
      [after.Shared, after.ShareName, after.Location, after.Comment],
      [true, "theirs", "L", "C"],
    );
    assert.equal(result.calls.includes("Set-Printer"), false);
  });

  test("a port of the same name with another address is replaced when nobody uses it", async () => {
    const result = await installed({ Ports: [tcp("IP_10.0.0.9", "10.0.0.1")], Drivers: [papyrus()] });

    assert.deepEqual(
      result.machine.Ports.map(({ Name, PrinterHostAddress }) => [Name, PrinterHostAddress]),
      [["IP_10.0.0.9", "10.0.0.9"]],
    );
  });

  test("a port of the same name with another address that another queue uses is left to it", async () => {
    const machine = {
      Queues: [queue("Theirs", "IP_10.0.0.9")],
      Ports: [tcp("IP_10.0.0.9", "10.0.0.1")],
      Drivers: [papyrus()],
    };

    const result = await installed(machine);

    assert.equal(portOf(result, "IP_10.0.0.9")?.PrinterHostAddress, "10.0.0.1");
    assert.equal(queueOf(result, "Theirs").PortName, "IP_10.0.0.9");
    assert.equal(queueOf(result).PortName, "IP_10.0.0.9_2");
    assert.equal(portOf(result, "IP_10.0.0.9_2")?.PrinterHostAddress, "10.0.0.9");
    const second = await windows.run("install", deployable());
    assert.deepEqual(second.output, ["Installed: Office: nothing to change"]);
  });

  test("a port that drifted under our own queue is repaired, and the wrong one goes", async () => {
    const machine = {
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports: [tcp("IP_10.0.0.9", "10.0.0.1")],
      Drivers: [papyrus()],
    };

    const result = await installed(machine);

    const port = portOf(result, queueOf(result).PortName);
    assert.equal(port?.PrinterHostAddress, "10.0.0.9");
    assert.equal(result.machine.Ports.length, 1, JSON.stringify(result.machine.Ports));
  });

  test("a driver that is there in this version or a newer one is not installed again", async () => {
    for (const driver of [papyrus(), papyrus("1.2.3.10"), papyrus("1.0.0.0", "07/01/2026")]) {
      const result = await installed({ Drivers: [driver] });
      assert.equal(result.calls.includes("pnputil"), false);
      assert.equal(result.machine.Drivers[0]?.Version, driver.Version);
    }
  });

  test("an older driver is updated in place, with its queues", async () => {
    const machine = { Drivers: [papyrus("1.2.3.3")], Queues: [queue("Theirs", "LPT1:")] };
    await windows.machine(machine);
    const before = await windows.run("detect", deployable());

    const result = await installed(machine);

    assert.equal(before.code, 1);
    assert.equal(result.machine.Drivers[0]?.Version, "1.2.3.4");
    assert.equal(queueOf(result, "Theirs").DriverName, "Papyrus 100 PCL6");
  });

  test("a driver that Windows installs only from its store, or only after a restart, is installed", async () => {
    const byInf = await installed({ DriverNeedsInf: true });
    const byRestart = await installed({ DriverNeedsRestart: true });

    assert.equal(byInf.machine.Restarts, 0);
    assert.equal(byRestart.machine.Restarts, 1);
  });

  test("a driver that Windows never installs fails after one restart, with its reason", async () => {
    await windows.machine({ DriverNever: true });

    const result = await windows.run("install", deployable());

    assert.equal(result.code, 1603);
    assert.equal(result.machine.Restarts, 1);
    assert.match(
      result.output.at(-1) ?? "",
      /^Failed: Office: The driver .* was staged, but Windows does not install it: /,
    );
    assert.equal(result.machine.Registry[markerPath], undefined);
  });

  test("an INF in a sub-folder, in UTF-16, is found and installed", async () => {
    const office = deployable({}, { inf: { path: "x64/Deutsch ä/papyrus.inf" } });
    await windows.machine();
    const inf = Buffer.from(`\ufeff${printerInf({ version: "1.2.3.4", date: "06/21/2025" })}`, "utf16le");

    const result = await windows.run("install", office, { inf });

    assert.equal(result.code, 0, result.output.join());
    assert.equal(result.machine.Drivers[0]?.Version, "1.2.3.4");
  });

  const pnputil: [number, number, RegExp][] = [
    [0, 0, /^Installed: Office: installed$/],
    [259, 0, /^Installed: Office: installed$/],
    [3010, 3010, /asks for a restart/],
    [1641, 1641, /asks for a restart/],
    [1618, 1618, /busy with another installation/],
    [5, 1603, /rights are not enough/],
    [2, 1603, /did not find the driver's INF/],
    [-536870353, 1603, /no catalog \(0xE000022F\)/],
    [-2146762487, 1603, /root that is not trusted \(0x800B0109\)/],
    [-536870334, 1603, /publisher is not trusted \(0xE0000242\)/],
    [87, 1603, /pnputil 87/],
  ];
  for (const [PnpCode, code, last] of pnputil) {
    test(`pnputil's ${PnpCode} becomes exit code ${code}`, async () => {
      await windows.machine({ PnpCode });

      const result = await windows.run("install", deployable());

      assert.equal(result.code, code);
      assert.match(result.output.at(-1) ?? "", last);
      assert.equal(result.machine.Registry[markerPath] !== undefined, [0, 3010, 1641].includes(code));
    });
  }

  const refusals: [string, Machine, RegExp][] = [
    [
      "protected print",
      {
        Registry: {
          "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP": {
            WindowsProtectedPrintGroupPolicyState: 1,
          },
        },
      },
      /protected print mode is on/,
    ],
    [
      "another architecture",
      { Architecture: "arm64", ProcessArchitecture: "ARM64" },
      /This machine is arm64; the driver is made for amd64/,
    ],
    [
      "an x64 process on ARM64",
      { Architecture: "arm64", ProcessArchitecture: "AMD64" },
      /This machine is arm64/,
    ],
    ["missing rights", { Admin: false }, /needs administrator rights/],
  ];
  for (const [what, machine, last] of refusals) {
    test(`${what} fails before anything is touched`, async () => {
      await windows.machine({ ...machine, Spooler: { Status: "Stopped", StartType: "Manual" } });

      const result = await windows.run("install", deployable());

      assert.equal(result.code, 1603);
      assert.match(result.output.at(-1) ?? "", last);
      assert.equal(
        result.calls.some((call) => /Add-|Set-|Remove-|pnputil|registry|-Service/.test(call)),
        false,
        result.calls.join(),
      );
      assert.equal(result.machine.Spooler.Status, "Stopped");
    });
  }

  for (const [machine, Wow64] of [
    ["amd64", "AMD64"],
    ["arm64", "ARM64"],
  ] as const) {
    test(`a 32-bit host on ${machine} starts the 64-bit PowerShell and passes its exit code and parameters on`, async () => {
      const office = deployable({}, { inf: { architectures: ["amd64", "arm64"] } });
      await windows.machine({ Architecture: machine, ProcessArchitecture: "x86", Wow64, PnpCode: 3010 });
      const before = await windows.run("detect", office);

      const result = await windows.run("install", office, {
        parameters: { LogPath: join(windows.folder, "ProgramData", "own.log") },
      });
      const detected = await windows.run("detect", office);
      const removed = await windows.run("uninstall", office, { parameters: { Force: true } });

      assert.deepEqual([before.code, result.code, detected.code, removed.code], [1, 3010, 0, 0]);
      assert.match(result.log, /Installation starts/);
    });
  }

  test("a stopped spooler is started; a disabled one is a clear failure", async () => {
    const stopped = await installed({ Spooler: { Status: "Stopped", StartType: "Automatic" } });
    await windows.machine({ Spooler: { Status: "Stopped", StartType: "Disabled" } });
    const disabled = await windows.run("install", deployable());
    const detected = await windows.run("detect", deployable());

    assert.equal(stopped.machine.Spooler.Status, "Running");
    assert.equal(disabled.code, 1603);
    assert.match(disabled.output.at(-1) ?? "", /spooler is disabled/);
    assert.deepEqual([detected.code, detected.errors], [1, []]);
    assert.match(detected.output.join(), /^Not installed: Office: Windows does not answer/);
  });

  test("a spooler that dies once is started again; one that dies for good is 1618", async () => {
    const once = await installed({ SpoolerDiesAt: 8 });
    await windows.machine({ SpoolerDiesAt: 8, SpoolerDiesForGood: true });
    const forGood = await windows.run("install", deployable());
    await windows.machine({
      Spooler: { Status: "Stopped", StartType: "Automatic" },
      SpoolerNeverStarts: true,
    });
    const never = await windows.run("install", deployable());

    assert.match(once.log, /went away|was started/);
    assert.deepEqual([forGood.code, never.code], [1618, 1618]);
  });

  test("Add-Printer that lies is noticed, tried again, and at last a failure", async () => {
    const once = await installed({ AddPrinterLies: 1 });
    await windows.machine({ AddPrinterLies: 9 });
    const always = await windows.run("install", deployable());
    const after = await windows.run("detect", deployable());

    assert.ok(queueOf(once));
    assert.equal(always.code, 1603);
    assert.match(always.output.at(-1) ?? "", /it is never there/);
    assert.equal(after.code, 1);
  });

  test("Set-Printer that lies is a failure", async () => {
    await windows.machine({ SetPrinterLies: true, Queues: [queue("Office", "LPT1:")], Drivers: [papyrus()] });

    const result = await windows.run("install", deployable());

    assert.equal(result.code, 1603);
    assert.match(result.output.at(-1) ?? "", /did not take over .* PortName/);
  });

  test("LPR, SNMP, IPv6 and host names reach the port as they should", async () => {
    const lpr = await installed(
      {},
      deployable({ protocol: "lpr", lpr_queue: "lp1", address: "printer.example.lan" }),
    );
    const snmp = await installed({}, deployable({ snmp: "on", snmp_community: "geheim's", snmp_index: "3" }));
    const six = await installed({}, deployable({ address: "fe80::1:2", port_number: "9101" }));

    const lprPort = portOf(lpr, "IP_printer.example.lan");
    assert.deepEqual(
      [lprPort?.Protocol, lprPort?.LprQueueName, lprPort?.PrinterHostAddress],
      [2, "lp1", "printer.example.lan"],
    );
    const snmpPort = portOf(snmp, "IP_10.0.0.9");
    assert.deepEqual(
      [snmpPort?.SNMPEnabled, snmpPort?.SNMPCommunity, snmpPort?.SNMPIndex],
      [true, "geheim's", 3],
    );
    assert.doesNotMatch(snmp.log, /geheim/, "nothing secret in the log");
    assert.deepEqual(
      [portOf(six, "IP_fe80::1:2")?.PrinterHostAddress, portOf(six, "IP_fe80::1:2")?.PortNumber],
      ["fe80::1:2", 9101],
    );
  });

  test("a port without an address is a local one, and one that exists is only used", async () => {
    const existing = await installed({}, deployable({ address: "", port_name: "LPT1:" }));
    const made = await installed({}, deployable({ address: "", port_name: "C:/out.prn" }));

    assert.equal(queueOf(existing).PortName, "LPT1:");
    assert.equal(existing.calls.includes("Add-PrinterPort"), false);
    assert.equal(queueOf(made).PortName, "C:/out.prn");
  });

  test("preferences that the driver refuses or ignores are warnings; the others are set", async () => {
    const office = deployable({ duplex: "short_edge", color: "mono", collate: "off", paper_size: "A4" });

    const result = await installed({ Refuses: ["DuplexingMode"], Ignores: ["Color"] }, office);

    assert.deepEqual(queueOf(result).Configuration, {
      DuplexingMode: "OneSided",
      Color: true,
      Collate: false,
      PaperSize: "A4",
    });
    assert.match(
      result.output.at(-1) ?? "",
      /^Installed: .*ignores Color = False; the driver refuses DuplexingMode = TwoSidedShortEdge/,
    );
  });

  test("replaced queues go after success, with the ports that only they used", async () => {
    const machine = {
      Queues: [queue("Old", "OLD_1"), queue("Older", "SHARED"), queue("Theirs", "SHARED")],
      Ports: [tcp("OLD_1", "10.0.0.1"), tcp("SHARED", "10.0.0.2")],
      Drivers: [papyrus()],
    };

    const result = await installed(machine, deployable({ replaces: "Old\nOlder\nNever there" }));

    assert.deepEqual(result.machine.Queues.map(({ Name }) => Name).sort(), ["Office", "Theirs"]);
    assert.deepEqual(result.machine.Ports.map(({ Name }) => Name).sort(), ["IP_10.0.0.9", "SHARED"]);
    assert.ok(result.calls.indexOf("Remove-Printer") > result.calls.indexOf("Add-Printer"));
  });

  test("nothing is replaced when the installation fails", async () => {
    await windows.machine({ Queues: [queue("Old", "LPT1:", "Other")], AddPrinterLies: 9 });

    const result = await windows.run("install", deployable({ replaces: "Old" }));

    assert.equal(result.code, 1603);
    assert.ok(queueOf(result, "Old"));
  });

  test("a renamed printer leaves no second queue behind", async () => {
    await installed({}, deployable({ name: "Before" }));

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
    await installed({});

    const result = await windows.run("install", deployable({ address: "" }));

    assert.equal(result.code, 0, result.output.join());
    assert.deepEqual(result.machine.Queues, []);
    assert.deepEqual(
      result.machine.Ports.map(({ Name }) => Name),
      ["LPT1:"],
    );
  });

  test("an IPv6 address is the same in every spelling", async () => {
    const spelled = { ...tcp("IP_fe80::1", "fe80::1") };
    const machine = { Queues: [queue("Office", "IP_fe80::1")], Ports: [spelled], Drivers: [papyrus()] };

    const result = await installed(
      machine,
      deployable({ address: "FE80:0:0::0001", port_name: "IP_fe80::1" }),
    );

    assert.equal(result.calls.includes("Add-PrinterPort"), false);
  });

  for (const count of [0, 1, 3]) {
    test(`the default printer is set for ${count} logged-on users and for those who come later, and given back`, async () => {
      const users = Array.from({ length: count }, (_, i) => `S-1-5-21-9-8-7-100${i}`);
      const old = { Device: "Theirs,winspool,Ne05:", LegacyDefaultPrinterMode: 0 };
      const Registry: Record<string, Record<string, unknown>> = {
        "HKEY_USERS\\S-1-5-18\\Software": { a: "b" },
      };
      for (const sid of users) {
        Registry[userPath(sid)] = old;
        Registry[userPath(sid).replace(/Windows$/, "Devices")] = { Office: "winspool,Ne07:" };
      }
      const office = deployable({ set_default: "on" });
      const machine = { Users: users, Registry, Queues: [queue("Theirs", "LPT1:")], Drivers: [papyrus()] };

      const result = await installed(machine, office);
      const removed = await windows.run("uninstall", office);

      for (const sid of users) {
        assert.equal(result.machine.Registry[userPath(sid)]?.Device, "Office,winspool,Ne07:");
        assert.equal(result.machine.Registry[userPath(sid)]?.LegacyDefaultPrinterMode, 1);
        assert.deepEqual(removed.machine.Registry[userPath(sid)], old);
      }
      const setup = "HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Active Setup\\Installed Components\\Platen-7";
      assert.match(String(result.machine.Registry[setup]?.StubPath), /Printers\\7'\)\.Queue/);
      assert.doesNotMatch(String(result.machine.Registry[setup]?.StubPath), /Office/);
      assert.equal(removed.machine.Registry[setup], undefined);
      assert.equal(result.machine.Registry[userPath("S-1-5-18")], undefined);
    });
  }

  test("two printers on one driver: the driver stays until the second one is gone", async () => {
    const [a, b] = [deployable({ id: "7", name: "A" }), deployable({ id: "8", name: "B" })];
    await windows.machine();
    await windows.run("install", a);
    await windows.run("install", b);

    const first = await windows.run("uninstall", a);
    const still = await windows.run("detect", b);
    const second = await windows.run("uninstall", b);

    assert.equal(first.code, 0);
    assert.equal(first.machine.Drivers.length, 1);
    assert.equal(
      portOf(first, "IP_10.0.0.9")?.PrinterHostAddress,
      "10.0.0.9",
      "the other queue uses the port",
    );
    assert.equal(still.code, 0, still.output.join());
    assert.deepEqual([second.code, traces(second)], [0, []]);
  });

  test("a driver-only deployment installs, detects and removes the driver alone", async () => {
    const only = deployable({ name: "Papyrus driver", address: "" });

    const result = await installed({}, only);
    const removed = await windows.run("uninstall", only);

    assert.deepEqual([result.machine.Queues, result.machine.Drivers.length], [[], 1]);
    assert.deepEqual([removed.code, traces(removed)], [0, []]);
  });

  test("many printers with one failing: the others are installed, each result is said, one exit code", async () => {
    const good = deployable({ id: "7", name: "Good" });
    const bad = deployable(
      { id: "8", name: "Bad" },
      { id: 2, sha256: "b".repeat(64), inf: { architectures: ["x86"] } },
    );
    const also = deployable({ id: "9", name: "Also good", address: "10.0.0.10" });
    await windows.machine();
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

  test("a lock held by another run is 1618", async () => {
    await windows.machine({ MutexHeld: true });

    const install = await windows.run("install", deployable());
    const uninstall = await windows.run("uninstall", deployable());

    assert.deepEqual([install.code, uninstall.code], [1618, 1618]);
    assert.deepEqual(install.calls, []);
  });

  test("the log stands beside Intune's, else in ProgramData; without a place the run goes on", async () => {
    const intune = await installed({ IntuneLogs: true });
    const blocked = await installed({ LogsBlocked: true });

    assert.match(intune.log, /Changed: queue Office added/);
    assert.equal(blocked.log, "");
  });

  test("-WhatIf says what it would do and does nothing", async () => {
    await windows.machine({ Queues: [queue("Office", "LPT1:")] });

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

  test("a trusted publisher is imported only where it was asked for, and taken out again", async () => {
    const without = await installed({});
    const office = deployable({}, { trust_publisher: true });
    const result = await installed({}, office);
    const removed = await windows.run("uninstall", office);
    const theirs = await installed({ Publishers: ["AABBCC"] }, office);
    const kept = await windows.run("uninstall", office);

    assert.deepEqual(without.machine.Publishers, []);
    assert.deepEqual(result.machine.Publishers, ["AABBCC"]);
    assert.match(result.log, /trusted publisher CN=Papyrus \(AABBCC\) added/);
    assert.deepEqual([removed.machine.Publishers, traces(removed)], [[], []]);
    assert.deepEqual([theirs.machine.Publishers, kept.machine.Publishers], [["AABBCC"], ["AABBCC"]]);
  });

  describe("fetched alone", () => {
    const inf = { models: ["Papyrus 100 PCL6"], version: "1.2.3.4", date: "06/21/2025" };
    // Names that differ only by case or are in another code page: Windows cannot unpack the upload itself.
    const extra = [
      { name: "Readme.txt", bytes: "the earlier one" },
      { name: "README.TXT", bytes: "the later one" },
      { name: "", rawName: Buffer.from("B\x81ro\\Gr\x94\xe1e.txt", "latin1"), bytes: "CP437" },
    ];
    let zip: Buffer;
    before(async () => {
      zip = await filesZip(driverZip({ ...inf, extra }));
    });
    const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    const alone = (sha256 = digestOf(zip)) =>
      deploymentOf(deployable({}, {}), { url: "http://platen.lan:8080/drivers/1/files", sha256 });

    async function fetched(deployment: ReturnType<typeof alone>, machine: Machine): Promise<RunResult> {
      await windows.machine(machine);
      return windows.run("install", deployment, { withoutFiles: true });
    }

    test("the driver is downloaded, checked and used, and nothing stays behind", async () => {
      const path = join(windows.folder, "download.zip");
      await writeFile(path, zip);

      const result = await fetched(alone(), { Download: path });

      assert.equal(result.code, 0, result.output.join());
      assert.deepEqual([result.machine.Downloads, result.machine.Drivers.length, result.left], [1, 1, 0]);
    });

    test("a machine that has the driver downloads nothing", async () => {
      const result = await fetched(alone(), { Drivers: [papyrus()] });

      assert.deepEqual([result.code, result.machine.Downloads], [0, 0]);
    });

    test("a wrong digest and a missing network are clear failures that leave nothing behind", async () => {
      const path = join(windows.folder, "download.zip");
      await writeFile(path, zip);

      const wrong = await fetched(alone("c".repeat(64)), { Download: path });
      const none = await fetched(alone(), {});

      assert.deepEqual([wrong.code, none.code, wrong.left, none.left], [1603, 1603, 0, 0]);
      assert.match(wrong.output.at(-1) ?? "", /is not the expected one: its SHA-256 is/);
      assert.match(
        none.output.at(-1) ?? "",
        /could not be downloaded from http:\/\/platen\.lan:8080\/drivers\/1\/files/,
      );
    });

    test("a script of a package without its files says what it misses", async () => {
      await windows.machine();

      const result = await windows.run("install", deployable(), { withoutFiles: true });

      assert.equal(result.code, 1603);
      assert.match(
        result.output.at(-1) ?? "",
        /files are missing: expected papyrus\.inf in the folder driver/,
      );
    });
  });

  describe("uninstall", () => {
    test("what is not there is removed already", async () => {
      await windows.machine();

      const result = await windows.run("uninstall", deployable());

      assert.deepEqual([result.code, result.output], [0, ["Removed: Office: nothing was there"]]);
    });

    test("everything that install made goes, and a second run has nothing to do", async () => {
      const before = await installed({});
      const removed = await windows.run("uninstall", deployable());
      const again = await windows.run("uninstall", deployable());
      const detected = await windows.run("detect", deployable());

      assert.ok(traces(before).length > 3);
      assert.deepEqual([removed.code, traces(removed), removed.errors], [0, [], []]);
      assert.match(again.output.join(), /nothing was there/);
      assert.equal(detected.code, 1);
    });

    test("ports and drivers that Windows still calls busy get patience, then one restart", async () => {
      const patient = await installed({ LingerMs: 4000 });
      const soon = await windows.run("uninstall", deployable());
      await installed({ LingerMs: 10 * 60_000, ListLeaving: true });
      const late = await windows.run("uninstall", deployable());

      assert.ok(patient);
      assert.deepEqual([soon.code, traces(soon), soon.machine.Restarts], [0, [], 0]);
      assert.deepEqual([late.code, traces(late), late.machine.Restarts], [0, [], 1], late.output.join());
    });

    test("a port or driver that others use stays, and so does a port that we did not make", async () => {
      await installed({
        Ports: [tcp("IP_10.0.0.9")],
        Queues: [queue("Theirs", "LPT1:")],
        Drivers: [papyrus()],
      });

      const result = await windows.run("uninstall", deployable());

      assert.equal(result.code, 0);
      assert.deepEqual(traces(result), ["queue Theirs", "port IP_10.0.0.9", "driver Papyrus 100 PCL6"]);
    });

    test("keep_driver leaves the driver", async () => {
      await installed({}, deployable({ keep_driver: "on" }));

      const result = await windows.run("uninstall", deployable({ keep_driver: "on" }));

      assert.deepEqual([result.code, traces(result)], [0, ["driver Papyrus 100 PCL6"]]);
    });

    test("open jobs get a while, then 1618; -Force removes the queue all the same", async () => {
      const busy = { Queues: [{ ...queue("Office", "LPT1:"), Jobs: [1, 2] }], Drivers: [papyrus()] };
      await windows.machine({ ...busy, JobsDoneAt: 20_000 });
      const waited = await windows.run("uninstall", deployable());
      await windows.machine(busy);
      const refused = await windows.run("uninstall", deployable());
      await windows.change({ JobsDoneAt: 1 });
      const forced = await windows.run("uninstall", deployable(), { parameters: { Force: true } });

      assert.equal(waited.code, 0);
      assert.equal(refused.code, 1618);
      assert.match(refused.output.at(-1) ?? "", /still has 2 open jobs/);
      assert.ok(queueOf(refused));
      assert.equal(forced.code, 0);
    });
  });

  const detections: [string, (machine: Machine) => void, RegExp][] = [
    [
      "a missing queue",
      (m) => {
        m.Queues = [];
      },
      /there is no such queue/,
    ],
    [
      "a connection of the same name",
      (m) => {
        m.Queues = [{ ...queue("Office", "IP_10.0.0.9"), Type: "Connection" }];
      },
      /there is no such queue/,
    ],
    [
      "a missing driver",
      (m) => {
        m.Drivers = [{ ...papyrus(), Name: "Other" }];
      },
      /the driver Papyrus 100 PCL6 is not there/,
    ],
    [
      "an older driver",
      (m) => {
        m.Drivers = [papyrus("1.2.3.3")];
      },
      /the driver's version is 1\.2\.3\.3, not 1\.2\.3\.4/,
    ],
    [
      "a missing marker",
      (m) => {
        m.Registry = {};
      },
      /not installed by these scripts/,
    ],
    [
      "another revision",
      (m) => {
        m.Registry = { [markerPath]: { Revision: "000000000000" } };
      },
      /its revision is 000000000000/,
    ],
    [
      "a stopped spooler",
      (m) => {
        m.Spooler = { Status: "Stopped", StartType: "Automatic" };
      },
      /Windows does not answer: Der Spoolerdienst/,
    ],
  ];
  for (const [what, spoil, line] of detections) {
    test(`detection names ${what} on one line, without an error`, async () => {
      const result = await installed({});
      const machine: Machine = {
        Queues: result.machine.Queues,
        Ports: result.machine.Ports,
        Drivers: [papyrus()],
        Registry: result.machine.Registry,
      };
      spoil(machine);
      await windows.machine(machine);

      const detected = await windows.run("detect", deployable());

      assert.deepEqual([detected.code, detected.output.length, detected.errors], [1, 1, []]);
      assert.match(detected.output[0] ?? "", line);
    });
  }

  test("a driver whose name holds a slash is recognised", async () => {
    const slash = { driver_desc: "CD 1015 / DC 2015 KX", inf: { descriptions: ["CD 1015 / DC 2015 KX"] } };

    const result = await installed({}, deployable({}, slash));
    const again = await windows.run("install", deployable({}, slash));

    assert.equal(result.machine.Drivers[0]?.Name, "CD 1015 / DC 2015 KX");
    assert.match(again.output.join(), /nothing to change/);
  });

  test("a queue's name full of wildcards and quotes is only itself", async () => {
    const name = "[Office]*? $(x) `n 'y'";
    const machine = { Queues: [queue("Office", "LPT1:"), queue("O", "LPT1:")], Drivers: [papyrus()] };

    const result = await installed(machine, deployable({ name }));
    const removed = await windows.run("uninstall", deployable({ name }));

    assert.ok(queueOf(result, name));
    assert.deepEqual(
      removed.machine.Queues.map(({ Name }) => Name),
      ["Office", "O"],
    );
  });

  for (const failWith of ["error", "cut"] as const) {
    test(`a failure (${failWith}) at every call in turn: the next installation heals, and uninstall cleans`, async () => {
      const office = deployable(
        { duplex: "long_edge", set_default: "on", shared: "on", replaces: "Old", snmp: "on" },
        { trust_publisher: true },
      );
      const machine: Machine = {
        Users: ["S-1-5-21-1-2-3-1001"],
        Queues: [queue("Old", "OLD_1")],
        Ports: [{ Name: "LPT1:" }, tcp("OLD_1", "10.0.0.1"), tcp("IP_10.0.0.9", "10.9.9.9")],
        Drivers: [papyrus("1.0.0.0", "01/01/2020")],
      };
      await windows.machine(machine);
      const whole = await windows.run("install", office);
      assert.equal(whole.code, 0, whole.output.join());
      const count = whole.calls.length;

      for (let failAt = 1; failAt <= count; failAt++) {
        await windows.machine(machine);
        const broken = await windows.run("install", office, { failAt, failWith });
        const healed = await windows.run("install", office);
        const detected = await windows.run("detect", office);
        const removed = await windows.run("uninstall", office);

        const where = `call ${failAt} of ${count}, ${broken.calls[failAt - 1]}`;
        assert.equal(healed.code, 0, `${where}: ${healed.output.join(" ")}`);
        assert.equal(detected.code, 0, `${where}: ${detected.output.join(" ")}`);
        assert.equal(removed.code, 0, `${where}: ${removed.output.join(" ")}`);
        assert.deepEqual(traces(removed), [], where);
        assert.deepEqual(removed.machine.Publishers, [], where);
        assert.equal(broken.left, 0, where);
      }
      assert.ok(count > 40, `${count} calls`);
    });
  }

  test("a failure at every call of uninstall in turn: the next one cleans", async () => {
    const office = deployable({ set_default: "on" }, { trust_publisher: true });
    await installed({ Users: ["S-1-5-21-1-2-3-1001"] }, office);
    const whole = await windows.run("uninstall", office);

    for (let failAt = 1; failAt <= whole.calls.length; failAt++) {
      await installed({ Users: ["S-1-5-21-1-2-3-1001"] }, office);
      const broken = await windows.run("uninstall", office, { failAt });
      const cleaned = await windows.run("uninstall", office);

      const where = `call ${failAt} of ${whole.calls.length}, ${broken.calls[failAt - 1]}`;
      assert.equal(cleaned.code, 0, where);
      assert.deepEqual(traces(cleaned), [], where);
      assert.deepEqual(cleaned.machine.Publishers, [], where);
    }
  });
});
