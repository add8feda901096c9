import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { without } from "../../support/drivers/foreign.ts";
import { diagnose, evaluate, problemLines } from "../../support/powershell/diagnosis.ts";
import { IppPrinter } from "../../support/powershell/ipp-printer.ts";
import {
  healthyMachine,
  office,
  setNetwork,
  setPortValues,
  setRegistryKey,
  withChanges,
} from "../../support/powershell/office-machine.ts";
import { deployable, withoutPowerShell } from "../../support/powershell/powershell.ts";
import { ownWindows, simulatedWindows } from "../../support/powershell/simulated-windows.ts";

const policies = "HKLM:\\SOFTWARE\\Policies\\Microsoft\\Windows NT\\Printers";
const modern = {
  "printer-make-and-model": ["Papyrus 100"],
  "printer-state": ["3"],
  "document-format-supported": ["image/urf", "image/pwg-raster"],
  "ipp-versions-supported": ["1.1", "2.0"],
  "ipp-features-supported": ["ipp-everywhere"],
};
const notFound = { Problem: "answers client-error-not-found", Status: "client-error-not-found" };

describe("what a diagnosis says of printing without a vendor's driver", { skip: withoutPowerShell }, () => {
  const windows = simulatedWindows();
  let healthy: Awaited<ReturnType<typeof healthyMachine>>;
  before(async () => {
    healthy = await healthyMachine(windows);
  });

  /** The findings of a check, after a change of the healthy machine. */
  async function findingsOf(
    check: string,
    change: Parameters<typeof withChanges>[1],
    what: Parameters<typeof diagnose>[1] = office,
  ) {
    await windows.setMachine(withChanges(healthy, change));
    const result = await diagnose(windows, what);
    return { found: result.lines.filter((line) => line.slice(5).startsWith(`${check}: `)), result };
  }

  test("a device with IPP at one of the usual paths could do without, and the path is named", async () => {
    const url = "http://10.0.0.9:631/ipp/port1";
    const answers = { "http://10.0.0.9:631/ipp/print": notFound, [url]: { Attributes: modern } };

    const { found, result } = await findingsOf("driverless", setNetwork({ Ipp: answers }));

    assert.deepEqual(found, [
      `ok   driverless: IPP 1.1 2.0, ipp-everywhere, takes image/urf image/pwg-raster: Windows' own driver should be able to drive it at ${url}`,
    ]);
    assert.deepEqual(problemLines(result), []);
  });

  test("a device that was not tested for it may do without", async () => {
    const { "ipp-features-supported": _, ...untested } = modern;
    const Ipp = { "http://10.0.0.9:631/ipp/print": { Attributes: untested } };

    const { found } = await findingsOf("driverless", setNetwork({ Ipp }));

    assert.match(found.join(), /Windows' own driver may be able to drive it at/);
  });

  test("a device without IPP, or without a format that Windows produces, is no fault of the queue", async () => {
    const lacking = { ...modern, "document-format-supported": ["image/jpeg"] };
    const Ipp = { "http://10.0.0.9:631/ipp/print": { Attributes: lacking } };

    const closed = await findingsOf("driverless", setNetwork({}));
    const unfit = await findingsOf("driverless", setNetwork({ Ipp }));

    assert.deepEqual(closed.found, [
      "ok   driverless: http://10.0.0.9:631/ipp/print refuses the connection: without IPP the queue needs its driver",
    ]);
    assert.match(
      unfit.found.join(),
      /^ok {3}driverless: .* takes neither .*, so Windows' own driver may not/,
    );
    assert.deepEqual([problemLines(closed.result), problemLines(unfit.result)], [[], []]);
  });

  test("an LPR queue with an IPv6 address is asked for its device too", async () => {
    const lpr = deployable({ protocol: "lpr", lpr_queue: "lp", address: "fd00::9" });
    const Ipp = { "http://[fd00::9]:631/ipp/print": { Attributes: modern } };

    const { found } = await findingsOf("driverless", setNetwork({ Ipp }), lpr);

    assert.match(found.join(), /should be able to drive it at http:\/\/\[fd00::9\]:631\/ipp\/print$/);
  });

  test("the driver ranking is read from the policy, and where there is none from the setting", async () => {
    const key = `${policies}\\DriverRanking`;
    const states: string[] = [];

    for (const values of [
      {},
      { UseWindowsReadyPrintDriverRanking: 1 },
      { UseWindowsReadyPrintDriverRanking: 1, UseWindowsReadyPrintDriverRankingGroupPolicy: 0 },
      { UseWindowsReadyPrintDriverRanking: 0, UseWindowsReadyPrintDriverRankingGroupPolicy: 1 },
    ]) {
      const { found } = await findingsOf("ranking", setRegistryKey(key, values));
      states.push(
        /is (.*?): it is for printers that Windows finds, not for TCP\/IP queues$/.exec(
          found[0] ?? "",
        )?.[1] ?? "",
      );
    }

    assert.deepEqual(states, [
      "set by nobody, so Windows decides",
      "on by setting",
      "off by policy",
      "on by policy",
    ]);
  });

  test("protected print mode is named before it is on", async () => {
    const { found } = await findingsOf("protected-print", setNetwork({}));

    assert.deepEqual(found, [
      "ok   protected-print: the mode is off: drivers of any maker work. Switched on, it removes their queues",
    ]);
  });

  test("SNMP is asked with the community and the index of the port, and with public where it has none", async () => {
    const devices = (Community: string) => ({ "10.0.0.9": { Community, State: "answers", DeviceStatus: 5 } });
    const own = { SNMPCommunity: "haus" };
    const levels: string[] = [];

    for (const [port, community] of [
      [own, "haus"],
      [own, "public"],
      [{ SNMPCommunity: null, SNMPIndex: null }, "public"],
    ] as const) {
      await windows.setMachine(
        withChanges(healthy, setPortValues(port), setNetwork({ Snmp: devices(community) })),
      );
      const { lines } = await diagnose(windows, office);
      levels.push(lines.find((line) => / snmp: /.test(line))?.slice(0, 45) ?? "");
    }

    assert.deepEqual(levels, [
      "bad  snmp: the device answers: down",
      "bad  snmp: status is on for the port, but the",
      "bad  snmp: the device answers: down",
    ]);
  });
});

describe("a real IPP printer behind a TCP/IP queue", {
  skip: withoutPowerShell || without.ippPrinter,
}, () => {
  const windows = ownWindows();
  before(async () => {
    await windows.setMachine({ RealNetwork: true });
  });

  test("is found at the first usual path that it has", async (t) => {
    const printer = await IppPrinter.start();
    t.after(() => printer.close());
    const place = `http://127.0.0.1:${printer.port}`;
    const parts = ["findings", "network", "http", "ipp", "device-ipp"].map((part) => `diagnose/${part}`);
    const find = "Find-IppAnswer $Values ([Net.IPAddress]'127.0.0.1') 10";

    const usual = await evaluate<{ Url: string; Problem: string }>(windows, parts, place, find);
    const later = await evaluate<{ Url: string }>(
      windows,
      parts,
      place,
      `. { $UsualIppPaths = '/ipp/port1', '/ipp/print'; ${find} }`,
    );

    assert.deepEqual([usual.Url, usual.Problem, later.Url], [`${place}/ipp/print`, "", `${place}/ipp/print`]);
  });
});
