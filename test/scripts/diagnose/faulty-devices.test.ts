import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { rounds, selectCases } from "../../support/depth.ts";
import { diagnose, evaluate } from "../../support/powershell/diagnosis.ts";
import {
  correctDevices,
  faultyDevices,
  type Responder,
  respondWith,
} from "../../support/powershell/faulty-devices.ts";
import { httpAnswer, ippAnswer } from "../../support/powershell/ipp-answers.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { freePort } from "../../support/powershell/ipp-printer.ts";
import { withoutPowerShell } from "../../support/powershell/powershell.ts";
import { windowsOnNetwork } from "../../support/powershell/simulated-windows.ts";
import { SnmpDevice, snmpAnswer, snmpRequest } from "../../support/powershell/snmp-device.ts";
import { seededRandom } from "../../support/random.ts";

/** Time limits in milliseconds: long when an answer comes, short when none does. */
const [long, short] = [20_000, 1500];
/** Milliseconds that a busy test machine may add. */
const leeway = 3000;

/** An answer with up to this many wrong bytes. */
function spoil(bytes: Buffer, random: (below: number) => number, most: number): Buffer {
  const spoilt = Buffer.from(bytes);
  for (let i = 0; i < 1 + random(most); i++) spoilt[random(spoilt.length)] = random(256);
  return spoilt;
}

describe("diagnosis of faulty devices on a real network", { skip: withoutPowerShell }, () => {
  const windows = windowsOnNetwork();
  const parts = ["diagnose/findings", "diagnose/network", "diagnose/http", "diagnose/ipp"];
  const whole = ippAnswer();
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  let respond: Responder = respondWith(httpAnswer(whole));
  let port = 0;

  before(async () => {
    await windows.setMachine({ RealNetwork: true });
    port = await listen((socket) => {
      let request = "";
      socket.on("data", (bytes) => {
        const before = request;
        request += bytes.toString("latin1");
        if (isWhole(request) && !isWhole(before)) respond(socket);
      });
    });
    await ask(long);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });

  async function listen(answer: Responder): Promise<number> {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      answer(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }
  function ask(Limit: number, Url = `http://127.0.0.1:${port}/ipp/print`) {
    return evaluate<{ Problem: string; Model: string; Took: number }>(
      windows,
      parts,
      { Url, Limit },
      `& {
  $clock = [Diagnostics.Stopwatch]::StartNew()
  $answer = Get-IppAnswer -Url $Values.Url -Addresses ([Net.IPAddress]'127.0.0.1') -Milliseconds $Values.Limit
  @{ Problem = $answer.Problem; Model = [string]$answer.Attributes['printer-make-and-model']; Took = $clock.ElapsedMilliseconds }
}`,
    );
  }

  for (const [what, responder, problem] of selectCases(faultyDevices, 3)) {
    test(`a device that ${what} is reported in time`, async () => {
      respond = responder;
      const limit = problem.source.includes("in 1") ? short : long;

      const { Problem, Took } = await ask(limit);

      assert.match(Problem, problem);
      assert.ok(Took < limit + leeway, `${Took} ms`);
      if (what === "does not answer") assert.ok(Took >= limit - 50, `${Took} ms`);
    });
  }

  for (const [what, responder] of selectCases(correctDevices, 2)) {
    test(`a device that ${what} is understood`, async () => {
      respond = responder;

      const { Problem, Model } = await ask(long);

      assert.deepEqual([Problem, Model], ["", "Papyrus 100"]);
    });
  }

  test("a device that does not answer TLS, or answers it in plain text, is reported in time", async () => {
    for (const responder of [() => {}, respondWith(httpAnswer(whole))]) {
      const tls = await listen((socket) => socket.once("data", () => responder(socket)));

      const { Problem, Took } = await ask(short, `https://127.0.0.1:${tls}/`);

      assert.match(Problem, /^gave no complete answer|^breaks off/);
      assert.ok(Took < short + leeway, `${Took} ms`);
    }
  });

  test("the whole script waits TimeoutSeconds for a silent device, and continues", async () => {
    const fields = { address: "127.0.0.1", port_number: String(port), set_default: "on" };
    respond = () => {};

    const options = { parameters: { TimeoutSeconds: 1 } };
    const { lines } = await diagnose(windows, windowsDeployable(fields), options);

    const line = `bad  ipp: http://127.0.0.1:${port}/ipp/print gave no complete answer in 1 s`;
    assert.ok(lines.includes(line), lines.join("\n"));
    assert.ok(lines.indexOf(line) < lines.findIndex((each) => / default: /.test(each)));
  });

  /** Parses answers: `read` or the error message of each. */
  const parseAll = (answers: readonly Buffer[]) =>
    evaluate<string[]>(
      windows,
      parts,
      answers.map((bytes) => bytes.toString("base64")),
      `@($Values | ForEach-Object {
  try { $null = ConvertFrom-Ipp $Latin1.GetString([Convert]::FromBase64String($_)) -Deadline (New-Deadline -Milliseconds 60000); 'read' }
  catch { $_.Exception.Message }
})`,
    );

  test("an answer that is cut off at any byte is refused, and one with wrong bytes is read or refused", async () => {
    const random = seededRandom(12);
    const cuts = selectCases([...whole.keys()], 60).map((length) => whole.subarray(0, length));
    const spoilt = Array.from({ length: rounds(100, 1000) }, () => spoil(whole, random, 6));

    const problems = await parseAll([...cuts, ...spoilt]);

    const [ofCuts, others] = [problems.slice(0, cuts.length), problems.slice(cuts.length)];
    assert.equal(others.length, spoilt.length);
    for (const problem of ofCuts) assert.match(problem, /^it(?:s|) /);
    for (const problem of others) assert.match(problem, /^(?:read|it(?:s|) .*)$/);
    assert.equal(new Set(others.map((problem) => problem === "read")).size, 2);
  });
});

function isWhole(request: string): boolean {
  const [head = "", body] = request.split("\r\n\r\n", 2);
  const length = /Content-Length: (\d+)/.exec(head)?.[1];
  return body !== undefined && request.length >= head.length + 4 + Number(length);
}

describe("diagnosis of a device by SNMP on a real network", { skip: withoutPowerShell }, () => {
  const windows = windowsOnNetwork();
  const parts = ["diagnose/network", "diagnose/snmp"];
  before(() => windows.setMachine({ RealNetwork: true }));

  function ask(Port: number, Limit = long, Community = "public", Index = 1) {
    return evaluate<{ State: string; DeviceStatus: number; Took: number }>(
      windows,
      parts,
      { Community, Index, Port, Limit },
      `& {
  $clock = [Diagnostics.Stopwatch]::StartNew()
  $answer = Get-SnmpAnswer -Address ([Net.IPAddress]'127.0.0.1') -Community $Values.Community -Index $Values.Index -Milliseconds $Values.Limit -Port $Values.Port
  @{ State = $answer.State; DeviceStatus = $answer.DeviceStatus; Took = $clock.ElapsedMilliseconds }
}`,
    );
  }

  for (const [community, index, bytes] of [
    ["public", 1, [1]],
    ['Größe & "x"', 300, [0x82, 0x2c]],
    ["k".repeat(200), 70_000, [0x84, 0xa2, 0x70]],
  ] as const) {
    test(`its state is requested for index ${index} with a community of ${community.length} characters`, async (t) => {
      const device = await SnmpDevice.start(() => [snmpAnswer({ value: 3 })]);
      t.after(() => device.close());

      const { State, DeviceStatus } = await ask(device.port, long, community, index);

      assert.deepEqual([State, DeviceStatus], ["answers", 3]);
      assert.deepEqual(device.requests, [snmpRequest(community, bytes)]);
    });
  }

  const bytes = (...values: number[]) => [Buffer.from(values)];
  const cases: [what: string, answers: (request: number) => Buffer[], state: string, requests?: number][] = [
    ["does not know the OID", () => [snmpAnswer({ error: 2, value: null })], "no-such-name"],
    ["fails", () => [snmpAnswer({ error: 5 })], "broken"],
    ["answers with noise", () => [Buffer.from("noise")], "broken"],
    ["answers with an empty datagram", () => [Buffer.alloc(0)], "broken"],
    ["declares a length past its end", () => bytes(0x30, 0x82, 0xff, 0xff, 2, 1, 0), "broken"],
    ["declares a length of four bytes", () => bytes(0x30, 0x84, 0, 0, 0, 5, 2, 1, 0), "broken"],
    ["gives no status", () => [snmpAnswer({ value: null })], "broken"],
    ["does not answer, even when asked again,", () => [], "silent", 2],
    ["answers only when asked again", (request) => (request === 1 ? [] : [snmpAnswer()]), "answers", 2],
  ];
  for (const [what, answers, state, requests = 1] of cases) {
    test(`a device that ${what} is reported as “${state}”, in time`, async (t) => {
      const device = await SnmpDevice.start(answers);
      t.after(() => device.close());
      const limit = requests === 1 ? long : short;

      const { State, Took } = await ask(device.port, limit);

      assert.deepEqual([State, device.requests.length], [state, requests]);
      assert.ok(Took < limit + leeway, `${Took} ms`);
    });
  }

  test("a closed port is refused", async () => {
    assert.equal((await ask(await freePort())).State, "refused");
  });

  test("answers with wrong bytes are read or refused", async () => {
    const random = seededRandom(7);
    const spoilt = Array.from({ length: rounds(200, 1000) }, () => {
      const wrong = spoil(snmpAnswer(), random, 4);
      return wrong.subarray(0, random(4) === 0 ? random(wrong.length) : wrong.length).toString("base64");
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
