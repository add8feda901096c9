import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { diagnose, problemLines } from "../../support/powershell/diagnosis.ts";
import {
  device,
  ippDriver,
  ippPort,
  ippPortKeys,
  ippQueue,
  ippUrl,
  windowsDeployable,
} from "../../support/powershell/ipp-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { markerPath, papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const wpp = "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers\\WPP";
const isProtected = { [wpp]: { WindowsProtectedPrintMode: 1 } };
const attributes = {
  "printer-make-and-model": ["Papyrus 100"],
  "printer-state": ["3"],
  "printer-state-reasons": ["none"],
  "printer-is-accepting-jobs": ["True"],
  "document-format-supported": ["image/urf", "image/pwg-raster"],
  "ipp-versions-supported": ["1.1", "2.0"],
  "ipp-features-supported": ["ipp-everywhere"],
};
const network = { Names: {}, Tcp: {}, Snmp: {}, Ipp: { [ippUrl]: { Attributes: attributes } } };

describe("diagnosis of every kind of queue", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  let driverless: Machine;
  const office = windowsDeployable();
  before(async () => {
    const { machine } = await windows.install({ Devices: [device()] }, office);
    const { Queues, Registry } = machine;
    const port = String(Queues[0]?.PortName);
    const Drivers = [{ Name: ippDriver, Version: "10.0.26100.1", Date: "06/21/2006" }];
    driverless = { Queues, Ports: [ippPort(port)], Drivers, Registry, Network: network };
  });

  /** The lines about a driverless queue that are not ok. */
  async function problemLinesOf(change: Partial<Machine>): Promise<string[]> {
    await windows.setMachine({ ...driverless, ...change });
    return problemLines(await diagnose(windows, office));
  }

  test("a driverless queue is checked with its port and device, and protected print mode allows it", async () => {
    await windows.setMachine({ ...driverless, Registry: { ...driverless.Registry, ...isProtected } });

    const { lines } = await diagnose(windows, office);

    assert.deepEqual(problemLines({ lines }), []);
    assert.match(lines.join("\n"), /^ok {3}protected-print: the mode is on, and lets IPP queues through$/m);
    assert.match(lines.join("\n"), /^ok {3}port: WSD-\S+ is a port of WSD Port Monitor$/m);
    assert.match(lines.join("\n"), /^ok {3}tcp: 10\.0\.0\.9 port 631 answers/m);
    assert.match(lines.join("\n"), /^ok {3}ipp: Papyrus 100 says it is idle$/m);
    assert.match(
      lines.join("\n"),
      /^ok {3}driverless: IPP 1\.1 2\.0, ipp-everywhere, takes image\/urf image\/pwg-raster: /m,
    );
    assert.doesNotMatch(lines.join("\n"), / snmp: /);
  });

  test("the class driver on a TCP/IP port is bad, and the changed port is a warning", async () => {
    const wrong = await problemLinesOf({ Queues: [ippQueue("Office", "IP_1")], Ports: [tcpPort("IP_1")] });

    assert.equal(wrong[0], "bad  port: its port IP_1 does not speak IPP (TCPMON.DLL)");
    assert.match(wrong[1] ?? "", /^warn marker: its port is IP_1, not WSD-\S+: somebody added it anew$/);
    assert.equal(wrong.length, 2);
  });

  test("a queue that the scripts did not add is a warning, and one for another URL is bad", async () => {
    const marker = { ...driverless.Registry?.[markerPath] };
    const { IppUrl: _, ...byHand } = marker;

    const unknown = await problemLinesOf({ Registry: { ...driverless.Registry, [markerPath]: byHand } });
    const other = await problemLinesOf({
      Registry: {
        ...driverless.Registry,
        [markerPath]: { ...marker, IppUrl: "http://10.0.0.8:631/ipp/print" },
      },
    });

    assert.deepEqual(unknown, ["warn marker: nobody knows its URL: these scripts did not add it"]);
    assert.deepEqual(other, [`bad  marker: its URL is http://10.0.0.8:631/ipp/print, not ${ippUrl}`]);
  });

  test("another driver is reported once", async () => {
    const [first] = driverless.Queues ?? [];

    const wrong = await problemLinesOf({ Queues: [{ ...first, DriverName: "Papyrus WSD" }] });

    assert.deepEqual(wrong, [`bad  queue: DriverName is Papyrus WSD, not ${ippDriver}`]);
  });

  test("a sleeping printer is bad at its port, and no IPP request is sent", async () => {
    await windows.setMachine({ ...driverless, Network: { ...network, Tcp: { "10.0.0.9:631": "silent" } } });

    const { lines, calls } = await diagnose(windows, office);

    assert.match(
      problemLines({ lines }).join("\n"),
      /^bad {2}tcp: 10\.0\.0\.9 port 631 does not answer within 5 s: off, asleep/,
    );
    assert.ok(!calls.includes("Get-IppAnswer"));
  });

  test("an HTTP error instead of an IPP answer is bad, with its remedy", async () => {
    const answers: [Record<string, string>, RegExp][] = [
      [{ Problem: "answers HTTP 401", Status: "401" }, /answers HTTP 401: it wants somebody to sign in/],
      [{ Problem: "answers HTTP 426", Status: "426" }, /answers HTTP 426: it wants TLS$/],
      [
        { Problem: "answers HTTP 404", Status: "404" },
        /the path is wrong; none of the usual ones answers \(\/ipp\/print, /,
      ],
    ];
    for (const [answer, line] of answers) {
      const [wrong = "", ...others] = await problemLinesOf({
        Network: { ...network, Ipp: { [ippUrl]: answer } },
      });

      assert.ok(wrong.startsWith(`bad  ipp: ${ippUrl} answers`), wrong);
      assert.match(wrong, line);
      assert.deepEqual(others, []);
    }
  });

  test("a driverless printer that is stopped or accepts no jobs is bad, and a state reason is a warning", async () => {
    const problemsWith = async (more: Record<string, string[]>) =>
      problemLinesOf({
        Network: { ...network, Ipp: { [ippUrl]: { Attributes: { ...attributes, ...more } } } },
      });

    const lines = [
      await problemsWith({
        "printer-state": ["5"],
        "printer-state-reasons": ["media-empty-error", "door-open-error"],
      }),
      await problemsWith({ "printer-is-accepting-jobs": ["False"] }),
      await problemsWith({ "printer-state-reasons": ["toner-low-warning"] }),
      await problemsWith({ "printer-state-reasons": ["toner-low-report"] }),
    ];

    assert.deepEqual(lines, [
      ["bad  ipp: Papyrus 100 says it is stopped (media-empty-error door-open-error)"],
      ["bad  ipp: Papyrus 100 says it is idle, and takes no jobs"],
      ["warn ipp: Papyrus 100 says it is idle (toner-low-warning)"],
      [],
    ]);
  });

  test("queues that Windows added for the same device are duplicates, by port or by port id", async () => {
    const [first] = driverless.Queues ?? [];
    const port = String(first?.PortName);
    const portKeys = {
      ...ippPortKeys(port, 1, "IPP-9"),
      ...ippPortKeys("WSD-b", 1, "IPP-9"),
      ...ippPortKeys("WSD-c", 1, "IPP-8"),
    };

    const wrong = await problemLinesOf({
      Queues: [
        ...(driverless.Queues ?? []),
        ippQueue("A", port),
        ippQueue("B", "WSD-b"),
        ippQueue("C", "WSD-c"),
      ],
      Ports: [ippPort(port), ippPort("WSD-b"), ippPort("WSD-c")],
      Registry: { ...driverless.Registry, ...portKeys },
    });

    assert.deepEqual(wrong, [
      "warn doubles: A prints to the same port",
      "warn doubles: B prints to the same device",
    ]);
  });

  test("an own driver of Windows has no version to compare, and protected print mode blocks it", async () => {
    const own = windowsDeployable({ name: "Office" }, "Microsoft PCL6 Class Driver");
    const { machine } = await windows.install({}, own);
    const Drivers = [{ Name: "Microsoft PCL6 Class Driver", Version: "0.0.0.1", Date: "01/01/2000" }];
    const { Queues, Ports, Registry } = machine;
    await windows.setMachine({ Queues, Ports, Drivers, Registry });
    const plain = await diagnose(windows, own);
    await windows.setMachine({ Queues, Ports, Drivers, Registry: { ...Registry, ...isProtected } });

    const protectedMode = await diagnose(windows, own);

    assert.deepEqual(problemLines(plain), []);
    assert.ok(
      plain.lines.includes("ok   driver: Microsoft PCL6 Class Driver is there"),
      plain.lines.join("\n"),
    );
    assert.match(problemLines(protectedMode).join("\n"), /^bad {2}protected-print: the mode is on, [^\n]*$/);
  });

  test("on ARM64 the second driver is checked", async () => {
    const name = "Papyrus 100 ARM";
    const pair = deployable(
      { arm64_driver_desc: name },
      {},
      { inf: { descriptions: [name], architectures: ["arm64"] }, driver_desc: name },
    );
    const Registry = { [markerPath]: { Revision: "x" } };
    const machine = {
      Queues: [queue("Office", "IP_10.0.0.9", name)],
      Ports: [tcpPort("IP_10.0.0.9")],
      Registry,
    };
    await windows.setMachine({
      ...machine,
      Architecture: "arm64",
      Drivers: [{ ...papyrusDriver(), Name: name }],
    });
    const onArm = await diagnose(windows, pair);
    await windows.setMachine({ ...machine, Drivers: [{ ...papyrusDriver(), Name: name }] });

    const onX64 = await diagnose(windows, pair);

    assert.ok(onArm.lines.includes(`ok   driver: ${name} 1.2.3.4`), onArm.lines.join("\n"));
    assert.ok(
      onX64.lines.includes("bad  driver: the driver Papyrus 100 PCL6 is not there"),
      onX64.lines.join("\n"),
    );
  });
});
