import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parsePrinter } from "../../src/domain/printers/printer-fields.ts";
import { client, startApp, temporaryFolder } from "../support/app.ts";
import { withoutProc } from "../support/children.ts";
import { statusesOf } from "../support/deploy/answers.ts";
import { addLargeDriver, largeDriver } from "../support/deploy/large-driver.ts";
import { deepTest } from "../support/depth.ts";
import { connectRaw, postText, statusOf } from "../support/raw.ts";
import { memoryOf, peakMemory, serve } from "../support/service.ts";
import { until } from "../support/until.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const largeMebi = 24;

/** Connections that are closed after the test. */
async function connections(t: TestContext, url: string, count: number) {
  const raws = await Promise.all(Array.from({ length: count }, () => connectRaw(url)));
  t.after(() => raws.forEach(({ socket }) => void socket.destroy()));
  return raws;
}

test("pipelined requests are answered in order; a connection with too many is closed, with little time and memory", {
  skip: withoutProc,
}, async (t) => {
  const service = await serve(t, await temporaryFolder(t));
  const [patient, greedy] = [await connectRaw(service.url), await connectRaw(service.url)];
  const before = memoryOf(service);

  patient.socket.write(["/health", "/nothing", "/static/nothing", "/health"].map(get).join(""));
  const answered = await patient.until(/(?:HTTP\/1\.1[\s\S]*?){4}"ok"/);
  patient.socket.destroy();
  const started = performance.now();
  greedy.socket.write(get("/printers").repeat(1600));
  await greedy.closed;
  const took = performance.now() - started;

  assert.deepEqual(answered.match(/(?<=HTTP\/1\.1 )\d+/g), ["200", "404", "404", "200"]);
  assert.ok(took < 5000, `it took ${took.toFixed(0)} ms`);
  assert.ok(peakMemory(service) - before < 60e6);
  assert.equal((await client(service.url).fetch("/health")).status, 200);
});

test("the connection of a client that does not read its download is closed after `idleMs`", async (t) => {
  const service = await startApp(t, { limits: { idleMs: 1500 } });
  await addLargeDriver(service);
  const path = "/drivers/1/archive";
  const raw = await connectRaw(service.url);

  raw.socket.write(get(path));
  await raw.until(/200 OK/);
  raw.socket.pause();
  await until(() => service.lines.some((line) => line.includes(`${path}: the client left, or was too slow`)));
  raw.socket.destroy();

  assert.equal((await service.fetch(path)).status, 200);
});

test("the connection of a client that sends its form or upload too slowly is closed, and leaves nothing", async (t) => {
  const service = await startApp(t, { limits: { slowMs: 300 } });
  const file = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.zip"\r\n\r\nPK';
  const requests = [
    postText("/clients", "application/x-www-form-urlencoded", "name=", { length: 500 }),
    postText("/drivers/upload", "multipart/form-data; boundary=b", file, { length: 90_000 }),
    postText("/nothing", "text/plain", "x", { length: 90_000 }),
  ];

  for (const request of requests) {
    const raw = await connectRaw(service.url);
    raw.socket.write(request);
    const drip = setInterval(() => raw.socket.write("x"), 20);
    await raw.closed;
    clearInterval(drip);
  }

  assert.equal((await service.fetch("/health")).status, 200);
  assert.equal(service.app.store.clients.count(), 0);
});

test("one address cannot use all connections", {
  skip: process.platform !== "linux" && "only Linux has all of 127.0.0.0/8",
}, async (t) => {
  const service = await startApp(t, { limits: { connections: 24 } });
  const ask = async (from: string) => {
    const raw = await connectRaw(service.url, from);
    t.after(() => raw.socket.destroy());
    raw.socket.write(get("/health"));
    return raw.until(/\r\n\r\n/);
  };

  const more = await Promise.all(Array.from({ length: 13 }, () => ask("127.0.0.2")));
  const others = await Promise.all(Array.from({ length: 4 }, () => ask("127.0.0.4")));

  const refused = more.filter((answer) => statusOf(answer) === 503);
  assert.equal(refused.length, 1, "no address has more than half");
  assert.match(refused[0] ?? "", /\r\nRetry-After: 5\r\n/);
  assert.deepEqual(others.map(statusOf), [200, 200, 200, 200]);
});

/** Downloads a driver's package by connections that stop reading after its first bytes. */
async function stallDownloads(t: TestContext, url: string, path: string, count: number): Promise<number[]> {
  const readers = await connections(t, url, count);
  for (const { socket } of readers) socket.write(get(path));
  const stall = async ({ socket, until }: (typeof readers)[number]) => {
    const text = await until(/\r\n\r\n/);
    socket.pause();
    return statusOf(text);
  };
  return Promise.all(readers.map(stall));
}

deepTest("unread pages use limited memory, and small answers are still sent", async (t) => {
  const service = await startApp(t, { limits: { bodyBytes: 1_000_000 } });
  const settings = parsePrinter({ name: "Office", address: "10.0.0.1" });
  await Promise.all(Array.from({ length: 400 }, () => service.app.store.printers.add(settings)));
  const large = (await (await service.fetch("/printers")).text()).length;
  const raws = await connections(t, service.url, 2);

  // More answers than the system buffers for a client that does not read.
  for (const { socket } of raws) {
    socket.pause();
    socket.write(get("/printers").repeat(30));
  }
  const unpacked = { headers: { "accept-encoding": "identity" } };
  await until(async () => (await service.fetch("/printers", unpacked)).status === 503);
  const small = [await service.fetch("/health"), await service.fetch("/nothing")];

  assert.ok(large > 250_000 && large < 500_000, `one page fits, and two of one client do not: ${large}`);
  assert.deepEqual(statusesOf(small), [200, 404]);
});

test("forms that are never sent use limited memory, and other requests are answered", async (t) => {
  const service = await startApp(t, { limits: { bodyBytes: 1024 * 1024 } });
  const form = postText("/clients", "application/x-www-form-urlencoded", "name=", { length: 200_000 });
  const raws = await connections(t, service.url, 4);

  for (const { socket } of raws) socket.write(form);
  await until(async () => (await service.post("/clients", { name: "x".repeat(200_000) })).status === 503);
  const others = [await service.fetch("/health"), await service.fetch("/clients")];

  assert.deepEqual(statusesOf(others), [200, 200]);
});

/** A service of its own process with a package that was downloaded once. */
async function servePackage(t: TestContext, format: string, megabytes: number) {
  const service = await serve(t, await temporaryFolder(t));
  const { addDriver, addPrinter, fetch } = client(service.url);
  await addPrinter({ driver_id: String(await addDriver(largeDriver(megabytes))) });
  const path = `/printers/1/packages/${format}`;
  await (await fetch(path)).arrayBuffer();
  return { service, fetch: () => fetch(path), path, before: memoryOf(service) };
}

for (const format of ["rmm", "mdm"]) {
  const still = `five hundred readers of ${format} that stand still hold little memory, and nobody up`;
  deepTest(still, { skip: withoutProc }, async (t) => {
    const { service, fetch, path, before } = await servePackage(t, format, largeMebi);

    const statuses = await stallDownloads(t, service.url, path, 500);
    const next = await fetch();
    const held = memoryOf(service) - before;
    const size = (await next.arrayBuffer()).byteLength;

    t.diagnostic(`${Math.round(held / 1e6)} MB for 500 readers`);
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.deepEqual([next.status, size > largeMebi * 2 ** 20], [200, true]);
    assert.ok(held < 150e6, `${Math.round(held / 1e6)} MB for 500 readers`);
  });

  const many = `two hundred computers behind one address that fetch ${format} at once all get it, in bounded memory`;
  deepTest(many, { skip: withoutProc }, async (t) => {
    const { service, fetch, before } = await servePackage(t, format, largeMebi / 3);

    const read = async () => {
      const answer = await fetch();
      let size = 0;
      for await (const chunk of answer.body ?? []) size += chunk.length;
      return [answer.status, size].join();
    };
    const answers = new Set(await Promise.all(Array.from({ length: 200 }, read)));
    const grown = peakMemory(service) - before;

    t.diagnostic(`grew by ${Math.round(grown / 1e6)} MB`);
    assert.match([...answers].join("; "), /^200,8\d{6}$/);
    assert.ok(grown < 150e6, `${Math.round(grown / 1e6)} MB`);
  });
}

test("the quota for an imported list applies to any spelling of its address", async (t) => {
  const { url } = await startApp(t, { limits: { bodyBytes: 20_000_000 } });
  const paths = ["/import/preview", "//import/preview", "///import", "http://localhost/import?a=b"];

  const answers = paths.map(async (path) => {
    const { socket, closed } = await connectRaw(url);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`);
    socket.write("Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    return closed;
  });

  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 503 /);
});
