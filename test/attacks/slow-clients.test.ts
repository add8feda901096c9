import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrinter } from "../../src/domain/printer-fields.ts";
import { client, startApp, temporaryFolder } from "../support/app.ts";
import { withoutProc } from "../support/children.ts";
import { deepTest } from "../support/depth.ts";
import { driverZip } from "../support/driver-zip.ts";
import { connectRaw, postText, statusOf } from "../support/raw.ts";
import { memoryOf, peakMemory, serve } from "../support/service.ts";
import { until } from "../support/until.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** A driver of some megabytes that nothing packs further: more than the system keeps for a client that does not read. */
function largeDriver(): Buffer {
  const bytes = Buffer.alloc(24 * 1024 * 1024);
  for (let i = 0, state = 1; i < bytes.length; i += 4) {
    state = (state * 1_103_515_245 + 12_345) >>> 0;
    bytes.writeUInt32LE(state, i);
  }
  return driverZip({ extra: [{ name: "large.bin", bytes, method: 0 }] });
}

test("pipelined requests are answered one after the other, and others come in between", async (t) => {
  const service = await startApp(t);
  const printers = Array.from({ length: 300 }, (_, i) =>
    parsePrinter({ name: `P${i}`, address: "10.0.0.1" }),
  );
  await Promise.all(printers.map((printer) => service.app.store.printers.add(printer)));
  const raw = await connectRaw(service.url);

  raw.socket.write(get("/printers").repeat(30));
  const started = performance.now();
  const health = await service.fetch("/health");
  const took = performance.now() - started;
  await until(() => raw.text().split("HTTP/1.1 200 OK").length === 31);
  raw.socket.destroy();

  assert.equal(health.status, 200);
  assert.ok(took < 2000, `another client waited ${took.toFixed(0)} ms`);
});

test("a connection with more pipelined requests than may wait is closed, in little time and memory", {
  skip: withoutProc,
}, async (t) => {
  const service = await serve(t, await temporaryFolder(t));
  const { fetch } = client(service.url);
  const before = memoryOf(service);
  const greedy = await connectRaw(service.url);

  const started = performance.now();
  greedy.socket.write(get("/printers").repeat(1600));
  await greedy.closed;
  const took = performance.now() - started;

  assert.ok(took < 5000, `it took ${took.toFixed(0)} ms`);
  assert.ok(peakMemory(service) - before < 60e6);
  assert.equal((await fetch("/health")).status, 200);
});

test("a client that does not read its download is closed after the least time", async (t) => {
  const service = await startApp(t, { limits: { stalledMs: 300 } });
  const id = await service.addPrinter({ driver_id: String(await service.addDriver(largeDriver())) });

  for (const path of [`/printers/${id}/packages/rmm`, `/printers/${id}/packages/mdm`, "/drivers/1/archive"]) {
    const raw = await connectRaw(service.url);
    raw.socket.write(get(path));
    await raw.until(/200 OK/);
    raw.socket.pause();
    await until(() => service.lines.some((line) => line.includes(`${path}: the client is too slow`)));
    raw.socket.destroy();
  }

  assert.equal((await service.fetch(`/printers/${id}/packages/rmm`)).status, 200);
});

test("a client that sends its form or its upload too slowly is closed, and leaves nothing", async (t) => {
  const service = await startApp(t, { limits: { slowMs: 300 } });
  const requests = [
    postText("/clients", "application/x-www-form-urlencoded", "name=", { length: 500 }),
    postText(
      "/drivers/upload",
      "multipart/form-data; boundary=b",
      '--b\r\nContent-Disposition: form-data; name="f"; filename="a.zip"\r\n\r\nPK',
      {
        length: 90_000,
      },
    ),
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

test("one address that holds all it can leaves some for another", {
  skip: process.platform !== "linux" && "only Linux has all of 127.0.0.0/8",
}, async (t) => {
  const service = await startApp(t, { limits: { encryptedDownloads: 4, downloads: 4, connections: 24 } });
  const id = await service.addPrinter({ driver_id: String(await service.addDriver(largeDriver())) });
  const ask = async (path: string, from: string) => {
    const raw = await connectRaw(service.url, from);
    t.after(() => raw.socket.destroy());
    raw.socket.write(get(path));
    const text = await raw.until(/\r\n\r\n/);
    raw.socket.pause();
    return statusOf(text);
  };

  for (const format of ["mdm", "rmm"]) {
    const path = `/printers/${id}/packages/${format}`;
    const first = [await ask(path, "127.0.0.2"), await ask(path, "127.0.0.2"), await ask(path, "127.0.0.2")];
    const other = await ask(path, "127.0.0.3");

    assert.deepEqual([...first, other], [200, 200, 503, 200], format);
  }
  const more = await Promise.all(Array.from({ length: 12 }, () => ask("/health", "127.0.0.2")));
  const others = await Promise.all(Array.from({ length: 4 }, () => ask("/health", "127.0.0.4")));
  assert.ok(more.includes(503), "no address has more than half of the connections");
  assert.deepEqual(others, [200, 200, 200, 200]);
});

deepTest(
  "pages that nobody reads and forms that are never sent hold a bound of memory, and errors still get out",
  async (t) => {
    const service = await startApp(t, { limits: { pageBytes: 800_000, bodyBytes: 1024 * 1024 } });
    const printers = Array.from({ length: 400 }, (_, i) =>
      parsePrinter({ name: `P${i}`, address: "10.0.0.1" }),
    );
    await Promise.all(printers.map((printer) => service.app.store.printers.add(printer)));
    const large = (await (await service.fetch("/printers")).text()).length;
    const stalled = async (request: string | Buffer) => {
      const raw = await connectRaw(service.url);
      t.after(() => raw.socket.destroy());
      raw.socket.write(request);
      return raw;
    };

    // More answers than the system keeps for a client that reads none of them; two at once would refuse each other most.
    for (let i = 0; i < 4; i++) {
      const { socket } = await stalled(get("/printers").repeat(30));
      socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    const forms = postText("/clients", "application/x-www-form-urlencoded", "name=", { length: 200_000 });
    await Promise.all(Array.from({ length: 4 }, () => stalled(forms)));
    const unpacked = { headers: { "accept-encoding": "identity" } };
    await until(async () => (await service.fetch("/printers", unpacked)).status === 503);
    await until(async () => (await service.post("/clients", { name: "x".repeat(200_000) })).status === 503);
    const small = [await service.fetch("/health"), await service.fetch("/nothing")];

    assert.ok(large > 200_000 && large < 400_000, "one such page fits, and two of one client do not");
    assert.deepEqual(
      small.map(({ status }) => status),
      [200, 404],
    );
  },
);

deepTest(
  "five hundred readers that stand still hold little memory, and nobody up",
  {
    skip: withoutProc,
  },
  async (t) => {
    const service = await serve(t, await temporaryFolder(t));
    const { addDriver, addPrinter, fetch } = client(service.url);
    const id = await addPrinter({ driver_id: String(await addDriver(largeDriver())) });
    await (await fetch(`/printers/${id}/packages/rmm`)).arrayBuffer();
    const before = memoryOf(service);

    const readers = await Promise.all(Array.from({ length: 500 }, () => connectRaw(service.url)));
    for (const { socket } of readers) socket.write(get(`/printers/${id}/packages/rmm`));
    await Promise.all(readers.map((reader) => reader.until(/HTTP/).then(() => reader.socket.pause())));
    const health = await fetch("/health");
    const held = memoryOf(service) - before;
    const statuses = readers.map((reader) => statusOf(reader.text()));
    for (const { socket } of readers) socket.destroy();

    assert.equal(health.status, 200);
    assert.ok(statuses.filter((status) => status === 200).length >= 200);
    assert.ok(held < 150e6, `${Math.round(held / 1e6)} MB for 500 readers`);
  },
);

test("a list’s share of the memory for bodies is taken however its address is written", async (t) => {
  const { url } = await startApp(t, { limits: { bodyBytes: 20_000_000 } });
  const paths = ["/import/preview", "//import/preview", "///import", "http://localhost/import?a=b"];

  const answers = paths.map(async (path) => {
    const { socket, closed } = await connectRaw(url);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`);
    socket.end("Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    return closed;
  });

  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 503 /);
});
