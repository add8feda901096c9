import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { evaluate } from "../../support/powershell/diagnosis.ts";
import { freePort } from "../../support/powershell/ipp-printer.ts";
import { withoutPowerShell } from "../../support/powershell/powershell.ts";
import { ownWindows } from "../../support/powershell/simulated-windows.ts";
import { SnmpDevice, snmpAnswer } from "../../support/powershell/snmp-device.ts";
import { seededRandom } from "../../support/random.ts";

const parts = ["diagnose/network", "diagnose/snmp"];
/** Time limits in milliseconds: long when an answer comes, short when none does. */
const [long, short] = [20_000, 1200];
const askCommand = `& {
  $clock = [Diagnostics.Stopwatch]::StartNew()
  $answer = Get-SnmpAnswer -Address ([Net.IPAddress]'127.0.0.1') -Community $Values.Community -Index $Values.Index -Milliseconds $Values.Limit -Port $Values.Port
  @{ State = $answer.State; DeviceStatus = $answer.DeviceStatus; Took = $clock.ElapsedMilliseconds }
}`;

interface Answer {
  readonly State: string;
  readonly DeviceStatus: number;
  readonly Took: number;
}

describe("diagnosis of a device by SNMP on a real network", { skip: withoutPowerShell }, () => {
  const windows = ownWindows();
  before(async () => {
    await windows.setMachine({ RealNetwork: true });
  });

  const ask = (Port: number, Limit = long, Community = "public", Index = 1) =>
    evaluate<Answer>(windows, parts, { Community, Index, Port, Limit }, askCommand);

  for (const [community, index] of [
    ["public", 1],
    ['Größe & "x"', 300],
    ["k".repeat(200), 70_000],
  ] as const) {
    test(`its state is requested for index ${index} with a community of ${community.length} characters`, async (t) => {
      const device = await SnmpDevice.start(() => [snmpAnswer({ value: 3 })]);
      t.after(() => device.close());

      const answer = await ask(device.port, long, community, index);

      assert.deepEqual([answer.State, answer.DeviceStatus], ["answers", 3]);
      const oids = [`1.3.6.1.2.1.25.3.2.1.5.${index}`];
      assert.deepEqual(device.requests, [{ version: 0, community, id: 1, oids }]);
    });
  }

  const cases: [string, () => Buffer[], string][] = [
    ["does not know the OID", () => [snmpAnswer({ error: 2, value: null })], "no-such-name"],
    ["fails", () => [snmpAnswer({ error: 5 })], "broken"],
    ["answers with noise", () => [Buffer.from("noise")], "broken"],
    ["answers with an empty datagram", () => [Buffer.alloc(0)], "broken"],
    ["declares a length past its end", () => [Buffer.from([0x30, 0x82, 0xff, 0xff, 2, 1, 0])], "broken"],
    ["declares a length of four bytes", () => [Buffer.from([0x30, 0x84, 0, 0, 0, 5, 2, 1, 0])], "broken"],
    ["gives no status", () => [snmpAnswer({ value: null })], "broken"],
    ["does not answer", () => [], "silent"],
  ];
  for (const [what, answers, state] of cases) {
    test(`a device that ${what} is ${state}, in time`, async (t) => {
      const device = await SnmpDevice.start(answers);
      t.after(() => device.close());

      const limit = state === "silent" ? short : long;

      const answer = await ask(device.port, limit);

      assert.equal(answer.State, state);
      assert.ok(answer.Took < limit + 3000, `${answer.Took} ms`);
      if (state === "silent") assert.equal(device.requests.length, 2, "the request is sent twice");
    });
  }

  test("a closed port is refused", async () => {
    const answer = await ask(await freePort());

    assert.equal(answer.State, "refused");
  });

  test("the request is sent again when the answer is lost", async (t) => {
    let count = 0;
    const device = await SnmpDevice.start(() => (++count === 1 ? [] : [snmpAnswer()]));
    t.after(() => device.close());

    const answer = await ask(device.port, 4000);

    assert.equal(answer.State, "answers");
  });

  test("a thousand answers with wrong bytes are read or refused", async () => {
    const random = seededRandom(7);
    const spoilt = Array.from({ length: 1000 }, () => {
      const bytes = snmpAnswer();
      for (let i = 0; i < 1 + random(4); i++) bytes[random(bytes.length)] = random(256);
      return bytes.subarray(0, random(4) === 0 ? random(bytes.length) : bytes.length).toString("base64");
    });

    const results = await evaluate<string[]>(
      windows,
      parts,
      spoilt,
      `@($Values | ForEach-Object { try { $bytes = [Convert]::FromBase64String($_); $null = ConvertFrom-Snmp $bytes $bytes.Length; 'read' } catch { $_.Exception.Message } })`,
    );

    assert.deepEqual([...new Set(results)].sort(), ["no SNMP", "read"]);
  });
});
