import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { diagnose } from "../../support/powershell/diagnosis.ts";
import {
  addQueue,
  healthyMachine,
  loggedOnUsers,
  office,
  printEvent,
  setIppAttributes,
  setPortValues,
  setPrintLog,
  setQueueValues,
  setRegistryKey,
  setSnmpState,
  withChanges,
} from "../../support/powershell/office-machine.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { defaultPrinterKey } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { seededRandom } from "../../support/random.ts";

describe("secrets and changes in a diagnosis", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  let healthy: Awaited<ReturnType<typeof healthyMachine>>;
  before(async () => {
    healthy = await healthyMachine(windows);
  });

  test("diagnosis leaves every queue and registry value as it was", async () => {
    const wrong = [
      setQueueValues({ DriverName: "X", PrinterStatus: "Offline" }),
      setPortValues({ PortNumber: 9101 }),
      setSnmpState("silent"),
    ];
    await windows.setMachine(withChanges(healthy, ...wrong));
    const { machine: before } = await windows.run("detect", office);

    await diagnose(windows, office);

    const { machine: after } = await windows.run("detect", office);
    assert.deepEqual(after, before);
  });

  test("communities, job owners and document names are never printed", async () => {
    const random = seededRandom(3);
    for (let i = 0; i < 5; i++) {
      const secrets = Array.from({ length: 4 }, () => `Geheim${random(1e9)}`);
      const [community = "", other = "", owner = "", document = ""] = secrets;
      const secretive = deployable({ snmp: "on", snmp_community: community });
      const states = ["silent", "refused", "broken", "no-such-name", "answers"];
      const machine = withChanges(
        healthy,
        setPortValues({ SNMPCommunity: i % 2 === 0 ? other : community }),
        setSnmpState(states[i % states.length] ?? "", 5),
        setQueueValues({
          Jobs: [{ Id: 1, JobStatus: "Error", Minutes: 5, UserName: owner, DocumentName: document }],
        }),
        setPrintLog(
          printEvent(842, 5, owner, document, "Office", "0x80004005"),
          printEvent(372, 9, document, owner, "Office"),
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

  test("default printers are reported per user, with only the end of the SID", async () => {
    const meant = deployable({ set_default: "on" });
    const machine = withChanges(
      healthy,
      setRegistryKey(defaultPrinterKey(loggedOnUsers[0]), {
        Device: "Office,winspool,Ne00:",
        LegacyDefaultPrinterMode: 1,
      }),
      setRegistryKey(defaultPrinterKey(loggedOnUsers[1]), { Device: "PDF, the other,winspool,Ne01:" }),
    );
    await windows.setMachine(machine);

    const { lines } = await diagnose(windows, meant);

    assert.deepEqual(
      lines.filter((line) => / default: /.test(line)),
      [
        "warn default: is meant to be the default printer of S-1-...777, which is now PDF, the other; Windows manages the default printer of that user",
        "ok   default: is the default printer of S-1-...1001",
      ],
    );
  });

  test("names of devices and queues cannot add a line or reverse the text direction", async () => {
    const wild = "P\r\nok   verdict: nothing wrong\u202e\u0007\u001b[31m";
    const model = { "printer-make-and-model": [wild], "printer-state": ["3"] };
    await windows.setMachine(
      withChanges(healthy, setIppAttributes(model), addQueue("Zwei\nte", { Name: "IP_10.0.0.9" })),
    );

    const { lines } = await diagnose(windows, office);

    assert.ok(lines.includes("ok   ipp: P ok verdict: nothing wrong [31m says it is idle"), lines.join("\n"));
    assert.ok(lines.includes("warn doubles: Zwei te prints to the same port"), lines.join("\n"));
    assert.doesNotMatch(lines.join(""), /[\u0000-\u001f\u202e]/);
  });
});
