import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startApp, type TestApp, temporaryFolder } from "../support/app.ts";
import { withoutProc } from "../support/children.ts";
import { deepTest, selectCases } from "../support/depth.ts";
import { driverZip } from "../support/drivers/driver-zip.ts";
import { makePng } from "../support/printers/png.ts";
import { connectRaw, exchange, hangUpAfter, postText, statusOf } from "../support/raw.ts";
import { memoryOf, peakMemory, serve } from "../support/service.ts";
import { assertWithin, longestBlock } from "../support/times.ts";
import { until } from "../support/until.ts";

const multipart = "multipart/form-data; boundary=b";
const form = "application/x-www-form-urlencoded";

function part(head: string, body: string): string {
  return `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
}

const file = (name: string, bytes: Buffer | string) =>
  part(`name="file"; filename="${name}"`, bytes.toString("latin1"));

function leftovers({ dataDir }: TestApp): string[] {
  return ["incoming", "drivers", "icons"].flatMap((folder) => readdirSync(join(dataDir, folder)));
}

/** A service with a printer without a driver. */
async function startBare(t: TestContext): Promise<TestApp> {
  const service = await startApp(t, { uploadLimitBytes: 1024 * 1024 });
  await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
  return service;
}

test("an upload that breaks off at any byte, also in an ignored part or with its connection, leaves nothing and no error in the log", async (t) => {
  const service = await startBare(t);
  const noZip = file("a.zip", "no ZIP");
  const broken = [
    `${noZip}--b\r\nContent-Disposition: form-data; name="more"; filename="b.zip"\r\n\r\ncut`,
    '--b\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: application/octet-stream\r\n\r\ncut',
    `${noZip}--b\r\nContent-Disposition: form-data; na`,
    `${noZip}--b\r\nno header at all\r\n\r\n`,
  ];

  for (const [path, bytes] of [
    ["/drivers/upload", driverZip()],
    ["/printers/1/icon", makePng()],
  ] as const) {
    const whole = file("a", bytes) + part('name="note"', "x") + part('name="g"; filename="g"', "y");
    const body = Buffer.from(`${whole}--b--\r\n`, "latin1");
    const lengths = selectCases([...Array(body.length - 4).keys()], 20);
    for (const sent of [...broken, ...lengths.map((length) => body.subarray(0, length))]) {
      const answer = await exchange(service.url, postText(path, multipart, sent));
      assert.equal(statusOf(answer), 422, `${path}: ${sent.length} of ${body.length} bytes`);

      const client = await connectRaw(service.url);
      const request = postText(path, multipart, sent, { length: 90_000 });
      client.socket.write(request, () => client.socket.resetAndDestroy());
      await client.closed;
    }
  }

  await until(() => leftovers(service).length === 0);
  assert.equal((await service.fetch("/health")).status, 200);
  assert.equal(service.app.store.drivers.list().length, 0);
  assert.doesNotMatch(service.lines.join("\n"), /error/);
});

test("a form that breaks off causes one line in the log, without a stack and with a shortened path and no query", async (t) => {
  const service = await startApp(t);

  for (const [path, line] of [
    ["/clients", /^broken off: POST \/clients: the client left, or was too slow$/],
    ["/clients?link=secret", /^broken off: POST \/clients: the client left, or was too slow$/],
    [`/${"x".repeat(10_000)}`, /^broken off: POST \/x{199}…: the client left, or was too slow$/],
  ] as const) {
    service.lines.length = 0;
    const { socket } = await connectRaw(service.url);

    socket.write(postText(path, form, "name=A", { length: 500 }), () => socket.resetAndDestroy());
    await until(() => service.lines.length > 0);

    assert.match(service.lines.join("\n"), line);
  }
});

const fields = (count: number) => Array.from({ length: count }, (_, i) => part(`name="f${i}"`, "x")).join("");

test("a form with a file has at most 250 parts and its size: a larger one is refused, and its file is deleted", async (t) => {
  const service = await startBare(t);
  const send = async (path: string, parts: string) => {
    const body = Buffer.from(`${parts}--b--\r\n`, "latin1");
    return statusOf(await exchange(service.url, postText(path, multipart, body)));
  };
  const zip = file("a.zip", driverZip());

  const refused = [
    await send("/drivers/upload", zip + fields(300)),
    await send("/drivers/upload", fields(300) + zip),
    await send("/drivers/upload", zip + part('name="more"; filename="b.zip"', "x".repeat(3 * 1024 * 1024))),
    await send("/printers/1/icon", file("a.png", makePng()) + fields(300)),
    await send("/import", file("a.csv", "name,address\nListed,10.0.0.2") + fields(300)),
    await send("/clients", fields(8001)),
  ];
  const left = leftovers(service);
  const taken = await send("/drivers/upload", fields(248) + zip);

  assert.deepEqual(refused, [413, 413, 413, 413, 413, 413]);
  assert.deepEqual([taken, left], [200, []]);
  assert.equal(service.app.store.drivers.list().length, 1);
  assert.equal(service.app.store.printers.list().length, 1);
});

test("a field in a charset that nobody knows is refused with 422, and in a known one it is read", async (t) => {
  const { app, url } = await startApp(t);
  const send = async (charset: string) => {
    const name = `name="name"\r\nContent-Type: text/plain; charset=${charset}`;
    const body = Buffer.from(`${part(name, "B\xfcro")}--b--\r\n`, "latin1");
    return exchange(url, postText("/clients", multipart, body));
  };

  const unknown = await send("klingon");
  const known = await send("iso-8859-1");

  assert.match(unknown, /^HTTP\/1\.1 422 [\s\S]*a charset that Platen does not know\. Send it in UTF-8\./);
  assert.equal(statusOf(known), 200);
  assert.deepEqual(
    app.store.clients.list().map(({ name }) => name),
    ["Büro"],
  );
});

test("a form of a hundred thousand empty fields does not delay other requests", async (t) => {
  const service = await startApp(t);
  const bodies = ["a&".repeat(125_000), "a=&".repeat(80_000), "%61=b&".repeat(40_000), "=".repeat(250_000)];

  const answers: number[] = [];
  const held = await longestBlock(async () => {
    for (const body of bodies)
      answers.push(statusOf(await exchange(service.url, postText("/clients", form, body))));
  });

  assert.deepEqual(answers, [422, 422, 422, 422]);
  await assertWithin(400, { held });
});

const tooLarge = "forms with many large fields are refused by the size of all fields together, and not kept";
deepTest(tooLarge, { skip: withoutProc }, async (t) => {
  const service = await serve(t, await temporaryFolder(t));
  const field = (i: number) => part(`name="field${i}"`, "x".repeat(200 * 1024));
  const body = Buffer.from(`${Array.from({ length: 100 }, (_, i) => field(i)).join("")}--b--\r\n`);
  const before = memoryOf(service);

  const sent = Array.from({ length: 20 }, () => exchange(service.url, postText("/clients", multipart, body)));
  const answers = await Promise.all(sent);

  const grown = peakMemory(service) - before;
  assert.deepEqual(answers.map(statusOf), Array(20).fill(413));
  assert.ok(grown < 100e6, `${grown} bytes for 20 forms of 20 MB`);
});

test("broken or incomplete request lines, headers and bodies never stop the service", async (t) => {
  const service = await startApp(t);
  const bodies = ["Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n", "Content-Length: -1\r\n\r\n"];
  const paths = [
    "//////%2e%2e/%2e%2e/etc/passwd",
    "/printers/%ff",
    "/static/..%2f..%2fpackage.json",
    "http://[",
  ];
  const nonsense = [
    ...["", "\r\n\r\n", "GET / HTTP/1.1\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"],
    ...paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    ...bodies.map((body) => `POST /clients HTTP/1.1\r\nHost: x\r\n${body}`),
    `GET /?${"q=1&".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
  ];

  for (const bytes of nonsense) await hangUpAfter(service.url, Buffer.from(bytes, "latin1"));

  assert.equal((await service.fetch("/health")).status, 200);
  assert.ok(!service.lines.some((line) => line.startsWith("error")), service.lines.join("\n"));
});
