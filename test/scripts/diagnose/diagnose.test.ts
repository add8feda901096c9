import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import { defects } from "../../support/defects.ts";
import { diagnose, problemLines } from "../../support/powershell/diagnosis.ts";
import {
  addQueue,
  healthyMachine,
  office,
  setMachineValues,
  setNetwork,
  setPortValues,
  setQueueValues,
  setSnmpState,
  withChanges,
} from "../../support/powershell/office-machine.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { papyrusDriver } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const checksInOrder =
  "rights spooler protected-print ranking log queue driver port marker tcp driverless snmp status jobs doubles default default verdict";

describe("diagnosis on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  let healthy: Awaited<ReturnType<typeof healthyMachine>>;
  before(async () => {
    healthy = await healthyMachine(windows);
  });

  test("every check of a healthy printer is ok, and so is the verdict", async () => {
    await windows.setMachine(healthy);

    const { code, lines } = await diagnose(windows, office);

    assert.equal(code, 0);
    assert.equal(lines.map((line) => /^ok {3}([\w-]+): /.exec(line)?.[1]).join(" "), checksInOrder);
    assert.equal(lines.at(-1), "ok   verdict: nothing wrong in 17 findings");
    assert.match(lines.join("\n"), /^ok {3}marker: installed by Platen, revision [0-9a-f]{12}, at \S/m);
  });

  for (const [what, change, ...lines] of defects) {
    test(`it reports only ${what}`, async () => {
      await windows.setMachine(withChanges(healthy, change));

      const wrong = problemLines(await diagnose(windows, office));

      assert.deepEqual(
        wrong.map((line, i) => line.slice(0, lines[i]?.length)),
        lines,
        wrong.join("\n"),
      );
    });
  }

  test("several defects are all reported, and the verdict counts them and names the first bad one", async () => {
    const wrong = [
      setQueueValues({ Location: "Attic", PrinterStatus: "Offline" }),
      setPortValues({ PortNumber: 9101 }),
      setSnmpState("silent"),
    ];
    await windows.setMachine(withChanges(healthy, ...wrong));

    const result = await diagnose(windows, office);

    assert.deepEqual(
      problemLines(result).map((line) => line.slice(0, line.indexOf(":"))),
      ["warn queue", "bad  port", "bad  snmp", "bad  status"],
    );
    assert.equal(
      result.lines.at(-1),
      "bad  verdict: 3 bad, 1 warn, first port: port IP_10.0.0.9: its number is 9101, not 9100",
    );
  });

  test("every reason for which detect fails is a finding, in the same words", async () => {
    let compared = 0;
    const deployed = defects.filter(([, , line = ""]) =>
      /^\w+ +(?:queue|driver|port|marker): (?!not looked)/.test(line),
    );
    for (const [what, change] of deployed) {
      await windows.setMachine(withChanges(healthy, change));

      const detected = await windows.run("detect", office);
      const result = await diagnose(windows, office);

      const reason = /^Not installed: Office: (?!Windows does not answer)(.*)$/.exec(
        detected.output[0] ?? "",
      )?.[1];
      if (reason === undefined) continue;
      assert.ok(
        problemLines(result).some((line) => line.endsWith(`: ${reason}`)),
        `${what}: ${reason}`,
      );
      compared++;
    }
    assert.ok(compared >= 9, `${compared}`);
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

  test("a name is resolved first, and no request is sent when that fails", async () => {
    const named = deployable({ address: "drucker.haus.local" });
    const results: string[] = [];

    for (const address of ["10.0.0.9", "silent", ""]) {
      await windows.setMachine(
        withChanges(healthy, setNetwork({ Names: { "drucker.haus.local": address } })),
      );
      const { lines, calls } = await diagnose(windows, named);
      results.push(`${calls.includes("Get-TcpAnswer")} ${lines.find((line) => / name: /.test(line))}`);
    }

    assert.deepEqual(results, [
      "true ok   name: drucker.haus.local is 10.0.0.9",
      "false bad  name: drucker.haus.local is a name to which no name server answers",
      "false bad  name: drucker.haus.local is no name that this machine can resolve",
    ]);
  });

  test("an LPR printer is checked at its port, and a port without SNMP status gets no SNMP request", async () => {
    const lpr = deployable({ protocol: "lpr", lpr_queue: "lp" });
    const machine = withChanges(
      healthy,
      setNetwork({ Tcp: { "10.0.0.9:515": "refused" } }),
      setPortValues({ SNMPEnabled: false }),
    );
    await windows.setMachine(machine);

    const { lines } = await diagnose(windows, lpr);

    assert.match(lines.join("\n"), /^bad {2}tcp: 10\.0\.0\.9 port 515 refuses/m);
    assert.match(lines.join("\n"), /^ok {3}snmp: status is off for the port/m);
  });

  test("printed jobs that are kept are not open", async () => {
    const kept = { Id: 1, JobStatus: "Printed, Retained", Minutes: 9000 };
    await windows.setMachine(withChanges(healthy, setQueueValues({ Jobs: [kept] })));

    const { lines } = await diagnose(windows, office);

    assert.ok(lines.includes("ok   jobs: none open"), lines.join("\n"));
  });

  test("a log without an event of the queue is reported as no job", async () => {
    await windows.setMachine(
      withChanges(healthy, setMachineValues({ PrintLog: { IsEnabled: true, Events: [] } })),
    );

    const { lines } = await diagnose(windows, office);

    assert.ok(lines.includes("ok   log: no job in the last seven days"), lines.join("\n"));
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
    const machine = withChanges(
      healthy,
      setMachineValues({ Queues: [], ProcessArchitecture: "x86", Wow64: "AMD64" }),
      setSnmpState("silent"),
    );
    await windows.setMachine(machine);

    const { code, output } = await windows.run("diagnose", office, {
      parameters: { AsJson: true, TimeoutSeconds: 7 },
    });

    assert.equal(code, 1);
    assert.equal(JSON.parse(output.join("")).exitCode, 1);
    assert.match(output.join(""), /does not answer within 7 s/);
  });

  test("-AsJson prints the same findings in one line of ASCII", async () => {
    const name = "Büro „1“ 😀";
    const german = deployable({ name });
    await windows.setMachine(withChanges(healthy, addQueue(`${name} 2`, { Name: "IP_10.0.0.9" })));
    const { lines, code } = await diagnose(windows, german);

    const { output, code: sameCode } = await windows.run("diagnose", german, {
      parameters: { AsJson: true },
    });

    const report = JSON.parse(output[0] ?? "");
    const asLines = report.findings.map(
      ({ level, check, text }: Record<string, string>) => `${level?.padEnd(5)}${check}: ${text}`,
    );
    assert.equal(output.length, 1);
    assert.match(output[0] ?? "", /^[\x20-\x7e]+$/);
    assert.deepEqual([report.exitCode, sameCode, asLines], [code, code, lines]);
    assert.ok(report.findings.some(({ printer }: Record<string, string>) => printer === name));
  });
});
