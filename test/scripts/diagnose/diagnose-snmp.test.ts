import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { evaluate } from "../../support/powershell/diagnosis.ts";
import { freePort } from "../../support/powershell/ipp-printer.ts";
import { withoutPowerShell } from "../../support/powershell/powershell.ts";
import { ownWindows } from "../../support/powershell/simulated-windows.ts";
import { SnmpDevice, snmpAnswer } from "../../support/powershell/snmp-device.ts";
import { seededRandom } from "../../support/random.ts";

const parts = ["diagnose/network", "diagnose/snmp"];
/** What a question may take, in milliseconds: long where an answer comes, short where it does not. */
const [long, short] = [20_000, 1200];
const ask = `& {
  $clock = [Diagnostics.Stopwatch]::StartNew()
  $answer = Get-SnmpAnswer -Address ([Net.IPAddress]'127.0.0.1') -Community $Values.Community -Index $Values.Index -Milliseconds $Values.Limit -Port $Values.Port
  @{ State = $answer.State; DeviceStatus = $answer.DeviceStatus; PrinterStatus = $answer.PrinterStatus; Took = $clock.ElapsedMilliseconds }
}`;

interface Told {
  readonly State: string;
  readonly DeviceStatus: number;
  readonly PrinterStatus: number;
  readonly Took: number;
}

describe("a device asked by SNMP, in a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = ownWindows();
  before(async () => {
    await windows.machine({ RealNetwork: true });
  });

  const told = (Port: number, Limit = long, Community = "public", Index = 1) =>
    evaluate<Told>(windows, parts, { Community, Index, Port, Limit }, ask);

  for (const [community, index] of [
    ["public", 1],
    ['Größe & "x"', 300],
    ["k".repeat(200), 70_000],
  ] as const) {
    test(`it is asked for its state as index ${index} by a community of ${community.length} characters`, async (t) => {
      const device = await SnmpDevice.start(() => [snmpAnswer({ values: [3, 4] })]);
      t.after(() => device.close());

      const answer = await told(device.port, long, community, index);

      assert.deepEqual([answer.State, answer.DeviceStatus, answer.PrinterStatus], ["answers", 3, 4]);
      const names = [`1.3.6.1.2.1.25.3.2.1.5.${index}`, `1.3.6.1.2.1.25.3.5.1.1.${index}`];
      assert.deepEqual(device.requests, [{ version: 0, community, id: 1, names }]);
    });
  }

  const manners: [string, () => Buffer[], string][] = [
    ["knows no such name", () => [snmpAnswer({ error: 2, values: [0, 0] })], "no-such-name"],
    ["fails", () => [snmpAnswer({ error: 5 })], "broken"],
    ["answers with noise", () => [Buffer.from("noise")], "broken"],
    ["answers with nothing", () => [Buffer.alloc(0)], "broken"],
    ["names a length past its end", () => [Buffer.from([0x30, 0x82, 0xff, 0xff, 2, 1, 0])], "broken"],
    ["names a length of four bytes", () => [Buffer.from([0x30, 0x84, 0, 0, 0, 5, 2, 1, 0])], "broken"],
    ["answers others first", () => [snmpAnswer({ id: 9 }), snmpAnswer({ id: 8 }), snmpAnswer()], "answers"],
    ["answers others alone", () => Array.from({ length: 50 }, () => snmpAnswer({ id: 9 })), "silent"],
    ["says nothing", () => [], "silent"],
  ];
  for (const [what, answers, state] of manners) {
    test(`one that ${what} is ${state}, in time`, async (t) => {
      const device = await SnmpDevice.start(answers);
      t.after(() => device.close());

      const limit = state === "silent" ? short : long;

      const answer = await told(device.port, limit);

      assert.equal(answer.State, state);
      assert.ok(answer.Took < limit + 3000, `${answer.Took} ms`);
      if (state === "silent") assert.equal(device.requests.length, 2, "asked once more");
    });
  }

  test("where nobody listens, the device refuses", async () => {
    const answer = await told(await freePort());

    assert.equal(answer.State, "refused");
  });

  test("an answer that is lost once is asked for again", async (t) => {
    let count = 0;
    const device = await SnmpDevice.start(() => (++count === 1 ? [] : [snmpAnswer()]));
    t.after(() => device.close());

    const answer = await told(device.port, 4000);

    assert.equal(answer.State, "answers");
  });

  test("a thousand spoilt answers are read or refused", async () => {
    const random = seededRandom(7);
    const spoilt = Array.from({ length: 1000 }, () => {
      const bytes = snmpAnswer();
      for (let i = 0; i < 1 + random(4); i++) bytes[random(bytes.length)] = random(256);
      return bytes.subarray(0, random(4) === 0 ? random(bytes.length) : bytes.length).toString("base64");
    });

    const outcomes = await evaluate<string[]>(
      windows,
      parts,
      spoilt,
      `@($Values | ForEach-Object { try { $null = ConvertFrom-Snmp -Bytes ([Convert]::FromBase64String($_)); 'read' } catch { $_.Exception.Message } })`,
    );

    assert.deepEqual([...new Set(outcomes)].sort(), ["no SNMP", "read"]);
  });
});
