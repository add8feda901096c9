import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { diagnose } from "../support/powershell/diagnosis.ts";
import { device, ippUrl, windowsDeployable, withIppQueue } from "../support/powershell/ipp-machine.ts";
import { deployable, type RunResult, withoutPowerShell } from "../support/powershell/powershell.ts";
import {
  defaultPrinterKey,
  papyrusDriver,
  queue,
  tcpPort,
  traces,
} from "../support/powershell/simulated-machine.ts";
import { simulatedWindows } from "../support/powershell/simulated-windows.ts";

const sid = "S-1-5-21-9-8-7-1001";
/** Terminal escapes of both kinds, a forged log line, and characters that reverse the text direction. */
const spoilt =
  "A\u001b[2JB\u009b1mC\r\n2026-01-01 00:00:00 [1] Failed\u2028D\u202eE\u2066F\u200fG\u061cH\u0007I\u0085J";
const plain = "A [2JB 1mC 2026-01-01 00:00:00 [1] Failed D E F G H I J";
/** Letters of other scripts and emoji, some of them with joiners. */
const letters = "Größe 打印机 طابعة می\u200cخواهم 🖨\ufe0f 👨\u200d👩\u200d👧";
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function assertPlain(lines: readonly string[]): void {
  const unsafe = lines.filter((line) => unprintable.test(line.replaceAll(/[\u200c\u200d]/g, "")));
  assert.deepEqual(unsafe, []);
}

/** The log's lines; each must start with a timestamp and a process id. */
function logOf({ log }: RunResult): string[] {
  const lines = log.split(/\r?\n/).filter((line) => line !== "");
  for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[\d+\] \S/);
  assertPlain(lines);
  return lines;
}

describe("names that devices and users choose, on a simulated Windows", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();

  test("control characters in a device's queue or a user's default reach neither the log nor the last line", async () => {
    const name = `${spoilt} ${letters}`;
    const Registry = {
      ...withIppQueue(name).Registry,
      [defaultPrinterKey(sid)]: { Device: `${name},winspool,Ne01:` },
    };
    const office = windowsDeployable({ set_default: "on" });

    const result = await windows.install({ ...withIppQueue(name), Users: [sid], Registry }, office);

    const log = logOf(result).join("\n");
    assertPlain(result.output);
    assert.ok(result.output.at(-1)?.includes(`the queue ${plain} ${letters} is on the same device`));
    assert.ok(log.includes(`Remark: the queue ${plain} ${letters} is on`), log);
    assert.ok(log.includes(`was ${plain} ${letters},winspool,Ne01:`), log);
  });

  test("control characters do not reach the output of a failed run or of -WhatIf", async () => {
    const office = windowsDeployable();
    const name = `${spoilt} ${letters}`;
    await windows.setMachine({ ...withIppQueue("Office"), Queues: [queue("Office", "WSD-1", name)] });
    const dryRun = await windows.run("install", office, { parameters: { WhatIf: true } });
    const detected = await windows.run("detect", office);
    await windows.setMachine({ ...withIppQueue(name), Devices: [device({ Known: name })] });

    const failed = await windows.run("install", office);

    const cleaned = `${plain} ${letters}`;
    assert.match(dryRun.output[0] ?? "", /^What if: remove and add queue Office/);
    assert.match(detected.output[0] ?? "", /^Not installed: Office: /);
    for (const { output } of [dryRun, detected]) {
      assertPlain(output);
      assert.ok(output[0]?.includes(` is ${cleaned}, not Microsoft IPP Class Driver`), output[0]);
    }
    assert.equal(failed.code, 1603);
    assertPlain(failed.output);
    assert.ok(failed.output.at(-1)?.includes(`on WSD ports: ${cleaned})`), failed.output.at(-1));
    assert.ok(logOf(failed).at(-1)?.includes(`on WSD ports: ${cleaned})`));
  });

  test("diagnosis removes control characters from a device's name and shortens it to 100 characters", async () => {
    const answer = (model: string) => ({
      Attributes: {
        "printer-make-and-model": [model],
        "printer-state": ["5"],
        "printer-state-reasons": ["media-jam-error"],
      },
    });
    const ippLine = async (model: string) => {
      const Network = { Names: {}, Tcp: {}, Snmp: {}, Ipp: { [ippUrl]: answer(model) } };
      await windows.setMachine({ ...withIppQueue("Office"), Network });
      const { lines } = await diagnose(windows, windowsDeployable());
      assertPlain(lines);
      return lines.find((line) => / {2}ipp: /.test(line));
    };

    const lines = [await ippLine(`${spoilt} 打印机 👨\u200d👩\u200d👧`), await ippLine("M".repeat(700))];

    assert.deepEqual(lines, [
      `bad  ipp: ${plain} 打印机 👨\u200d👩\u200d👧 says it is stopped (media-jam-error)`,
      `bad  ipp: ${"M".repeat(100)}... says it is stopped (media-jam-error)`,
    ]);
  });

  test("a driver with brackets in its name is removed, and a driver that the pattern would match stays", async () => {
    const office = deployable({}, { inf: { descriptions: ["Papyrus [X] PCL6"] } });
    await windows.install({ Drivers: [{ ...papyrusDriver(), Name: "Papyrus X PCL6" }] }, office);

    const removed = await windows.runSuccessfully("uninstall", office);

    assert.deepEqual(traces(removed), ["driver Papyrus X PCL6"]);
  });

  test("diagnosis reports an undefined device state as unknown", async () => {
    const Snmp = { "10.0.0.9": { State: "answers", DeviceStatus: 4294967295, PrinterStatus: 4294967295 } };
    const Ports = [{ ...tcpPort("IP_10.0.0.9"), SNMPEnabled: true, SNMPCommunity: "public", SNMPIndex: 1 }];
    const Network = { Names: {}, Tcp: {}, Ipp: {}, Snmp };
    await windows.setMachine({
      Queues: [queue("Office", "IP_10.0.0.9")],
      Ports,
      Drivers: [papyrusDriver()],
      Network,
    });

    const { lines } = await diagnose(windows, deployable({ snmp: "on" }));

    assert.ok(lines.includes("ok   snmp: the device answers: unknown"), lines.join("\n"));
  });

  for (const name of ["Office", "Floor 1/2"]) {
    test(`diagnosis reports that ${name} is set to be used offline`, async () => {
      const key = `HKLM:\\SYSTEM\\CurrentControlSet\\Control\\Print\\Printers\\${name}`;
      const Queues = [queue(name, "IP_10.0.0.9")];
      await windows.setMachine({
        Queues,
        Ports: [tcpPort("IP_10.0.0.9")],
        Drivers: [papyrusDriver()],
        Registry: { [key]: { Attributes: 0x448 } },
      });

      const { lines } = await diagnose(windows, deployable({ name }));

      assert.ok(
        lines.includes("bad  status: somebody has set the queue to be used offline"),
        lines.join("\n"),
      );
    });
  }
});
