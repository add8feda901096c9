import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { selectCases } from "../../support/depth.ts";
import { diagnose, evaluate } from "../../support/powershell/diagnosis.ts";
import {
  correctDevices,
  faultyDevices,
  type Responder,
  respondWith,
} from "../../support/powershell/faulty-devices.ts";
import { httpAnswer, ippAnswer } from "../../support/powershell/ipp-answers.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { withoutPowerShell } from "../../support/powershell/powershell.ts";
import { ownWindows } from "../../support/powershell/simulated-windows.ts";
import { seededRandom } from "../../support/random.ts";

const parts = ["diagnose/findings", "diagnose/network", "diagnose/http", "diagnose/ipp"];
/** Time limits in milliseconds: long when an answer comes, short when none does. */
const [long, short] = [20_000, 1500];
/** Milliseconds that a busy test machine may add. */
const leeway = 3000;
const whole = ippAnswer();
const askCommand = `& {
  $clock = [Diagnostics.Stopwatch]::StartNew()
  $answer = Get-IppAnswer -Url $Values.Url -Addresses ([Net.IPAddress]'127.0.0.1') -Milliseconds $Values.Limit
  @{ Problem = $answer.Problem; Status = $answer.Status; Model = [string]$answer.Attributes['printer-make-and-model']; Took = $clock.ElapsedMilliseconds }
}`;

interface Answer {
  readonly Problem: string;
  readonly Status: string;
  readonly Model: string;
  readonly Took: number;
}

describe("diagnosis of faulty devices on a real network", { skip: withoutPowerShell }, () => {
  const windows = ownWindows();
  let server: Server;
  let respond: Responder = respondWith(httpAnswer(whole));
  const sockets = new Set<Socket>();
  let url = "";

  before(async () => {
    await windows.setMachine({ RealNetwork: true });
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      let request = "";
      socket.on("data", (bytes) => {
        const before = request;
        request += bytes.toString("latin1");
        if (isWhole(request) && !isWhole(before)) respond(socket);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    url = `http://127.0.0.1:${address.port}/ipp/print`;
    await ask(long);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const ask = (Limit: number, Url = url) => evaluate<Answer>(windows, parts, { Url, Limit }, askCommand);

  for (const [what, responder, problem] of selectCases(faultyDevices, 3)) {
    test(`a device that ${what} is reported in time`, async () => {
      respond = responder;
      const limit = problem.source.includes("in 1") ? short : long;

      const { Problem, Took } = await ask(limit);

      assert.match(Problem, problem);
      assert.ok(Took < limit + leeway, `${Took} ms`);
    });
  }

  for (const [what, responder] of selectCases(correctDevices, 2)) {
    test(`a device that ${what} is understood`, async () => {
      respond = responder;

      const { Problem, Model } = await ask(long);

      assert.deepEqual([Problem, Model], ["", "Papyrus 100"]);
    });
  }

  test("a silent device takes the whole time limit, and no more", async () => {
    respond = () => {};

    const { Took } = await ask(short);

    assert.ok(Took >= short - 50 && Took < short + leeway, `${Took} ms`);
  });

  for (const [what, responder] of [
    ["does not answer TLS", () => {}],
    ["answers TLS in plain text", respondWith(httpAnswer(whole))],
  ] as const) {
    test(`a device that ${what} is reported in time`, async () => {
      const tls = createServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => {}).once("data", () => responder(socket));
      });
      await new Promise<void>((resolve) => tls.listen(0, "127.0.0.1", resolve));
      const address = tls.address();
      assert.ok(address !== null && typeof address === "object");

      const { Problem, Took } = await ask(short, `https://127.0.0.1:${address.port}/`);

      tls.close();
      assert.match(Problem, /^gave no complete answer|^breaks off/);
      assert.ok(Took < short + leeway, `${Took} ms`);
    });
  }

  test("the whole script waits TimeoutSeconds for a silent device, and continues", async () => {
    const port = new URL(url).port;
    const fields = { address: "127.0.0.1", port_number: port, set_default: "on" };
    respond = () => {};

    const { lines } = await diagnose(windows, windowsDeployable(fields), {
      parameters: { TimeoutSeconds: 1 },
    });

    const line = `bad  ipp: http://127.0.0.1:${port}/ipp/print gave no complete answer in 1 s`;
    assert.ok(lines.includes(line), lines.join("\n"));
    assert.ok(lines.indexOf(line) < lines.findIndex((each) => / default: /.test(each)));
  });

  test("an answer that is cut off at any byte is refused", async () => {
    const cuts = Array.from({ length: whole.length }, (_, i) => whole.subarray(0, i).toString("base64"));

    const problems = await evaluate<string[]>(windows, parts, cuts, parseAll);

    assert.equal(problems.length, whole.length);
    for (const problem of problems) assert.match(problem, /^it(?:s|) /);
  });

  test("a thousand answers with wrong bytes are read or refused with a message of ours", async () => {
    const random = seededRandom(12);
    const spoilt = Array.from({ length: 1000 }, () => {
      const bytes = Buffer.from(whole);
      for (let i = 0; i < 1 + random(6); i++) bytes[random(bytes.length)] = random(256);
      return bytes.toString("base64");
    });

    const problems = await evaluate<string[]>(windows, parts, spoilt, parseAll);

    assert.equal(problems.length, 1000);
    for (const problem of problems) assert.match(problem, /^(?:read|it(?:s|) .*)$/);
    assert.ok(problems.some((problem) => problem === "read"));
    assert.ok(problems.some((problem) => problem !== "read"));
  });
});

function isWhole(request: string): boolean {
  const [head = "", body] = request.split("\r\n\r\n", 2);
  const length = /Content-Length: (\d+)/.exec(head)?.[1];
  return body !== undefined && request.length >= head.length + 4 + Number(length);
}

/** Parses each base64 answer of `$Values`: `read`, or the error message. */
const parseAll = `@($Values | ForEach-Object {
  try { $null = ConvertFrom-Ipp $Latin1.GetString([Convert]::FromBase64String($_)) -Deadline (New-Deadline -Milliseconds 60000); 'read' }
  catch { $_.Exception.Message }
})`;
