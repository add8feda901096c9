import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { some } from "../../support/depth.ts";
import { diagnose, evaluate } from "../../support/powershell/diagnosis.ts";
import { httpAnswer, ippAnswer } from "../../support/powershell/ipp-answers.ts";
import { windowsDeployable } from "../../support/powershell/ipp-machine.ts";
import { honest, liars, type Manner, says } from "../../support/powershell/liars.ts";
import { withoutPowerShell } from "../../support/powershell/powershell.ts";
import { ownWindows } from "../../support/powershell/simulated-windows.ts";
import { seededRandom } from "../../support/random.ts";

const parts = ["diagnose/findings", "diagnose/network", "diagnose/http", "diagnose/ipp"];
/** What a question may take, in milliseconds: long where an answer comes, short where it does not. */
const [long, short] = [20_000, 1500];
/** What a machine that is busy may add to it. */
const leeway = 3000;
const whole = ippAnswer();
const ask = `& {
  $clock = [Diagnostics.Stopwatch]::StartNew()
  $answer = Get-IppAnswer -Url $Values.Url -Addresses ([Net.IPAddress]'127.0.0.1') -Milliseconds $Values.Limit
  @{ Problem = $answer.Problem; Status = $answer.Status; Model = [string]$answer.Attributes['printer-make-and-model']; Took = $clock.ElapsedMilliseconds }
}`;

interface Told {
  readonly Problem: string;
  readonly Status: string;
  readonly Model: string;
  readonly Took: number;
}

describe("devices that lie, asked in a real PowerShell", { skip: withoutPowerShell }, () => {
  const windows = ownWindows();
  let server: Server;
  let manner: Manner = says(httpAnswer(whole));
  const sockets = new Set<Socket>();
  let url = "";

  before(async () => {
    await windows.machine({ RealNetwork: true });
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      let request = "";
      socket.on("data", (bytes) => {
        const before = request;
        request += bytes.toString("latin1");
        if (isWhole(request) && !isWhole(before)) manner(socket);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    url = `http://127.0.0.1:${address.port}/ipp/print`;
    await told(long);
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const told = (Limit: number, Url = url) => evaluate<Told>(windows, parts, { Url, Limit }, ask);

  for (const [what, lie, problem] of some(liars, 3)) {
    test(`one that ${what} is found out in time`, async () => {
      manner = lie;
      const limit = problem.source.includes("in 1") ? short : long;

      const { Problem, Took } = await told(limit);

      assert.match(Problem, problem);
      assert.ok(Took < limit + leeway, `${Took} ms`);
    });
  }

  for (const [what, way] of some(honest, 2)) {
    test(`one that ${what} is understood`, async () => {
      manner = way;

      const { Problem, Model } = await told(long);

      assert.deepEqual([Problem, Model], ["", "Papyrus 100"]);
    });
  }

  test("one that is silent takes the whole time, and no more", async () => {
    manner = () => {};

    const { Took } = await told(short);

    assert.ok(Took >= short - 50 && Took < short + leeway, `${Took} ms`);
  });

  for (const [what, lie] of [
    ["says nothing to TLS", () => {}],
    ["answers TLS in plain text", says(httpAnswer(whole))],
  ] as const) {
    test(`one that ${what} is found out in time`, async () => {
      const tls = createServer((socket) => {
        sockets.add(socket);
        socket.on("error", () => {}).once("data", () => lie(socket));
      });
      await new Promise<void>((resolve) => tls.listen(0, "127.0.0.1", resolve));
      const address = tls.address();
      assert.ok(address !== null && typeof address === "object");

      const { Problem, Took } = await told(short, `https://127.0.0.1:${address.port}/`);

      tls.close();
      assert.match(Problem, /^gave no complete answer|^breaks off/);
      assert.ok(Took < short + leeway, `${Took} ms`);
    });
  }

  test("the whole script waits for a silent device as long as it is told to, and goes on", async () => {
    const port = new URL(url).port;
    const fields = { address: "127.0.0.1", port_number: port, set_default: "on" };
    manner = () => {};

    const { lines } = await diagnose(windows, windowsDeployable(fields), {
      parameters: { TimeoutSeconds: 1 },
    });

    const line = `bad  ipp: http://127.0.0.1:${port}/ipp/print gave no complete answer in 1 s`;
    assert.ok(lines.includes(line), lines.join("\n"));
    assert.ok(lines.indexOf(line) < lines.findIndex((each) => / default: /.test(each)));
  });

  test("an answer that is cut off at any byte is never taken for a whole one, and never a crash", async () => {
    const cuts = Array.from({ length: whole.length }, (_, i) => whole.subarray(0, i).toString("base64"));

    const problems = await evaluate<string[]>(windows, parts, cuts, parseAll);

    assert.equal(problems.length, whole.length);
    for (const problem of problems) assert.match(problem, /^it(?:s|) /);
  });

  test("a thousand answers with wrong bytes are read or refused, each in words of ours", async () => {
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

/** Reads each answer of `$Values`, in base64: `read`, or why not. */
const parseAll = `@($Values | ForEach-Object {
  try { $null = ConvertFrom-Ipp -Bytes ([Convert]::FromBase64String($_)) -Deadline (New-Deadline -Milliseconds 60000); 'read' }
  catch { $_.Exception.Message }
})`;
