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
import {
  type Change,
  combine,
  healthyMachine,
  office,
  setIppAttributes,
  setNetwork,
  setPortValues,
  setRegistryKey,
  withChanges,
} from "../../support/powershell/office-machine.ts";
import { deployable, type Machine, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { markerPath, papyrusDriver, queue, tcpPort } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const policies = "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers";
const isProtected = { [`${policies}\\WPP`]: { WindowsProtectedPrintMode: 1 } };
const attributes = {
  "printer-make-and-model": ["Papyrus 100"],
  "printer-state": ["3"],
  "printer-state-reasons": ["none"],
  "printer-is-accepting-jobs": ["True"],
  "document-format-supported": ["image/urf", "image/pwg-raster"],
  "ipp-versions-supported": ["1.1", "2.0"],
  "ipp-features-supported": ["ipp-everywhere"],
};
const network = (answer: unknown = { Attributes: attributes }, more = {}) => ({
  Network: { Names: {}, Tcp: {}, Snmp: {}, Ipp: { [ippUrl]: answer }, ...more },
});
const withAttributes = (more: object) => network({ Attributes: { ...attributes, ...more } });

describe("diagnosis of a queue without a vendor's driver", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  const printer = windowsDeployable();
  let driverless: Machine & Required<Pick<Machine, "Queues" | "Registry">>;
  let port = "";
  before(async () => {
    const { Queues, Registry } = (await windows.install({ Devices: [device()] }, printer)).machine;
    port = String(Queues[0]?.PortName);
    const Drivers = [{ Name: ippDriver, Version: "10.0.26100.1", Date: "06/21/2006" }];
    driverless = { Queues, Ports: [ippPort(port)], Drivers, Registry, ...network() };
  });

  test("its port and device are checked, and protected print mode allows it", async () => {
    await windows.setMachine({ ...driverless, Registry: { ...driverless.Registry, ...isProtected } });

    const { lines } = await diagnose(windows, printer);

    assert.deepEqual(problemLines({ lines }), []);
    for (const line of [
      /^ok {3}protected-print: the mode is on, and lets IPP queues through$/m,
      /^ok {3}port: WSD-\S+ is a port of WSD Port Monitor$/m,
      /^ok {3}tcp: 10\.0\.0\.9 port 631 answers/m,
      /^ok {3}ipp: Papyrus 100 says it is idle$/m,
      /^ok {3}driverless: IPP 1\.1 2\.0, ipp-everywhere, takes image\/urf image\/pwg-raster: /m,
    ])
      assert.match(lines.join("\n"), line);
    assert.doesNotMatch(lines.join("\n"), / snmp: /);
  });

  const marked = (IppUrl: string | null) => {
    const Registry = { ...driverless.Registry, [markerPath]: { ...driverless.Registry[markerPath], IppUrl } };
    return { Registry };
  };
  const withDuplicates = () => ({
    Queues: [...driverless.Queues, ippQueue("A", port), ippQueue("B", "WSD-b"), ippQueue("C", "WSD-c")],
    Ports: [ippPort(port), ippPort("WSD-b"), ippPort("WSD-c")],
    Registry: {
      ...{ ...driverless.Registry, ...ippPortKeys(port, 1, "IPP-9") },
      ...{ ...ippPortKeys("WSD-b", 1, "IPP-9"), ...ippPortKeys("WSD-c", 1, "IPP-8") },
    },
  });
  const http = (Status: string) => network({ Problem: `answers HTTP ${Status}`, Status });
  const reasons = (...values: string[]) => withAttributes({ "printer-state-reasons": values });
  const stopped = {
    "printer-state": ["5"],
    "printer-state-reasons": ["media-empty-error", "door-open-error"],
  };
  const [elsewhere, says] = ["http://10.0.0.8:631/ipp/print", "ipp: Papyrus 100 says it is"];
  const answers = `^bad {2}ipp: ${ippUrl} answers HTTP`;
  const faults: [what: string, change: () => Partial<Machine>, ...lines: (string | RegExp)[]][] = [
    [
      "the class driver on a TCP/IP port",
      () => ({ Queues: [ippQueue("Office", "IP_1")], Ports: [tcpPort("IP_1")] }),
      "bad  port: its port IP_1 does not speak IPP (TCPMON.DLL)",
      /^warn marker: its port is IP_1, not WSD-\S+: somebody added it anew$/,
    ],
    [
      "a queue of others",
      () => marked(null),
      "warn marker: nobody knows its URL: these scripts did not add it",
    ],
    ["another URL", () => marked(elsewhere), `bad  marker: its URL is ${elsewhere}, not ${ippUrl}`],
    [
      "another driver",
      () => ({ Queues: [{ ...driverless.Queues[0], DriverName: "Papyrus WSD" }] }),
      `bad  queue: DriverName is Papyrus WSD, not ${ippDriver}`,
    ],
    [
      "a sleeping printer",
      () => network(undefined, { Tcp: { "10.0.0.9:631": "silent" } }),
      /^bad {2}tcp: 10\.0\.0\.9 port 631 does not answer within 5 s: off, asleep/,
    ],
    ["a password", () => http("401"), new RegExp(`${answers} 401: it wants somebody to sign in`)],
    ["that TLS is needed", () => http("426"), new RegExp(`${answers} 426: it wants TLS$`)],
    [
      "a wrong path",
      () => http("404"),
      new RegExp(`${answers} 404: the path is wrong; none of .* \\(/ipp/print, `),
    ],
    [
      "a stopped printer",
      () => withAttributes(stopped),
      `bad  ${says} stopped (media-empty-error door-open-error)`,
    ],
    [
      "a printer that accepts no jobs",
      () => withAttributes({ "printer-is-accepting-jobs": ["False"] }),
      `bad  ${says} idle, and takes no jobs`,
    ],
    ["little toner", () => reasons("toner-low-warning"), `warn ${says} idle (toner-low-warning)`],
    ["nothing of a mere report", () => reasons("toner-low-report")],
    [
      "queues that Windows added for the same device, by port or by port id",
      withDuplicates,
      "warn doubles: A prints to the same port",
      "warn doubles: B prints to the same device",
    ],
  ];
  for (const [what, change, ...expected] of faults) {
    test(`it reports only ${what}`, async () => {
      await windows.setMachine({ ...driverless, ...change() });

      const result = await diagnose(windows, printer);

      const wrong = problemLines(result);
      assert.equal(wrong.length, expected.length, wrong.join("\n"));
      for (const [i, line] of expected.entries()) {
        if (typeof line === "string") assert.equal(wrong[i], line);
        else assert.match(wrong[i] ?? "", line);
      }
      if (wrong.join().includes(" tcp: ")) assert.ok(!result.calls.includes("Get-IppAnswer"));
    });
  }

  test("an own driver of Windows has no version to compare, and protected print mode blocks it", async () => {
    const name = "Microsoft PCL6 Class Driver";
    const own = windowsDeployable({ name: "Office" }, name);
    const { Queues, Ports, Registry } = (await windows.install({}, own)).machine;
    const machine = { Queues, Ports, Drivers: [{ Name: name, Version: "0.0.0.1", Date: "01/01/2000" }] };
    await windows.setMachine({ ...machine, Registry });
    const plain = await diagnose(windows, own);
    await windows.setMachine({ ...machine, Registry: { ...Registry, ...isProtected } });
    const protectedMode = await diagnose(windows, own);

    assert.deepEqual(problemLines(plain), []);
    assert.ok(plain.lines.includes(`ok   driver: ${name} is there`), plain.lines.join("\n"));
    assert.match(problemLines(protectedMode).join("\n"), /^bad {2}protected-print: the mode is on, [^\n]*$/);
  });

  test("on ARM64 the second driver is checked", async () => {
    const name = "Papyrus 100 ARM";
    const second = { inf: { descriptions: [name], architectures: ["arm64"] }, driver_desc: name } as const;
    const pair = deployable({ arm64_driver_desc: name }, {}, second);
    const machine = {
      Queues: [queue("Office", "IP_10.0.0.9", name)],
      Ports: [tcpPort("IP_10.0.0.9")],
      Registry: { [markerPath]: { Revision: "x" } },
      Drivers: [{ ...papyrusDriver(), Name: name }],
    };
    await windows.setMachine({ ...machine, Architecture: "arm64" });
    const onArm = await diagnose(windows, pair);
    await windows.setMachine(machine);
    const onX64 = await diagnose(windows, pair);

    assert.ok(onArm.lines.includes(`ok   driver: ${name} 1.2.3.4`), onArm.lines.join("\n"));
    assert.ok(onX64.lines.includes("bad  driver: the driver Papyrus 100 PCL6 is not there"));
  });
});

describe("what a diagnosis says of printing without a vendor's driver", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  let healthy: Awaited<ReturnType<typeof healthyMachine>>;
  before(async () => {
    healthy = await healthyMachine(windows);
  });

  const untested = { ...attributes, "ipp-features-supported": undefined };
  const jpegOnly = { ...attributes, "document-format-supported": ["image/jpeg"] };
  const notFound = { Problem: "answers client-error-not-found", Status: "client-error-not-found" };
  const [port1, ipv6] = ["http://10.0.0.9:631/ipp/port1", "http://[fd00::9]:631/ipp/print"];
  const policy = "UseWindowsReadyPrintDriverRanking";
  /** Sets the driver ranking by the setting and by the policy. */
  const ranking = (bySetting?: number, byPolicy?: number) =>
    setRegistryKey(`${policies}\\DriverRanking`, {
      ...(bySetting === undefined ? {} : { [policy]: bySetting }),
      ...(byPolicy === undefined ? {} : { [`${policy}GroupPolicy`]: byPolicy }),
    });
  const ranked = (state: string) =>
    new RegExp(
      `^ok {3}ranking: .* is ${state}: it is for printers that Windows finds, not for TCP/IP queues$`,
    );
  /** Sets the port's values, and the community that the device, which is down, knows. */
  const snmp = (values: Record<string, unknown>, Community: string) => {
    const answer = { "10.0.0.9": { Community, State: "answers", DeviceStatus: 5 } };
    return combine(setPortValues(values), setNetwork({ Snmp: answer }));
  };
  const own = { SNMPCommunity: "haus" };
  const down = /^bad {2}snmp: the device answers: down/;
  const could =
    "ok   driverless: IPP 1.1 2.0, ipp-everywhere, takes image/urf image/pwg-raster: Windows' own driver should be able to drive it at";
  const lpr = deployable({ protocol: "lpr", lpr_queue: "lp", address: "fd00::9" });

  const statements: [what: string, Change, line: string | RegExp, printer?: ReturnType<typeof deployable>][] =
    [
      [
        "a device with IPP at one of the usual paths could do without, and the path is named",
        setNetwork({ Ipp: { [ippUrl]: notFound, [port1]: { Attributes: attributes } } }),
        `${could} ${port1}`,
      ],
      [
        "a device that was not tested for it may do without",
        setIppAttributes(untested),
        /^ok {3}driverless: .*Windows' own driver may be able to drive it at/,
      ],
      [
        "a device without IPP needs its driver, which is no fault of the queue",
        setNetwork({}),
        `ok   driverless: ${ippUrl} refuses the connection: without IPP the queue needs its driver`,
      ],
      [
        "a device without a format that Windows produces is no fault of the queue",
        setIppAttributes(jpegOnly),
        /^ok {3}driverless: .* takes neither .*, so Windows' own driver may not/,
      ],
      [
        "an LPR queue with an IPv6 address is asked for its device too",
        setNetwork({ Ipp: { [ipv6]: { Attributes: attributes } } }),
        `${could} ${ipv6}`,
        lpr,
      ],
      ["nobody sets the driver ranking", ranking(), ranked("set by nobody, so Windows decides")],
      ["the setting turns the ranking on", ranking(1), ranked("on by setting")],
      ["a policy turns it off", ranking(1, 0), ranked("off by policy")],
      ["a policy turns it on", ranking(0, 1), ranked("on by policy")],
      [
        "protected print mode is named before it is on",
        setNetwork({}),
        "ok   protected-print: the mode is off: drivers of any maker work. Switched on, it removes their queues",
      ],
      ["SNMP is asked with the community of the port", snmp(own, "haus"), down],
      [
        "SNMP is asked with no other",
        snmp(own, "public"),
        /^bad {2}snmp: status is on for the port, but the/,
      ],
      [
        "SNMP is asked with public if the port has none",
        snmp({ SNMPCommunity: null, SNMPIndex: null }, "public"),
        down,
      ],
    ];
  for (const [what, change, line, printer = office] of statements) {
    test(what, async () => {
      await windows.setMachine(withChanges(healthy, change));

      const result = await diagnose(windows, printer);

      const check = /\w[\w-]*: /.exec(String(line))?.[0] ?? "";
      const found = result.lines.filter((each) => each.slice(5).startsWith(check));
      assert.equal(found.length, 1);
      if (typeof line === "string") assert.equal(found[0], line);
      else assert.match(found[0] ?? "", line);
      const isFault = check === "snmp: " || printer !== office;
      if (!isFault) assert.deepEqual(problemLines(result), []);
    });
  }
});
