import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import { defects } from "../../support/defects.ts";
import { deepTest, rounds } from "../../support/depth.ts";
import { diagnose, problemLines } from "../../support/powershell/diagnosis.ts";
import {
  addQueue,
  type Change,
  combine,
  healthyMachine,
  loggedOnUsers,
  office,
  printEvent,
  setIppAttributes,
  setMachineValues,
  setNetwork,
  setPortValues,
  setPrintLog,
  setQueueValues,
  setRegistryKey,
  setSnmpState,
  withChanges,
} from "../../support/powershell/office-machine.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { defaultPrinterKey, papyrusDriver } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { seededRandom } from "../../support/random.ts";

const checksInOrder =
  "rights spooler protected-print ranking log queue driver port marker tcp driverless snmp status jobs doubles default default verdict";

const [domainUser, entraUser] = loggedOnUsers;
const wild = "P\r\nok   verdict: nothing wrong\u202e\u0007\u001b[31m";
const kept = { Id: 1, JobStatus: "Printed, Retained", Minutes: 9000 };
const host = "drucker.haus.local";
const resolved = (address: string) => setNetwork({ Names: { [host]: address } });

/** What is diagnosed, the change of the healthy machine, lines of the diagnosis, and the printer if it is another. */
const reports: [what: string, Change, (string | RegExp)[], printer?: ReturnType<typeof deployable>][] = [
  ["printed jobs that are kept", setQueueValues({ Jobs: [kept] }), ["ok   jobs: none open"]],
  [
    "a log without an event of the queue",
    setMachineValues({ PrintLog: { IsEnabled: true, Events: [] } }),
    ["ok   log: no job in the last seven days"],
  ],
  [
    "an LPR printer at its port, and a port without SNMP status",
    combine(setNetwork({ Tcp: { "10.0.0.9:515": "refused" } }), setPortValues({ SNMPEnabled: false })),
    [/^bad {2}tcp: 10\.0\.0\.9 port 515 refuses/, /^ok {3}snmp: status is off for the port/],
    deployable({ protocol: "lpr", lpr_queue: "lp" }),
  ],
  [
    "names of devices and queues that contain control characters",
    combine(
      setIppAttributes({ "printer-make-and-model": [wild], "printer-state": ["3"] }),
      addQueue("Zwei\nte", { Name: "IP_10.0.0.9" }),
    ),
    [
      "ok   ipp: P ok verdict: nothing wrong [31m says it is idle",
      "warn doubles: Zwei te prints to the same port",
    ],
  ],
  [
    "the default printers of users, with only the end of the SID",
    combine(
      setRegistryKey(defaultPrinterKey(domainUser), {
        Device: "Office,winspool,Ne00:",
        LegacyDefaultPrinterMode: 1,
      }),
      setRegistryKey(defaultPrinterKey(entraUser), { Device: "PDF, the other,winspool,Ne01:" }),
    ),
    [
      "warn default: is meant to be the default printer of S-1-...777, which is now PDF, the other; Windows manages the default printer of that user",
      "ok   default: is the default printer of S-1-...1001",
    ],
    deployable({ set_default: "on" }),
  ],
];

describe("diagnosis on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  let healthy: Awaited<ReturnType<typeof healthyMachine>>;
  before(async () => {
    healthy = await healthyMachine(windows);
  });

  deepTest("every check of a healthy printer is ok, and so is the verdict", async () => {
    await windows.setMachine(healthy);

    const { code, lines } = await diagnose(windows, office);

    assert.equal(code, 0);
    assert.equal(lines.map((line) => /^ok {3}([\w-]+): /.exec(line)?.[1]).join(" "), checksInOrder);
    assert.equal(lines.at(-1), "ok   verdict: nothing wrong in 17 findings");
    assert.match(lines.join("\n"), /^ok {3}marker: installed by Platen, revision [0-9a-f]{12}, at \S/m);
  });

  for (const [what, change, ...lines] of defects) {
    const isDeployed = /^\w+ +(?:queue|driver|port|marker): (?!not looked)/.test(lines[0] ?? "");
    const words = isDeployed ? ", in the words of detect" : "";
    test(`it reports only ${what}${words}`, async () => {
      await windows.setMachine(withChanges(healthy, change));

      const wrong = problemLines(await diagnose(windows, office));

      assert.deepEqual(
        wrong.map((line, i) => line.slice(0, lines[i]?.length)),
        lines,
        wrong.join("\n"),
      );
      if (!isDeployed) return;
      const { output } = await windows.run("detect", office);
      const [, reason = ""] = /^Not installed: Office: (.*)$/.exec(output[0] ?? "") ?? [];
      assert.ok(reason !== "" && wrong.some((line) => line.endsWith(`: ${reason}`)), output[0]);
    });
  }

  for (const [what, change, expected, printer = office] of reports) {
    test(`it reports ${what}`, async () => {
      await windows.setMachine(withChanges(healthy, change));

      const { lines } = await diagnose(windows, printer);

      for (const line of expected) {
        const isThere = lines.some((each) => (typeof line === "string" ? line === each : line.test(each)));
        assert.ok(isThere, `${line}:\n${lines.join("\n")}`);
      }
      assert.doesNotMatch(lines.join(""), /[\u0000-\u001f\u202e]/);
    });
  }

  for (const [address, line] of [
    ["10.0.0.9", `ok   name: ${host} is 10.0.0.9`],
    ["silent", `bad  name: ${host} is a name to which no name server answers`],
    ["", `bad  name: ${host} is no name that this machine can resolve`],
  ] as const) {
    test(`a name with the answer “${address}” is resolved first, and no request is sent when that fails`, async () => {
      await windows.setMachine(withChanges(healthy, resolved(address)));

      const { lines, calls } = await diagnose(windows, deployable({ address: host }));

      assert.ok(lines.includes(line), lines.join("\n"));
      assert.equal(calls.includes("Get-TcpAnswer"), line.startsWith("ok"));
    });
  }

  const several = combine(
    setQueueValues({ DriverName: "X", Location: "Attic", PrinterStatus: "Offline" }),
    setPortValues({ PortNumber: 9101 }),
    setSnmpState("silent"),
  );

  test("several defects are all reported, the verdict counts them and names the first bad one, and nothing changes", async () => {
    await windows.setMachine(withChanges(healthy, several));
    const { machine: before } = await windows.run("detect", office);

    const result = await diagnose(windows, office);

    const { machine: after } = await windows.run("detect", office);
    assert.deepEqual(
      problemLines(result).map((line) => line.slice(0, line.indexOf(":"))),
      ["bad  queue", "warn queue", "bad  port", "bad  snmp", "bad  status"],
    );
    assert.equal(
      result.lines.at(-1),
      "bad  verdict: 4 bad, 1 warn, first queue: DriverName is X, not Papyrus 100 PCL6",
    );
    assert.deepEqual(after, before);
  });

  test("each printer of a client is diagnosed, and each line names its printer", async () => {
    const second = deployable({ id: "8", name: "Lager", address: "10.0.0.10" });
    await windows.setMachine(healthy);

    const { lines, code } = await diagnose(windows, deploymentOfMany("Haus", [office, second]));

    assert.equal(code, 1);
    assert.ok(lines.includes("bad  Lager: queue: there is no such queue"), lines.join("\n"));
    assert.ok(lines.includes("ok   Office: status: Windows calls the queue Normal"));
    assert.ok(lines.includes("ok   rights: runs elevated"));
    assert.equal(lines.at(-1), "bad  verdict: 1 bad, 1 warn, first Lager: queue: there is no such queue");
  });

  test("a driver alone is diagnosed without contacting a device", async () => {
    const driver = deployable({ address: "", port_name: "" });
    const { machine } = await windows.install({}, driver);
    await windows.setMachine({ Drivers: [papyrusDriver()], Registry: machine.Registry });

    const { lines, calls } = await diagnose(windows, driver);

    assert.deepEqual(problemLines({ lines }), []);
    assert.ok(!calls.some((call) => /Tcp|Snmp|Ipp|Job/.test(call)), calls.join());
  });

  test("a failure at any call becomes a finding, not an error", async () => {
    await windows.setMachine(healthy);
    const { calls } = await diagnose(windows, office);
    for (let failAt = 1; failAt <= calls.length; failAt++) {
      await windows.setMachine(healthy);

      const result = await diagnose(windows, office, { failAt });

      assert.notEqual(problemLines(result).length, 0, `call ${failAt}, ${calls[failAt - 1]}`);
    }
  });

  test("a 32-bit agent's run continues in the 64-bit PowerShell with its parameters and exit code", async () => {
    const agent = setMachineValues({ Queues: [], ProcessArchitecture: "x86", Wow64: "AMD64" });
    await windows.setMachine(withChanges(healthy, agent, setSnmpState("silent")));

    const parameters = { AsJson: true, TimeoutSeconds: 7 };
    const { code, output } = await windows.run("diagnose", office, { parameters });

    assert.equal(code, 1);
    assert.equal(JSON.parse(output.join("")).exitCode, 1);
    assert.match(output.join(""), /does not answer within 7 s/);
  });

  test("-AsJson prints the same findings in one line of ASCII", async () => {
    const name = "Büro „1“ 😀";
    const german = deployable({ name });
    await windows.setMachine(withChanges(healthy, addQueue(`${name} 2`, { Name: "IP_10.0.0.9" })));
    const { lines, code } = await diagnose(windows, german);

    const json = await windows.run("diagnose", german, { parameters: { AsJson: true } });

    const [line = "", ...others] = json.output;
    const { findings, exitCode } = JSON.parse(line);
    const asLines = findings.map(
      ({ level, check, text }: Record<string, string>) => `${level?.padEnd(5)}${check}: ${text}`,
    );
    assert.deepEqual(others, []);
    assert.match(line, /^[\x20-\x7e]+$/);
    assert.deepEqual([exitCode, json.code, asLines], [code, code, lines]);
    assert.ok(findings.some(({ printer }: Record<string, string>) => printer === name));
  });

  test("communities, job owners and document names are never printed", async () => {
    const random = seededRandom(3);
    const states = ["silent", "answers", "refused", "broken", "no-such-name"];
    for (const [i, state] of states.slice(0, rounds(2, 5)).entries()) {
      const secrets = Array.from({ length: 4 }, () => `Geheim${random(1e9)}`);
      const [community = "", other = "", UserName = "", DocumentName = ""] = secrets;
      const secretive = deployable({ snmp: "on", snmp_community: community });
      const job = { Id: 1, JobStatus: "Error", Minutes: 5, UserName, DocumentName };
      const machine = withChanges(
        healthy,
        setPortValues({ SNMPCommunity: i % 2 === 0 ? other : community }),
        setSnmpState(state, 5),
        setQueueValues({ Jobs: [job] }),
        setPrintLog(
          printEvent(842, 5, UserName, DocumentName, "Office", "0x80004005"),
          printEvent(372, 9, DocumentName, UserName, "Office"),
        ),
      );
      await windows.setMachine(machine);

      const { lines } = await diagnose(windows, secretive);
      const json = await windows.run("diagnose", secretive, { parameters: { AsJson: true } });

      const all = [...lines, ...json.output].join("\n");
      for (const secret of secrets) assert.ok(!all.includes(secret), all);
      assert.match(all, /^bad {2}jobs: /m);
      assert.match(all, /^bad {2}log: 2 failures/m);
    }
  });
});
