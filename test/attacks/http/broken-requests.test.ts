import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startApp, type TestApp, temporaryFolder } from "../../support/app.ts";
import { withoutProc } from "../../support/children.ts";
import { deepTest, selectCases } from "../../support/depth.ts";
import { driverZip } from "../../support/drivers/driver-zip.ts";
import { makePng } from "../../support/printers/png.ts";
import { connectRaw, exchange, hangUpAfter, postText, statusOf } from "../../support/raw.ts";
import { memoryOf, peakMemory, serve } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const multipart = "multipart/form-data; boundary=b";

function part(head: string, body: string): string {
  return `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
}

function leftovers({ dataDir }: TestApp): string[] {
  return ["incoming", "drivers", "icons"].flatMap((folder) => readdirSync(join(dataDir, folder)));
}

test("a form that breaks off in an ignored part is refused, and the service keeps running", async (t) => {
  const service = await startApp(t);
  await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
  const file = part('name="file"; filename="a.zip"', "no ZIP");
  const bodies = [
    `${file}--b\r\nContent-Disposition: form-data; name="more"; filename="b.zip"\r\n\r\ncut`,
    '--b\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: application/octet-stream\r\n\r\ncut',
    `${file}--b\r\nContent-Disposition: form-data; na`,
    `${file}--b\r\nno header at all\r\n\r\n`,
  ];

  for (const path of ["/drivers/upload", "/printers/1/icon"]) {
    for (const body of bodies)
      assert.equal(statusOf(await exchange(service.url, postText(path, multipart, body))), 422, body);
  }

  assert.equal((await service.fetch("/health")).status, 200);
  assert.deepEqual(leftovers(service), []);
});

test("an upload that breaks off at any byte is refused, leaves nothing, and is not logged as an error", async (t) => {
  const service = await startApp(t);
  await service.post("/printers", { name: "Bare", address: "10.0.0.1" });
  const zip = driverZip().toString("latin1");
  const png = makePng().toString("latin1");
  const forms = [
    ["/drivers/upload", zip],
    ["/printers/1/icon", png],
  ] as const;

  for (const [path, file] of forms) {
    const whole =
      part('name="file"; filename="a"', file) +
      part('name="note"', "x") +
      part('name="g"; filename="g"', "y");
    const body = Buffer.from(`${whole}--b--\r\n`, "latin1");
    const lengths = Array.from({ length: body.length - 4 }, (_, i) => i);
    for (const length of selectCases(lengths, 40)) {
      const answer = await exchange(service.url, postText(path, multipart, body.subarray(0, length)));
      assert.equal(statusOf(answer), 422, `${path} cut at ${length} of ${body.length}`);
    }
  }

  assert.deepEqual(leftovers(service), []);
  assert.equal(service.app.store.drivers.list().length, 0);
  assert.deepEqual(
    service.lines.filter((line) => line.includes("error")),
    [],
  );
});

test("a client that disconnects at any time of its upload leaves nothing behind", async (t) => {
  const service = await startApp(t);
  const body = part('name="file"; filename="a.zip"', driverZip().toString("latin1"));
  const request = postText("/drivers/upload", multipart, Buffer.from(body, "latin1"), { length: 90_000 });

  for (let length = 100; length <= request.length; length += 7) {
    const client = await connectRaw(service.url);
    client.socket.write(request.subarray(0, length), () => client.socket.resetAndDestroy());
    await client.closed;
  }

  await until(() => readdirSync(join(service.dataDir, "incoming")).length === 0);
  assert.equal((await service.fetch("/health")).status, 200);
  assert.equal(service.app.store.drivers.list().length, 0);
  assert.deepEqual(
    service.lines.filter((line) => line.includes("error")),
    [],
  );
});

test("a form that breaks off causes one line in the log, without a stack", async (t) => {
  const service = await startApp(t);
  const client = await connectRaw(service.url);

  client.socket.write(
    postText("/clients", "application/x-www-form-urlencoded", "name=A", { length: 500 }),
    () => client.socket.resetAndDestroy(),
  );
  await until(() => service.lines.length > 0);

  assert.deepEqual(service.lines, ["broken off: POST /clients: the client left"]);
});

test("the log shortens long addresses", async (t) => {
  const service = await startApp(t);
  const client = await connectRaw(service.url);
  const path = `/clients?${"x".repeat(10_000)}`;

  client.socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nname`, () =>
    client.socket.resetAndDestroy(),
  );
  await until(() => service.lines.length > 0);

  assert.match(service.lines[0] ?? "", /^broken off: POST \/clients\?x{191}…: the client left$/);
});

test("a complete file is deleted when the rest of its form is too large", async (t) => {
  const service = await startApp(t, { uploadLimitBytes: 1024 * 1024 });
  const file = part('name="file"; filename="a.zip"', driverZip().toString("latin1"));
  const more = part('name="more"; filename="b.zip"', "x".repeat(3 * 1024 * 1024));

  const answer = await exchange(
    service.url,
    postText("/drivers/upload", multipart, Buffer.from(file + more, "latin1")),
  );

  assert.equal(statusOf(answer), 413);
  assert.deepEqual(leftovers(service), []);
});

deepTest(
  "forms with many large fields are refused by the size of all fields together, and not kept",
  {
    skip: withoutProc,
  },
  async (t) => {
    const service = await serve(t, await temporaryFolder(t));
    const field = (i: number) => part(`name="field${i}"`, "x".repeat(200 * 1024));
    const body = Buffer.from(`${Array.from({ length: 100 }, (_, i) => field(i)).join("")}--b--\r\n`);
    const before = memoryOf(service);

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => exchange(service.url, postText("/clients", multipart, body))),
    );

    assert.deepEqual(answers.map(statusOf), Array(20).fill(413));
    assert.ok(
      peakMemory(service) - before < 100e6,
      `${peakMemory(service) - before} bytes for 20 forms of 20 MB`,
    );
  },
);

test("broken or incomplete request lines, headers and bodies never stop the service", async (t) => {
  const service = await startApp(t);
  const nonsense = [
    "",
    "\r\n\r\n",
    "GET / HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "GET //////%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /printers/%ff HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /static/..%2f..%2fpackage.json HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    "POST /clients HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
    "POST /clients HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${"y".repeat(100_000)}\r\n\r\n`,
    `GET /?${"q=1&".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    "CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
  ];

  for (const bytes of nonsense) await hangUpAfter(service.url, Buffer.from(bytes, "latin1"));

  assert.equal((await service.fetch("/health")).status, 200);
  assert.deepEqual(
    service.lines.filter((line) => line.startsWith("error")),
    [],
  );
});
