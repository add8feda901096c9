import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deploymentOfMany } from "../../../src/pkg/scripts/deployment.ts";
import { defects } from "../../support/defects.ts";
import { diagnose, problemLines } from "../../support/powershell/diagnosis.ts";
import {
  addQueue,
  type Change,
  combine,
  loggedOnUsers,
  office,
  officeMachine,
  printEvent,
  setIppAttributes,
  setMachineValues,
  setNetwork,
  setPortValues,
  setPrintLog,
  setQueueValues,
  setRegistryKey,
  setSnmpState,
} from "../../support/powershell/office-machine.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { defaultPrinterKey } from "../../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../../support/powershell/simulated-windows.ts";
import { storiesOf, tellStories } from "../../support/powershell/transcripts.ts";

const [domainUser, entraUser] = loggedOnUsers;
const wild = "P\r\nok   verdict: nothing wrong\u202e\u0007\u001b[31m";
const kept = { Id: 1, JobStatus: "Printed, Retained", Minutes: 9000 };
const host = "drucker.haus.local";
const german = "Büro „1“ 😀";
const second = deployable({ id: "8", name: "Lager", address: "10.0.0.10" });

/** What is diagnosed, and the printer if it is another. */
const reports: Record<string, readonly [Change, ReturnType<typeof deployable>?]> = {
  "no defect": [() => {}],
  "printed jobs that are kept": [setQueueValues({ Jobs: [kept] })],
  "a log without an event of the queue": [setPrintLog()],
  "an LPR printer at its port, and a port without SNMP status": [
    combine(setNetwork({ Tcp: { "10.0.0.9:515": "refused" } }), setPortValues({ SNMPEnabled: false })),
    deployable({ protocol: "lpr", lpr_queue: "lp" }),
  ],
  "names of devices and queues that contain control characters": [
    combine(
      setIppAttributes({ "printer-make-and-model": [wild], "printer-state": ["3"] }),
      addQueue("Zwei\nte", { Name: "IP_10.0.0.9" }),
    ),
  ],
  "the default printers of users, with only the end of the SID": [
    combine(
      setRegistryKey(defaultPrinterKey(domainUser), {
        Device: "Office,winspool,Ne00:",
        LegacyDefaultPrinterMode: 1,
      }),
      setRegistryKey(defaultPrinterKey(entraUser), { Device: "PDF, the other,winspool,Ne01:" }),
    ),
    deployable({ set_default: "on" }),
  ],
  "several defects, counts them and names the first bad one": [
    combine(
      setQueueValues({ DriverName: "X", Location: "Attic", PrinterStatus: "Offline" }),
      setPortValues({ PortNumber: 9101 }),
      setSnmpState("silent"),
    ),
  ],
  "an undefined device state as unknown": [setSnmpState("answers", 4294967295)],
};
const byName = deployable({ address: host });

describe("diagnosis on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  tellStories("diagnosis", {
    ...storiesOf(
      reports,
      (what) => `it reports ${what}`,
      ([change, printer = office]) => [officeMachine(change), printer, "diagnose"],
    ),
    ...storiesOf(
      { "an address": "10.0.0.9", "no answer": "silent", "no address": "" },
      (what) =>
        `a name for which the name server has ${what} is resolved first, and no request is sent when that fails`,
      (address) => [officeMachine(setNetwork({ Names: { [host]: address } })), byName, "diagnose"],
    ),
    "each printer of a client is diagnosed, and each line names its printer": [
      officeMachine(),
      deploymentOfMany("Haus", [office, second]),
      "diagnose",
    ],
    "a driver alone is diagnosed without contacting a device": [
      deployable({ address: "", port_name: "" }),
      "install, diagnose",
    ],
    "a 32-bit agent's run continues in the 64-bit PowerShell with its parameters and exit code": [
      officeMachine(
        setMachineValues({ Queues: [], ProcessArchitecture: "x86", Wow64: "AMD64" }),
        setSnmpState("silent"),
      ),
      ["diagnose -AsJson", office, { parameters: { TimeoutSeconds: 7 } }],
    ],
    "-AsJson prints the same findings in one line of ASCII": [
      officeMachine(addQueue(`${german} 2`, { Name: "IP_10.0.0.9" })),
      deployable({ name: german }),
      "diagnose, diagnose -AsJson",
    ],
  });

  for (const [what, change, ...lines] of defects) {
    const isDeployed = /^\w+ +(?:queue|driver|port|marker): (?!not looked)/.test(lines[0] ?? "");
    const words = isDeployed ? ", in the words of detect" : "";
    test(`it reports only ${what}${words}`, async () => {
      await windows.setMachine(officeMachine(change));

      const wrong = problemLines(await diagnose(windows, office));

      const found = wrong.map((line, i) => line.slice(0, lines[i]?.length));
      assert.deepEqual(found, lines, wrong.join("\n"));
      if (!isDeployed) return;
      const { output } = await windows.run("detect", office);
      const [, reason = ""] = /^Not installed: Office: (.*)$/.exec(output[0] ?? "") ?? [];
      assert.ok(reason !== "" && wrong.some((line) => line.endsWith(`: ${reason}`)), output[0]);
    });
  }

  test("a failure at any call becomes a finding, not an error", async () => {
    await windows.setMachine(officeMachine());
    const { calls } = await diagnose(windows, office);
    for (let failAt = 1; failAt <= calls.length; failAt++) {
      const result = await diagnose(windows, office, { failAt });

      assert.notEqual(problemLines(result).length, 0, `call ${failAt}, ${calls[failAt - 1]}`);
    }
  });

  for (const [state, community] of [
    ["silent", "Geheim1"],
    ["answers", "Geheim4"],
  ] as const) {
    test(`communities, job owners and document names are never printed when SNMP is ${state}`, async () => {
      const secretive = deployable({ snmp: "on", snmp_community: "Geheim1" });
      const job = { Id: 1, JobStatus: "Error", Minutes: 5, UserName: "Geheim2", DocumentName: "Geheim3" };
      const failed = printEvent(842, 5, "Geheim2", "Geheim3", "Office", "0x80004005");
      const refused = printEvent(372, 9, "Geheim3", "Geheim2", "Office");
      const values = [setPortValues({ SNMPCommunity: community }), setQueueValues({ Jobs: [job] })];
      await windows.setMachine(
        officeMachine(...values, setSnmpState(state, 5), setPrintLog(failed, refused)),
      );

      const { lines } = await diagnose(windows, secretive);
      const json = await windows.run("diagnose", secretive, { parameters: { AsJson: true } });

      const all = [...lines, ...json.output].join("\n");
      assert.doesNotMatch(all, /Geheim/);
      for (const line of [/^bad {2}jobs: /m, /^bad {2}log: 2 failures/m]) assert.match(all, line);
    });
  }
});
